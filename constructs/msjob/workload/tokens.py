"""Stand-ins for what a render does not know yet: the index of a pod and the facts of the running cluster.

A role is built once, with tokens where its pods differ, and crosses jsii as one string. Plain Python puts the values in
for each pod (`Template.fill`), which costs a string join instead of a construct.
"""

import itertools
import json
import re
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from functools import cached_property, lru_cache
from typing import Any, Final

from msjob.workload.plain import plain

NAMES: Final = ("index", "scheduler_ip", "owner_uid", "attempt")


@dataclass(frozen=True, slots=True)
class Facts:
    """What only the running cluster knows about a job.

    The defaults are placeholders: `msjob render` prints them where no flag sets the fact.

    Attributes:
        scheduler_ip: cluster IP of the Service in front of the MindSpore Scheduler, an IP literal without brackets
            (MindSpore resolves no names).
        owner_uid: uid of the MSJob.
        attempt: number of restarts before this attempt, from 0.
    """

    scheduler_ip: str = "SCHEDULER_CLUSTER_IP"
    owner_uid: str = "MSJOB_UID"
    attempt: int = 0


@dataclass(frozen=True, slots=True)
class Tokens:
    """The stand-ins of one render; none of them occurs in the job itself.

    Attributes:
        index: replica index, in names, labels and values.
        scheduler_ip: see `Facts`.
        owner_uid: see `Facts`.
        attempt: see `Facts`.
    """

    index: str
    scheduler_ip: str
    owner_uid: str
    attempt: str

    @classmethod
    def absent_from(cls, text: str) -> "Tokens":
        """Choose tokens that do not occur in a text, always the same ones for the same text."""
        taken = set(re.findall(r"@msjob([0-9]+)\.", text))
        salt = next(number for number in itertools.count() if str(number) not in taken)
        return cls(*(f"@msjob{salt}.{name}@" for name in NAMES))

    def values(self, facts: Facts, index: int) -> dict[str, str]:
        """What each token stands for in one pod."""
        return {
            self.index: str(index),
            self.scheduler_ip: facts.scheduler_ip,
            self.owner_uid: facts.owner_uid,
            self.attempt: str(facts.attempt),
        }


@dataclass(frozen=True)
class Template:
    """A manifest as compact JSON, with tokens where facts go.

    Attributes:
        text: JSON text.
        tokens: the tokens it may hold.
    """

    text: str
    tokens: Tokens

    @classmethod
    def of(cls, manifest: Mapping[str, Any], tokens: Tokens) -> "Template":
        """Write a manifest down: keys sorted, so that the order in which a user wrote them makes no difference."""
        text = json.dumps(plain(manifest), separators=(",", ":"), ensure_ascii=False, allow_nan=False, sort_keys=True)
        return cls(text, tokens)

    @classmethod
    def from_wire(cls, data: Mapping[str, Any]) -> "Template":
        """The reverse of `to_wire`."""
        return cls(data["text"], Tokens(*data["tokens"]))

    def to_wire(self) -> dict[str, Any]:
        """As plain JSON: `text` and `tokens`."""
        return {"text": self.text, "tokens": [*astuple(self.tokens)]}

    @cached_property
    def _pieces(self) -> list[str]:
        """The text cut at its tokens, which are every second piece."""
        return re.split("(" + "|".join(map(re.escape, astuple(self.tokens))) + ")", self.text)

    def fill(self, facts: Facts, index: int = 0) -> str:
        """Put the facts in.

        Args:
            facts: of the running cluster.
            index: replica index.

        Returns:
            JSON text, ready to be sent.
        """
        values = self.tokens.values(facts, index)
        pieces = self._pieces.copy()
        pieces[1::2] = [_escaped(values[piece]) for piece in pieces[1::2]]
        return "".join(pieces)


@lru_cache(maxsize=256)
def _escaped(value: str) -> str:
    """A value as it stands inside a JSON string."""
    return json.dumps(value, ensure_ascii=False)[1:-1]

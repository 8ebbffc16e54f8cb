"""One rule in both languages, and the words that rules of all kinds are made of."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from msjob.api.reasons import ConditionType, Reason

Json = Mapping[str, Any]
Path = tuple[str | int, ...]
Check = Callable[[Json], Iterator[Path]]

ROLES: Final = "self.msReplicaSpecs"
NO_ROLES: Final = "!has(self.msReplicaSpecs)"


_CALLED_INVALID: Final = (
    "(has(self.status) && has(self.status.conditions) && self.status.conditions.exists(c, c.type == "
    f"'{ConditionType.FAILED}' && c.status == 'True' && has(c.reason) && c.reason == '{Reason.FAILED_VALIDATION}'))"
)
"""The operator has called the job invalid, or does so in this update.

Such a job is over, so that no rule need hold. What it holds may be of types with which an expression ends in an error,
and a true beside it outweighs that.
"""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    Attributes:
        id: stable, in kebab case.
        scope: what `self` and `old` stand for: the object or its `spec`.
        cel: expression over `self` that is true for a good object. A transition rule is over `self` and `old`.
        message: what is wrong and what to do.
        check: yields the path of each fault, relative to the root; None for a transition, which only the API server
            sees.
        lenient: CEL over `self` and `old` that also lets an update pass. By default an update passes whose old object
            broke the rule; a rule states its own where the API server finds that too dear.
    """

    id: str
    scope: Literal["root", "spec"]
    cel: str
    message: str
    check: Check | None = None
    lenient: str = ""

    def entry(self) -> dict[str, Any]:
        """The rule as an item of `x-kubernetes-validations` of the root."""
        if self.check is None:
            both = "" if self.scope == "root" else "!has(self.spec) || !has(old.spec) || "
            rule = f"!oldSelf.hasValue() || [oldSelf.value()].all(old, {both}({self._placed(self.cel)}))"
        else:
            lenient = self.lenient or "!({})".format(re.sub(r"\bself\b", "old", self.cel))
            now, then = ("", "") if self.scope == "root" else ("!has(self.spec) || ", "has(old.spec) && ")
            before = f"[oldSelf.value()].all(old, {then}({self._placed(lenient)}))"
            rule = f"{now}({self._placed(self.cel)}) || (oldSelf.hasValue() && {before})"
        entry = {"rule": f"{_CALLED_INVALID} || {rule}", "message": self.message, "optionalOldSelf": True}
        return entry if self.scope == "root" else {**entry, "fieldPath": ".spec"}

    def _placed(self, cel: str) -> str:
        return cel if self.scope == "root" else re.sub(r"\b(self|old)\b", r"\1.spec", cel)


def roles_of(obj: Json) -> Json:
    """`spec.msReplicaSpecs`, empty if there is none."""
    return (obj.get("spec") or {}).get("msReplicaSpecs") or {}


def replicas_of(role: Json) -> int:
    """Replicas of a role, 1 unless set."""
    value = role.get("replicas")
    return 1 if value is None else int(value)


def spec_path(*parts: str | int) -> Path:
    """A path below `spec`."""
    return ("spec", *parts)

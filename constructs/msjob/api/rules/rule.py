"""One rule in both languages, and the words that rules of all kinds are made of."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

Json = Mapping[str, Any]
Path = tuple[str | int, ...]
Check = Callable[[Json], Iterator[Path]]

ROLES: Final = "self.msReplicaSpecs"
NO_ROLES: Final = "!has(self.msReplicaSpecs)"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    Attributes:
        id: stable, in kebab case.
        scope: where the CEL rule stands: at the root of the object or on `spec`.
        cel: expression over `self` that is true for a good object. A transition rule is over `self` and `old`.
        message: what is wrong and what to do.
        check: yields the path of each fault, relative to the root; None for a transition, which only the API server
            sees.
        lenient: CEL that also lets an update pass, over `self` and `oldSelf.value()`. By default an update passes whose
            old object broke the rule; a rule states its own where the API server finds that too dear.
    """

    id: str
    scope: Literal["root", "spec"]
    cel: str
    message: str
    check: Check | None = None
    lenient: str = ""

    def entry(self) -> dict[str, Any]:
        """The rule as an item of `x-kubernetes-validations`."""
        if self.check is None:
            rule = f"!oldSelf.hasValue() || [oldSelf.value()].all(old, {self.cel})"
        else:
            lenient = self.lenient or "!({})".format(re.sub(r"\bself\b", "oldSelf.value()", self.cel))
            rule = f"({self.cel}) || (oldSelf.hasValue() && {lenient})"
        return {"rule": rule, "message": self.message, "optionalOldSelf": True}


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

"""The roles of a MindSpore cluster."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import TypeVar

T = TypeVar("T")


class Role(StrEnum):
    """A role of `spec.msReplicaSpecs`, in the order in which pods are created."""

    SCHEDULER = "Scheduler"
    PS = "PS"
    WORKER = "Worker"

    @property
    def slug(self) -> str:
        """The role in names and label values: lower case."""
        return self.value.lower()

    @property
    def ms_role(self) -> str:
        """The value of `MS_ROLE` (names that MindSpore 2.7 to 2.10 accept)."""
        return _MS_ROLE[self]

    @classmethod
    def parse(cls, key: str) -> "Role | None":
        """Match a key of `msReplicaSpecs` without regard to case.

        Args:
            key: as the user wrote it, for example `ps` or `WORKER`.

        Returns:
            The role, or None for an unknown key.
        """
        # CEL's lowerAscii knows no other letters, and U+212A is a k to Python.
        return _BY_LOWER.get(key.lower()) if key.isascii() else None


_BY_LOWER = {role.slug: role for role in Role}
_MS_ROLE = {Role.SCHEDULER: "MS_SCHED", Role.PS: "MS_PSERVER", Role.WORKER: "MS_WORKER"}


def by_role(items: Mapping[str, T]) -> dict[Role, T]:
    """Order a map of role keys by role and normalise its keys; unknown keys are left out, the first spelling wins."""
    found: dict[Role, T] = {}
    for key, value in items.items():
        role = Role.parse(key)
        if role is not None:
            found.setdefault(role, value)
    return {role: found[role] for role in Role if role in found}


def duplicates(keys: Iterable[str]) -> list[tuple[str, str]]:
    """Pairs of keys that name one role in different spellings, as (first, later)."""
    seen: dict[str, str] = {}
    pairs = []
    for key in keys:
        first = seen.setdefault(key.lower(), key)
        if first != key:
            pairs.append((first, key))
    return pairs

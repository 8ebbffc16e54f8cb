"""The difference between two statuses, as it is sent to the API server."""

from collections.abc import Mapping
from typing import Any, Final

COUNTERS: Final = frozenset({"replicaStatuses", "workersReady"})
"""Fields that only count pods: their changes may wait and be sent together, a condition goes at once."""


def merge_patch(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """JSON merge patch (RFC 7396) from one status to another.

    Args:
        old: as stored.
        new: as it should be.

    Returns:
        What differs, null for what goes; empty when nothing does. Lists are replaced whole.
    """
    patch: dict[str, Any] = {key: None for key in old if key not in new}
    for key, value in new.items():
        before = old.get(key)
        if isinstance(value, Mapping) and isinstance(before, Mapping):
            inner = merge_patch(before, value)
            if inner:
                patch[key] = inner
        elif before != value or key not in old:
            patch[key] = value
    return patch


def only_counters(patch: Mapping[str, Any]) -> bool:
    """Whether a patch changes nothing but numbers."""
    return patch.keys() <= COUNTERS

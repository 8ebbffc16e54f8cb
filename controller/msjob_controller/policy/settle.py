"""Pods of a job that has succeeded, and that are about to end by themselves."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from msjob.api import ConditionType
from msjob_controller.policy import conditions, expiry

SETTLE_SECONDS: Final = 10
"""How long pods that still run when their job succeeds are given to end by themselves.

A MindSpore Scheduler ends within 5 s after its Workers have, as it looks for them that often, and Workers end some
seconds apart: each may save a checkpoint of its own (measured, MindSpore 2.10).
"""


def time_left(status: Mapping[str, Any], now: datetime) -> float:
    """Seconds for which pods of a job that still run are left alone; 0 unless it has succeeded.

    Args:
        status: of a job that has ended.
        now: current time. An end that lies ahead of it, since the clock was set back, is long ago.
    """
    ended = expiry.completed_at(status)
    if ended is None or not conditions.is_true(status.get("conditions") or [], ConditionType.SUCCEEDED):
        return 0.0
    ago = (now - ended).total_seconds()
    return SETTLE_SECONDS - ago if 0 <= ago < SETTLE_SECONDS else 0.0

"""Pods whose containers have all ended, and which their kubelet clears up after at this moment."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from msjob_controller.policy.observed import Observed, Pod, PodKey

CLOSING_SECONDS: Final = 3
"""How long a kubelet is given to clear up after a pod: it needs about 1 s (measured, kubelet 1.36)."""


def kept(keys: Iterable[PodKey], observed: Observed, now: datetime) -> frozenset[PodKey]:
    """Decide which of the pods that have to go are better not deleted yet.

    A kubelet tells that a container has ended, clears up, and only then gives the pod its last phase. In that phase the
    API server removes a pod as soon as it is asked to. A deletion that comes before makes the kubelet go through
    another round: the pod is gone after 2 s instead of 1 s (measured, kubelet 1.36), and its successor as late.

    Args:
        keys: of pods that have to go.
        observed: what is there.
        now: current time. A pod that ended after it, by the clock of its node, is not waited for.
    """
    return frozenset(key for key in keys if _closes(observed.pods[key], now))


def _closes(pod: Pod, now: datetime) -> bool:
    if not pod.closing or pod.deleting or pod.finished_at is None:
        return False
    return timedelta(0) <= now - pod.finished_at < timedelta(seconds=CLOSING_SECONDS)

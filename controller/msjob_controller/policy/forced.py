"""Pods that hang in deletion because their node does not answer."""

from datetime import datetime, timedelta

from msjob.api import Job
from msjob_controller.policy.observed import Observed, PodKey


def overdue(job: Job, observed: Observed, now: datetime) -> tuple[tuple[PodKey, ...], list[float]]:
    """Decide which pods to remove without the word of their node.

    Only pods on a lost node, once `forceDeleteAfterSeconds` has passed since their deletion was asked for and the grace
    they were given is over. Without the field there is none: the process may still run there.

    Returns:
        Pods to remove, and the seconds until each of the others is due.
    """
    limit = job.run_policy.force_delete_after_seconds
    if limit is None:
        return (), []
    due: list[PodKey] = []
    later: list[float] = []
    for key, pod in observed.pods.items():
        if pod.node not in observed.lost_nodes or pod.asked_to_go is None or pod.gone_by is None:
            continue
        if pod.asked_to_go == pod.gone_by:
            # Without grace already: a finalizer holds it, and nobody's force helps.
            continue
        left = (max(pod.gone_by, pod.asked_to_go + timedelta(seconds=limit)) - now).total_seconds()
        if left <= 0:
            due.append(key)
        else:
            later.append(min(left, limit + (pod.gone_by - pod.asked_to_go).total_seconds()))
    return tuple(due), later

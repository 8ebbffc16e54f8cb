"""Pods for tests of decisions: as JSON, as the decisions see them, and whole jobs in a line of letters."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from msjob.api import Job, Role, meta
from msjob_controller.policy.observed import Observed, Outcome, Pod, PodKey, Service

Json = dict[str, Any]

START: Final = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
"""A moment to count from."""
ADDRESS: Final = "10.96.0.7"
"""Cluster IP of a job's Service."""

_OUTCOMES: Final = {
    "P": Outcome.PENDING,
    "R": Outcome.RUNNING,
    "S": Outcome.SUCCEEDED,
    "F": Outcome.FAILED,
}


def at(seconds: float) -> datetime:
    """A moment so many seconds after `START`."""
    return START + timedelta(seconds=seconds)


def stamp(seconds: float) -> str:
    """The same as the timestamp that Kubernetes writes."""
    return at(seconds).strftime("%Y-%m-%dT%H:%M:%SZ")


def pod(
    role: Role, index: int = 0, letter: str = "R", *, code: int | None = None, seconds: float = 60, **more: Any
) -> Pod:
    """A pod of the job `train`, on a node of its own; one that is not pending has run since `START`.

    Args:
        role: of the pod.
        index: replica index.
        letter: `P`ending, `R`unning, `S`ucceeded or `F`ailed.
        code: exit code, by default 0 for a success and 1 for a failure.
        seconds: when it ended, after `START`.
        **more: fields of `Pod`, such as `deleting=True`. A `reason` is one of its `reasons`, too.
    """
    outcome = _OUTCOMES[letter]
    name = f"train-{role.slug}-{index}"
    fields: Json = {
        "uid": f"uid-{name}",
        "node": f"node-{role.slug}-{index}",
        "started": letter != "P",
        "ready": letter == "R",
        "started_at": START if letter != "P" else None,
    }
    if outcome.ended:
        code = int(letter == "F") if code is None else code
        fields |= {"exit_code": code, "exit_codes": {meta.CONTAINER: code}, "finished_at": at(seconds)}
    if "reason" in more:
        fields["reasons"] = frozenset({more["reason"]})
    return Pod(name, role, index, outcome, **{**fields, **more})


def put_out(role: Role, index: int = 0, reason: str = "Evicted", **more: Any) -> Pod:
    """A pod that failed without an exit of a container and so without a time: evicted, or lost with its node.

    Args:
        role: of the pod.
        index: replica index.
        reason: of the pod.
        **more: fields of `Pod`.
    """
    return pod(role, index, "F", **{"exit_code": None, "exit_codes": {}, "finished_at": None, "reason": reason, **more})


def leaving(role: Role, index: int = 0, letter: str = "R", *, asked: float = 20, grace: float = 30, **more: Any) -> Pod:
    """A pod that is being deleted.

    Args:
        role: of the pod.
        index: replica index.
        letter: see `pod`.
        asked: when its deletion was asked for, in seconds after `START`.
        grace: seconds that it was given.
        **more: fields of `Pod`.
    """
    return pod(
        role, index, letter, **{"deleting": True, "asked_to_go": at(asked), "gone_by": at(asked + grace), **more}
    )


def of(*pods: Pod, address: str | None = ADDRESS, lost: Iterable[str] = ()) -> Observed:
    """What a job owns.

    Args:
        *pods: its pods.
        address: of its Service, empty if it has none yet; None for no Service.
        lost: names of lost nodes.
    """
    service = None if address is None else Service("train-scheduler-0", address)
    return Observed({(item.role, item.index): item for item in pods}, service, lost_nodes=frozenset(lost))


def standing(job: Job, attempt: int = 0, /, *, address: str | None = ADDRESS, **letters: str) -> Observed:
    """What a job owns, a letter for each pod of a role: `standing(job, Scheduler="R", Worker="RS-F")`.

    Args:
        job: its Service is left out if it needs none.
        attempt: of the pods.
        address: see `of`.
        **letters: by role; `-` is a pod that is missing.
    """
    pods = [
        pod(Role(role), index, letter, attempt=attempt, uid=f"uid-train-{Role(role).slug}-{index}-{attempt}")
        for role, line in letters.items()
        for index, letter in enumerate(line)
        if letter != "-"
    ]
    return of(*pods, address=address if job.host_role is not None else None)


def everywhere(job: Job, letter: str, *, attempt: int = 0) -> Observed:
    """What a job owns when all its pods stand alike, and belong to one attempt."""
    found = standing(job, **{role.value: letter * job.replicas(role) for role in job.roles})
    return replace(found, pods={key: replace(pod, attempt=attempt) for key, pod in found.pods.items()})


def keys(role: Role, *indices: int) -> tuple[PodKey, ...]:
    """Names of pods of a role as decisions use them."""
    return tuple((role, index) for index in indices)


def pod_json(  # noqa: PLR0913 - keyword-only shortcuts
    role: Role = Role.WORKER,
    index: int = 0,
    *,
    phase: str | None = "Running",
    states: Json | None = None,
    inits: Json | None = None,
    restart_policy: str = "Never",
    deleted: tuple[float, int] | None = None,
    attempt: int | None = None,
    node: str | None = None,
    conditions: Json | None = None,
    **status: Any,
) -> Json:
    """A pod of the job `train` as the API server gives it, in what the decisions read.

    Args:
        role: of the pod.
        index: replica index.
        phase: None for a pod that no kubelet has seen.
        states: of its containers by name, by default none are known.
        inits: likewise of its init containers.
        restart_policy: of the pod.
        deleted: seconds after `START` at which its deletion was asked for, and the grace it has.
        attempt: None for a pod without the label, as the Go operator made them.
        node: name of its node.
        conditions: statuses by type.
        **status: more fields of the status, such as `reason="Evicted"`.
    """
    name = f"train-{role.slug}-{index}"
    labels = {
        "training.kubeflow.org/replica-type": role.slug,
        "training.kubeflow.org/replica-index": str(index),
    }
    if attempt is not None:
        labels[meta.LABEL_RESTART_ATTEMPT] = str(attempt)
    metadata: Json = {"name": name, "namespace": "default", "uid": f"uid-{name}", "labels": labels}
    if deleted is not None:
        metadata |= {"deletionTimestamp": stamp(sum(deleted)), "deletionGracePeriodSeconds": deleted[1]}
    if phase is not None:
        status["phase"] = phase
    for key, listed in (("containerStatuses", states), ("initContainerStatuses", inits)):
        if listed is not None:
            status[key] = [{"name": name, "state": state} for name, state in listed.items()]
    if conditions is not None:
        status["conditions"] = [{"type": kind, "status": text} for kind, text in conditions.items()]
    spec = {"restartPolicy": restart_policy} | ({} if node is None else {"nodeName": node})
    return {"metadata": metadata, "spec": spec, "status": status}


def terminated(code: int, seconds: float = 60, **more: Any) -> Json:
    """State of a container that has ended.

    Args:
        code: its exit code.
        seconds: when, after `START`.
        **more: `reason` and `message`.
    """
    return {"terminated": {"exitCode": code, "finishedAt": stamp(seconds), **more}}


RUNNING: Final[Json] = {"running": {"startedAt": stamp(0)}}
"""State of a container that runs."""

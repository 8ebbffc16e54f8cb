"""The reference of the status: complete, and no more than what there is."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pydantic.alias_generators import to_camel

from msjob.api import EventReason, Job, Problem, Reason, Role
from msjob.api.status import MSJobStatus
from msjob_controller.policy import messages
from msjob_controller.policy.conditions import MESSAGE_LIMIT
from msjob_controller.policy.decide import decide, reject, stall
from msjob_controller.policy.decision import Decision
from msjob_controller.policy.observed import Observed, Service, Trouble
from support.jobs import msjob, role, template
from support.pods import at, everywhere, of, pod, stamp
from support.programs import ROOT

PAGE = (ROOT / "docs" / "reference" / "status.md").read_text()
NOTHING = of(address=None)
PROBLEMS = [Problem(("spec",), "no")]
FAILED = of(pod(Role.WORKER, 1, "F"))
BY_GO: dict[str, Any] = {
    "conditions": [{"type": kind, "status": "True", "reason": f"MSJob{kind}"} for kind in ("Created", "Running")],
    "startTime": stamp(0),
    "lastReconcileTime": stamp(0),
}
"""A status of the Go operator, which calls a job running once one Worker runs."""


def table(heading: str) -> Iterator[list[list[str]]]:
    """Cells of the rows under a heading, each as the names in code font that it holds, or its plain text."""
    section = PAGE.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| (.*) \|$", section, re.MULTILINE)[2:]
    for row in rows:
        yield [re.findall(r"`([^`]+)`", cell) or [cell] for cell in row.split(" | ")]


def befores() -> Iterator[Decision]:
    """Where a job may stand that has not ended: new, running, restarting; each of these stalled, too."""
    job = Job.parse(msjob(restart_policy="OnFailure"))
    new = decide(job, {}, NOTHING, at(0))
    running = decide(job, new.status, everywhere(job, "R"), at(1))
    restarting = decide(job, running.status, FAILED, at(2))
    for stage in (new, running, restarting):
        yield stage
        yield stall(stage.status, Reason.RENDER_FAILED, "no", at(2))


def failing(job: Job, attempt: int) -> Observed:
    """What the job owns when one of its Workers has failed and all else runs."""
    found = everywhere(job, "R", attempt=attempt)
    return replace(found, pods={**found.pods, (Role.WORKER, 1): pod(Role.WORKER, 1, "F", attempt=attempt)})


def lives() -> Iterator[Decision]:
    """Decisions about jobs that come to everything that can happen to a job."""
    job = Job.parse(msjob())
    paused = Job.parse(msjob(suspend=True))
    limits = (
        {"backoffLimit": 0},
        {"activeDeadlineSeconds": 1},
        {"startupDeadlineSeconds": 1},
    )
    for before in befores():
        yield before
        attempt = before.status.get("attempt", 0)
        yield decide(job, before.status, everywhere(job, "P"), at(3))
        yield decide(job, before.status, everywhere(job, "S", attempt=attempt), at(3))
        yield decide(job, before.status, failing(job, attempt), at(3))
        for policy in limits:
            limited = Job.parse(msjob(restart_policy="Always", run_policy=policy))
            yield decide(limited, before.status, failing(job, attempt), at(100))
            yield decide(limited, before.status, everywhere(job, "P", attempt=attempt), at(100))
        yield reject(before.status, PROBLEMS, 1, at(3))
        going = decide(paused, before.status, everywhere(paused, "R", attempt=attempt), at(3))
        yield going
        yield decide(job, going.status, everywhere(job, "R", attempt=attempt), at(4))
        yield decide(paused, going.status, everywhere(paused, "S", attempt=attempt), at(4))
        yield reject(going.status, PROBLEMS, 1, at(4))
        suspended = decide(paused, before.status, NOTHING, at(3))
        yield suspended
        yield decide(job, suspended.status, NOTHING, at(4))
        yield reject(suspended.status, PROBLEMS, 1, at(4))
    yield decide(
        Job.parse(msjob(worker=3)), decide(job, {}, everywhere(job, "R"), at(0)).status, everywhere(job, "R"), at(1)
    )
    yield decide(Job.parse(msjob(run_policy={"startupDeadlineSeconds": 1})), BY_GO, everywhere(job, "P"), at(100))
    yield from hindered(job)


def hindered(job: Job) -> Iterator[Decision]:
    """Decisions about jobs that cannot go on."""
    status = decide(job, {}, NOTHING, at(0)).status
    for reason in ("Unschedulable", "ErrImagePull", "CreateContainerConfigError", "CrashLoopBackOff"):
        yield decide(job, status, of(pod(Role.WORKER, 0, "P", trouble=Trouble(reason))), at(1))
    yield decide(job, status, of(pod(Role.WORKER, 0, "P", deleting=True, asked_to_go=at(0), gone_by=at(0))), at(100))
    yield decide(job, status, Observed({}, Service("train-scheduler-0")), at(1))
    for why in (Reason.QUOTA, Reason.FORBIDDEN, Reason.ADMISSION, Reason.NAME_TAKEN, Reason.CREATE_FAILED):
        stalled = stall(status, why, "no", at(1))
        yield stalled
        yield decide(job, stalled.status, everywhere(job, "P"), at(2))


def warned() -> Iterator[Decision]:
    """First sights of jobs with everything that is worth a warning."""
    odd = template(env=[{"name": "MS_ROLE", "value": "x"}], restart_policy="Always", hostname="x")
    yield decide(Job.parse(msjob(worker=role(2, odd), ps=1)), {}, NOTHING, at(0))
    bound = template(host_network=True)
    policy: dict[str, Any] = {"schedulingPolicy": {"queue": "x"}, "backoffLimit": 3}
    unlike = msjob(worker=None, pod=bound, run_policy=policy)
    unlike["spec"]["msReplicaSpecs"]["worker"] = role(2, bound, restart_scope="Pod")
    yield decide(Job.parse(unlike), {}, NOTHING, at(0))
    yield decide(Job.parse(msjob(scheduler=None, worker=2)), {}, NOTHING, at(0))
    msrun = template(command=["msrun", "train.py"])
    yield decide(Job.parse(msjob(worker=role(2, msrun), launch_mode="Msrun")), {}, NOTHING, at(0))


def test_conditions() -> None:
    """Every combination of type, status and reason that a job can come to is there, and no other."""
    documented = {
        (kind, status, reason) for (kind,), (status,), reasons, _ in table("Conditions") for reason in reasons
    }
    seen = {
        (item["type"], item["status"], item["reason"]) for decision in lives() for item in decision.status["conditions"]
    }
    assert documented == seen


def test_events() -> None:
    """Every reason with an event is there, with the type that its events have; those of decisions are sent with it."""
    documented = [(reason, kind) for (reason,), (kind,), _ in table("Events")]
    assert len(documented) == len(set(documented))
    silent = {Reason.PODS_READY, Reason.PODS_NOT_READY, Reason.RESOLVED, Reason.SUSPENDING}
    assert {reason for reason, _ in documented} == {str(reason) for reason in (*Reason, *EventReason)} - silent
    decisions = [*lives(), *warned()]
    sent = {(event.reason.value, event.type.value) for decision in decisions for event in decision.events}
    assert sent <= set(documented)
    unseen = {reason for reason, _ in documented} - {reason for reason, _ in sent}
    by_the_shell = "(Successful|Failed)((Create|Delete)(Pod|Service|Autoscaler)|DeleteJob)|ForceDeletedPod"
    assert all(re.fullmatch(by_the_shell, reason) for reason in unseen)


def test_every_reason_is_used() -> None:
    """No reason is promised that nothing ever sends."""
    sources = [
        path.read_text() for root in ("constructs", "controller", "client") for path in (ROOT / root).rglob("*.py")
    ]
    for kind in (Reason, EventReason):
        for reason in kind:
            used = re.compile(rf"\b{kind.__name__}\.{reason.name}\b")
            assert any(used.search(text) for text in sources), reason


def test_fields() -> None:
    """Every field of the status is there once, by its name on the wire."""
    documented = [names[0] for names, _ in table("Fields")]
    assert sorted(documented) == sorted(map(to_camel, MSJobStatus.model_fields))
    written: set[Any] = {field for decision in lives() for field in decision.status}
    assert written == set(documented) - {"replacements", "kubeletRestarts"}


def test_limit_of_messages() -> None:
    """The page names the length that messages are cut to."""
    assert f"cut to {MESSAGE_LIMIT} characters" in PAGE


def test_messages() -> None:
    """Every text that conditions and events are made of is there, word for word, and no other."""
    documented = [names[0] for names, _ in table("Messages")]
    assert documented == [text for name, text in vars(messages).items() if name.isupper()]

"""The reference of the status: complete, and no more than what there is."""

import re
from collections.abc import Iterator
from typing import Any

from pydantic.alias_generators import to_camel

from msjob.api import EventReason, Job, Problem, Reason, Role
from msjob.api.status import MSJobStatus
from msjob_controller.policy.conditions import MESSAGE_LIMIT
from msjob_controller.policy.decide import decide, reject, stall
from msjob_controller.policy.decision import Decision
from support.jobs import msjob, role, template
from support.pods import at, everywhere, of, pod
from support.programs import ROOT

PAGE = (ROOT / "docs" / "reference" / "status.md").read_text()
NOTHING = of(address=None)
PROBLEMS = [Problem(("spec",), "no")]


def table(heading: str) -> Iterator[list[list[str]]]:
    """Cells of the rows under a heading, each as the names in code font that it holds, or its plain text."""
    section = PAGE.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| (.*) \|$", section, re.MULTILINE)[2:]
    for row in rows:
        yield [re.findall(r"`([^`]+)`", cell) or [cell] for cell in row.split(" | ")]


def lives() -> Iterator[Decision]:
    """Decisions about jobs that come to everything that can happen to a job."""
    job = Job.parse(msjob())
    paused = Job.parse(msjob(suspend=True))
    for stalls in (False, True):
        for running in (False, True):
            before = decide(job, {}, NOTHING, at(0))
            yield before
            if running:
                before = decide(job, before.status, everywhere(job, "R"), at(1))
                yield before
            if stalls:
                before = stall(before.status, Reason.RENDER_FAILED, "no", at(2))
                yield before
            yield decide(job, before.status, everywhere(job, "P"), at(3))
            yield decide(job, before.status, everywhere(job, "S"), at(3))
            yield decide(job, before.status, of(pod(Role.WORKER, 1, "F")), at(3))
            yield reject(before.status, PROBLEMS, 1, at(3))
            suspended = decide(paused, before.status, NOTHING, at(3))
            yield suspended
            yield decide(job, suspended.status, NOTHING, at(4))
            yield reject(suspended.status, PROBLEMS, 1, at(4))


def warned() -> Iterator[Decision]:
    """First sights of jobs with everything that is worth a warning."""
    odd = template(env=[{"name": "MS_ROLE", "value": "x"}], restart_policy="Always", hostname="x")
    yield decide(Job.parse(msjob(worker=role(2, odd), ps=1)), {}, NOTHING, at(0))
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
    """Every reason is there once, with the type that its events have; those of decisions are sent with that type."""
    documented = [(reason, kind) for (reason,), (kind,), _ in table("Events")]
    known = {reason.value for reason in (*Reason, *EventReason)}
    assert sorted(reason for reason, _ in documented) == sorted(known)
    decisions = [*lives(), *warned()]
    sent = {(event.reason.value, event.type.value) for decision in decisions for event in decision.events}
    assert sent <= set(documented)
    unseen = {reason for reason, _ in documented} - {reason for reason, _ in sent}
    assert all(re.fullmatch("(Successful|Failed)(Create|Delete)(Pod|Service)", reason) for reason in unseen)


def test_every_reason_is_used() -> None:
    """No reason is promised that nothing ever sends."""
    sources = [path.read_text() for root in ("constructs", "controller") for path in (ROOT / root).rglob("*.py")]
    for kind in (Reason, EventReason):
        for reason in kind:
            used = re.compile(rf"\b{kind.__name__}\.{reason.name}\b")
            assert any(used.search(text) for text in sources), reason


def test_fields() -> None:
    """Every field of the status is there once, by its name on the wire."""
    documented = [names[0] for names, _ in table("Fields")]
    assert sorted(documented) == sorted(map(to_camel, MSJobStatus.model_fields))
    written: set[Any] = {field for decision in lives() for field in decision.status}
    assert written == set(documented) - {"restarts"}


def test_limit_of_messages() -> None:
    """The page names the length that messages are cut to."""
    assert f"cut to {MESSAGE_LIMIT} characters" in PAGE

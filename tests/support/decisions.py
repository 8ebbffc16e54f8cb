"""Decisions for tests: jobs at the points of their lives, and what a decision says in a line."""

from typing import Any

from msjob.api import AUXILIARY, ConditionType, Job
from msjob_controller.policy import conditions
from msjob_controller.policy.attempt import Attempt, present
from msjob_controller.policy.decide import decide
from msjob_controller.policy.decision import Decision
from msjob_controller.policy.observed import Observed
from support.jobs import msjob
from support.pods import at, everywhere, of

Json = dict[str, Any]

NOTHING = of(address=None)
"""A job that owns nothing."""


def job(**fields: Any) -> Job:
    """The job `train` in its third generation: one Scheduler and two Workers unless told otherwise, see `msjob`."""
    return Job.parse(msjob(generation=3, **fields))


def attempt_of(one: Job, observed: Observed, status: Json | None = None) -> Attempt:
    """The present attempt of a job that owns this."""
    return present(one, status or {}, observed)


def begun(one: Job, second: float = 0) -> Json:
    """The status after the first look."""
    return decide(one, {}, NOTHING, at(second)).status


def running(one: Job, second: float = 10) -> Json:
    """The status of a job that was first seen at `START`, and all of whose pods run."""
    return decide(one, begun(one), everywhere(one, "R"), at(second)).status


def state(told: Decision | Json) -> list[str]:
    """Conditions of the life of the job, in their order: `["Created=True", "Running=True"]`."""
    return [item for item in whole_state(told) if item.split("=")[0] not in AUXILIARY]


def whole_state(told: Decision | Json) -> list[str]:
    """All conditions in their order."""
    return [f"{item['type']}={item['status']}" for item in _status(told)["conditions"]]


def condition(told: Decision | Json, kind: str) -> Json:
    """The condition of a type, empty if there is none."""
    return conditions.find(_status(told)["conditions"], ConditionType(kind)) or {}


def reasons(decision: Decision) -> list[str]:
    """Reasons of the events."""
    return [event.reason.value for event in decision.events]


def active(told: Decision | Json) -> int:
    """Pods that run according to the status."""
    return sum(item["active"] for item in _status(told)["replicaStatuses"].values())


def at_rest(decision: Decision) -> bool:
    """Whether a decision asks for nothing and tells nothing; it may want to be asked again later."""
    return decision == Decision(decision.status, requeue_after=decision.requeue_after)


def _status(told: Decision | Json) -> Json:
    return told.status if isinstance(told, Decision) else told

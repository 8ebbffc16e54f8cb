"""What a case of the table is made of: the judgement, a way to change a job, words that occur often."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from support.jobs import Json, msjob


@dataclass(frozen=True)
class Verdict:
    """A job and the judgement on it.

    Attributes:
        name: of the case.
        rule: the rule it is about: the id of a rule of `msjob.api.rules`, `schema` or `metadata`.
        job: the job.
        field: the field at fault; empty for a good job.
    """

    name: str
    rule: str
    job: Json
    field: str = ""

    @property
    def good(self) -> bool:
        """Whether the job is to be accepted."""
        return not self.field

    def __str__(self) -> str:
        """The case as an id of a test."""
        return f"{self.rule}-{self.name}"


def changed(path: str, value: Any, job: Json | None = None) -> Json:
    """A job with one field set to something else.

    Args:
        path: keys and indices with dots between, from the root; `W` stands for the Worker and `C` for its container.
        value: what to put there; `...` takes the field away.
        job: the job to begin with, by default one with a Scheduler and Workers.
    """
    result = deepcopy(job or msjob())
    path = path.replace("C.", "W.template.spec.containers.0.", 1) if path.startswith("C.") else path
    path = path.replace("W.", "spec.msReplicaSpecs.Worker.", 1) if path.startswith("W.") else path
    *above, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    place: Any = result
    for part in above:
        place = place.setdefault(part, {}) if isinstance(place, dict) else place[part]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return result


def failing(*rules: Json, **job: Any) -> Json:
    """A job with these rules in its failure policy.

    Args:
        *rules: of the policy.
        **job: shortcuts of `msjob`.
    """
    return msjob(run_policy={"failurePolicy": {"rules": list(rules)}}, **job)


def on_codes(values: Any, operator: str = "In") -> Json:
    """A job with one rule about exit codes."""
    return failing({"action": "FailJob", "onExitCodes": {"operator": operator, "values": values}})


WORKER = "spec.msReplicaSpecs.Worker"
CONTAINER = f"{WORKER}.template.spec.containers[0]"
FAILURE_RULE = "spec.runPolicy.failurePolicy.rules[0]"
CPU_METRIC: Json = {
    "type": "Resource",
    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}},
}
EVICTED = {"action": "Restart", "onPodReasons": ["Evicted"]}


@dataclass(frozen=True)
class Update:
    """A change of a stored job and the judgement on it.

    Attributes:
        name: of the case.
        rule: id of the rule that looks at the change.
        change: makes the change.
        before: the job as stored, with its status if it has one.
        good: whether it is to be accepted.
    """

    name: str
    rule: str
    change: Callable[[Json], None]
    before: Json
    good: bool

    def __str__(self) -> str:
        """The case as an id of a test."""
        return f"{self.rule}-{self.name}"


def set_to(path: str, value: Any) -> Callable[[Json], None]:
    """A change that sets one field; see `changed`."""

    def change(job: Json) -> None:
        result = changed(path, value, job)
        job.clear()
        job.update(result)

    return change


def all_of(*changes: Callable[[Json], None]) -> Callable[[Json], None]:
    """Several changes in one update."""

    def change(job: Json) -> None:
        for one in changes:
            one(job)

    return change

"""The health check for Argo CD over statuses that the operator decides on."""

from typing import Any

import pytest

from msjob.api import Job
from msjob_controller.policy.decide import decide
from support.argocd import health
from support.decisions import NOTHING, begun, job, running
from support.jobs import Json, msjob
from support.pods import at, everywhere


def judged(status: Json, *, generation: int = 3) -> tuple[str, str]:
    """Health of a job with a status; `decisions.job` is of generation 3."""
    return health(msjob(generation=generation, status=status))


def decided(one: Job, pods: str, second: float = 20, status: Json | None = None) -> Json:
    """The status of a job after a look at its pods."""
    return decide(one, status or running(one), everywhere(one, pods), at(second)).status


def test_new() -> None:
    """A job that the operator has not seen is under way, with a status or without."""
    unseen = ("Progressing", "The operator has not looked at this version of the job yet.")

    assert health(msjob(generation=1)) == unseen
    assert judged({}) == unseen
    assert judged(running(job()), generation=4) == unseen


def test_under_way() -> None:
    """A job that waits, starts or runs is under way, and the message is that of its State."""
    assert judged(begun(job())) == ("Progressing", "MSJob default/train is created.")
    assert judged(running(job())) == ("Progressing", "MSJob default/train is running.")


def test_restarting() -> None:
    """So is one that is restarted."""
    status = decided(job(restart_policy="OnFailure"), "F")
    found, message = judged(status)

    assert found == "Progressing"
    assert message.startswith("MSJob default/train is restarting: ")


@pytest.mark.parametrize(("pods", "state"), [("S", "Healthy"), ("F", "Degraded")])
def test_ended(pods: str, state: str) -> None:
    """A job that has succeeded is healthy, one that has failed is degraded, also if its spec is changed afterwards."""
    status = decided(job(), pods)

    assert judged(status)[0] == state
    assert judged(status, generation=9) == judged(status)
    assert "default/train" in judged(status)[1]


def test_suspended() -> None:
    """A suspended job is suspended; while its pods go it is under way."""
    one = job(suspend=True)

    assert judged(decide(one, {}, NOTHING, at(0)).status) == ("Suspended", "MSJob default/train is suspended.")
    leaving = decide(one, running(job()), everywhere(one, "R"), at(20)).status
    assert judged(leaving)[0] == "Progressing"


def test_job_that_the_go_operator_ended() -> None:
    """A status without a generation, as the Go operator wrote it, is judged once the job has ended."""
    condition: dict[str, Any] = {"type": "Succeeded", "status": "True", "message": "MSJob default/train is done."}

    assert judged({"conditions": [condition]}) == ("Healthy", "MSJob default/train is done.")

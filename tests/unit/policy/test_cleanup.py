"""What is left of a job that has ended."""

from typing import Any

import pytest

from msjob.api import Job, Role
from msjob_controller.policy.cleanup import autoscaler_there, leftovers, stray
from msjob_controller.policy.observed import Autoscaler, Observed, Service
from support.jobs import msjob
from support.pods import ADDRESS, keys, of, pod, standing

S, P, W = Role.SCHEDULER, Role.PS, Role.WORKER


def job(policy: str | None, **fields: Any) -> Job:
    """A job with a clean-up policy."""
    return Job.parse(msjob(run_policy=None if policy is None else {"cleanPodPolicy": policy}, **fields))


@pytest.mark.parametrize("policy", [None, "", "Running"])
def test_running(policy: str | None) -> None:
    """By default what still runs or would start goes, with the Service of a Scheduler that goes; what is over stays."""
    one = job(policy, worker=4)
    pods, service = leftovers(one, {}, standing(one, Scheduler="R", Worker="SFRP"))
    assert set(pods) == {(S, 0), *keys(W, 2, 3)}
    assert service


def test_running_keeps_the_service_of_a_scheduler_that_is_over() -> None:
    """The Service goes with the pod behind it."""
    one = job("Running")
    assert leftovers(one, {}, standing(one, Scheduler="S", Worker="SR")) == (keys(W, 1), False)
    assert leftovers(one, {}, standing(one, Scheduler="-", Worker="SS")) == ((), True)
    under_msrun = job("Running", scheduler=None, launch_mode="Msrun")
    assert leftovers(under_msrun, {}, standing(under_msrun, Worker="SR")) == (keys(W, 1), False)
    assert leftovers(under_msrun, {}, standing(under_msrun, Worker="RS")) == (keys(W, 0), True)


def test_running_removes_pods_whose_sidecar_runs() -> None:
    """A sidecar would hold the devices of its pod for good: the pod goes, and with it the Service."""
    one = job("Running")
    pods = of(pod(S, 0, "S", lingering=True), pod(W, 0, "S", lingering=True), pod(W, 1, "S"))
    assert leftovers(one, {}, pods) == (((S, 0), (W, 0)), True)


def test_none() -> None:
    """None keeps everything, also what runs."""
    one = job("None", worker=4)
    assert leftovers(one, {}, standing(one, Scheduler="R", Worker="SFRP")) == ((), False)


def test_all() -> None:
    """All keeps nothing."""
    one = job("All", worker=4)
    pods, service = leftovers(one, {}, standing(one, Scheduler="S", Worker="SFRP"))
    assert set(pods) == {(S, 0), *keys(W, 0, 1, 2, 3)}
    assert service


@pytest.mark.parametrize("policy", ["All", "Running"])
def test_what_is_on_its_way_out_is_left_alone(policy: str) -> None:
    """Nothing is deleted twice."""
    one = job(policy)
    leaving = Observed({(W, 0): pod(W, 0, "R", deleting=True)}, Service("train-scheduler-0", ADDRESS, deleting=True))
    assert leftovers(one, {}, leaving) == ((), False)
    assert leftovers(one, {}, of(address=None)) == ((), False)


def test_pods_beyond_the_replicas_go_too() -> None:
    """What the job once had is part of it."""
    one = job("Running", worker=1)
    assert leftovers(one, {}, of(pod(W, 0, "S"), pod(W, 3, "R"), address=None)) == (keys(W, 3), False)


@pytest.mark.parametrize("policy", ["None", "Running", "All"])
@pytest.mark.parametrize("letter", ["P", "R", "S", "F"])
def test_pods_of_an_attempt_that_was_given_up_go(policy: str, letter: str) -> None:
    """Under every policy and whatever they are: what they show is not how the job ended."""
    pods = of(pod(S, 0, "S", attempt=2), pod(W, 0, letter, attempt=1), pod(W, 1, "S", attempt=2))
    keeps, _ = leftovers(job(policy), {"attempt": 2}, pods)
    assert (W, 0) in keeps
    assert ((W, 1) in keeps) == (policy == "All")


@pytest.mark.parametrize(
    ("policy", "behind", "goes"),
    [
        ("None", "R", False),
        ("Running", "R", True),
        ("Running", "P", True),
        ("Running", "S", False),
        ("Running", "F", False),
        ("Running", "-", True),
        ("All", "S", True),
        (None, "R", True),
    ],
)
def test_the_service(policy: str | None, behind: str, *, goes: bool) -> None:
    """It goes with the pod behind it, and never under None."""
    one = job(policy)
    assert leftovers(one, {}, standing(one, Scheduler=behind, Worker="SS"))[1] is goes


def test_autoscaler() -> None:
    """An autoscaler that is there has to go; one that is on its way out is left alone."""
    assert not autoscaler_there(Observed({}))
    assert autoscaler_there(Observed({}, autoscaler=Autoscaler("train")))
    assert not autoscaler_there(Observed({}, autoscaler=Autoscaler("train", deleting=True)))


def test_strays() -> None:
    """Of a job that cannot be read all goes that is not over, and its Service."""
    pods = of(pod(S, 0, "R"), pod(P, 0, "P"), pod(W, 0, "S"), pod(W, 1, "F"), pod(W, 2, "R", deleting=True))
    assert stray(pods) == (((S, 0), (P, 0)), True)
    assert stray(of(pod(W, 0, "S", lingering=True), address=None)) == (keys(W, 0), False)
    assert stray(of(address=None)) == ((), False)

"""What is left of a job that has ended."""

from typing import Any

import pytest

from msjob.api import Job, Role
from msjob_controller.policy import cleanup
from msjob_controller.policy.cleanup import Leftovers, autoscaler_there, stray
from msjob_controller.policy.observed import Autoscaler, Observed, PodKey, Service
from support.jobs import msjob
from support.pods import ADDRESS, at, keys, leaving, of, pod, stamp, standing

S, P, W = Role.SCHEDULER, Role.PS, Role.WORKER


def leftovers(job: Job, status: dict[str, Any], observed: Observed) -> tuple[tuple[PodKey, ...], bool]:
    """What goes of a job that has not just succeeded: pods, and whether the Service does."""
    found = cleanup.leftovers(job, status, observed, at(0))
    assert found.wait is None
    return found[:2]


def succeeded(second: float) -> dict[str, Any]:
    """The status of a job that succeeded so many seconds after `START`."""
    return {"completionTime": stamp(second), "conditions": [{"type": "Succeeded", "status": "True"}]}


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


class TestSettling:
    """Pods that still run when their job succeeds have ten seconds to end by themselves."""

    @pytest.mark.parametrize("policy", ["Running", "All"])
    def test_what_runs_stays(self, policy: str) -> None:
        """The Scheduler, which ends after its Workers, and Workers that are about to end; the Service as long."""
        one = job(policy, worker=3)
        seen = standing(one, Scheduler="R", Worker="SRP")
        gone = keys(W, 0, 2) if policy == "All" else keys(W, 2)
        assert cleanup.leftovers(one, succeeded(0), seen, at(0)) == Leftovers(gone, service=False, wait=10)
        assert cleanup.leftovers(one, succeeded(0), seen, at(9.5)).wait == 0.5
        late = cleanup.leftovers(one, succeeded(0), seen, at(10))
        assert set(late.pods) == {(S, 0), *keys(W, 1), *gone}
        assert late[1:] == (True, None)

    def test_nothing_runs(self) -> None:
        """Nothing is waited for. A Scheduler that has ended keeps its Service."""
        one = job("Running")
        assert cleanup.leftovers(one, succeeded(0), standing(one, Scheduler="S", Worker="SS"), at(1)) == (
            (),
            False,
            None,
        )
        away = of(leaving(S), pod(W, 0, "S"))
        assert cleanup.leftovers(one, succeeded(0), away, at(1)) == ((), True, None)

    def test_sidecars(self) -> None:
        """A pod whose training is over does not settle: its sidecar would not end."""
        pods = of(pod(S, 0, "S", lingering=True), pod(W, 0, "S", lingering=True))
        assert cleanup.leftovers(job("Running"), succeeded(0), pods, at(1)) == (((S, 0), (W, 0)), True, None)

    @pytest.mark.parametrize("status", [{}, {**succeeded(0), "conditions": [{"type": "Failed", "status": "True"}]}])
    def test_failed(self, status: dict[str, Any]) -> None:
        """What runs of a job that has failed goes at once."""
        one = job("Running")
        assert cleanup.leftovers(one, status, standing(one, Scheduler="R", Worker="SR"), at(1)).wait is None

    def test_a_clock_that_was_set_back(self) -> None:
        """An end that lies ahead holds nothing up."""
        one = job("Running")
        assert cleanup.leftovers(one, succeeded(60), standing(one, Scheduler="R", Worker="SS"), at(0)).wait is None

    def test_old_attempts(self) -> None:
        """Pods of an attempt that was given up go at once."""
        pods = of(pod(S, 0, "R", attempt=2), pod(W, 0, "R", attempt=1), pod(W, 1, "S", attempt=2))
        found = cleanup.leftovers(job("Running"), {**succeeded(0), "attempt": 2}, pods, at(1))
        assert found == (keys(W, 0), False, 9)

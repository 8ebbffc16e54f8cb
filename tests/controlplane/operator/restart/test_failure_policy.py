"""``runPolicy.failurePolicy``: the first rule that matches decides, before restartPolicy and before disruptions."""

from typing import Any

import pytest

from support.jobs import Json, template
from support.live_jobs import Jobs
from support.testbed.client import PODS
from support.testbed.podstatus import ended

pytestmark = pytest.mark.usefixtures("operator")

SIDECAR = [{"name": "logs", "image": "example.com/logs:1"}]


def create(jobs: Jobs, *rules: Json, policy: str = "OnFailure", limit: int | None = None, **fields: Any) -> None:
    """Create a job with rules and let it run."""
    run_policy: Json = {"failurePolicy": {"rules": list(rules)}}
    if limit is not None:
        run_policy["backoffLimit"] = limit
    jobs.create(restart_policy=policy, run_policy=run_policy, **fields)
    jobs.run(3)


def codes(action: str, *values: int, operator: str = "In", **more: Any) -> Json:
    """A rule about exit codes."""
    container = {"containerName": more.pop("container")} if "container" in more else {}
    return {"action": action, "onExitCodes": {"operator": operator, "values": list(values), **container}, **more}


def test_fail_job(jobs: Jobs) -> None:
    """``FailJob`` ends a job whose role would restart, and names its number."""
    create(jobs, codes("Restart", 7), codes("FailJob", 3, 42))
    jobs.finish("worker-1", code=42)

    failed = jobs.wait_state("Failed")
    assert failed["reason"] == "MSJobFailed"
    assert "rule 2 of failurePolicy says FailJob" in failed["message"]


def test_restart(jobs: Jobs) -> None:
    """``Restart`` restarts a job whose role says Never, and counts."""
    create(jobs, codes("Restart", 0, 1, operator="NotIn"), policy="Never")
    jobs.finish("worker-1", code=42)

    jobs.wait_attempt(1, 3)
    assert jobs.status()["restartsCountTowardsLimit"] == 1


def test_restart_ignoring_the_limit(jobs: Jobs) -> None:
    """``RestartIgnoringLimit`` restarts a job that has no restart left; what no rule matches still fails it."""
    create(jobs, codes("RestartIgnoringLimit", 42), limit=0)
    jobs.finish("worker-1", code=42)
    jobs.wait_attempt(1, 3)
    status = jobs.status()
    assert (status["restarts"], status["restartsCountTowardsLimit"]) == (1, 0)

    jobs.run(3)
    jobs.finish("worker-1", code=41)
    assert jobs.wait_state("Failed")["reason"] == "BackoffLimitExceeded"


def test_ignore_pod(jobs: Jobs) -> None:
    """With ``IgnorePod`` the job goes on without the pod; it succeeds by the others, and fails if none is left."""
    create(jobs, codes("IgnorePod", 42), success_policy="AllWorkers")
    jobs.finish("worker-1", code=42)
    jobs.client.wait_for(lambda: jobs.counts()["Worker"] == (1, 0, 1))
    jobs.settle()
    assert jobs.true() == ["Created", "Running"]
    jobs.finish("worker-0")
    assert "1 of 2 Workers" in jobs.wait_state("Succeeded")["message"]


def test_nothing_left_to_go_on_with(jobs: Jobs) -> None:
    """When every Worker is one to go on without, the job has failed."""
    create(jobs, codes("IgnorePod", 42))
    jobs.finish("worker-0", "worker-1", code=42)
    assert "no pod is left" in jobs.wait_state("Failed")["message"]


def test_conditions_of_the_pod(jobs: Jobs) -> None:
    """A rule may say that a disruption fails the job, although it would restart without counting."""
    create(jobs, {"action": "FailJob", "onPodConditions": [{"type": "DisruptionTarget"}]})
    jobs.evict("worker-1")
    assert "rule 1 of failurePolicy" in jobs.wait_state("Failed")["message"]


@pytest.mark.parametrize(
    ("listed", "fails"), [("OOMKilled", True), ("Evicted", False)], ids=["reason-that-matches", "another"]
)
def test_reasons(jobs: Jobs, listed: str, fails: bool) -> None:  # noqa: FBT001
    """A rule may name the reason of the container or of the pod."""
    create(jobs, {"action": "FailJob", "onPodReasons": [listed]})
    jobs.finish("worker-1", code=137, container_reason="OOMKilled")
    if fails:
        assert "OOMKilled" in jobs.wait_state("Failed")["message"]
    else:
        jobs.wait_attempt(1, 3)


def test_reason_deleted(jobs: Jobs) -> None:
    """A rule may count a deletion by hand as well."""
    create(jobs, {"action": "Restart", "onPodReasons": ["Deleted"]}, policy="Never")
    jobs.client.delete(PODS, "train-worker-1", jobs.namespace)
    jobs.wait_attempt(1, 3)
    assert jobs.status()["restartsCountTowardsLimit"] == 1


def test_roles(jobs: Jobs) -> None:
    """A rule may be about some roles only, spelled in any case."""
    create(jobs, codes("FailJob", 1, replicaTypes=["scheduler"]))
    jobs.finish("worker-1", code=1)
    jobs.wait_attempt(1, 3)
    jobs.run(3)
    jobs.finish("scheduler-0", code=1)
    assert "rule 1 of failurePolicy" in jobs.wait_state("Failed")["message"]


def test_container(jobs: Jobs) -> None:
    """A rule may look at the exit code of another container."""
    create(jobs, codes("FailJob", 9, container="logs"), pod=template(containers=SIDECAR))
    jobs.set("worker-1", "Failed", containers={"mindspore": ended(1), "logs": ended(9)})
    assert "rule 1 of failurePolicy" in jobs.wait_state("Failed")["message"]


def test_first_rule_counts(jobs: Jobs) -> None:
    """Of two rules that match the first one decides."""
    create(jobs, codes("RestartIgnoringLimit", 5), codes("FailJob", 5))
    jobs.finish("worker-1", code=5)
    jobs.wait_attempt(1, 3)
    assert jobs.status()["restartsCountTowardsLimit"] == 0

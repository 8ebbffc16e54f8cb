"""Variables that the template sets itself."""

import pytest

from support.cluster.environment import telling, told
from support.cluster.live import Live
from support.cluster.outcome import KEPT, assert_ends_well, assert_one_model
from support.cluster.report import Row
from support.cluster.site import Site
from support.cluster.trainings import training
from support.jobs import Json
from support.testbed.waiting import wait_for

INDEX = {"fieldRef": {"fieldPath": "metadata.labels['training.kubeflow.org/replica-index']"}}


@pytest.mark.row("training", "variables of the template: MS_WORKER_NUM, MS_NODE_ID, MS_NODE_TIMEOUT, GLOG_v")
def test_users_win(site: Site, live: Live, row: Row) -> None:
    """The template's values reach the processes, the operator's do not, and an event says so; the job trains.

    By `procPerWorker` the operator would say 4 processes, for which two Workers of one process each would wait in vain.
    """
    job = training(site.images["training"], command=telling("MS_", "GLOG_"), proc_per_worker=2, run_policy=KEPT)
    scheduler, workers = (environment(job, role) for role in ("Scheduler", "Worker"))
    for variables in (scheduler, workers):
        variables += [{"name": "MS_WORKER_NUM", "value": "2"}, {"name": "MS_NODE_TIMEOUT", "value": "20"}]
    scheduler.append({"name": "GLOG_v", "value": "1"})
    workers += [{"name": "MS_NODE_ID", "valueFrom": INDEX}, {"name": "GLOG_v", "value": "3"}]
    live.submit(job)

    assert_ends_well(live, row, {"Scheduler": 1, "Worker": 2})
    assert_one_model(live, row, 10, {0: [0], 1: [1]})
    for index in (0, 1):
        found = told(live, f"train-worker-{index}")
        mine = {"MS_WORKER_NUM": "2", "MS_NODE_ID": str(index), "MS_NODE_TIMEOUT": "20", "GLOG_v": "3"}
        assert {name: found[name] for name in mine} == mine
        assert (found["MS_ROLE"], found["MS_LOCAL_WORKER"]) == ("MS_WORKER", "2")  # the operator's, beside them
    said = [line.text for line in live.lines if line.role == "Scheduler" and line.text.startswith("[INFO] ")]
    assert any("Node timeout after exception is 20 seconds" in text for text in said)
    assert not any(line.role == "Worker" and line.text.startswith("[WARNING] ") for line in live.lines)

    events = wait_for(lambda: overridden(live), 10, what="an event of each role")
    overrides = "the template sets MS_WORKER_NUM; its values are kept, the operator's are not injected"
    assert events == {("Warning", f"{role}: {overrides}") for role in ("Scheduler", "Worker")}
    row.tell("the Scheduler says: Node timeout after exception is 20 seconds")
    row.tell(f"ReservedEnvOverridden of both roles: {overrides}")


def overridden(live: Live) -> set[tuple[str, str]]:
    """The events about variables of the template, once there is one of each role."""
    found = live.site.client.events(live.namespace, about="train", reason="ReservedEnvOverridden")
    return {(event["type"], event["message"]) for event in found} if len(found) > 1 else set()


def environment(job: Json, role: str) -> list[Json]:
    """The variables of a role's container."""
    roles: dict[str, Json] = job["spec"]["msReplicaSpecs"]
    found: list[Json] = roles[role]["template"]["spec"]["containers"][0]["env"]
    return found

"""`msjob why`: a sentence for people, the same as data for programs."""

import json
import re

import pytest

from support.live_jobs import Jobs
from support.msjob_program import MsjobProgram

pytestmark = pytest.mark.usefixtures("operator")


def seconds(text: str) -> str:
    """A text without the seconds in it, which pass between two calls."""
    return re.sub(r"( for)? \d+ s\b", "", text)


def test_a_job_that_waits_for_a_node(msjob: MsjobProgram, jobs: Jobs) -> None:
    """The verdict comes first, then what bears it out and what to do; the data say the same."""
    jobs.create(scheduler=None, worker=1)
    jobs.wait_pods(1)
    jobs.kubelet.find_no_place(jobs.namespace, "train-worker-0", "0/3 nodes are available: 3 Insufficient cpu.")
    jobs.wait_stalled()

    said, data = msjob("why", "train"), json.loads(msjob("why", "train", "-o", "json").out)

    assert (said.code, said.err) == (0, "")
    verdict, *more = said.lines
    assert seconds(verdict) == seconds(data["verdict"])
    assert "scheduler finds no place" in verdict
    assert "3 Insufficient cpu" in said.out
    expected = [*(f"  {line}" for line in data.get("because", [])), *(f"  - {line}" for line in data["advice"])]
    assert [*map(seconds, more)] == [*map(seconds, expected)]
    assert (data["job"], data["kind"], data["reason"]) == ("train", "Stalled", "Unschedulable")


def test_a_job_that_died(msjob: MsjobProgram, jobs: Jobs) -> None:
    """The pod, its exit code and its last words are told, also after the pod is gone."""
    jobs.create(scheduler=None, worker=1, run_policy={"cleanPodPolicy": "All"})
    jobs.run(1)
    jobs.finish("worker-0", code=137, container_reason="OOMKilled")
    jobs.wait_state("Failed")
    jobs.wait_pods(0)

    said, data = msjob("why", "train"), json.loads(msjob("why", "train", "-o", "json").out)

    assert said.code == 0
    assert "137" in said.out
    assert "memory" in said.out
    assert (data["kind"], data["pod"], data["exitCode"]) == ("Failed", "train-worker-0", 137)


def test_a_job_that_is_not_there(msjob: MsjobProgram, namespace: str) -> None:
    """It is explained, too, with exit code 3."""
    said, data = msjob("why", "train"), json.loads(msjob("why", "train", "-o", "json").out)

    assert (said.code, said.err) == (3, "")
    assert namespace in said.out
    assert data["kind"] == "NotFound"

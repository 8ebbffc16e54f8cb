"""Objects that an older, looser CRD let in: each fails on its own, and no other job notices."""

import pytest

from support.jobs import Json
from support.testbed.client import MSJOBS
from support.violators import BAD, STATUSES

from .conftest import After


def test_good_job(after: After) -> None:
    """A good job beside them runs to its end."""
    after.strange.run(3, "good")
    after.strange.finish("worker-0", name="good")
    after.strange.wait_state("Succeeded", "good")


@pytest.mark.parametrize(("bad", "words"), BAD, ids=[bad["metadata"]["name"] for bad, _ in BAD])
def test_violator(after: After, bad: Json, words: str) -> None:
    """It has failed for good, with its fault in condition and event, and has nothing in the cluster."""
    name = bad["metadata"]["name"]
    failed = after.strange.wait_state("Failed", name)
    assert failed["reason"] == "MSJobFailedValidation"
    assert words in failed["message"]
    assert "completionTime" in after.strange.status(name)
    event = after.strange.wait_event("MSJobFailedValidation", name)
    assert (event["type"], event["message"]) == ("Warning", failed["message"])
    assert after.strange.pods(name) == {}


@pytest.mark.parametrize("bad", [bad for bad, _ in BAD], ids=[bad["metadata"]["name"] for bad, _ in BAD])
def test_violator_that_is_deleted(after: After, bad: Json) -> None:
    """It can be deleted."""
    name = bad["metadata"]["name"]
    after.strange.delete(name)
    after.strange.client.wait_gone(MSJOBS, name, after.strange.namespace)


@pytest.mark.parametrize("name", STATUSES)
def test_status_that_is_none(after: After, name: str) -> None:
    """A good job whose status nobody could have written gets one, and runs to its end."""
    after.strange.run(3, name)
    after.strange.finish("worker-0", name=name)
    after.strange.wait_state("Succeeded", name)
    status = after.strange.status(name)
    assert status["startTime"] <= status["completionTime"]
    assert after.strange.counts(name)["Worker"] == (0, 2, 0)

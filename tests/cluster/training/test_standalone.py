"""A Worker alone: no cluster of processes, and nothing of MindSpore's in its environment."""

import pytest

from msjob.api import meta
from support.cluster.environment import telling, told
from support.cluster.live import Live
from support.cluster.outcome import KEPT, assert_ends_well, assert_one_model
from support.cluster.report import Row
from support.cluster.site import Site
from support.cluster.trainings import training


@pytest.mark.core
@pytest.mark.row("training", "standalone: 1 Worker, no Scheduler")
def test_standalone(site: Site, live: Live, row: Row) -> None:
    """It trains as rank 0 of 1. Its process has no variable MS_*, but the number of the attempt; it has no Service."""
    live.submit(training(site.images["training"], scheduler=False, workers=1, command=telling("MS"), run_policy=KEPT))

    assert_ends_well(live, row, {"Worker": 1})
    assert_one_model(live, row, 10, {0: [0]})
    assert told(live, "train-worker-0") == {"MSJOB_RESTART_ATTEMPT": "0"}
    assert live.site.client.list("v1/services", live.namespace, labels=f"{meta.LABEL_JOB_NAME}=train") == []
    row.tell("no MS_* in the environment of its process, no Service")

"""Data-parallel training: a Scheduler and Workers."""

import pytest

from support.cluster.live import Live
from support.cluster.report import Row
from support.cluster.site import Site
from support.cluster.trainings import training


@pytest.mark.core
@pytest.mark.row("training", "data parallel, 1 Scheduler and 2 Workers")
def test_two_workers(site: Site, live: Live, row: Row) -> None:
    """All ends with 0; the Workers are ranks 0 and 1 in the order of their indices, and have the same loss."""
    live.submit(training(site.images["training"], run_policy={"cleanPodPolicy": "None"}))

    assert live.wait_finished() == "Succeeded"
    assert live.codes() == {(0, "scheduler-0"): 0, (0, "worker-0"): 0, (0, "worker-1"): 0}
    ranks = {line.index: line.text[: len("[rank 0 of 2]")] for line in live.lines if " loss " in line.text}
    assert ranks == {0: "[rank 0 of 2]", 1: "[rank 1 of 2]"}
    losses = [[step.loss for step in live.steps(rank=rank)] for rank in (0, 1)]
    assert losses[0] == losses[1]
    assert len(losses[0]) == 10
    row.tell(f"loss {losses[0][0]:.3f} to {losses[0][-1]:.3f}")

"""Data-parallel training: a Scheduler and Workers."""

import pytest

from support.cluster.live import Live
from support.cluster.outcome import KEPT, assert_alike, assert_ends_well, assert_one_model
from support.cluster.report import Row
from support.cluster.site import Site
from support.cluster.trainings import training


@pytest.mark.core
@pytest.mark.row("training", "data parallel, 1 Scheduler and 2 Workers")
def test_two_workers(site: Site, live: Live, row: Row) -> None:
    """All ends with 0; the Workers are ranks 0 and 1 in the order of their indices, and have the same loss."""
    live.submit(training(site.images["training"], run_policy=KEPT))

    assert_ends_well(live, row, {"Scheduler": 1, "Worker": 2})
    assert_one_model(live, row, 10, {0: [0], 1: [1]})


@pytest.mark.row("training", "data parallel, 1 Scheduler and 3 Workers, beside 2 Workers and 1 alone")
def test_three_workers(site: Site, live: Live, row: Row) -> None:
    """Each index is the rank; the loss of every step is that of two Workers, and of one that trains alone."""
    shapes = {"three": 3, "two": 2, "one": 1}
    losses = {}
    for name, workers in shapes.items():
        scheduler = workers > 1
        live.submit(
            training(site.images["training"], name, workers=workers, scheduler=scheduler, steps=20, run_policy=KEPT)
        )
        pods = {"Scheduler": 1, "Worker": workers} if scheduler else {"Worker": 1}
        assert_ends_well(live, row, pods, name)
        losses[name] = assert_one_model(live, row, 20, {index: [index] for index in range(workers)}, name)

    assert_alike(losses["three"], losses["one"])
    assert_alike(losses["two"], losses["one"])
    row.tell("every step has the same loss with 3, 2 and 1 Workers")

"""Training with parameter servers, which MindSpore has up to 2.7."""

import re

import pytest

from support.cluster.live import Live
from support.cluster.outcome import KEPT, assert_ends_well, assert_falls, processes
from support.cluster.report import Row
from support.cluster.site import Site
from support.cluster.trainings import training
from support.testbed.waiting import wait_for

STEPS = 20


@pytest.mark.row("training", "parameter servers on MindSpore 2.7: 1 Scheduler, 1 PS, 2 Workers")
def test_parameter_server(site: Site, live: Live, row: Row) -> None:
    """All ends with 0, the Workers are of one world with ranks of their own, and learn through the PS.

    Which rank is whose follows the addresses of the pods, so it is not asked for.
    """
    live.submit(training(site.image("training-ps"), servers=1, steps=STEPS, run_policy=KEPT))

    assert_ends_well(live, row, {"Scheduler": 1, "PS": 1, "Worker": 2})
    found = processes(live)
    assert {process.rank for process in found} == {0, 1}
    assert {process.index for process in found} == {0, 1}
    for process in found:
        assert process.size == 2
        assert sorted(process.losses) == list(range(1, STEPS + 1))
        assert_falls([process.losses[step] for step in sorted(process.losses)])
    servers = [line for line in live.lines if re.match(r"\[MS_PSERVER rank 0 of 1\] finished", line.text)]
    assert [line.pod for line in servers] == ["train-ps-0"]
    (event,) = wait_for(
        lambda: live.site.client.events(live.namespace, about="train", reason="ParameterServerDeprecated"),
        10,
        what="the event",
    )
    assert event["type"] == "Warning"
    row.tell(
        "; ".join(
            f"Worker {process.index} is rank {process.rank} of 2, loss {process.losses[1]:.3f} to "
            f"{process.losses[STEPS]:.3f}"
            for process in found
        )
    )

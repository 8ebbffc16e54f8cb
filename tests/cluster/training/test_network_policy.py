"""A namespace in which a NetworkPolicy lets nothing pass, and the one that the docs recommend."""

import contextlib

import pytest

from support.cluster.live import Live
from support.cluster.outcome import KEPT, assert_ends_well, assert_one_model, processes
from support.cluster.policies import enforced
from support.cluster.report import Row
from support.cluster.site import Site
from support.cluster.trainings import training
from support.programs import ROOT
from support.testbed.progress import to_stderr

EXAMPLE = ROOT / "docs" / "examples" / "network-policy" / "train-cpu.yaml"
NAME = "train-cpu"
"""The job that the example is for; no other may pass."""


@pytest.mark.row("training", "a NetworkPolicy that denies all, and the recommended one")
def test_default_deny(site: Site, live: Live, row: Row) -> None:
    """A job that no policy lets pass cannot bring its processes together; beside it, the one that has one trains."""
    with enforced(site.cluster, to_stderr) if site.cluster is not None else contextlib.nullcontext() as verdicts:
        live.kubectl("apply", "-f", EXAMPLE)
        live.submit(training(site.images["training"], "cut-off", env={"MS_TOPO_TIMEOUT": "15"}, restart_policy="Never"))
        ended = live.wait_finished("cut-off")
        # Somebody else's network may enforce no policies; that of the tests' own cluster does.
        assert (ended, processes(live, "cut-off")) == ("Failed", []) or site.cluster is None
        if verdicts is not None:
            cut = {
                (f"{live.namespace}/cut-off-worker-{index}", f"{live.namespace}/cut-off-scheduler-0")
                for index in (0, 1)
            }
            assert cut <= verdicts.dropped()
        row.tell(
            "without a policy of its own a job fails, its processes cut off from each other"
            if ended == "Failed"
            else "THE NETWORK OF THIS CLUSTER DOES NOT ENFORCE POLICIES: a job without one trains"
        )
        live.submit(training(site.images["training"], NAME, run_policy=KEPT))
        assert_ends_well(live, row, {"Scheduler": 1, "Worker": 2}, NAME)
        assert_one_model(live, row, 10, {0: [0], 1: [1]}, NAME)
        if verdicts is not None:
            assert not {way for way in verdicts.dropped() if all(f"/{NAME}-" in pod for pod in way)}

"""Several processes in a pod, which msrun starts."""

import pytest

from support.cluster.live import Live
from support.cluster.outcome import KEPT, assert_ends_well, assert_one_model
from support.cluster.report import Row
from support.cluster.site import Site
from support.cluster.trainings import training

MSRUN = [
    "msrun",
    "--worker_num=$(MS_WORKER_NUM)",
    "--local_worker_num=$(MS_LOCAL_WORKER)",
    "--master_addr=$(MS_SCHED_HOST)",
    "--master_port=$(MS_SCHED_PORT)",
    "--node_rank=$(MS_NODE_RANK)",
    "--join=True",
    "--log_dir=/tmp/logs",
    "train.py",
]
"""As in samples/train_msrun.yaml."""


@pytest.mark.parametrize(
    "scheduler",
    [
        pytest.param(False, marks=pytest.mark.row("training", "msrun, 2 Workers with 2 processes each, no Scheduler")),
        pytest.param(True, marks=pytest.mark.row("training", "msrun, 2 Workers with 2 processes each, 1 Scheduler")),
    ],
    ids=["alone", "scheduler"],
)
def test_msrun(site: Site, live: Live, row: Row, *, scheduler: bool) -> None:
    """Four processes find each other, two ranks in each pod in the order of the pods, and train one model.

    The Service leads to the Scheduler where there is one, else to Worker 0, whose msrun starts it.
    """
    job = training(
        site.images["training"],
        scheduler=scheduler,
        command=MSRUN,
        launch_mode="Msrun",
        proc_per_worker=2,
        success_policy="AllWorkers",
        run_policy=KEPT,
    )
    live.submit(job)

    assert_ends_well(live, row, {"Worker": 2, **({"Scheduler": 1} if scheduler else {})})
    assert_one_model(live, row, 10, {0: [0, 1], 1: [2, 3]})
    services = [service["metadata"]["name"] for service in live.site.client.list("v1/services", live.namespace)]
    assert services == ["train-scheduler-0" if scheduler else "train-worker-0"]
    row.tell("ranks 0 and 1 in Worker 0, 2 and 3 in Worker 1")

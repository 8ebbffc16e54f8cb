"""A day of churn, compressed: jobs created, finished and deleted, while the operator's memory is looked at."""

import statistics

import kubelet
from api import Api, msjobs
from cases import Case, until_gone, until_pods
from process import operator
from stage import OPERATOR, Stage
from table import Row

BATCH = 100
"""Jobs that are there at once."""
GROWTH = 5.0
"""Percent by which memory may grow after the first tenth and count as flat."""


async def churn(stage: Stage) -> list[Row]:
    """Jobs of a Scheduler and a Worker, in batches; PSS of the operator alone is read when each batch is gone.

    The construct worker is left out: it is replaced after 500 renders, and gone at rest.
    """
    samples = []
    await stage.api.namespace("churn")
    with operator(stage.plane.kubeconfig_of(OPERATOR)) as process:
        for first in range(0, stage.churn, BATCH):
            await _batch(stage.api, "churn", first, min(BATCH, stage.churn - first))
            samples.append(process.own_memory())
    flat = samples[len(samples) // 10 :]
    return [
        Row(f"churn, {stage.churn:,} jobs: growth of PSS after the first tenth", growth(flat), "%", GROWTH),
        Row("churn: highest PSS after the first tenth", max(flat), "MiB"),
    ]


def growth(samples: list[float]) -> float:
    """Percent by which samples grow from first to last, by the line of least squares through them.

    A line, because a single sample depends on when the garbage collector of Python ran.
    """
    if len(samples) < 2:  # noqa: PLR2004 - a line needs two
        return 0.0
    slope, begin = statistics.linear_regression(range(len(samples)), samples)
    return 100 * slope * (len(samples) - 1) / begin


async def _batch(api: Api, space: str, first: int, jobs: int) -> None:
    manifests = list(Case(space, jobs=jobs, workers=1).manifests())
    for number, manifest in enumerate(manifests, first):
        manifest["metadata"]["name"] = f"churn-{number}"
    await api.post_jobs(space, manifests)
    await until_pods(api, space, 2 * jobs)
    names = await api.names(f"/api/v1/namespaces/{space}/pods")
    await api.report_all(space, names, kubelet.running())
    await api.report_all(space, names, kubelet.succeeded())
    await api.until_state(space, "Succeeded", jobs)
    await api.call("DELETE", msjobs(space))
    await until_gone(api, space)

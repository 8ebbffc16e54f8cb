"""What the operator takes while nothing happens, and how long it takes to start: memory, CPU, seconds."""

import asyncio
import time
from collections.abc import Awaitable, Callable

import kubelet
from population import populate, run_jobs
from process import operator
from stage import OPERATOR, Stage
from table import Row

SPACE = "present"
IDLE_SECONDS = 60.0


async def memory_of_made(stage: Stage) -> list[Row]:
    """Memory after the operator has made 400 jobs of 5 pods itself, once its construct worker is gone."""
    with operator(stage.plane.kubeconfig_of(OPERATOR)) as process:
        await run_jobs(stage.api, SPACE, 400)
        await process.until_alone()
        rss, pss = process.memory()
    return [
        Row("memory at rest, 400 running jobs it made, 2,000 pods (RSS)", rss, "MiB", 120),
        Row("memory at rest, the same (PSS)", pss, "MiB"),
    ]


def memory_of_present(jobs: int, goal: float) -> Callable[[Stage], Awaitable[list[Row]]]:
    """Memory of an operator that started with running jobs of 5 pods present.

    Args:
        jobs: how many.
        goal: MiB.
    """

    async def run(stage: Stage) -> list[Row]:
        await populate(stage, SPACE, jobs)
        with operator(stage.plane.kubeconfig_of(OPERATOR)) as process:
            await process.until_alone()
            await _until_quiet(process.cpu)
            rss, pss = process.memory()
        return [
            Row(f"memory at rest, {jobs:,} running jobs present, {5 * jobs:,} pods (RSS)", rss, "MiB", goal),
            Row("memory at rest, the same (PSS)", pss, "MiB"),
        ]

    return run


async def start_and_idle(stage: Stage) -> list[Row]:
    """Start with 1,000 jobs and 5,000 pods present, react to a change, then do nothing for a minute."""
    await populate(stage, SPACE, 1000)
    started = time.monotonic()
    with operator(stage.plane.kubeconfig_of(OPERATOR)) as process:
        ready = time.monotonic() - started
        await stage.api.report(SPACE, "job-00500-worker-1", kubelet.failed())
        await stage.api.until_state(SPACE, "Failed", 1)
        serving = time.monotonic() - started
        await process.until_alone()
        await _until_quiet(process.cpu)
        before = process.cpu()
        await asyncio.sleep(IDLE_SECONDS)
        share = 100 * (process.cpu() - before) / IDLE_SECONDS
    return [
        Row("start with 1,000 jobs and 5,000 pods: until /readyz", ready, "s", 5),
        Row("start, the same: until a pod's failure has ended its job", serving, "s", 5),
        Row(f"idle CPU over {IDLE_SECONDS:g} s, 999 running jobs", share, "% of a core", 1),
    ]


async def _until_quiet(cpu: Callable[[], float], timeout_seconds: float = 60.0) -> None:
    """Wait for 2 s in which a process takes less than 5 % of a core."""
    deadline = time.monotonic() + timeout_seconds
    before = cpu()
    while time.monotonic() < deadline:
        await asyncio.sleep(2)
        now = cpu()
        if now - before < 0.1:  # noqa: PLR2004 - see above
            return
        before = now
    raise RuntimeError(f"the operator is not quiet after {timeout_seconds:g} s")

"""From MSJobs to pods, and from a failure to the pods of the next attempt."""

import statistics
from collections.abc import Awaitable, Callable

from cases import Case, measure
from process import operator
from restart import measure_restart
from stage import OPERATOR, Stage
from table import Row


def creation(case: Case, goal: float) -> Callable[[Stage], Awaitable[list[Row]]]:
    """The measuring of one case: the median ratio of some runs after one that is not counted.

    The first run starts the construct worker and warms the API server.

    Args:
        case: the jobs.
        goal: highest ratio to raw.
    """

    async def run(stage: Stage) -> list[Row]:
        with operator(stage.plane.kubeconfig_of(OPERATOR)):
            results = [await measure(stage.api, case, number) for number in range(stage.runs + 1)]
        middle = sorted(results[1:], key=lambda result: result.ratio)[stage.runs // 2]
        wrong = sum(result.wrong for result in results)
        return [
            Row(f"{case.name}: all {case.pods} pods exist", middle.seconds, "s", goal, middle.raw_seconds),
            Row(f"{case.name}: pods wrong or without environment", wrong, "", 0),
        ]

    return run


async def restarts(stage: Stage) -> list[Row]:
    """From a Worker's failure to the first pod of the next attempt."""
    with operator(stage.plane.kubeconfig_of(OPERATOR)):
        results = [await measure_restart(stage.api, number) for number in range(3 * stage.runs + 1)][1:]
    seconds = statistics.median(result.seconds for result in results)
    raw = statistics.median(result.raw_seconds for result in results)
    return [
        Row("restart: a Worker's failure to the next attempt's first pod", seconds, "s", 1.0),
        Row("restart: the same over one bare session", raw, "s"),
    ]

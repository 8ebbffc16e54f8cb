"""The construct worker and its Node may die at any moment: that costs no job."""

import contextlib
import os
import signal
from concurrent.futures import ThreadPoolExecutor

from support.jobs import msjob, template
from support.live_jobs import Jobs
from support.operator import Operator, Operators
from support.rendering import variables

JOBS = 30
KILLS = 6


def kill(operator: Operator, what: str) -> bool:
    """Kill the construct worker or one of its Node processes, if there is one."""
    victims = operator.workers() if what == "worker" else operator.nodes()
    for pid in victims[-1:]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return bool(victims)


def rendered(operator: Operator) -> float:
    """Renders that went well."""
    return operator.metric("msjob_renders_total", result="ok")


def test_killed_again_and_again(own_operators: Operators, jobs: Jobs) -> None:
    """While 30 jobs of 30 templates are rendered, worker and Node are killed in turn: each job gets its right pods.

    Before there is anything to render there is no worker, and so no Node.
    """
    operator = own_operators.start("--namespace", jobs.namespace).wait_leading()
    assert operator.workers() == []
    names = [f"job-{number}" for number in range(JOBS)]

    def create(name: str) -> None:
        jobs.create(msjob(name, worker=1, pod=template(env=[{"name": "OWN", "value": name}])))

    with ThreadPoolExecutor(4) as pool:
        for number, what in enumerate(("worker", "node") * (KILLS // 2)):
            done = number * JOBS // KILLS
            share = names[done : done + JOBS // KILLS]
            creating = pool.map(create, share)
            jobs.client.wait_for(lambda: rendered(operator) > done, 30, what="a render")  # noqa: B023
            jobs.client.wait_for(lambda: kill(operator, what), what=f"a {what} to kill")  # noqa: B023
            list(creating)
            # One death a job: of a job that outlives three workers in a row it is said that it kills them.
            jobs.client.wait_for(lambda: rendered(operator) == done + len(share), 30, what="all renders")  # noqa: B023

    for name in names:
        pods = jobs.wait_pods(2, name, timeout=30)
        assert {variables(pod)["OWN"] for pod in pods.values()} == {name}
        assert jobs.true(name) == ["Created"]
    assert operator.metric("msjob_renders_total", result="retry") >= 1
    assert operator.metric("msjob_renders_total", result="error") == 0
    assert operator.running

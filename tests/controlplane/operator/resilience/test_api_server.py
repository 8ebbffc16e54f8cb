"""An API server that goes away for a while."""

import time

from support.live_jobs import Jobs
from support.operator import Operator, Operators
from support.testbed.controlplane import ControlPlane

SECONDS_AWAY = 5


def test_work_goes_on(operator: Operator, operators: Operators, jobs: Jobs, control_plane: ControlPlane) -> None:
    """The operator lives through it, notices what it missed, and goes on with old and new jobs."""
    jobs.create(name="old")
    jobs.run(3, "old")
    jobs.create(name="half")
    jobs.wait_pods(3, "half")

    control_plane.stop_apiserver(kill=True)
    time.sleep(SECONDS_AWAY)
    assert operator.running
    assert operator.get("/healthz")[0] == 200
    operators.bring_back_apiserver()

    jobs.finish("worker-0", name="old")
    jobs.create(name="new")
    jobs.run(3, "half", timeout=40)
    jobs.wait_state("Succeeded", "old", 40)
    jobs.run(3, "new", timeout=40)
    assert operator.running
    # It is ready once each watch is back, also those that these jobs did not need and that still pause.
    operator.wait_ready(40)
    # By hand: right after its start the API server may not know MSJobs yet, and a namespace goes without them.
    for name in ("old", "half", "new"):
        jobs.delete(name)

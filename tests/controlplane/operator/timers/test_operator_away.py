"""Timers over a time without an operator: due ones act at once when one is back, others when they are due."""

from datetime import datetime, timedelta
from functools import partial

from support.jobs import Json, role
from support.live_jobs import Jobs, moment
from support.operator import Operators
from support.testbed.client import MSJOBS

LONG = 3600
KINDS: dict[str, Json] = {
    "active": {"activeDeadlineSeconds": LONG},
    "startup": {"startupDeadlineSeconds": LONG},
    "ttl": {"ttlSecondsAfterFinished": LONG},
    "backoff": {},
}
AHEAD = 9


def begin(jobs: Jobs, name: str, policy: Json) -> None:
    """Bring a job to where its timer runs."""
    worker = role(1, restart_policy="OnFailure", restart_scope="Job")
    jobs.create(name=name, scheduler=None, worker=worker, run_policy={"backoffLimit": 9, **policy})
    jobs.wait_pods(1, name)
    if name.startswith("startup"):
        return
    jobs.run(1, name)
    if name.startswith("ttl"):
        jobs.finish("worker-0", name=name)
        jobs.wait_state("Succeeded", name)
    if name.startswith("backoff"):
        jobs.set_status(name, restarts=1)
        jobs.finish("worker-0", code=1, name=name)
        jobs.client.wait_for(lambda: "nextRestartTime" in jobs.status(name) and not jobs.pods(name), what="the wait")


def is_due(jobs: Jobs, name: str) -> bool:
    """Whether the timer of a job has acted."""
    if name.startswith("ttl"):
        return not jobs.client.exists(MSJOBS, name, jobs.namespace)
    return bool(jobs.pods(name)) if name.startswith("backoff") else jobs.state(name) == "Failed"


def test_timers(own_operators: Operators, jobs: Jobs) -> None:
    """Each kind of timer: what was due while nobody was there acts at once, the rest when it is due, by itself."""
    first = own_operators.start("--namespace", jobs.namespace).wait_leading()
    past, soon = ([f"{kind}-{when}" for kind in KINDS] for when in ("past", "soon"))
    for name in (*past, *soon):
        begin(jobs, name, KINDS[name.partition("-")[0]])
    first.terminate()
    due = moment(AHEAD)
    for when, since, again in (("past", moment(-LONG - 1), moment(-1)), ("soon", moment(AHEAD - LONG), due)):
        jobs.set_status(f"active-{when}", startTime=since)
        jobs.set_status(f"startup-{when}", startTime=since)
        jobs.set_status(f"ttl-{when}", completionTime=since)
        jobs.set_status(f"backoff-{when}", nextRestartTime=again)

    own_operators.start("--namespace", jobs.namespace).wait_leading()
    for name in past:
        # Pods are rendered, and the construct worker of an operator that has just started takes seconds to.
        seconds = 6 if name.startswith("backoff") else 1
        jobs.client.wait_for(partial(is_due, jobs, name), seconds, what=f"the timer of {name}")
    assert moment(0) < due, "the machine is too slow for this test"
    assert [name for name in soon if is_due(jobs, name)] == []
    jobs.client.wait_for(lambda: all(is_due(jobs, name) for name in soon), AHEAD + 2, what="the other timers")
    for kind, reason in (("active", "DeadlineExceeded"), ("startup", "StartupDeadlineExceeded")):
        assert jobs.conditions(f"{kind}-past")["Failed"]["reason"] == reason
        assert jobs.conditions(f"{kind}-soon")["Failed"]["reason"] == reason
        assert due <= jobs.status(f"{kind}-soon")["completionTime"] <= later(due)


def later(time: str) -> str:
    """One second later."""
    return (datetime.fromisoformat(time) + timedelta(seconds=1)).strftime("%Y-%m-%dT%H:%M:%SZ")

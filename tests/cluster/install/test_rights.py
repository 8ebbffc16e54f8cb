"""What the operator may do in the cluster is what it does: its bindings against the audit log of the run."""

import time

import pytest

from support.audit import Request, denied, requests, verbs
from support.cluster.cluster import Cluster
from support.cluster.installation import ACCOUNT, DEPLOYMENT, NAMESPACE, Installation
from support.cluster.live import Live
from support.cluster.report import Row
from support.cluster.trainings import training
from support.jobs import Json
from support.rights import AUTOSCALERS, SERVICES, UNUSED, granted, make_strangers
from support.testbed.client import PODS
from support.testbed.waiting import wait_for

END = "/tmp/end"  # noqa: S108 - in a container of its own
UNTIL_TOLD = f"import os, time\nwhile not os.path.exists('{END}'): time.sleep(0.2)"
"""What the containers run: nothing, until they are told to end."""


@pytest.mark.core
@pytest.mark.own
@pytest.mark.last
@pytest.mark.row("install", "rights that the operator holds, and that it used (audit log)")
def test_verbs(cluster: Cluster, installation: Installation, live: Live, row: Row) -> None:
    """Over the whole run it used each verb that it holds, and no other; nothing that it asked for was refused."""
    pods = {pod["metadata"]["name"] for pod in installation.pods()}
    live_through_all(live)
    # Watches are in the log once they have ended.
    live.site.kubectl.run("rollout", "restart", f"deployment/{DEPLOYMENT}", f"--namespace={NAMESPACE}")
    installation.wait_available()
    pods |= {pod["metadata"]["name"] for pod in installation.pods()}
    held = granted(live.site.client)

    def seen() -> list[Request]:
        return requests(cluster.control_plane, ACCOUNT)

    wait_for(lambda: verbs(seen()) >= held - UNUSED, 30, what="the audit log", interval=0.5)
    assert verbs(seen()) == held - UNUSED
    # Those that were there when the rights were taken away, in other tests, are none of these.
    assert denied((request for request in seen() if request.pod in pods), cluster.control_plane.starts) == []
    row.tell(f"{len(held - UNUSED)} verbs held, and all used; {len(seen())} requests, of which none was refused")


def live_through_all(live: Live) -> None:
    """Let a job meet names that are taken, and have pods, a Service, an autoscaler, an end and a time to live."""
    client, namespace = live.site.client, live.namespace
    make_strangers(client, namespace)
    live.submit(
        training(
            live.site.image("training"),
            command=["python", "-c", UNTIL_TOLD],
            pod={"terminationGracePeriodSeconds": 1},
            run_policy={"cleanPodPolicy": "All", "ttlSecondsAfterFinished": 5},
            elastic_policy={"maxReplicas": 4},
        )
    )
    wait_event(live, "FailedCreateService")
    client.delete(SERVICES, "train-scheduler-0", namespace)
    hurry(live)
    wait_event(live, "FailedCreatePod", count=2)
    client.delete(PODS, "train-worker-0", namespace)
    hurry(live)
    live.wait_condition("Running")
    wait_event(live, "FailedCreateAutoscaler")
    client.delete(AUTOSCALERS, "train", namespace)
    hurry(live)
    wait_event(live, "SuccessfulCreateAutoscaler")
    live.kubectl("exec", "train-worker-0", "--", "python", "-c", f"open('{END}', 'w')")
    wait_event(live, "SuccessfulDeleteJob")
    wait_for(lambda: not live.pods(), 60, what="the pods to go")
    wait_event(live, "SuccessfulDeleteAutoscaler")


def hurry(live: Live) -> None:
    """Change the job, so that the operator looks at it now: after many failures it would wait for up to a minute."""
    live.kubectl("annotate", "--overwrite", "msjob/train", f"test/at={time.monotonic()}")


def wait_event(live: Live, reason: str, count: int = 1) -> Json:
    """Wait until an event about the job has come so often."""

    def found() -> Json | None:
        events = live.site.client.events(live.namespace, about="train", reason=reason)
        return next((event for event in events if event["count"] >= count), None)

    return wait_for(found, 120, what=f"{count} events {reason}", interval=0.2) or {}

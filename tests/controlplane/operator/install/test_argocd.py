"""What Argo CD would say of MSJobs whose status the operator has written, by the health check in `docs/examples`."""

import pytest
import yaml

from support.argocd import EXAMPLE, KEY, health
from support.live_jobs import Jobs
from support.testbed.client import Client
from support.testbed.kubectl import Kubectl


def wait_health(jobs: Jobs, wanted: str, words: str = "") -> None:
    """Wait until Argo CD would see a job in a state, with these words."""

    def seen() -> bool:
        state, message = health(jobs.get())
        return state == wanted and words in message

    jobs.client.wait_for(seen, what=f"health {wanted} with {words!r}")


@pytest.mark.usefixtures("operator")
def test_course_of_a_job(jobs: Jobs) -> None:
    """Under way from birth through start, restart and scaling; suspended while it is; healthy at the end."""
    unseen = jobs.create(restart_policy="OnFailure")
    assert health(unseen)[0] == "Progressing"
    wait_health(jobs, "Progressing", "is created")
    jobs.run(3)
    wait_health(jobs, "Progressing", "is running")
    jobs.finish("worker-1", code=1)
    wait_health(jobs, "Progressing", "is restarting")
    jobs.wait_attempt(1, 3)
    jobs.run(3)
    wait_health(jobs, "Progressing", "is running")
    jobs.suspend()
    wait_health(jobs, "Suspended", "is suspended")
    jobs.suspend(suspend=False)
    wait_health(jobs, "Progressing")
    jobs.wait_attempt(2, 3)
    jobs.run(3)
    jobs.finish("worker-0")
    wait_health(jobs, "Healthy", "successfully completed")
    jobs.patch({"runPolicy": {"ttlSecondsAfterFinished": 3600}})
    assert health(jobs.get())[0] == "Healthy"


@pytest.mark.usefixtures("operator")
def test_job_that_waits(jobs: Jobs) -> None:
    """A job that no node has room for is under way, with the words of the scheduler."""
    jobs.create()
    jobs.wait_pods(3)
    jobs.kubelet.find_no_place(jobs.namespace, "train-worker-0", "0/3 nodes are available: insufficient gpu.")

    wait_health(jobs, "Progressing", "insufficient gpu")


@pytest.mark.usefixtures("operator")
def test_job_that_fails(jobs: Jobs) -> None:
    """A job that has failed is degraded, with the pod and its exit code."""
    jobs.create()
    jobs.run(3)
    jobs.finish("worker-1", code=3)

    wait_health(jobs, "Degraded", "pod train-worker-1 failed: container mindspore exited with code 3")


def test_other_settings_stay(admin: Client, kubectl: Kubectl, namespace: str) -> None:
    """The command in the example's head adds its key to the ConfigMap of Argo CD, and leaves what others set there."""
    config = {**yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))}
    config["metadata"]["namespace"] = namespace
    kubectl.run("create", "configmap", "argocd-cm", "-n", namespace, "--from-literal=url=https://cd.example.com")

    command = ("apply", "--server-side", "--field-manager=ms-operator", "-f", "-")
    kubectl.run(*command, stdin=yaml.safe_dump(config))

    assert f"kubectl {' '.join(command[:-1])}" in EXAMPLE.read_text(encoding="utf-8")
    found = admin.get("v1/configmaps", "argocd-cm", namespace)["data"]
    assert found == {"url": "https://cd.example.com", KEY: config["data"][KEY]}

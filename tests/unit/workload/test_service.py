"""The Service in front of the MindSpore Scheduler: an address that is known before its pod runs and outlives it."""

import pytest

from support.jobs import Json, msjob, role, template
from support.rendering import pods, service


def selected(service_: Json, job: Json) -> list[str]:
    """The pods that a Service selects, by `<role>-<index>`."""
    wanted = service_["spec"]["selector"].items()
    return [name for name, pod in pods(job).items() if wanted <= pod["metadata"]["labels"].items()]


@pytest.mark.parametrize(
    ("job", "host"),
    [
        (msjob(), "scheduler-0"),
        (msjob(ps=2), "scheduler-0"),
        (msjob(launch_mode="Msrun"), "scheduler-0"),
        (msjob(launch_mode="None"), "scheduler-0"),
        (msjob(scheduler=None, launch_mode="Msrun"), "worker-0"),
    ],
)
def test_stands_before_the_host(job: Json, host: str) -> None:
    """The Service has the name of the one pod that it selects: the one that runs the MindSpore Scheduler."""
    found = service(job)

    assert found is not None
    assert found["metadata"]["name"] == f"train-{host}"
    assert selected(found, job) == [host]


@pytest.mark.parametrize("fields", [{}, {"launch_mode": "Standalone"}, {"launch_mode": "None"}])
def test_no_host_no_service(fields: Json) -> None:
    """A job in which nobody listens has no Service."""
    assert service(msjob(scheduler=None, **fields)) is None


def test_reaches_a_pod_that_is_not_ready() -> None:
    """Workers dial while the Scheduler still starts, so the address works before readiness."""
    found = service(msjob())

    assert found is not None
    assert found["spec"]["publishNotReadyAddresses"] is True
    assert found["spec"]["type"] == "ClusterIP"


@pytest.mark.parametrize(
    ("ports", "number"),
    [
        (None, 2222),
        ([{"name": "msjob-port", "containerPort": 8118}], 8118),
        ([{"name": "http", "containerPort": 80}], 2222),
    ],
)
def test_port(ports: list[Json] | None, number: int) -> None:
    """The port is the one the Scheduler's template names `msjob-port`, 2222 by default, spelled out in full."""
    found = service(msjob(scheduler=role(1, template(ports=ports))))

    assert found is not None
    assert found["spec"]["ports"] == [
        {"name": "msjob-port", "port": number, "targetPort": number, "protocol": "TCP"},
    ]


def test_labels() -> None:
    """The Service is found by the labels of the job, and is the same for every attempt."""
    found = service(msjob("train"))

    assert found is not None
    labels = found["metadata"]["labels"]
    assert labels["training.kubeflow.org/job-name"] == "train"
    assert labels["training.kubeflow.org/replica-type"] == "scheduler"
    assert "mindspore.gitee.com/restart-attempt" not in labels

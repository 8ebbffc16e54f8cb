"""Training in the image: its user, a read-only root, no privilege, the memory that the samples allow."""

import os
import re
import signal
from pathlib import Path

import pytest

from support.image.container import Container, Run
from support.image.network import Network
from support.image.oci import Mount
from support.image.training import TrainingImage
from support.rendering import main_container
from support.testbed.waiting import wait_for
from support.training.containers import POD_IP, command_of, environment_of, rendered_sample

LONGEST = 600.0


@pytest.fixture
def checkpoints(tmp_path: Path, image: TrainingImage) -> Path:
    """A volume that the group of the image's user may write to, as `fsGroup` makes it."""
    folder = tmp_path / "checkpoints"
    folder.mkdir()
    os.chown(folder, 0, int(image.config["config"]["User"].split(":")[1]))
    folder.chmod(0o2775)
    return folder


def loss_of(container: Container) -> str:
    """The loss that a container printed in the end."""
    found = re.search(r"finished, loss (\S+)", container.text())
    assert found, container.text()
    return found[1]


def test_alone(run: Run, checkpoints: Path) -> None:
    """The image's own command trains; as process 1 it is told to stop, saves, and goes on when it is started again."""
    volume = (Mount("/checkpoints", checkpoints),)
    told = run(mounts=volume, TRAIN_CHECKPOINTS="/checkpoints", TRAIN_SLEEP="0.3")
    wait_for(lambda: "step 3/100" in told.text() or not told.running, LONGEST, what="step 3")
    told.signal(signal.SIGTERM)
    assert told.wait(LONGEST) == 143, told.text()
    saved = max(int(path.stem.removeprefix("step-")) for path in checkpoints.glob("step-*.ckpt"))

    again = run(mounts=volume, TRAIN_CHECKPOINTS="/checkpoints")
    assert again.wait(LONGEST) == 0, again.text()
    assert f"goes on after step {saved}" in again.text()
    assert float(loss_of(again)) < 0.1


def test_sample(run: Run, tmp_path: Path) -> None:
    """The pods of train_cpu.yaml as containers: all end with 0, the Workers with one loss, within their memory."""
    pods = rendered_sample("train_cpu", POD_IP)["Pod"]
    with Network() as network:
        containers = []
        for pod in pods:
            container, env = main_container(pod), environment_of(pod)
            mounts = []
            for mount in container.get("volumeMounts", []):
                folder = tmp_path / pod["metadata"]["name"] / mount["name"]
                folder.mkdir(parents=True)
                folder.chmod(0o777)  # as the kubelet makes an emptyDir
                mounts.append(Mount(mount["mountPath"], folder))
            memory = int(container["resources"]["limits"]["memory"].removesuffix("Gi")) << 30
            containers.append(
                run(*command_of(pod, env), mounts=tuple(mounts), memory=memory, network=network.path, **env)
            )
        codes = [container.wait(LONGEST) for container in containers]

    assert codes == [0, 0, 0], "\n---\n".join(container.text()[-2000:] for container in containers)
    assert loss_of(containers[1]) == loss_of(containers[2])

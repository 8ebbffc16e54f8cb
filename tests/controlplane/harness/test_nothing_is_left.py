"""Whatever ends the owner of a control plane, no process and no file is left."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support.programs import ROOT, clean_environment, is_running
from support.testbed.controlplane import ControlPlane
from support.testbed.errors import HarnessError
from support.testbed.waiting import wait_for

OWNER = """
import json, time
from support.testbed.controlplane import ControlPlane

with ControlPlane() as control_plane:
    print(json.dumps([str(control_plane.folder), control_plane.programs.process_ids]), flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_nothing_outlives_its_owner(number: signal.Signals) -> None:
    """The programs, the guard and the files are gone soon after the owner was killed or interrupted."""
    environment = {**clean_environment(), "PYTHONPATH": str(ROOT / "tests")}
    with subprocess.Popen(
        [sys.executable, "-c", OWNER], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as owner:
        assert owner.stdout is not None
        folder, process_ids = json.loads(owner.stdout.readline())
        alive = [name for name, process_id in process_ids.items() if is_running(process_id)]
        owner.send_signal(number)
        owner.wait(20)

    assert alive == ["etcd", "kube-apiserver", "kube-controller-manager", "guard"]
    wait_for(lambda: not any(map(is_running, process_ids.values())), 10, what=f"{process_ids} to end")
    wait_for(lambda: not Path(folder).exists(), 10, what=f"{folder} to be removed")


def test_stop_leaves_nothing(tmp_path: Path) -> None:
    """An ordinary end leaves nothing but the logs that were asked for."""
    with ControlPlane() as control_plane:
        process_ids = control_plane.programs.process_ids
        kept = control_plane.keep_logs(tmp_path / "logs")

    assert not any(map(is_running, process_ids.values()))
    assert not control_plane.folder.exists()
    assert sorted(path.name for path in kept.iterdir()) == [
        "etcd.log",
        "kube-apiserver.log",
        "kube-controller-manager.log",
    ]


def test_program_that_ends_at_once_is_named() -> None:
    """A control plane that cannot start says which program ended, and what that program said."""
    with (
        pytest.raises(
            HarnessError, match=r"kube-apiserver ended with exit code 1\. (.*\n)*.*unknown flag: --no-such-flag"
        ),
        ControlPlane(apiserver_flags=["--no-such-flag"]),
    ):
        pass

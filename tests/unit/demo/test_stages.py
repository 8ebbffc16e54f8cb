"""What kwok is told, and how faults are written. What becomes of pods by it, tests/controlplane/demo sees."""

from pathlib import Path

import pytest
import yaml

from demo import scheduling, stages
from demo.stages import Fault
from msjob.api import Role


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("worker-1", Fault(Role.WORKER, 1)),
        ("Scheduler-0:137", Fault(Role.SCHEDULER, 0, 137)),
        ("PS-12:3", Fault(Role.PS, 12, 3)),
    ],
)
def test_faults(text: str, fault: Fault) -> None:
    """A role and an index, in any case, and an exit code if need be."""
    assert Fault.parse(text) == fault


@pytest.mark.parametrize("text", ["", "worker", "worker--1", "worker-1:0", "worker-1:256", "chief-0", "worker-1:"])
def test_what_is_no_fault(text: str) -> None:
    """What names no pod is refused with an example."""
    with pytest.raises(ValueError, match="write worker-1, or with an exit code of 1 to 255 worker-1:137"):
        Fault.parse(text)


def test_configuration_is_read_as_documents() -> None:
    """Stages for pods alone, so that kwok keeps its own for nodes; a fault is in the template of the end."""
    text = stages.configuration([Fault(Role.PS, 7, 9)], longest=20) + stages.logs(Path("/x/y"))

    *documents, logs = yaml.safe_load_all(text)

    assert {item["kind"] for item in documents} == {"Stage"}
    assert {item["spec"]["resourceRef"]["kind"] for item in documents} == {"Pod"}
    ends = {item["metadata"]["name"]: item["spec"] for item in documents if item["metadata"]["name"].startswith("end")}
    assert ends["end-other"]["delay"]["durationMilliseconds"] > 20_000
    assert all('"ps-7"' in spec["next"]["statusTemplate"] for spec in ends.values())
    assert logs["spec"]["logs"] == [{"logsFile": "/x/y"}]


def test_scheduler_stands_in_for_others() -> None:
    """Each scheduler that pods name has a profile, and none waits for volumes that are not there."""
    settings = yaml.safe_load(scheduling.configuration(Path("/k"), ["volcano", "default-scheduler"]))

    assert [profile["schedulerName"] for profile in settings["profiles"]] == ["default-scheduler", "volcano"]
    for profile in settings["profiles"]:
        assert {"name": "VolumeBinding"} in profile["plugins"]["multiPoint"]["disabled"]

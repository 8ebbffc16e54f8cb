"""Pictures of jobs, one file a case as `msjob graph` prints it; `tests/unit/graph` says what is right about them."""

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from msjob.api import Job
from msjob.graph import dot, draw, mermaid
from msjob.render import render
from support.jobs import Json, msjob, role, template

NEEDY = template(
    env=[{"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "tracker", "key": "token"}}}],
    limits={"huawei.com/Ascend910": 8},
    volumes=[
        {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
        {"name": "code", "configMap": {"name": "code"}},
    ],
)

CASES: dict[str, list[Json]] = {
    "standalone": [msjob(scheduler=None, worker=1)],
    "parameter-server": [msjob(ps=2, worker=4)],
    "msrun": [msjob(scheduler=None, worker=3, launch_mode="Msrun", proc_per_worker=8)],
    "msrun-scheduler": [msjob(worker=2, launch_mode="Msrun", proc_per_worker=8)],
    "large": [msjob("llm", worker=role(64, NEEDY), proc_per_worker="auto", elastic_policy={"maxReplicas": 128})],
    "suspended": [msjob(suspend=True, worker=role(2, NEEDY))],
    "no-pods": [msjob(scheduler=None, worker=0)],
    "two-jobs": [msjob("first", worker=role(1, NEEDY)), msjob("second", scheduler=None, worker=role(1, NEEDY))],
    "odd-text": [
        msjob("end", namespace="graph", worker=role(1, template(image_pull_secrets=[{"name": 'a"]\n-->#b;'}])))
    ],
}


class TextExtension(SingleFileSnapshotExtension):
    """Stores text as it is."""

    file_extension = "mmd"
    _write_mode = WriteMode.TEXT

    def serialize(self, data: Any, **_options: Any) -> str:
        """Print text.

        Args:
            data: the text.
            _options: of syrupy; none applies.
        """
        return str(data)


class DotExtension(TextExtension):
    """Likewise, of Graphviz."""

    file_extension = "dot"


def picture(case: str) -> Any:
    """The picture of a case."""
    return draw((Job.parse(job), render(job)) for job in CASES[case])


@pytest.mark.parametrize("case", CASES)
def test_mermaid(case: str, snapshot: SnapshotAssertion) -> None:
    """Each case is drawn as reviewed in a browser."""
    assert mermaid(picture(case)) == snapshot.use_extension(TextExtension)


@pytest.mark.parametrize("case", ["large", "suspended", "odd-text"])
def test_dot(case: str, snapshot: SnapshotAssertion) -> None:
    """Likewise for Graphviz."""
    assert dot(picture(case)) == snapshot.use_extension(DotExtension)

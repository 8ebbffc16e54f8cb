"""``msjob graph`` on the command line."""

from pathlib import Path

import pytest

from msjob.api import Job
from msjob.graph import dot, draw, mermaid
from msjob.render import render
from support.cli import msjob_call, text
from support.jobs import msjob
from support.programs import ROOT

BROKEN = """
from msjob.workload.construct import MSJobWorkload


class Broken(MSJobWorkload):
    def pod(self, role, *, host):
        raise ValueError("no such pool")
"""


def test_prints_mermaid_by_default() -> None:
    """The picture of all jobs in the files, as Mermaid unless DOT is asked for, and nothing else on standard output."""
    first, second = msjob("first"), msjob("second", namespace="team")
    picture = draw((Job.parse(job), render(job)) for job in (first, second))

    assert msjob_call("graph", "-f", "-", stdin=text(first, second)).out == mermaid(picture)
    assert msjob_call("graph", "-f", "-", "-o", "dot", stdin=text(first, second)).out == dot(picture)


def test_namespace() -> None:
    """A job that names no namespace is drawn in the one that is asked for."""
    done = msjob_call("graph", "-f", "-", "-n", "team", stdin=text(msjob(namespace=None)))

    assert "MSJob team/train owns" in done.out


def test_job_that_is_not_valid() -> None:
    """Findings go to standard error, and nothing is drawn."""
    done = msjob_call("graph", "-f", "-", stdin=text(msjob(), msjob("bad", scheduler=2)))

    assert (done.code, done.out) == (1, "")
    assert "[scheduler-single]" in done.err


def test_suspended_job() -> None:
    """A suspended job is drawn, and told to be."""
    done = msjob_call("graph", "-f", "-", stdin=text(msjob(suspend=True)))

    assert done.code == 0
    assert "once it is resumed" in done.out
    assert "the job is suspended" in done.err


def test_construct_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A site's construct is used, and what it says is told in a line."""
    (tmp_path / "broken_jobs.py").write_text(BROKEN)
    monkeypatch.syspath_prepend(tmp_path)

    done = msjob_call("graph", "-f", "-", "--job-construct", "broken_jobs:Broken", stdin=text(msjob()))

    assert (done.code, done.out) == (3, "")
    assert "Broken failed on default/train: ValueError: no such pool" in done.err


SAMPLES = sorted(path for path in (ROOT / "samples").rglob("*.yaml") if "\nkind: MSJob\n" in path.read_text())


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_samples(sample: Path) -> None:
    """Every sample can be drawn."""
    done = msjob_call("graph", "-f", str(sample))

    assert done.code == 0
    assert "subgraph job1" in done.out

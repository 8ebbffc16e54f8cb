"""The README, in a cluster: what its job dies of, and its first job, with the commands in the order of the page."""

import re
import shlex
from typing import Final

import pytest
import yaml

from msjob_cli.main import GROUPS
from support.live_jobs import Jobs
from support.msjob_program import MsjobProgram
from support.programs import ROOT
from support.testbed.logs import LogServer

README: Final = (ROOT / "README.md").read_text(encoding="utf-8")
NAME: Final = "train-cpu"


def commands() -> list[list[str]]:
    """The arguments of `msjob` in the section on the first job, for those that work in a cluster."""
    section = README.partition("\n## First job\n")[2].partition("\n## ")[0]
    block = "".join(re.findall(r"```console\n(.*?)```", section, re.DOTALL))
    lines = [shlex.split(line, comments=True)[1:] for line in block.splitlines() if line.startswith("msjob ")]
    return [line for line in lines if line[0] in GROUPS["In a cluster"]]


@pytest.mark.usefixtures("operator")
def test_first_job(msjob: MsjobProgram, jobs: Jobs, logs: LogServer) -> None:
    """Each command does what the line says of it, for a user with the role `edit`, while the job runs to its end."""
    submit, wait, follow, why = commands()
    msjob.folder.joinpath("samples").symlink_to(ROOT / "samples")

    outcome = msjob(*submit)
    assert (outcome.code, outcome.out) == (0, f"msjob.mindspore.gitee.com/{NAME} created\n")

    with msjob.start(*wait) as waiting, msjob.start(*follow) as following:
        jobs.run(3, NAME)
        waiting.wait_shown(r"Running +Workers 2/2")
        logs.write(f"{NAME}-worker-0", "[rank 0 of 2] finished, loss 0.034758")
        following.wait_shown(r"^\[worker-0\] +\[rank 0 of 2\] finished")
        assert msjob(*why).lines[0].startswith(f"MSJob {NAME} runs")

        jobs.finish("worker-0", "worker-1", "scheduler-0", name=NAME)
        assert waiting.ended().code == 0
        assert following.ended().code == 0
    assert msjob(*why).lines[0].startswith(f"MSJob {NAME} succeeded")


@pytest.mark.usefixtures("operator")
def test_why(msjob: MsjobProgram, jobs: Jobs, namespace: str) -> None:
    """What the page shows at its top is what is told of the job above it, once a Worker has failed."""
    jobs.create(yaml.safe_load(README.partition("```yaml\n")[2].partition("```")[0]))
    jobs.run(3, NAME)
    jobs.finish("worker-1", name=NAME, code=1)
    jobs.wait_state("Failed", NAME)

    outcome = msjob("why", NAME)

    shown = README.partition(f"$ msjob why {NAME}\n")[2].partition("  ...\n```")[0]
    told = outcome.out.replace(jobs.kubelet.node, "node-1").replace(f"-n {namespace}", "-n default")
    assert shown
    assert re.sub(r"\d+ s ago", "just now", told).startswith(shown)

"""The CPU samples train: their processes run for real, with the commands and environment of ``msjob render``."""

import os
import signal
from pathlib import Path

import pytest

from support.training.job import TrainingJob, training_job

STEPS = 100
"""Of each sample: 5 epochs of 20 steps."""

EVERY = 10
"""Steps from one checkpoint to the next."""

FAST = {"TRAIN_SLEEP": "0"}
SLOW = {"TRAIN_SLEEP": "0.3"}
"""So that something can be done to a job between two checkpoints."""


def checkpoints(folder: Path) -> list[int]:
    """The steps after which the checkpoints in a folder were saved; nothing unfinished is among them."""
    names = sorted(path.name for path in folder.iterdir())
    return [int(name.removeprefix("step-").removesuffix(".ckpt")) for name in names if name != "unfinished.ckpt"]


@pytest.fixture(scope="session")
def alone(environment: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[int, str]:
    """The losses of one process that trains without a break, by step; 0 has that on all data, in the end."""
    with training_job("train_suspended", environment, tmp_path_factory.mktemp("alone"), env=FAST) as job:
        assert job.codes() == {"worker-0": 0}, job.tails()
        return {0: f"{job.final_losses()[0]:.6f}", **job.workers()[0].losses()[0]}


def check_finished(job: TrainingJob, ranks: int, alone: dict[int, str]) -> None:
    """Check that all pods end with 0, and that all ranks end with the weights of one process that trains alone."""
    codes = job.codes()
    assert set(codes.values()) == {0}, job.tails()
    final = job.final_losses()
    assert sorted(final) == list(range(ranks))
    assert len(set(final.values())) == 1
    # Sums of the same numbers in another order.
    assert final[0] == pytest.approx(float(alone[0]), rel=1e-3)


def test_learns(alone: dict[int, str]) -> None:
    """The loss of every step is printed, and falls."""
    assert sorted(alone) == list(range(STEPS + 1))
    assert float(alone[1]) > 2
    assert float(alone[0]) < 0.1


def test_cpu(environment: Path, claims: Path, alone: dict[int, str]) -> None:
    """A Scheduler and two Workers end with 0 and the same weights; Worker 0 has the last checkpoints, Worker 1 none."""
    with training_job("train_cpu", environment, claims) as job:
        check_finished(job, 2, alone)

        first, second = job.workers()
        assert (sorted(first.losses()), sorted(second.losses())) == ([0], [1])
        for step, loss in first.losses()[0].items():
            assert float(loss) == pytest.approx(float(alone[step]), rel=1e-2, abs=1e-3)
        assert checkpoints(first.volumes["checkpoints"]) == [STEPS - EVERY, STEPS]
        assert checkpoints(second.volumes["checkpoints"]) == []


def test_suspended(environment: Path, claims: Path, alone: dict[int, str]) -> None:
    """Suspended, a Worker alone saves a checkpoint and ends with 143; resumed, it makes the steps that are left.

    What it prints is what it would have printed without a break, to the last digit.
    """
    folder = claims / "training" / "train-suspended"
    with training_job("train_suspended", environment, claims, env=SLOW) as job:
        job.wait_step(13)
        job.workers()[0].program.send_signal(signal.SIGTERM)
        assert job.codes() == {"worker-0": 143}
        last = job.workers()[0].last_step()
        before = job.workers()[0].losses()[0]
    assert checkpoints(folder) == [(last - 1) // EVERY * EVERY, last]

    with training_job("train_suspended", environment, claims, attempt=1, env=FAST) as job:
        check_finished(job, 1, alone)
        after = job.workers()[0].losses()[0]
        final = job.final_losses()[0]
    assert sorted(after) == list(range(last + 1, STEPS + 1))
    assert {0: f"{final:.6f}", **before, **after} == alone


def test_retry(environment: Path, claims: Path, alone: dict[int, str]) -> None:
    """After a drained node and after a crash, each attempt goes on where the last checkpoint was saved."""
    folder = claims / "training" / "train-retry"
    with training_job("train_retry", environment, claims, env=SLOW) as job:
        job.wait_step(3)
        job.workers()[1].program.send_signal(signal.SIGTERM)
        # The one that was told tells the other, so that both leave after the same step and rank 0 saves it.
        assert [job.code_of(pod) for pod in job.workers()] == [143, 143], job.tails()
        told = job.workers()[0].last_step()
        assert job.workers()[1].last_step() == told
    assert checkpoints(folder)[-1] == told
    periodic = (told // EVERY + 1) * EVERY

    with training_job("train_retry", environment, claims, attempt=1, env=SLOW) as job:
        job.wait_step(periodic + 2)
        first, second = job.workers()
        second.kill()
        # The operator deletes the rest of the attempt: they wait for one that is gone, and end by themselves.
        for pod in (first, job.pods["scheduler-0"]):
            pod.program.send_signal(signal.SIGTERM)
        assert job.codes() == {"scheduler-0": 143, "worker-0": 143, "worker-1": 137}, job.tails()
        assert "still waits for others after 5 s" in first.log
        assert min(first.losses()[0]) == told + 1
        crashed = first.last_step()
    saved = checkpoints(folder)[-1]
    assert periodic <= saved <= crashed
    assert saved % EVERY == 0

    with training_job("train_retry", environment, claims, attempt=2, env=FAST) as job:
        check_finished(job, 2, alone)
        assert sorted(job.workers()[1].losses()[1]) == list(range(saved + 1, STEPS + 1))


def test_msrun(environment: Path, claims: Path, alone: dict[int, str]) -> None:
    """Four ranks in two pods without a Scheduler: a rank that is killed fails its pod; started again, all go on."""
    folder = claims / "training" / "train-msrun"
    with training_job("train_msrun", environment, claims, env=SLOW) as job:
        job.wait_step(EVERY + 2)
        first, second = job.workers()
        ranks = second.process_ids("python train.py")
        assert len(ranks) == 2
        assert len(first.process_ids("python train.py")) == 3  # and the Scheduler
        os.kill(ranks[0], signal.SIGKILL)
        assert job.code_of(second) == 1
        first.delete(grace=1)
    saved = checkpoints(folder)[-1]
    assert saved >= EVERY

    with training_job("train_msrun", environment, claims, attempt=1, env=FAST) as job:
        check_finished(job, 4, alone)
        assert [sorted(pod.losses()) for pod in job.workers()] == [[0, 1], [2, 3]]
        assert sorted(job.workers()[1].losses()[3]) == list(range(saved + 1, STEPS + 1))
    assert checkpoints(folder) == [STEPS - EVERY, STEPS]

"""Data-parallel training with MindSpore, on data that it makes itself, with checkpoints.

It runs alone (`python train.py`), as each process of an MSJob with a Scheduler, and under msrun. Who it is, a process
learns from the environment that the operator gives it; `init()` reads it. The Scheduler runs this script too, and ends
inside of `init()`, once all Workers have gone.

Every step takes one batch of the whole job. Each Worker computes the gradients of its share, and the sums of all are
applied by all, so the Workers keep the same weights, and the loss does not depend on how many they are.

Started again, it goes on with the newest checkpoint. At SIGTERM it saves one and ends with exit code 143; where the
others do not come to the end of their step, because one of them has fallen, it ends without.
"""

from __future__ import annotations  # MindSpore for GPU comes with Python 3.7

import argparse
import os
import signal
import sys
import threading
import time
from pathlib import Path

import mindspore as ms
import numpy as np
from mindspore import nn, ops
from mindspore.communication import get_group_size, get_rank, init

FEATURES = 32
CLASSES = 10
KEPT = 2  # checkpoints


class Group:
    """All Workers of the job: one process, where there is no cluster."""

    def __init__(self) -> None:
        self.rank, self.size = 0, 1
        if "MS_ROLE" in os.environ:
            init()
            self.rank, self.size = get_rank(), get_group_size()
            self._sum, self._first = ops.AllReduce(), ops.Broadcast(0)

    def sum(self, value: ms.Tensor) -> ms.Tensor:
        """Add up the values of all."""
        return self._sum(value) if self.size > 1 else value

    def first(self, value: ms.Tensor) -> ms.Tensor:
        """Give everyone the value of rank 0."""
        return self._first((value,))[0] if self.size > 1 else value

    def say(self, text: str) -> None:
        """Print a line that says whose it is."""
        print(f"[rank {self.rank} of {self.size}] {text}", flush=True)


class Checkpoints:
    """Checkpoints in a folder: weights, the state of the optimizer, and the number of steps that were made.

    Rank 0 alone writes and reads them; the others get all of it from rank 0, so they need not see the folder.
    """

    def __init__(self, folder: Path, group: Group) -> None:
        self.folder, self.group = folder, group

    def save(self, optimizer: nn.Optimizer, step: int) -> None:
        """Write a checkpoint. It is there whole or not at all, however the process ends."""
        if self.group.rank > 0:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        unfinished = self.folder / "unfinished.ckpt"
        ms.save_checkpoint(optimizer, str(unfinished), append_dict={"step": step})
        with unfinished.open("rb") as file:
            os.fsync(file.fileno())
        unfinished.rename(self.folder / f"step-{step:08}.ckpt")
        for old in self._all()[:-KEPT]:
            old.unlink()
        self.group.say(f"saved a checkpoint after step {step}")

    def load(self, optimizer: nn.Optimizer) -> int:
        """Load the newest checkpoint, if there is one, and return the number of steps that were made."""
        step = 0
        if self.group.rank == 0 and self._all():
            values = ms.load_checkpoint(str(self._all()[-1]))
            step = int(values.pop("step").asnumpy())
            ms.load_param_into_net(optimizer, values, strict_load=True)
        step = int(self.group.first(ms.Tensor([step], ms.int32))[0])
        for parameter in optimizer.get_parameters():
            parameter.set_data(self.group.first(parameter))
        if step:
            self.group.say(f"goes on after step {step}")
        return step

    def _all(self) -> list[Path]:
        return sorted(self.folder.glob("step-*.ckpt"))


class Stop:
    """Whether this process was told to stop (SIGTERM), and what ends it.

    Python runs a handler between two steps of its own, so a process that waits in MindSpore for one that has fallen
    would stay until it is killed. A thread hears of the signal all the same.
    """

    def __init__(self, patience: float) -> None:
        self.told, self._agreed = False, threading.Event()
        heard, tells = os.pipe()
        os.set_blocking(tells, False)
        signal.set_wakeup_fd(tells)
        signal.signal(signal.SIGTERM, self._hear)
        threading.Thread(target=self._watch, args=(heard, patience), daemon=True).start()

    def agree(self) -> None:
        """Say that all make no more steps, so that this process ends by itself."""
        self._agreed.set()

    def leave(self, why: str) -> None:
        """End at once: an ordinary end waits for the Scheduler, which may have gone."""
        print(f"stops: {why} (SIGTERM)", flush=True)
        os._exit(128 + signal.SIGTERM)

    def _hear(self, *_: object) -> None:
        self.told = True

    def _watch(self, heard: int, patience: float) -> None:
        while os.read(heard, 1) != bytes([signal.SIGTERM]):
            pass
        if not self._agreed.wait(patience):
            self.leave(f"told to, and still waits for others after {patience:g} s")


def make_data(samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Make points around the centres of classes, the same on each call."""
    random = np.random.default_rng(1)
    labels = random.integers(CLASSES, size=samples)
    points = random.normal(size=(CLASSES, FEATURES))[labels] + random.normal(scale=1.5, size=(samples, FEATURES))
    return points.astype(np.float32), labels.astype(np.int32)


def options() -> argparse.Namespace:
    """Read the command line; what is not on it, from variables such as TRAIN_EPOCHS."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])

    def add(name: str, kind: type, default: object, text: str) -> None:
        value = os.environ.get(f"TRAIN_{name.upper()}", default)
        parser.add_argument(f"--{name}", type=kind, default=value, help=f"{text} (default: {default})")

    add("epochs", int, 5, "times through the data")
    add("steps", int, 20, "steps of an epoch")
    add("batch", int, 64, "samples of a step, shared by all Workers")
    add("checkpoints", Path, "checkpoints", "folder of the checkpoints")
    add("every", int, 10, "steps from one checkpoint to the next")
    add("patience", float, 5, "seconds that a process waits for the others once it was told to stop")
    add("sleep", float, 0, "seconds to wait after each step, to look at a job that runs")
    return parser.parse_args()


def main() -> int:
    """Train, and return the exit code."""
    given = options()
    ms.set_context(mode=ms.PYNATIVE_MODE)  # on the device that this MindSpore was built for
    ms.set_seed(1)
    if os.environ.get("MS_ROLE") != "MS_SCHED":  # a Scheduler has nothing to save, and runs no Python while it waits
        stop = Stop(given.patience)
    group = Group()
    if given.batch < group.size:
        group.say(f"--batch {given.batch} is too small: {group.size} Workers share it")
        return 2

    points, labels = make_data(given.steps * given.batch)
    network = nn.SequentialCell(nn.Dense(FEATURES, 64), nn.ReLU(), nn.Dense(64, CLASSES))
    optimizer = nn.Momentum(network.trainable_params(), learning_rate=0.05, momentum=0.9)
    cross_entropy = nn.CrossEntropyLoss(reduction="sum")

    def loss_of(samples: ms.Tensor, classes: ms.Tensor) -> ms.Tensor:
        return cross_entropy(network(samples), classes) / given.batch

    gradients_of = ms.value_and_grad(loss_of, None, optimizer.parameters)

    checkpoints = Checkpoints(given.checkpoints, group)
    made = checkpoints.load(optimizer)
    steps = given.epochs * given.steps
    for step in range(made, steps):
        epoch, index = divmod(step, given.steps)
        # The order of an epoch is the same for all, also after a restart; of each batch every Worker takes its share.
        order = np.random.default_rng(epoch).permutation(len(labels))
        share = order[index * given.batch : (index + 1) * given.batch][group.rank :: group.size]
        loss, gradients = gradients_of(ms.Tensor(points[share]), ms.Tensor(labels[share]))
        optimizer(tuple(group.sum(gradient) for gradient in gradients))

        # Whoever is told to stop tells the others, so that all leave after the same step and nobody waits in vain.
        loss, stops = group.sum(ms.Tensor([float(loss), stop.told], ms.float32)).asnumpy()
        group.say(f"epoch {epoch + 1}/{given.epochs} step {step + 1}/{steps} loss {loss:.6f}")
        if stops:
            stop.agree()
        if stops or (step + 1) % given.every == 0 or step + 1 == steps:
            checkpoints.save(optimizer, step + 1)
        if stops:
            stop.leave("a Worker was told to")
        time.sleep(given.sleep)

    # Not a sum over the Workers: each computes it with its own weights, so that one can see that they are the same.
    group.say(f"finished, loss {float(loss_of(ms.Tensor(points), ms.Tensor(labels))) / given.steps:.6f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

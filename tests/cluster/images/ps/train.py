"""Training with parameter servers, as MindSpore does it up to 2.7, on data that it makes itself.

All processes of the job run this script, and make as many steps: a PS keeps the weights of the network and updates
them, a Worker computes gradients from its share of the data and prints the losses. The Scheduler ends inside of
`init()`, once all others have gone.
"""

import os
import sys

import mindspore as ms
import numpy as np
from mindspore import dataset, nn
from mindspore.communication import get_group_size, get_rank, init

FEATURES = 32
CLASSES = 10
BATCH = 64
STEPS = int(os.environ.get("TRAIN_STEPS", "100"))
WORKERS = int(os.environ["MS_WORKER_NUM"])


class Losses(ms.Callback):
    """Prints the loss of each step; a PS knows none."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def on_train_step_end(self, run_context: ms.RunContext) -> None:
        """Print it."""
        made = run_context.original_args()
        print(f"[{self.name}] step {made.cur_step_num}/{STEPS} loss {float(made.net_outputs):.6f}", flush=True)


def make_data() -> tuple[np.ndarray, np.ndarray]:
    """Make points around the centres of classes, the same on each call."""
    random = np.random.default_rng(1)
    labels = random.integers(CLASSES, size=STEPS * BATCH * WORKERS)
    points = random.normal(size=(CLASSES, FEATURES))[labels] + random.normal(scale=1.5, size=(labels.size, FEATURES))
    return points.astype(np.float32), labels.astype(np.int32)


def main() -> int:
    """Train, and return the exit code."""
    role = os.environ["MS_ROLE"]
    ms.set_context(mode=ms.GRAPH_MODE, device_target="CPU")  # servers know no other mode
    ms.set_ps_context(enable_ps=True)
    ms.set_seed(1)
    init()
    rank = get_rank()
    name = f"{role} rank {rank} of {get_group_size()}"
    print(f"[{name}] starts", flush=True)

    network = nn.SequentialCell(nn.Dense(FEATURES, 64), nn.ReLU(), nn.Dense(64, CLASSES))
    network.set_param_ps()
    optimizer = nn.Momentum(network.trainable_params(), learning_rate=0.05, momentum=0.9)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    # A PS needs no data, yet counts its steps by it.
    share = rank if role == "MS_WORKER" else 0
    data = dataset.NumpySlicesDataset(make_data(), shuffle=False, num_shards=WORKERS, shard_id=share).batch(BATCH)
    model = ms.Model(network, loss, optimizer)
    model.train(1, data, callbacks=[Losses(name)] if role == "MS_WORKER" else [], dataset_sink_mode=False)
    print(f"[{name}] finished", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Trainings whose processes tell what environment they were given."""

import ast
from typing import Final

from support.cluster.live import Live

_TELLING: Final = """\
import os, sys, train
print("environment", {{key: value for key, value in sorted(os.environ.items()) if key.startswith({prefixes!r})}})
sys.exit(train.main())
"""


def telling(*prefixes: str) -> list[str]:
    """The command of Workers that tell, before they train, of their variables whose names begin with one of these."""
    return ["python", "-c", _TELLING.format(prefixes=prefixes)]


def told(live: Live, pod: str) -> dict[str, str]:
    """The variables that the process of a pod has told of.

    Args:
        live: The namespace.
        pod: Its whole name, such as `train-worker-0`.
    """
    (found,) = [line.text for line in live.lines if line.pod == pod and line.text.startswith("environment {")]
    return dict(ast.literal_eval(found.removeprefix("environment ")))

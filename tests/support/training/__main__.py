"""``python -m support.training``: install MindSpore where it is missing, and end."""

import sys

from support.testbed.errors import HarnessError
from support.testbed.progress import to_stderr
from support.training.environment import training_environment

if __name__ == "__main__":
    try:
        training_environment()
    except HarnessError as problem:
        to_stderr(str(problem))
        sys.exit(1)

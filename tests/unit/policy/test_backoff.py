"""How long a restart waits."""

from itertools import pairwise

import pytest

from msjob_controller.policy.backoff import pause


@pytest.mark.parametrize(
    ("restart", "seconds"),
    [
        (-7, 0),
        (0, 0),
        (1, 0),
        (2, 10),
        (3, 20),
        (4, 40),
        (5, 80),
        (6, 160),
        (7, 320),
        (8, 360),
        (9, 360),
        (1_000, 360),
        (2**40, 360),
    ],
)
def test_pause(restart: int, seconds: int) -> None:
    """The first restart waits for nothing, then 10 s, doubled each time, 6 minutes at most."""
    assert pause(restart) == seconds


def test_never_shorter() -> None:
    """A later restart never waits less than an earlier one."""
    assert all(before <= after for before, after in pairwise(map(pause, range(100))))

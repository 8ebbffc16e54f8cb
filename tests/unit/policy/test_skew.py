"""Stored times that lie ahead of a clock that was set back."""

from typing import Any

import pytest

from msjob_controller.policy.decide import decide
from msjob_controller.policy.skew import mend
from support.decisions import job, running
from support.pods import at, everywhere, of, stamp


@pytest.mark.parametrize(
    ("field", "seconds", "kept"),
    [
        pytest.param("startTime", 99, True, id="a start that was"),
        pytest.param("startTime", 101, True, id="clocks of two operators differ a little"),
        pytest.param("startTime", 3700, False, id="a start that is to come"),
        pytest.param("nextRestartTime", 140, True, id="a restart that waits"),
        pytest.param("nextRestartTime", 460, True, id="for as long as any does"),
        pytest.param("nextRestartTime", 3700, False, id="and for longer"),
    ],
)
def test_time(field: str, seconds: float, *, kept: bool) -> None:
    """A time that can be true is left as it is; one that cannot is taken for now."""
    assert mend({field: stamp(seconds)}, at(100)) == {field: stamp(seconds) if kept else stamp(100)}


def test_replacements() -> None:
    """Of several replacements only the impossible one is mended."""
    good, bad = ({"pod": name, "uid": name, "time": stamp(when)} for name, when in (("a", 110), ("b", 9999)))
    assert mend({"replacements": [good, bad]}, at(100)) == {"replacements": [good, bad | {"time": stamp(100)}]}


@pytest.mark.parametrize("status", [{}, {"startTime": "x"}, {"startTime": None, "replacements": [{}]}])
def test_what_cannot_be_read(status: dict[str, Any]) -> None:
    """What is no time is nobody's future."""
    assert mend(status, at(100)) == status


def test_deadline() -> None:
    """A deadline comes no later than it is long after the clock was set back, whatever happens until then."""
    one = job(run_policy={"activeDeadlineSeconds": 60})
    status = running(one)
    first = decide(one, status, everywhere(one, "R"), at(-3600))
    assert (first.status["startTime"], first.requeue_after) == (stamp(-3600), 60)
    later = decide(one, first.status, everywhere(one, "R"), at(-3570))
    assert (later.status["startTime"], later.requeue_after) == (stamp(-3600), 30)
    assert decide(one, later.status, everywhere(one, "R"), at(-3540)).status["conditions"][-1]["reason"] == (
        "DeadlineExceeded"
    )


def test_restart_that_waits() -> None:
    """A restart whose time lies further ahead than any pause is made at once."""
    one = job(restart_policy="OnFailure")
    status = running(one) | {"attempt": 1, "nextRestartTime": stamp(5000)}
    assert decide(one, status, of(), at(100)).create_pods

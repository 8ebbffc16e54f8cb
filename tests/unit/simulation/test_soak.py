"""`make soak` and `make mutate`: what they run on."""

import pytest
from hypothesis import HealthCheck, given, settings

from msjob.validation import validate
from support import mutations
from support.mutations import FOLDER, MUTATIONS, Mutation
from support.programs import ROOT
from support.simulated import laws, shapes
from support.simulated.cluster import Json
from support.simulated.soak import main

DATA = {"__init__.py", "decision.py", "messages.py", "observed.py", "situation.py"}
"""Modules that decide nothing."""
ROUND = ["--seconds", "0", "--seed", "7", "--examples", "3", "--family", "clusters"]


def test_a_round_names_its_seed(capsys: pytest.CaptureFixture[str]) -> None:
    """A round without a violation says so, and which seed it began with."""
    assert main([*ROUND, "--steps", "5"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("soak: SEED=7, ")
    assert told.endswith("1 rounds, 3 lives, no violation\n")


def test_a_violation_names_its_seed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A violation ends it with status 1, the moves that led to it and the seed that brings them back, the same ones."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("no pod may be made")

    monkeypatch.setattr(laws.Laws, "creating", refuse)
    told = []
    for _ in range(2):
        assert main([*ROUND, "--no-shrink"]) == 1
        told.append(capsys.readouterr())
    assert told[0].out.endswith("soak: violation in family clusters; again: make soak SEED=7\n")
    assert "no pod may be made" in told[0].err
    moves = [text.err[text.err.index("Failing test case") :] for text in told]
    assert "state.begin(" in moves[0]
    assert moves[0] == moves[1]


@pytest.mark.parametrize("family", sorted(shapes.FAMILIES))
def test_shapes_are_jobs(family: str) -> None:
    """Every job of the simulation is one that the API server takes."""

    @settings(max_examples=15, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(shapes.FAMILIES[family])
    def check(job: Json) -> None:
        assert validate(job) == []

    check()


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: f"{mutation.file}: {mutation.what}")
def test_mutations_apply(mutation: Mutation) -> None:
    """The text that a fault changes is in its file, once: else `make mutate` would prove nothing."""
    assert (ROOT / FOLDER / mutation.file).read_text().count(mutation.old) == 1, (
        f"{mutation.file} was changed: let the fault {mutation.what!r} in {mutations.__file__} follow"
    )


def test_every_policy_has_a_mutation() -> None:
    """No policy is left out of `make mutate`."""
    policies = {path.name for path in (ROOT / FOLDER).glob("*.py")} - DATA
    assert {mutation.file for mutation in MUTATIONS} == policies

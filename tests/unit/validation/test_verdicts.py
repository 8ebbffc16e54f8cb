"""The table of verdicts, without a cluster."""

from pathlib import Path

import pytest
import yaml

from msjob.api import Job, rules
from msjob.validation import validate
from support.programs import ROOT
from support.verdicts import STRICTER, UPDATES, VERDICTS, Verdict

SEED_ERA = sorted((ROOT / "tests" / "support" / "seed_era").glob("*.yaml"))


@pytest.mark.parametrize("case", [*VERDICTS, *STRICTER], ids=str)
def test_verdict(case: Verdict) -> None:
    """A good job has no problem; a bad one has one, at the field at fault, and the rule is named."""
    problems = validate(case.job)

    if case.good:
        assert problems == []
    else:
        assert case.field in [problem.field for problem in problems]
        assert case.rule in [problem.rule for problem in problems]


@pytest.mark.parametrize("case", [case for case in VERDICTS if case.good], ids=str)
def test_readable(case: Verdict) -> None:
    """A good job can be read by the types that workload and controller use."""
    Job.parse(case.job)


def test_table_covers_every_rule() -> None:
    """Each rule has a job or an update that it accepts and one that it refuses."""
    for rule in rules.RULES:
        jobs = {case.good for case in VERDICTS if case.rule == rule.id}
        updates = {case.good for case in UPDATES if case.rule == rule.id}
        assert (jobs if rule.check is not None else updates) == {True, False}, rule.id


def test_table_has_no_other_rules() -> None:
    """The table names no rule that is gone."""
    ids = {rule.id for rule in rules.RULES}

    assert {case.rule for case in (*VERDICTS, *STRICTER)} | {case.rule for case in UPDATES} == {
        *ids,
        "schema",
        "metadata",
    }


@pytest.mark.parametrize("path", SEED_ERA, ids=lambda path: path.stem)
def test_seed_era(path: Path) -> None:
    """Manifests in the four shapes of the Go operator's samples are valid as they stand."""
    assert len(SEED_ERA) == 4
    assert validate(yaml.safe_load(path.read_text())) == []

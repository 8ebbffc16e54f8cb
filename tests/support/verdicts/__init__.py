"""Jobs and what to think of them: each rule by jobs that keep it and jobs that break it.

`msjob.validation` is held to this table without a cluster, and the API server with the shipped CRD is held to the same
table, so neither can drift from the other.
"""

from support.verdicts.case import WORKER, Update, Verdict, all_of, changed, set_to
from support.verdicts.examples import FULL, GO_STATUS, OWN_STATUS
from support.verdicts.rules import RULES_BAD, RULES_GOOD
from support.verdicts.schema import METADATA_BAD, METADATA_GOOD, SCHEMA_BAD, SCHEMA_GOOD
from support.verdicts.updates import UPDATES_BAD, UPDATES_GOOD

__all__ = [
    "FULL",
    "GO_STATUS",
    "OWN_STATUS",
    "STRICTER",
    "UPDATES",
    "VERDICTS",
    "Update",
    "Verdict",
    "all_of",
    "changed",
    "set_to",
]

VERDICTS: tuple[Verdict, ...] = (
    *(Verdict(name, "schema", job) for name, job in SCHEMA_GOOD.items()),
    *(Verdict(name, "schema", job, at) for name, (job, at) in SCHEMA_BAD.items()),
    *(Verdict(name, "metadata", job) for name, job in METADATA_GOOD.items()),
    *(Verdict(name, "metadata", job, at) for name, (job, at) in METADATA_BAD.items()),
    *(Verdict(name, rule, job) for rule, jobs in RULES_GOOD.items() for name, job in jobs.items()),
    *(Verdict(name, rule, job, at) for rule, jobs in RULES_BAD.items() for name, (job, at) in jobs.items()),
)
"""What the API server and `msjob.validation` must judge alike."""

STRICTER: tuple[Verdict, ...] = (
    Verdict(
        "template-label-space", "metadata", changed("W.template.metadata", {"labels": {"a": "b c"}}),
        f"{WORKER}.template.metadata.labels.a",
    ),
    Verdict(
        "template-annotation-key", "metadata", changed("W.template.metadata", {"annotations": {"a b": "c"}}),
        f"{WORKER}.template.metadata.annotations.a b",
    ),
)  # fmt: skip
"""What the API server stores, but of which it would refuse every pod."""

UPDATES: tuple[Update, ...] = (
    *(Update(name, rule, change, before, good=True) for name, rule, change, before in UPDATES_GOOD),
    *(Update(name, rule, change, before, good=False) for name, rule, change, before in UPDATES_BAD),
)
"""Updates that only the API server judges, because only it knows both states."""

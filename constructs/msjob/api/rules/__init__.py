"""The rules a job must keep beyond types and enums, each in one place.

A rule stands here twice, side by side: as CEL, which the CRD carries to the API server, and as Python, which `msjob
validate` and the controller run. A test holds the two together on a real API server, by an accepted and a refused
example of each.

An object stored before a rule existed must keep its status, be suspended and be deleted. The API server goes on asking
a rule once anything has changed below the place where it stands, so each stands at the root and sees the old object
(`optionalOldSelf`): it lets an update pass whose old object already broke it, and any update of a job that the operator
has called invalid.
"""

from typing import Any, Final

from msjob.api.problem import Problem
from msjob.api.rules import policies, shape, updates
from msjob.api.rules.rule import Json, Rule

RULES: Final[tuple[Rule, ...]] = (*shape.RULES, *policies.RULES, *updates.RULES)
"""All rules, in the order in which their problems are told."""


def cel() -> list[dict[str, Any]]:
    """All rules as `x-kubernetes-validations` of the root of the CRD schema."""
    return [rule.entry() for rule in RULES]


def check(obj: Json) -> list[Problem]:
    """Check a job against every rule that does not need its earlier version.

    Args:
        obj: an MSJob whose types are sound (see `msjob.validation.validate`, which calls this).

    Returns:
        What is wrong, in the order of the rules; empty for a good job.
    """
    return [
        Problem(path, rule.message, rule.id) for rule in RULES if rule.check is not None for path in rule.check(obj)
    ]

"""The rules a job must keep beyond types and enums, each in one place.

A rule stands here twice, side by side: as CEL, which the CRD carries to the API server, and as Python, which `msjob
validate` and the controller run. A test holds the two together on a real API server, by an accepted and a refused
example of each.

An object stored before a rule existed must keep its status, be suspended and be deleted. Rules at the root and rules on
`spec` are not ratcheted by the API server once anything below them changes, so each is written to let an update pass
whose old object already broke it (`optionalOldSelf`).
"""

from typing import Any, Final

from msjob.api.problem import Problem
from msjob.api.rules import policies, shape, updates
from msjob.api.rules.rule import Json, Rule

RULES: Final[tuple[Rule, ...]] = (*shape.RULES, *policies.RULES, *updates.RULES)
"""All rules, in the order in which their problems are told."""


def cel_for_root() -> list[dict[str, Any]]:
    """`x-kubernetes-validations` of the root of the CRD schema."""
    return [rule.entry() for rule in RULES if rule.scope == "root"]


def cel_for_spec() -> list[dict[str, Any]]:
    """`x-kubernetes-validations` of `spec`."""
    return [rule.entry() for rule in RULES if rule.scope == "spec"]


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

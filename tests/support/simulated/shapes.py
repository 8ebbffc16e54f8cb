"""Jobs for the simulation, by family: each launch mode, and each field that decides about life and death."""

from typing import Any, Final

from hypothesis import strategies as st

from support.jobs import msjob, role
from support.simulated.cluster import Json

ACTIONS: Final = ("FailJob", "Restart", "RestartIgnoringLimit", "IgnorePod")
CODES: Final = (1, 7, 42, 137, 139, 143, 255)
_ABOUT: Final[tuple[Json, ...]] = (
    {"onExitCodes": {"operator": "In", "values": [42]}},
    {"onExitCodes": {"operator": "NotIn", "values": [1, 137, 143]}},
    {"onExitCodes": {"operator": "In", "values": [7, 139]}, "replicaTypes": ["worker"]},
    {"onPodConditions": [{"type": "DisruptionTarget"}]},
    {"onPodReasons": ["Evicted", "Shutdown"]},
    {"onPodReasons": ["Deleted", "NodeLost"]},
)

policies = st.sampled_from([None, "Never", "OnFailure", "OnFailure", "Always", "ExitCode", "ExitCode"])
"""Restart policies."""


@st.composite
def limits(draw: st.DrawFn, *, rules: bool = False) -> Json:
    """Run policies.

    Args:
        draw: given by hypothesis.
        rules: always with a failure policy.
    """
    fields: dict[str, Any] = {
        "backoffLimit": draw(st.sampled_from([None, None, 0, 1, 3])),
        "activeDeadlineSeconds": draw(st.sampled_from([None, None, None, 60, 300])),
        "startupDeadlineSeconds": draw(st.sampled_from([None, None, None, 20, 60])),
        "ttlSecondsAfterFinished": draw(st.sampled_from([None, None, 0, 30])),
        "cleanPodPolicy": draw(st.sampled_from([None, "Running", "All", "None"])),
        "forceDeleteAfterSeconds": draw(st.sampled_from([None, 20, 60])),
        "suspend": draw(st.sampled_from([None, None, None, None, True])),
    }
    if rules or draw(st.integers(0, 3)) == 0:
        fields["failurePolicy"] = {"rules": draw(st.lists(_rules, min_size=1, max_size=3))}
    return {key: value for key, value in fields.items() if value is not None}


_rules = st.tuples(st.sampled_from(ACTIONS), st.sampled_from(_ABOUT)).map(lambda pair: {"action": pair[0], **pair[1]})


def _without_roles(policy: Json, roles: set[str]) -> Json:
    """A run policy without the rules about roles that a job does not have."""
    found = [
        rule
        for rule in policy.get("failurePolicy", {}).get("rules", [])
        if {name.lower() for name in rule.get("replicaTypes", [])} <= {name.lower() for name in roles}
    ]
    rest = {key: value for key, value in policy.items() if key != "failurePolicy"}
    return {**rest, "failurePolicy": {"rules": found}} if found else rest


@st.composite
def clusters(draw: st.DrawFn) -> Json:
    """Jobs with a Scheduler: Workers that know each other, perhaps parameter servers, a Scheduler that may return."""
    scope = draw(st.sampled_from([None, None, "Pod"]))
    servers = draw(st.sampled_from([None, None, None, 1]))
    fields: dict[str, Any] = {"success_policy": draw(st.sampled_from([None, None, "AllWorkers"]))}
    mode = draw(st.sampled_from([None, None, "Msrun"])) if servers is None else None
    if mode is not None:
        fields["launch_mode"] = mode
    if draw(st.integers(0, 3)) == 0:
        fields["enable_dynamic_worker"] = True
    return msjob(
        scheduler=role(1, restart_policy=draw(policies), restart_scope=scope),
        ps=None if servers is None else role(1, restart_policy=draw(policies)),
        worker=role(draw(st.integers(1, 3)), restart_policy=draw(policies)),
        run_policy=_without_roles(draw(limits()), {"Scheduler", "Worker"}),
        **{key: value for key, value in fields.items() if value is not None},
    )


@st.composite
def loners(draw: st.DrawFn) -> Json:
    """Jobs of Workers that stand for themselves, or that restart together all the same."""
    scope = draw(st.sampled_from([None, None, None, "Job"]))
    return msjob(
        scheduler=None,
        worker=role(draw(st.integers(1, 4)), restart_policy=draw(policies), restart_scope=scope),
        run_policy=_without_roles(draw(limits()), {"Worker"}),
        success_policy=draw(st.sampled_from(["", "AllWorkers", "AllWorkers"])),
    )


@st.composite
def others(draw: st.DrawFn) -> Json:
    """Jobs under msrun without a Scheduler, without a launch mode, and without Workers."""
    kind = draw(st.sampled_from(["msrun", "none", "none", "scheduler"]))
    policy = draw(limits())
    if kind == "scheduler":
        return msjob(
            scheduler=role(1, restart_policy=draw(policies)),
            worker=None,
            run_policy=_without_roles(policy, {"Scheduler"}),
        )
    scheduler = role(1, restart_policy=draw(policies)) if kind == "none" and draw(st.booleans()) else None
    return msjob(
        scheduler=scheduler,
        worker=role(draw(st.integers(1, 3)), restart_policy=draw(policies)),
        run_policy=_without_roles(policy, {"Worker"} | ({"Scheduler"} if scheduler else set())),
        launch_mode="Msrun" if kind == "msrun" else "None",
        success_policy=draw(st.sampled_from(["", "AllWorkers"])),
    )


@st.composite
def ruled(draw: st.DrawFn) -> Json:
    """Jobs whose failures are a matter of rules, and jobs whose Workers may fail."""
    mode = draw(st.sampled_from([None, None, "Standalone"]))
    fields: dict[str, Any] = {"launch_mode": mode} if mode else {}
    if draw(st.booleans()):
        fields["enable_dynamic_worker"] = True
    scheduler = None if mode else role(1, restart_policy=draw(policies))
    return msjob(
        scheduler=scheduler,
        worker=role(draw(st.integers(2, 3)), restart_policy=draw(policies)),
        run_policy=_without_roles(draw(limits(rules=True)), {"Worker"}),
        success_policy=draw(st.sampled_from(["", "AllWorkers"])),
        **fields,
    )


@st.composite
def elastic(draw: st.DrawFn) -> Json:
    """Jobs that an autoscaler scales."""
    return msjob(
        scheduler=role(1, restart_policy="OnFailure"),
        worker=role(draw(st.integers(1, 3)), restart_policy=draw(policies)),
        run_policy=_without_roles(draw(limits()), {"Scheduler", "Worker"}),
        elastic_policy={"minReplicas": 1, "maxReplicas": 4},
    )


FAMILIES: Final = {
    "clusters": clusters(),
    "loners": loners(),
    "others": others(),
    "ruled": ruled(),
    "elastic": elastic(),
}
"""Strategies of jobs by name."""

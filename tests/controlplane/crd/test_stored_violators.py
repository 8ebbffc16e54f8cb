"""Jobs stored before the rules: their status can be written, they can be suspended and deleted."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from support.jobs import Json, msjob
from support.testbed.client import Client, Object
from support.testbed.controlplane import ControlPlane
from support.testbed.errors import InvalidError, NotFoundError
from support.testbed.waiting import wait_for
from support.verdicts import VERDICTS, Verdict

from .conftest import CRDS, established, schema_of

BOUNDS = ("enum", "maximum", "maxItems", "maxLength", "maxProperties", "minimum", "minItems", "minLength", "pattern")

RULE_BREAKERS = tuple(
    case
    for case in VERDICTS
    if not case.good
    and case.rule not in {"schema", "metadata"}
    and "generateName" not in case.job["metadata"]
    # Names that Kubernetes itself refuses were never stored.
    and str(case) not in {"name-missing", "name-upper-case", "name-dash-last", "name-underscore"}
)
BOUND_BREAKERS = tuple(
    case
    for case in VERDICTS
    if case.rule == "schema"
    and case.name
    in {
        "backoff-beyond-int32",
        "clean-pod-policy",
        "deadline-zero",
        "elastic-minimum-zero",
        "failure-rule-action",
        "failure-rule-code-beyond",
        "failure-rule-condition-type-empty",
        "failure-rule-no-codes",
        "failure-rule-no-reasons",
        "failure-rule-operator",
        "failure-rules-too-many",
        "force-delete-zero",
        "launch-mode",
        "managed-by",
        "metric-type",
        "proc-per-worker-word",
        "proc-per-worker-zero",
        "quantity-unit",
        "queue-long",
        "replicas-too-many",
        "restart-policy",
        "restart-policy-case",
        "restart-scope",
        "roles-four",
        "startup-deadline-zero",
        "success-policy",
        "ttl-negative",
    }
)
CASES = (*RULE_BREAKERS, *BOUND_BREAKERS)
SPARE = "spare"
OTHER_MANAGER = "kueue.x-k8s.io/multikueue"


def loosened(schema: Any) -> Any:
    """A schema with the types only: no rules, enums or bounds."""
    if isinstance(schema, list):
        return [loosened(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result = {
        key: loosened(value)
        for key, value in schema.items()
        if key not in BOUNDS and key not in {"properties", "x-kubernetes-validations"}
    }
    if result.get("format") == "int32":
        result["format"] = "int64"
    if "properties" in schema:
        result["properties"] = {key: loosened(value) for key, value in schema["properties"].items()}
    return result


class Stored:
    """Violators in a group of their own, stored under a loose CRD that was then replaced by the real one."""

    def __init__(self, admin: Client, namespace: str, manifest: Object) -> None:
        self.admin = admin
        self.namespace = namespace
        self.version = f"{manifest['spec']['group']}/v1"
        self.resource = f"{self.version}/copies"
        self._names: dict[str, str] = {}

    def job(self, case: Verdict, index: int) -> Json:
        """The job of a case under this group, with a name of its own where the name is not what it is about."""
        job = deepcopy(case.job)
        job["apiVersion"] = self.version
        job["metadata"]["namespace"] = self.namespace
        if case.rule == "name":
            name = job["metadata"]["name"]
        elif case.rule == "name-length":
            name = f"{job['metadata']['name'][:-2]}{index:02}"
        else:
            name = f"job{index}"
        job["metadata"]["name"] = self._names[str(case)] = name
        return job

    def name(self, case: Verdict) -> str:
        """The name under which a case is stored."""
        return self._names[str(case)]


def refused(admin: Client, stored: Stored, job: Json) -> bool:
    """Whether a job is refused by now."""
    try:
        admin.create(stored.resource, job, dryRun="All")
    except InvalidError:
        return True
    return False


@pytest.fixture(scope="module")
def stored(control_plane: ControlPlane, shared_namespace: str, new_crd: Callable[[], Object]) -> Stored:
    """All violators, after the upgrade of the CRD."""
    admin = control_plane.admin
    manifest = new_crd()
    loose = deepcopy(manifest)
    loose["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = loosened(schema_of(manifest))
    admin.create(CRDS, loose)
    admin.wait_until(CRDS, manifest["metadata"]["name"], None, established)
    result = Stored(admin, shared_namespace, manifest)

    def create(job: Json) -> bool:
        try:
            admin.create(result.resource, job)
        except NotFoundError:  # served a moment after it is established
            return False
        return True

    spare = {**msjob(SPARE, scheduler=None, ps=1, namespace=shared_namespace), "apiVersion": result.version}
    wait_for(lambda: create(spare), what="the new resource to be served")
    for index, case in enumerate(CASES):
        assert create(result.job(case, index))
    admin.apply(manifest, force=True)
    probe = {**msjob("probe", scheduler=2, namespace=shared_namespace), "apiVersion": result.version}
    wait_for(lambda: refused(admin, result, probe), what="the rules to be in force")
    return result


@pytest.mark.parametrize("case", CASES, ids=str)
def test_new_ones_refused(stored: Stored, case: Verdict) -> None:
    """The upgraded CRD refuses such a job when it is new: the cases below are violators indeed."""
    job = {**deepcopy(case.job), "apiVersion": stored.version}
    job["metadata"] = {"name": job["metadata"]["name"], "namespace": stored.namespace}

    with pytest.raises(InvalidError):
        stored.admin.create(stored.resource, job, dryRun="All")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_kept_usable(stored: Stored, case: Verdict) -> None:
    """Its status is written, it is labelled, suspended, resumed and deleted as any other."""
    name, namespace, admin = stored.name(case), stored.namespace, stored.admin

    status = {"conditions": [{"type": "Failed", "status": "True", "reason": "MSJobFailedValidation"}]}
    patched = admin.patch(stored.resource, name, {"status": status}, namespace, subresource="status")
    assert patched["status"] == status
    status["conditions"].append({"type": "Suspended", "status": "True"})
    patched["status"] = status
    assert admin.replace(stored.resource, patched, subresource="status")["status"] == status
    admin.patch(stored.resource, name, {"metadata": {"labels": {"seen": "yes"}}}, namespace)
    for suspend in (True, False):
        patch = {"spec": {"runPolicy": {"suspend": suspend}}}
        patched = admin.patch(stored.resource, name, patch, namespace)
        assert patched["spec"]["runPolicy"]["suspend"] is suspend
    admin.delete(stored.resource, name, namespace)
    assert not admin.exists(stored.resource, name, namespace)


def test_no_new_fault(stored: Stored) -> None:
    """A violator of one rule is not free to break another."""
    patch = {"spec": {"managedBy": "mindspore.gitee.com/ms-operator", "runPolicy": {"managedBy": OTHER_MANAGER}}}

    with pytest.raises(InvalidError, match=r"managedBy and runPolicy\.managedBy differ"):
        stored.admin.patch(stored.resource, SPARE, patch, stored.namespace)

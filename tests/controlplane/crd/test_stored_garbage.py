"""Objects of wrong types, stored when no schema stood in their way: the operator can say so, people can remove them."""

from collections.abc import Callable
from copy import deepcopy

import pytest

from support.jobs import Json, msjob
from support.testbed.client import Client, Object
from support.testbed.controlplane import ControlPlane
from support.testbed.errors import InvalidError, NotFoundError
from support.testbed.waiting import wait_for
from support.verdicts.garbage import FROZEN, GARBAGE

from .conftest import CRDS, established

VERDICT = {"conditions": [{"type": "Failed", "status": "True", "reason": "MSJobFailedValidation"}]}


class Stored:
    """Objects in a group of their own, stored without a schema before the CRD got its own."""

    def __init__(self, admin: Client, namespace: str, group: str) -> None:
        self.admin = admin
        self.namespace = namespace
        self.version = f"{group}/v1"
        self.resource = f"{self.version}/copies"

    def job(self, name: str, job: Json) -> Json:
        """A job under this group and another name."""
        return {**deepcopy(job), "apiVersion": self.version, "metadata": {"name": name, "namespace": self.namespace}}

    def get(self, name: str) -> Json:
        """The object as stored."""
        return self.admin.get(self.resource, name, self.namespace)


@pytest.fixture(scope="module")
def stored(control_plane: ControlPlane, shared_namespace: str, new_crd: Callable[[], Object]) -> Stored:
    """All objects, after the upgrade of the CRD."""
    admin, manifest = control_plane.admin, new_crd()
    (version,) = manifest["spec"]["versions"]
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    loose = {**version, "schema": {"openAPIV3Schema": anything}, "subresources": {}, "additionalPrinterColumns": []}
    admin.create(CRDS, {**manifest, "spec": {**manifest["spec"], "versions": [loose]}})
    admin.wait_until(CRDS, manifest["metadata"]["name"], None, established)
    result = Stored(admin, shared_namespace, manifest["spec"]["group"])

    def served() -> bool:
        try:
            admin.create(result.resource, result.job("good", msjob()))
        except NotFoundError:  # served a moment after it is established
            return False
        return True

    wait_for(served, what="the new resource to be served")
    for name, job in GARBAGE.items():
        admin.create(result.resource, result.job(name, job))
    admin.apply(manifest, force=True)

    def in_force() -> bool:
        try:
            admin.create(result.resource, result.job("probe", msjob(scheduler=2)), dryRun="All")
        except InvalidError:
            return True
        return False

    wait_for(in_force, what="the schema to be in force")
    return result


@pytest.mark.parametrize("name", GARBAGE)
def test_kept_usable(stored: Stored, name: str) -> None:
    """The operator can write that it is invalid; from then on it is labelled, suspended and deleted as any other.

    What the API server itself no longer takes changes of can at least be deleted.
    """
    admin, resource, namespace = stored.admin, stored.resource, stored.namespace

    written = admin.replace(resource, {**stored.get(name), "status": VERDICT}, subresource="status")

    assert written["status"] == VERDICT
    label = {"metadata": {"labels": {"seen": "yes"}}}
    if name in FROZEN:
        with pytest.raises(InvalidError, match=r"accessor error|in body must be of type object"):
            admin.patch(resource, name, label, namespace)
    else:
        admin.patch(resource, name, label, namespace)
        admin.patch(resource, name, {"spec": {"runPolicy": {"suspend": True}}}, namespace)
    admin.delete(resource, name, namespace)
    assert not admin.exists(resource, name, namespace)


def test_good_one_beside(stored: Stored) -> None:
    """Good jobs stored then are as good now."""
    patch = {"spec": {"msReplicaSpecs": {"Worker": {"replicas": 5}}}}

    patched = stored.admin.patch(stored.resource, "good", patch, stored.namespace)

    assert patched["spec"]["msReplicaSpecs"]["Worker"]["replicas"] == 5

"""The CRD as the code gives it now, on the control plane of the run, and copies of it to play with."""

import secrets
from collections.abc import Callable, Iterator

import pytest

from msjob.schema import crd_manifest
from support.testbed.client import Client, Object
from support.testbed.controlplane import ControlPlane

CRDS = "apiextensions.k8s.io/v1/customresourcedefinitions"


def in_group(group: str) -> Object:
    """The CRD under another API group, for tests that change it: its schema is the real one.

    Its names are others too, because kubectl remembers them for a while and would take the copy for the real one.
    """
    manifest = crd_manifest()
    manifest["metadata"]["name"] = f"copies.{group}"
    manifest["spec"]["group"] = group
    manifest["spec"]["names"] = {"kind": "MSJob", "listKind": "MSJobList", "plural": "copies", "singular": "copy"}
    return manifest


def schema_of(manifest: Object) -> Object:
    """The schema in a CRD."""
    schema: Object = manifest["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    return schema


def established(crd: Object) -> bool:
    """Whether a CRD is served."""
    conditions = crd.get("status", {}).get("conditions") or []
    return any(one["type"] == "Established" and one["status"] == "True" for one in conditions)


@pytest.fixture(scope="session", autouse=True)
def current_crd(control_plane: ControlPlane) -> None:
    """The CRD of `dist/` may be older than the code under test: bring the API server up to date."""
    manifest = crd_manifest()
    control_plane.admin.apply(manifest, force=True)
    control_plane.admin.wait_until(CRDS, manifest["metadata"]["name"], None, established)


@pytest.fixture(scope="module")
def shared_namespace(control_plane: ControlPlane, request: pytest.FixtureRequest) -> Iterator[str]:
    """One namespace for all tests of a module, for those that leave nothing behind."""
    module = request.module.__name__.rpartition(".")[2].removeprefix("test_").replace("_", "-")
    name = control_plane.create_namespace(f"t-{module}-{secrets.token_hex(3)}")
    yield name
    control_plane.admin.delete("v1/namespaces", name)


@pytest.fixture(scope="module")
def new_crd(control_plane: ControlPlane) -> Iterator[Callable[[], Object]]:
    """Makes CRDs of groups that nothing else uses; those that were created are deleted at the end."""
    admin: Client = control_plane.admin
    made: list[str] = []

    def make() -> Object:
        manifest = in_group(f"t{secrets.token_hex(4)}.example.com")
        made.append(manifest["metadata"]["name"])
        return manifest

    yield make
    for name in made:
        if admin.exists(CRDS, name):
            admin.delete(CRDS, name)

"""What holds for every object that is installed."""

import json
from typing import Any

import pytest
from kubernetes_validate.utils import ValidationError, validate

from msjob.checks import KINDS_OF_EVERY_CLUSTER
from msjob.install import installation
from msjob.schema import crd_manifest
from msjob.settings import InstallSettings, project_version

WAVES = {"0000-crd.yaml": "-2", "0001-namespace.yaml": "-1", "0002-rbac.yaml": "-1", "0003-operator.yaml": "0"}


@pytest.fixture(scope="module")
def files() -> dict[str, list[dict[str, Any]]]:
    """The default installation."""
    return installation(InstallSettings())


@pytest.fixture
def objects(files: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """All its objects."""
    return [item for part in files.values() for item in part]


def test_order(files: dict[str, list[dict[str, Any]]]) -> None:
    """Read by name, as kubectl reads a folder, the CRD comes first, then what later objects live in or refer to."""
    assert [*sorted(files)] == [*WAVES]
    assert [item["kind"] for item in files["0000-crd.yaml"]] == ["CustomResourceDefinition"]
    assert [item["kind"] for item in files["0001-namespace.yaml"]] == ["Namespace"]
    assert [item["kind"] for item in files["0003-operator.yaml"]] == ["Deployment", "Service"]


def test_labels(objects: list[dict[str, Any]]) -> None:
    """Every object has the labels that Kubernetes recommends, and the version of the project."""
    for item in objects:
        labels = {
            key.removeprefix("app.kubernetes.io/"): value
            for key, value in item["metadata"]["labels"].items()
            if key.startswith("app.kubernetes.io/")
        }
        assert labels.pop("component")
        assert labels == {
            "name": "ms-operator",
            "instance": "ms-operator",
            "part-of": "ms-operator",
            "managed-by": "cdk8s",
            "version": project_version(),
        }


@pytest.mark.parametrize(("file", "wave"), WAVES.items())
def test_sync_waves(files: dict[str, list[dict[str, Any]]], file: str, wave: str) -> None:
    """Argo CD applies the CRD first and the operator last; the value is a string, as annotations are."""
    assert {item["metadata"]["annotations"]["argocd.argoproj.io/sync-wave"] for item in files[file]} == {wave}


@pytest.mark.parametrize("version", ["1.30", "1.36"])
def test_published_schemas(objects: list[dict[str, Any]], version: str) -> None:
    """Every object is valid by the published schemas of Kubernetes, in which an unknown field is an error."""
    for item in objects:
        validate(item, version, strict=True)


def test_unknown_fields_would_be_found(objects: list[dict[str, Any]]) -> None:
    """The check by schemas is strict: a field that Kubernetes does not know fails it."""
    deployment = json.loads(json.dumps(objects[-2]))
    deployment["spec"]["template"]["spec"]["containers"][0]["imagePolicy"] = "Always"

    with pytest.raises(ValidationError):
        validate(deployment, "1.36", strict=True)


def test_kinds(objects: list[dict[str, Any]]) -> None:
    """Every cluster knows every kind, so `kubectl apply -f dist/` fails on none."""
    assert {(item["apiVersion"], item["kind"]) for item in objects} <= set(KINDS_OF_EVERY_CLUSTER)


def test_names_and_references(objects: list[dict[str, Any]]) -> None:
    """What one object says about another is there: roles, accounts, namespaces."""
    there = {(item["kind"], item["metadata"].get("namespace"), item["metadata"]["name"]) for item in objects}
    for item in objects:
        namespace = item["metadata"].get("namespace")
        if namespace:
            assert ("Namespace", None, namespace) in there
        if "roleRef" in item:
            role = item["roleRef"]
            assert (role["kind"], namespace if role["kind"] == "Role" else None, role["name"]) in there
        for subject in item.get("subjects", []):
            assert (subject["kind"], subject["namespace"], subject["name"]) in there
        if item["kind"] == "Deployment":
            account = item["spec"]["template"]["spec"]["serviceAccountName"]
            assert ("ServiceAccount", namespace, account) in there


def test_crd_is_the_schemas(files: dict[str, list[dict[str, Any]]]) -> None:
    """The CRD that is installed is the one the API types give; the construct tree only adds labels and annotations."""
    (installed,) = files["0000-crd.yaml"]
    expected = json.loads(json.dumps(crd_manifest()))

    assert installed["spec"] == expected["spec"]
    assert installed["metadata"]["name"] == expected["metadata"]["name"]


def test_crd_fits_plain_apply(files: dict[str, list[dict[str, Any]]]) -> None:
    """As compact JSON the CRD is under 200 KB, so that plain `kubectl apply` can keep its copy in an annotation."""
    (crd,) = files["0000-crd.yaml"]

    assert len(json.dumps(crd, separators=(",", ":")).encode()) < 200_000

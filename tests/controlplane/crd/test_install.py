"""The API server takes the CRD as it is, by every way in which people install it."""

import json
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location

import pytest

from msjob.api.kubernetes import MetricSpec
from msjob.schema import crd_manifest
from msjob.structural import structural
from support.jobs import msjob
from support.programs import ROOT
from support.testbed.client import MSJOBS, PODS, Client, Object
from support.testbed.kubectl import Kubectl

from .conftest import CRDS, established, schema_of

NewCrd = Callable[[], Object]

SINCE = {
    **dict.fromkeys(("fileKeyRef", "hostnameOverride", "podCertificate", "restartPolicyRules"), (1, 34)),
    "schedulingGroup": (1, 36),
}
"""Fields of a pod template that are not in every Kubernetes that is supported, with the first that has them."""


def test_accepted(admin: Client, new_crd: NewCrd) -> None:
    """Under strict validation nothing in the CRD is refused or too costly, and nothing of the schema is dropped."""
    manifest = new_crd()

    stored = admin.create(CRDS, manifest, fieldValidation="Strict")

    assert stored["spec"]["versions"] == manifest["spec"]["versions"]
    served = admin.wait_until(CRDS, manifest["metadata"]["name"], None, established)
    assert not [one for one in served["status"]["conditions"] if one["type"] == "NonStructuralSchema"]


def test_names_accepted(admin: Client) -> None:
    """Plural, short name and the rest of the installed CRD collide with nothing in the API server."""
    manifest = crd_manifest()

    assert admin.get(CRDS, manifest["metadata"]["name"])["status"]["acceptedNames"] == manifest["spec"]["names"]


def test_no_warnings(kubectl: Kubectl, new_crd: NewCrd) -> None:
    """The API server has nothing to remark, such as a format that it does not know."""
    done = kubectl.completed("create", "-f", "-", stdin=json.dumps(new_crd()))

    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


@pytest.mark.parametrize("options", [(), ("--server-side",)], ids=["plain", "server-side"])
def test_apply(admin: Client, kubectl: Kubectl, new_crd: NewCrd, options: tuple[str, ...]) -> None:
    """Plain apply, which copies the CRD into an annotation, and server-side apply both work, and twice is as once."""
    manifest = new_crd()
    name = manifest["metadata"]["name"]

    kubectl.run("apply", *options, "-f", "-", stdin=json.dumps(manifest))
    first = admin.wait_until(CRDS, name, None, established)
    kubectl.run("apply", *options, "-f", "-", stdin=json.dumps(manifest))
    second = admin.get(CRDS, name)

    assert manifest["spec"]["versions"] == second["spec"]["versions"]
    assert first["metadata"]["generation"] == second["metadata"]["generation"]
    assert kubectl.completed("diff", *options, "-f", "-", stdin=json.dumps(manifest)).stdout == ""


def test_apply_over_schema_without_rules(admin: Client, kubectl: Kubectl, new_crd: NewCrd) -> None:
    """An installation with an older CRD is brought up to date by a plain apply."""
    manifest = new_crd()
    older = json.loads(json.dumps(manifest))
    del schema_of(older)["x-kubernetes-validations"]
    kubectl.run("apply", "-f", "-", stdin=json.dumps(older))

    kubectl.run("apply", "-f", "-", stdin=json.dumps(manifest))

    assert schema_of(manifest) == schema_of(admin.get(CRDS, manifest["metadata"]["name"]))


def test_template_is_of_this_kubernetes(admin: Client, kubernetes: tuple[int, int]) -> None:
    """The committed pod template schema is what this API server itself says about pod templates.

    An older one has the same, except for fields that came after it.
    """
    spec = spec_from_file_location("generate_pod_template", ROOT / "tools" / "generate_pod_template.py")
    assert spec is not None
    assert spec.loader is not None
    generator = module_from_spec(spec)
    spec.loader.exec_module(generator)
    document = json.loads(admin.request("GET", "/openapi/v3/api/v1"))

    committed = json.loads(generator.OUTPUT.read_text())
    later = {name for name, since in SINCE.items() if since > kubernetes}
    assert committed["kubernetes"] == generator.VERSION
    assert without(committed["schema"], later) == generator.structural(
        document["components"]["schemas"], generator.ROOT
    )
    assert later or generator.OUTPUT.read_text() == generator.render(document, generator.VERSION)


def without(schema: Object, names: set[str]) -> Object:
    """A schema without the fields of some names."""
    if "properties" in schema:
        kept = {key: without(value, names) for key, value in schema["properties"].items() if key not in names}
        schema = {**schema, "properties": kept}
    return {**schema, "items": without(schema["items"], names)} if "items" in schema else schema


def test_field_of_a_newer_kubernetes(admin: Client, namespace: str, kubernetes: tuple[int, int]) -> None:
    """A pod field that the API server does not know may stand in a job, and is left out of pods (docs/install.md)."""
    job = msjob("train", namespace=namespace)
    spec = job["spec"]["msReplicaSpecs"]["Worker"]["template"]["spec"]
    spec["hostnameOverride"] = "known-since-1-34"

    stored = admin.create(MSJOBS, job)
    pod = admin.create(PODS, {"metadata": {"name": "train"}, "spec": spec}, namespace)

    assert stored["spec"] == job["spec"]
    assert ("hostnameOverride" in pod["spec"]) == (kubernetes > SINCE["hostnameOverride"])  # at first not by default


def test_metrics_are_of_this_kubernetes(admin: Client) -> None:
    """A metric of an elastic job has the fields that a HorizontalPodAutoscaler has on this API server, and no other."""
    document = json.loads(admin.request("GET", "/openapi/v3/apis/autoscaling/v2"))["components"]["schemas"]
    (theirs,) = [value for key, value in document.items() if key.endswith("autoscaling.v2.MetricSpec")]

    assert fields(structural(MetricSpec)) == fields(theirs, document)


def fields(schema: Object, document: Object | None = None) -> Object:
    """Names of all fields in a schema with the names of the required ones, without types or bounds."""
    for inner in schema.get("allOf", []):
        schema = inner
    if "$ref" in schema:
        return fields((document or {})[schema["$ref"].rpartition("/")[2]], document)
    inner = schema.get("items") or schema.get("additionalProperties")
    if inner:
        return {"*": fields(inner, document)}
    found = {key: fields(value, document) for key, value in schema.get("properties", {}).items()}
    return {**found, "required": sorted(schema["required"])} if "required" in schema else found

"""The example manifests in `docs/examples`: they parse, and name what is there."""

from typing import Any

import pytest
import yaml

from support.programs import ROOT

FOLDER = ROOT / "docs" / "examples"
KINDS = {
    "argocd/health.yaml": ["v1/ConfigMap"],
    "argocd/jobs.yaml": ["argoproj.io/v1alpha1/Application"],
    "argocd/operator.yaml": ["argoproj.io/v1alpha1/Application"],
    "flux/jobs.yaml": [
        "source.toolkit.fluxcd.io/v1/GitRepository",
        "kustomize.toolkit.fluxcd.io/v1/Kustomization",
    ],
    "flux/operator.yaml": [
        "source.toolkit.fluxcd.io/v1/GitRepository",
        "kustomize.toolkit.fluxcd.io/v1/Kustomization",
    ],
    "network-policy/train-cpu.yaml": ["networking.k8s.io/v1/NetworkPolicy"] * 2,
}
INSTALL = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")


def documents(name: str) -> list[dict[str, Any]]:
    """The objects in an example."""
    return [*yaml.safe_load_all((FOLDER / name).read_text(encoding="utf-8"))]


def dist() -> list[dict[str, Any]]:
    """All objects of the installation, in the order of their files."""
    files = sorted((ROOT / "dist").glob("*.yaml"))
    return [item for file in files for item in yaml.safe_load_all(file.read_text(encoding="utf-8"))]


def test_the_examples() -> None:
    """Each file is told here, has the objects that it should have, and is linked from the page about installing."""
    files = {str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*") if path.is_file()}

    assert files == KINDS.keys()
    for name, kinds in KINDS.items():
        assert [f"{item['apiVersion']}/{item['kind']}" for item in documents(name)] == kinds
        assert f"(examples/{name})" in INSTALL


def test_argocd_operator() -> None:
    """The Application installs what lies in the folder itself, and names the namespace of the installation."""
    (application,) = documents("argocd/operator.yaml")
    source, destination = application["spec"]["source"], application["spec"]["destination"]
    namespaces = {item["metadata"]["name"] for item in dist() if item["kind"] == "Namespace"}

    assert (ROOT / source["path"] / "0000-crd.yaml").is_file()
    assert source["directory"] == {"recurse": False}
    assert {destination["namespace"]} == namespaces
    assert "ServerSideApply=true" in application["spec"]["syncPolicy"]["syncOptions"]


def test_argocd_order() -> None:
    """The sync waves of the installation bring the CRD first, then namespace and rights, then the operator."""
    waves = [(int(item["metadata"]["annotations"]["argocd.argoproj.io/sync-wave"]), item["kind"]) for item in dist()]

    assert waves == sorted(waves, key=lambda item: item[0])
    assert (waves[0], waves[1]) == ((-2, "CustomResourceDefinition"), (-1, "Namespace"))
    assert {kind for wave, kind in waves if wave == 0} == {"Deployment", "Service"}


def test_argocd_guards_the_crd() -> None:
    """Argo CD asks before it removes the CRD, and with it every job."""
    options = dist()[0]["metadata"]["annotations"]["argocd.argoproj.io/sync-options"].split(",")

    assert {"Prune=confirm", "Delete=confirm"} <= {*options}


def test_argocd_jobs() -> None:
    """What the scale subresource and a suspension change is not put back, and no job that is gone is created again."""
    (application,) = documents("argocd/jobs.yaml")
    scale = dist()[0]["spec"]["versions"][0]["subresources"]["scale"]
    (ignored,) = application["spec"]["ignoreDifferences"]

    assert (ignored["group"], ignored["kind"]) == ("mindspore.gitee.com", "MSJob")
    assert scale["specReplicasPath"].replace(".", "/") in ignored["jsonPointers"]
    assert "/spec/runPolicy/suspend" in ignored["jsonPointers"]
    assert "RespectIgnoreDifferences=true" in application["spec"]["syncPolicy"]["syncOptions"]
    assert application["spec"]["syncPolicy"]["automated"]["selfHeal"] is False


@pytest.mark.parametrize("name", ["flux/jobs.yaml", "flux/operator.yaml"])
def test_flux_sources(name: str) -> None:
    """A Kustomization reads from the GitRepository beside it."""
    repository, kustomization = documents(name)

    assert kustomization["spec"]["sourceRef"] == {"kind": "GitRepository", "name": repository["metadata"]["name"]}
    assert kustomization["metadata"]["namespace"] == repository["metadata"]["namespace"]


def test_flux_operator() -> None:
    """Flux takes folders below a path too, so the rendered samples are left out; the CRD is never removed."""
    repository, kustomization = documents("flux/operator.yaml")
    path = kustomization["spec"]["path"].removeprefix("./")
    below = {item.name for item in (ROOT / path).iterdir() if item.is_dir()}
    ignored = repository["spec"]["ignore"].splitlines()
    (patch,) = kustomization["spec"]["patches"]

    assert {f"/{path}/{folder}" for folder in below} <= {*ignored}
    assert patch["target"] == {"kind": "CustomResourceDefinition", "name": dist()[0]["metadata"]["name"]}
    assert yaml.safe_load(patch["patch"]) == [
        {"op": "add", "path": "/metadata/annotations/kustomize.toolkit.fluxcd.io~1prune", "value": "disabled"}
    ]
    assert dist()[0]["metadata"]["annotations"]
    assert documents("flux/jobs.yaml")[1]["spec"]["dependsOn"] == [{"name": kustomization["metadata"]["name"]}]


def test_flux_jobs() -> None:
    """A job that is there is not applied again, and none is removed."""
    kustomization = documents("flux/jobs.yaml")[1]
    (patch,) = kustomization["spec"]["patches"]

    assert patch["target"] == {"kind": "MSJob"}
    annotations = yaml.safe_load(patch["patch"])["metadata"]["annotations"]
    assert annotations == {"kustomize.toolkit.fluxcd.io/ssa": "IfNotPresent"}
    assert kustomization["spec"]["prune"] is False

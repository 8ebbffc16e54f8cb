"""Settings of an installation: what is taken, and what is refused with which words."""

from typing import Any

import click
import pytest

from msjob.settings import (
    EXTRA_FLAGS,
    OWN_FLAGS,
    REFUSED_FLAGS,
    InstallSettings,
    InvalidSettingsError,
    Resources,
    project_version,
)
from msjob_controller.options import command

DIGEST = "sha256:" + "0f" * 32


def test_defaults() -> None:
    """The defaults are the project's own image at its version, in its own namespace, with one pod."""
    settings = InstallSettings()

    assert settings.image == f"swr.cn-south-1.myhuaweicloud.com/mindspore/ms-operator:{project_version()}"
    assert settings.namespace == "ms-operator-system"
    assert settings.replicas == 1
    assert settings.extra_flags == ()
    assert settings.image_pull_policy == "IfNotPresent"


@pytest.mark.parametrize(
    "image",
    [
        "ms-operator",
        "ms-operator:latest",
        "localhost:5000/ms-operator:1.0",
        "registry.example.com/a/b/c:v1.0_rc-2",
        f"registry.example.com/ms-operator@{DIGEST}",
        f"registry.example.com/ms-operator:1.0@{DIGEST}",
        "Registry.Example.com/ms__operator:X",
    ],
)
def test_image_references(image: str) -> None:
    """Every form of image reference that container runtimes take is taken."""
    assert InstallSettings(image=image).image == image


@pytest.mark.parametrize(
    "image",
    [
        " ",
        "ms operator:1",
        "MS-Operator:1",
        "https://registry.example.com/ms-operator:1",
        "ms-operator:",
        "ms-operator:1:2",
        "ms-operator@sha256:abc",
        "registry.example.com//ms-operator",
        "/ms-operator",
        "ms-operator:1\n",
        "-ms-operator",
        "ms-operator:" + "x" * 129,
        "$(IMG)",
    ],
)
def test_malformed_images(image: str) -> None:
    """What no container runtime takes is refused, with the field, the value and the right form."""
    with pytest.raises(InvalidSettingsError) as caught:
        InstallSettings(image=image)

    assert str(caught.value).startswith(f"image: {image!r} is not an image reference: write [registry/]name:tag")


def test_empty_image() -> None:
    """An empty image, as an unset variable in a script gives it, is refused as empty."""
    with pytest.raises(InvalidSettingsError, match=r"^image: is empty and is not an image reference: write "):
        InstallSettings(image="")


@pytest.mark.parametrize("namespace", ["", "Training", "a.b", "-a", "a-", "a_b", "a" * 64, "a\n", "a b"])
def test_malformed_namespaces(namespace: str) -> None:
    """What Kubernetes does not take as the name of a namespace is refused."""
    with pytest.raises(InvalidSettingsError, match=r"^namespace: .* not a namespace name: use at most 63 lower case"):
        InstallSettings(namespace=namespace)


@pytest.mark.parametrize("namespace", ["default", "kube-system", "kube-public", "kube-node-lease"])
def test_namespaces_of_the_cluster(namespace: str) -> None:
    """The namespaces of the cluster are refused: the Restricted profile would keep other pods out of them."""
    with pytest.raises(InvalidSettingsError, match=r"belongs to the cluster.*use a namespace of its own"):
        InstallSettings(namespace=namespace)


def test_longest_namespace() -> None:
    """63 characters are a name."""
    assert InstallSettings(namespace="a" * 63).namespace == "a" * 63


def test_replicas() -> None:
    """0 replicas stop the operator; fewer make no sense."""
    assert InstallSettings(replicas=0).replicas == 0
    with pytest.raises(InvalidSettingsError, match=r"^replicas: -1 is negative: use 0 to stop the operator"):
        InstallSettings(replicas=-1)


def test_pull_policy() -> None:
    """Only the three policies of Kubernetes are taken, in its spelling."""
    policy: Any = "always"
    with pytest.raises(
        InvalidSettingsError, match=r"^image_pull_policy: 'always' is none of Always, IfNotPresent, Never"
    ):
        InstallSettings(image_pull_policy=policy)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("workers=8",), "'workers=8' is not a flag: write --name=value"),
        (("--workers", "8"), "'8' is not a flag"),
        (("",), "is empty and is not a flag"),
        (("--workers=8\n--x",), "is not a flag"),
        (("--leader-elect",), "'--leader-elect' is set by the Deployment itself: leave it out"),
        (("--leader-elect=false",), "is set by the Deployment itself"),
        (("--no-leader-elect",), "'--no-leader-elect' is no flag of ms-operator: it has --job-construct, "),
        (("--job-construct=jobs",), "names no class: write --job-construct=package.module:Class"),
        (("--max-jobs=3",), "'--max-jobs=3' is no flag of ms-operator"),
        (("--help",), "is no flag of ms-operator"),
        (("--workers",), "'--workers' lacks its value: write --workers=value"),
        (("--enable-gang-scheduling",), "is refused by ms-operator, which has no gang scheduling backend yet"),
        (("--gang-scheduler-name=volcano",), "is refused by ms-operator, which has no gang scheduling backend yet"),
        (("--metrics-bind-address=:9090",), "is set by the Deployment itself"),
        (("--health-probe-bind-address=:9091",), "is set by the Deployment itself"),
        (("--workers=8", "--workers=9"), "'--workers=9' sets --workers a second time: keep one of them"),
    ],
)
def test_malformed_flags(flags: tuple[str, ...], message: str) -> None:
    """What the operator would not start with, a flag given twice, or one that the Deployment sets is refused."""
    with pytest.raises(InvalidSettingsError) as caught:
        InstallSettings(extra_flags=flags)

    assert "extra_flags: " in str(caught.value)
    assert message in str(caught.value)


def test_flags_are_those_of_the_operator() -> None:
    """Each flag of the operator is set by the Deployment, may be given, or is refused; and there are no others."""
    flags = {name: option for option in command(lambda _: 0).params for name in option.opts}
    without = {"--version"}

    assert {*OWN_FLAGS, *EXTRA_FLAGS, *REFUSED_FLAGS} == {*flags} - without
    assert {name for name, option in flags.items() if not option.expose_value} == {*REFUSED_FLAGS, *without}
    assert [name for name in EXTRA_FLAGS if isinstance(flags[name].type, click.types.BoolParamType)] == []


@pytest.mark.parametrize(
    ("resources", "message"),
    [
        (Resources(memory_limit="lots"), "resources.memory_limit: 'lots' is not a quantity"),
        (Resources(memory_request=""), "resources.memory_request: is empty and is not a quantity"),
        (Resources(cpu_limit="-1"), "resources.cpu_limit: '-1' is not a quantity"),
        (Resources(memory_request="1Gi"), "resources.memory_request: '1Gi' is more than the limit 512Mi"),
        (Resources(cpu_request="2", cpu_limit="1500m"), "resources.cpu_request: '2' is more than the limit 1500m"),
    ],
)
def test_malformed_resources(resources: Resources, message: str) -> None:
    """What is no quantity, and a request above its limit, is refused."""
    with pytest.raises(InvalidSettingsError) as caught:
        InstallSettings(resources=resources)

    assert message in str(caught.value)


def test_resources_that_are_equal() -> None:
    """A request may equal its limit, in another unit too."""
    resources = Resources(cpu_request="1000m", cpu_limit="1", memory_request="1Gi", memory_limit="1024Mi")

    assert InstallSettings(resources=resources).resources is resources


def test_all_faults_at_once() -> None:
    """Every fault is reported together, so that one run is enough to mend them."""
    with pytest.raises(InvalidSettingsError) as caught:
        InstallSettings(image="", namespace="X", replicas=-1, extra_flags=("x",), resources=Resources(cpu_request="?"))

    assert [problem.field for problem in caught.value.problems] == [
        "image",
        "namespace",
        "replicas",
        "extra_flags",
        "resources.cpu_request",
    ]

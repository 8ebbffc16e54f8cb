"""The versions of Kubernetes that the documentation names: those that the tests run on, and no others."""

import re
from pathlib import Path

import pytest

from support.programs import ROOT
from support.testbed.pins import MODULE, OLDEST_MODULE, minor, read_pins

NEWEST, OLDEST = (".".join(map(str, minor(read_pins(module).kubernetes) or ())) for module in (MODULE, OLDEST_MODULE))


def told(page: str) -> str:
    """Give the text of a page as one line."""
    return " ".join((ROOT / page).read_text(encoding="utf-8").split())


@pytest.mark.parametrize("page", ["README.md", "docs/install.md"])
def test_pages_name_the_versions_of_the_tests(page: str) -> None:
    """What a page says it is tested on are the two pinned versions, and what it says is needed is the older one."""
    text = told(page)

    assert re.findall(r"Tested on Kubernetes (\S+) and (\S+);", text) == [(NEWEST, OLDEST)]
    assert re.findall(r"(\d+\.\d+) or newer is needed", text) == [OLDEST]


def test_contributors_are_told_the_same() -> None:
    """The page for contributors says which one the tests run on as the oldest."""
    assert f"`make test-oldest`) on Kubernetes {OLDEST}," in told("CONTRIBUTING.md")


@pytest.mark.parametrize("module", [MODULE, OLDEST_MODULE], ids=lambda module: module.name)
def test_programs_are_of_one_version_throughout(module: Path) -> None:
    """A module takes all that Kubernetes is made of in one version: a `go.mod` that mixes them may build, too."""
    pins, text = read_pins(module), (module / "go.mod").read_text()

    staging = re.findall(r"^\t(k8s\.io/\S+) => \1 (\S+)$", text, re.MULTILINE)

    assert {version for _, version in staging} == {pins.kubernetes.replace("v1.", "v0.", 1)}
    assert {"k8s.io/api", "k8s.io/apiserver", "k8s.io/client-go", "k8s.io/kubectl"} <= {name for name, _ in staging}
    assert len(re.findall("=>", text)) == len(staging)


def test_oldest_is_older() -> None:
    """The second version is not the first one."""
    assert minor(OLDEST) < minor(NEWEST)  # type: ignore[operator]  # a pin that names no version fails above

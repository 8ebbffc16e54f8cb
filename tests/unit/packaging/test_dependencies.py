"""Dependencies: locked with a hash and without an address, and each with the reason why it is there."""

import re
import tomllib
from pathlib import Path

import pytest

from support.programs import ROOT

LOCKS = sorted((ROOT / "requirements").glob("*.txt"), key=lambda path: path.name)
TRAININGS = (ROOT / "samples" / "training", ROOT / "tests" / "cluster" / "images" / "ps")
"""Have the locks of the images that train, each beside its Dockerfile."""
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PAGE = (ROOT / "docs" / "dependencies.md").read_text()

REQUIREMENT = re.compile(r"(?P<name>[a-z0-9][a-z0-9-]*)==(?P<version>[^\s;]+)(?: ; [^\\]+)?")
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")


def requirements(lock: Path) -> dict[str, tuple[str, list[str]]]:
    """Read a lock file: each package with its version and its hashes."""
    text = re.sub(r"^\s*#.*\n", "", lock.read_text(), flags=re.MULTILINE)
    packages: dict[str, tuple[str, list[str]]] = {}
    for line in text.replace("\\\n", " ").splitlines():
        requirement, *hashes = re.split(r"\s+(?=--)", line.strip())
        match = REQUIREMENT.fullmatch(requirement.strip())
        assert match is not None, f"{lock.name} has a line that is no pinned requirement: {line}"
        packages[match["name"]] = (match["version"], hashes)
    return packages


def names(wanted: list[str]) -> set[str]:
    """Give the package names of requirements such as `pydantic>=2.10,<3`."""
    return {re.split(r"[<>=!~\[ ;]", requirement)[0] for requirement in wanted}


def test_the_lock_files_are_these() -> None:
    """No lock file is missing, and none is there that nothing checks."""
    assert [lock.name for lock in LOCKS] == [
        "bootstrap.txt",
        "build.txt",
        "dev.txt",
        "go.txt",
        "node.txt",
        "runtime.txt",
    ]


@pytest.mark.parametrize(
    "lock",
    [*LOCKS, *(folder / "requirements.txt" for folder in TRAININGS)],
    ids=lambda lock: f"{lock.parent.name}-{lock.stem}",
)
def test_every_package_has_hashes(lock: Path) -> None:
    """Nothing is installed that was not seen when the file was written."""
    packages = requirements(lock)

    assert packages
    unhashed = {name for name, (_, hashes) in packages.items() if not hashes}
    malformed = {h for _, hashes in packages.values() for h in hashes if not HASH.fullmatch(h)}
    assert (unhashed, malformed) == (set(), set())


@pytest.mark.parametrize(
    "file",
    sorted(
        file
        for folder in (ROOT / "requirements", *TRAININGS)
        for file in folder.iterdir()
        if file.suffix in (".in", ".txt")
    ),
    ids=lambda file: f"{file.parent.name}-{file.name}",
)
def test_no_address_is_recorded(file: Path) -> None:
    """The files work with any index or mirror, and tell nobody which one was used."""
    text = file.read_text()

    assert "://" not in text
    assert not re.search(r"^\s*(-i|-f|--[a-z-]*(index|find-links|host))", text, re.MULTILINE)


def test_image_is_built_with_tools_of_the_development_environment() -> None:
    """The wheel in the image is built by the versions that build it here, and by all that `pyproject.toml` asks for."""
    build = requirements(ROOT / "requirements" / "build.txt")
    development = requirements(ROOT / "requirements" / "dev.txt")

    assert names(PROJECT["build-system"]["requires"]) <= set(build)
    assert {name: development.get(name) for name in build} == build


def test_run_time_lock_has_what_the_project_asks_for() -> None:
    """A dependency that was added to the project is locked."""
    assert names(PROJECT["project"]["dependencies"]) <= set(requirements(ROOT / "requirements" / "runtime.txt"))


def test_tests_run_with_the_versions_of_production() -> None:
    """The development environment is the run-time lock and the tools on top, never other versions of the same."""
    runtime = requirements(ROOT / "requirements" / "runtime.txt")
    development = requirements(ROOT / "requirements" / "dev.txt")

    assert names(PROJECT["dependency-groups"]["dev"]) <= set(development)
    assert {name: development.get(name) for name in runtime} == runtime


def told(section: str) -> set[str]:
    """Give the packages that a section of the page has a reason for."""
    text = PAGE.split(f"\n## {section}\n")[1].split("\n## ")[0]
    return {name for name, reason in re.findall(r"^\| `(\S+)` \| (.*) \|$", text, re.MULTILINE) if reason.strip()}


def test_run_time_dependencies_are_told() -> None:
    """Each package that users get has its reason."""
    assert told("At run time") == names(PROJECT["project"]["dependencies"])


def test_optional_dependencies_are_told() -> None:
    """Each extra has its reason."""
    extras = PROJECT["project"]["optional-dependencies"]

    assert told("Optional") == names([requirement for extra in extras.values() for requirement in extra])


def test_development_dependencies_are_told() -> None:
    """Each tool has its reason, those included that bring the toolchains."""
    tools = [(ROOT / "requirements" / f"{name}.in").read_text().strip() for name in ("bootstrap", "go")]

    assert told("For development") == names(PROJECT["dependency-groups"]["dev"] + tools)


@pytest.mark.parametrize("folder", TRAININGS, ids=lambda folder: folder.name)
def test_packages_of_the_images_that_train_are_told(folder: Path) -> None:
    """Each package that is trained with has its reason, and is locked."""
    lines = (folder / "requirements.in").read_text().splitlines()
    wanted = names([line for line in lines if line.strip() and not line.startswith("#")])

    assert told("In the images that train") == wanted
    assert wanted <= set(requirements(folder / "requirements.txt"))


def test_go_modules_are_told() -> None:
    """Each module that a program is built from has its reason."""
    packages = [
        package
        for file in sorted((ROOT / "tests" / "support" / "testbed").glob("*/go.mod"))
        for package in re.findall(r"^(?:tool |\t)(\S+/\S+)$", file.read_text(), re.MULTILINE)
    ]
    modules = {name for name in told("Programs for tests and the demo") if "/" in name}

    assert len(packages) > 5
    assert [package for package in packages if not any(f"{package}/".startswith(f"{name}/") for name in modules)] == []
    assert {name for name in modules if not any(f"{package}/".startswith(f"{name}/") for package in packages)} == set()

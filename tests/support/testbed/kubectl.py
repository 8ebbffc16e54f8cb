"""Run the pinned kubectl."""

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class KubectlError(Exception):
    """kubectl ended with an error.

    Attributes:
        code: Its exit code.
        stdout: What it printed.
        stderr: What it said about the error.
    """

    def __init__(self, arguments: tuple[str | Path, ...], code: int, stdout: str, stderr: str) -> None:
        self.code = code
        self.stdout = stdout
        self.stderr = stderr
        super().__init__(f"kubectl {' '.join(map(str, arguments))} ended with exit code {code}: {stderr.strip()}")


@dataclass(frozen=True)
class Kubectl:
    """kubectl for one user of one cluster.

    Attributes:
        program: The kubectl program.
        kubeconfig: The kubeconfig to use.
        cache: A folder for what kubectl remembers of the API.
        environment: Its environment. By default nothing of this machine's own configuration counts; programs that a
            kubeconfig names to log in with need that.
    """

    program: Path
    kubeconfig: Path
    cache: Path
    environment: Mapping[str, str] | None = None

    def run(self, *arguments: str | Path, stdin: str | None = None, timeout: float = 30) -> str:
        """Run it.

        Args:
            arguments: Such as ``"apply", "-f", path``.
            stdin: What it reads from standard input, for ``-f -``.
            timeout: Seconds that it may take.

        Returns:
            What it printed to standard output; warnings on standard error are not in it.

        Raises:
            KubectlError: It failed.
        """
        result = self.completed(*arguments, stdin=stdin, timeout=timeout)
        if result.returncode:
            raise KubectlError(arguments, result.returncode, result.stdout, result.stderr)
        return result.stdout

    def json(self, *arguments: str | Path) -> Any:
        """Run it with ``-o json`` and give what it printed, decoded."""
        return json.loads(self.run(*arguments, "-o", "json"))

    def completed(
        self, *arguments: str | Path, stdin: str | None = None, timeout: float = 30
    ) -> subprocess.CompletedProcess[str]:
        """Run it and give exit code, standard output and standard error, whatever came of it."""
        return subprocess.run(
            self._command(arguments),
            check=False,
            capture_output=True,
            text=True,
            input="" if stdin is None else stdin,
            env=self._environment(),
            timeout=timeout,
        )

    def start(self, *arguments: str | Path, output: Path) -> subprocess.Popen[str]:
        """Start it, as for ``get --watch``; the caller ends it.

        Args:
            arguments: As for `run`.
            output: The file that takes all that it prints.
        """
        with output.open("w") as file:
            return subprocess.Popen(
                self._command(arguments),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                text=True,
                env=self._environment(),
            )

    def _command(self, arguments: tuple[str | Path, ...]) -> list[str | Path]:
        return [self.program, "--kubeconfig", self.kubeconfig, "--cache-dir", self.cache, *arguments]

    def _environment(self) -> dict[str, str]:
        if self.environment is not None:
            return dict(self.environment)
        ours = {name: value for name, value in os.environ.items() if not name.startswith(("KUBE", "KUBECTL_"))}
        return {**ours, "KUBERC": "off", "HOME": str(self.cache)}

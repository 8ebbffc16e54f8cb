"""The flags of the operator, as a user meets them."""

from dataclasses import asdict
from typing import Any

import pytest
from click.testing import CliRunner, Result

from msjob_controller.options import Options, address, command

DEFAULTS: dict[str, Any] = {
    "kubeconfig": None,
    "namespace": None,
    "metrics_bind_address": ":8080",
    "health_probe_bind_address": ":8081",
    "leader_elect": False,
    "leader_election_namespace": "ms-operator-system",
    "kube_api_qps": 0.0,
    "kube_api_burst": 30,
    "workers": 16,
    "job_construct": None,
    "log_level": "info",
}


def start(*arguments: str, env: dict[str, str] | None = None, code: int = 0) -> tuple[list[Options], Result]:
    """Run the command with an operator that notes its options and ends with a code."""
    seen: list[Options] = []

    def run(options: Options) -> int:
        seen.append(options)
        return code

    variables = {"POD_NAMESPACE": None, **(env or {})}
    return seen, CliRunner(env=variables).invoke(command(run), arguments, prog_name="ms-operator")


def options(*arguments: str, env: dict[str, str] | None = None) -> dict[str, Any]:
    """Options that are not as they are by default."""
    (found,), result = start(*arguments, env=env)
    assert (result.exit_code, result.output) == (0, "")
    return {key: value for key, value in asdict(found).items() if value != DEFAULTS[key]}


def test_defaults() -> None:
    """Without flags all jobs are run, by one instance, without a limit of requests."""
    (found,), _ = start()
    assert asdict(found) == DEFAULTS


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["--kubeconfig", "/a/b"], {"kubeconfig": "/a/b"}),
        (["--kubeconfig="], {}),
        (["--namespace", "team-a"], {"namespace": "team-a"}),
        (["--namespace="], {}),
        (["--metrics-bind-address", "127.0.0.1:9000"], {"metrics_bind_address": "127.0.0.1:9000"}),
        (["--metrics-bind-address=0"], {"metrics_bind_address": "0"}),
        (["--health-probe-bind-address=[::1]:0"], {"health_probe_bind_address": "[::1]:0"}),
        (["--leader-elect"], {"leader_elect": True}),
        (["--leader-elect=true"], {"leader_elect": True}),
        (["--leader-elect=false"], {}),
        (["--leader-elect", "--workers", "4"], {"leader_elect": True, "workers": 4}),
        (["--leader-election-namespace", "here"], {"leader_election_namespace": "here"}),
        (["--kube-api-qps", "12.5", "--kube-api-burst", "1"], {"kube_api_qps": 12.5, "kube_api_burst": 1}),
        (["--workers=256"], {"workers": 256}),
        (["--job-construct", "site.jobs:Job"], {"job_construct": "site.jobs:Job"}),
        (["--job-construct="], {}),
        (["--log-level", "debug"], {"log_level": "debug"}),
        # Off is what they are: a Deployment that says so keeps working.
        (["--enable-gang-scheduling=false"], {}),
        (["--gang-scheduler-name="], {}),
    ],
)
def test_flag(arguments: list[str], found: dict[str, Any]) -> None:
    """Each flag sets its option and no other, in the spellings that Go programs take."""
    assert options(*arguments) == found


def test_every_option_has_been_looked_at() -> None:
    """An option that is added is missing in this file until somebody adds it here."""
    assert set(DEFAULTS) == set(Options.__dataclass_fields__)
    _, result = start("--help")
    assert result.exit_code == 0
    for name in DEFAULTS:
        assert f"--{name.replace('_', '-')}" in result.output


def test_namespace_of_the_lease() -> None:
    """The Lease is in the pod's own namespace where the Deployment tells it; the flag wins."""
    assert options(env={"POD_NAMESPACE": "elsewhere"}) == {"leader_election_namespace": "elsewhere"}
    assert options(env={"POD_NAMESPACE": ""}) == {}
    both = options("--leader-election-namespace", "flagged", env={"POD_NAMESPACE": "elsewhere"})
    assert both == {"leader_election_namespace": "flagged"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--enable-gang-scheduling"], ["--enable-gang-scheduling", "no gang scheduling backend", "remove the flag"]),
        (["--enable-gang-scheduling=true"], ["no gang scheduling backend"]),
        (["--gang-scheduler-name", "volcano"], ["--gang-scheduler-name", "no gang scheduling backend"]),
        (["--metrics-bind-address", "8080"], ["--metrics-bind-address", "'8080' is no address", ":8080"]),
        (["--health-probe-bind-address", ":http"], ["--health-probe-bind-address", "':http' is no address"]),
        (["--leader-elect=perhaps"], ["--leader-elect", "perhaps"]),
        (["--kube-api-qps", "-1"], ["--kube-api-qps", "-1"]),
        (["--kube-api-burst", "0"], ["--kube-api-burst", "0"]),
        (["--workers", "0"], ["--workers", "0"]),
        (["--workers", "many"], ["--workers", "'many'"]),
        (["--job-construct", "site.jobs"], ["--job-construct", "'site.jobs' names no class", "package.module:Class"]),
        (["--job-construct=/site/jobs.py:Job"], ["'/site/jobs.py:Job' names no class"]),
        (["--log-level", "loud"], ["--log-level", "'loud'"]),
        (["--max-jobs", "3"], ["--max-jobs"]),
        (["a-word"], ["a-word"]),
    ],
)
def test_refused(arguments: list[str], words: list[str]) -> None:
    """What the operator cannot do is refused before anything starts: exit status 2, and a message that says why."""
    seen, result = start(*arguments)
    assert (seen, result.exit_code) == ([], 2)
    message = " ".join(result.output.split())
    assert all(word in message for word in words), message
    assert "Traceback" not in result.output


@pytest.mark.parametrize("code", [0, 1])
def test_exit_status(code: int) -> None:
    """The exit status is what the run gives."""
    assert start(code=code)[1].exit_code == code


def test_version() -> None:
    """`--version` names program and version."""
    _, result = start("--version")
    assert result.output.startswith("ms-operator, version ")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (":8080", ("", 8080)),
        ("127.0.0.1:8080", ("127.0.0.1", 8080)),
        ("localhost:0", ("localhost", 0)),
        ("[::1]:8080", ("::1", 8080)),
        ("[::]:65535", ("::", 65535)),
        ("0", None),
        ("", None),
    ],
)
def test_address(text: str, found: tuple[str, int] | None) -> None:
    """Addresses are read as Go programs read them."""
    assert address(text) == found


@pytest.mark.parametrize(
    "text", ["8080", "host", "host:", ":65536", ":-1", ":8o80", "::1:8080", "[::1]", "::1", ":٨٠", ": 80", "[::1:8080"]
)
def test_no_address(text: str) -> None:
    """Anything else is no address, and the message shows it."""
    with pytest.raises(ValueError, match="is no address; write :8080"):
        address(text)

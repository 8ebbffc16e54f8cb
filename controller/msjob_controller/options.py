"""The flags of the operator. Names are those of the Go operator, so that Deployments written for it keep working."""

import importlib.metadata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import click

from msjob.settings import CONSTRUCT

DEFAULT_WORKERS: Final = 16
"""Jobs looked at at the same time; each mostly waits for the API server."""
OPERATOR_NAMESPACE: Final = "ms-operator-system"


@dataclass(frozen=True, slots=True)
class Options:
    """What the operator was started with.

    Attributes:
        kubeconfig: path of a kubeconfig; None looks at the pod's ServiceAccount, then at the usual places.
        namespace: the only namespace whose jobs are run; None for all.
        metrics_bind_address: `host:port` of `/metrics`; `0` turns it off.
        health_probe_bind_address: `host:port` of `/healthz` and `/readyz`; `0` turns it off.
        leader_elect: whether several replicas may run, of which one acts.
        leader_election_namespace: namespace of the Lease.
        kube_api_qps: requests a second on average, 0 for no limit.
        kube_api_burst: requests that may come at once under that limit.
        workers: jobs looked at at the same time.
        job_construct: a site's construct as `package.module:Class`.
        log_level: `debug`, `info`, `warning` or `error`.
    """

    kubeconfig: str | None
    namespace: str | None
    metrics_bind_address: str
    health_probe_bind_address: str
    leader_elect: bool
    leader_election_namespace: str
    kube_api_qps: float
    kube_api_burst: int
    workers: int
    job_construct: str | None
    log_level: str


def address(text: str) -> tuple[str, int] | None:
    """Read a bind address as Go programs take it: `:8080`, `127.0.0.1:8080`, `[::1]:8080`; `0` or empty for none.

    Raises:
        ValueError: it is none of these.
    """
    if text in ("", "0"):
        return None
    host, colon, port = text.rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    bare_ipv6 = ":" in host and not bracketed
    if not (colon and port.isascii() and port.isdecimal()) or int(port) > 65535 or bare_ipv6:  # noqa: PLR2004 - TCP
        raise ValueError(f"{text!r} is no address; write :8080 or 127.0.0.1:8080, or 0 for none")
    return host.removeprefix("[").removesuffix("]"), int(port)


def _bind(context: click.Context, parameter: click.Parameter, value: str) -> str:
    try:
        address(value)
    except ValueError as error:
        raise click.BadParameter(str(error), context, parameter) from None
    return value


def _given(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """An empty value is none, as in Go programs: `--namespace=` is all namespaces."""
    del context, parameter
    return value or None


def _construct(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    if value and not CONSTRUCT.fullmatch(value):
        raise click.BadParameter(f"{value!r} names no class: write it as package.module:Class", context, parameter)
    return value or None


def _switch(name: str, **settings: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:  # noqa: ANN401 - click's
    """A flag as Go programs have it: `--name` and `--name=true` turn it on, `--name=false` off."""
    return click.option(
        name, is_flag=False, flag_value=True, type=click.BOOL, default=False, metavar="[=true|false]", **settings
    )


def _refuse_gang(context: click.Context, parameter: click.Parameter, value: bool | str | None) -> None:  # noqa: FBT001
    if value:
        raise click.BadParameter(
            "this version has no gang scheduling backend; remove the flag (pods are scheduled one by one)",
            context,
            parameter,
        )


def command(run: Callable[[Options], int]) -> click.Command:
    """The `ms-operator` command.

    Args:
        run: what to do with the options; returns the exit status.
    """

    @click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
    @click.version_option(importlib.metadata.version("ms-operator"), prog_name="ms-operator")
    @click.option(
        "--kubeconfig",
        callback=_given,
        help="Kubeconfig file. Default: the pod's ServiceAccount, else KUBECONFIG or ~/.kube/config.",
    )
    @click.option("--namespace", callback=_given, help="Run only the jobs of this namespace. Default: all.")
    @click.option(
        "--metrics-bind-address",
        default=":8080",
        show_default=True,
        callback=_bind,
        help="Address of /metrics; 0 for none.",
    )
    @click.option(
        "--health-probe-bind-address",
        default=":8081",
        show_default=True,
        callback=_bind,
        help="Address of /healthz and /readyz; 0 for none.",
    )
    @_switch("--leader-elect", show_default=True, help="Let one of several replicas act, by a Lease.")
    @click.option(
        "--leader-election-namespace",
        envvar="POD_NAMESPACE",
        default=OPERATOR_NAMESPACE,
        show_default=True,
        help="Namespace of the Lease.",
    )
    @click.option(
        "--kube-api-qps",
        type=click.FloatRange(min=0),
        default=0.0,
        help="Requests to the API server a second; 0 (default) for no limit.",
    )
    @click.option(
        "--kube-api-burst",
        type=click.IntRange(min=1),
        default=30,
        show_default=True,
        help="Requests that may come at once under --kube-api-qps.",
    )
    @click.option(
        "--workers",
        type=click.IntRange(1, 256),
        default=DEFAULT_WORKERS,
        show_default=True,
        help="Jobs looked at at the same time.",
    )
    @click.option(
        "--job-construct", callback=_construct, help="Site construct to render jobs with, package.module:Class."
    )
    @click.option(
        "--log-level",
        type=click.Choice(["debug", "info", "warning", "error"]),
        default="info",
        show_default=True,
        help="Lowest level that is logged.",
    )
    @_switch(
        "--enable-gang-scheduling",
        callback=_refuse_gang,
        expose_value=False,
        help="Refused until a gang scheduling backend exists.",
    )
    @click.option("--gang-scheduler-name", callback=_refuse_gang, expose_value=False, help="Refused likewise.")
    @click.pass_context
    def ms_operator(context: click.Context, /, **values: Any) -> None:  # noqa: ANN401 - click gives each its type
        """Run MindSpore jobs (MSJob) on this cluster."""
        context.exit(run(Options(**values)))

    return ms_operator

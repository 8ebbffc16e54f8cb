"""What the commands share that work in a cluster: its options, the way to it, and what becomes of its errors."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from msjob_cli import terminal
from msjob_cli.exits import ExitCode, Failure
from msjob_cli.namespaces import namespace_name

if TYPE_CHECKING:
    from msjob_client import MSJobClient, MSJobError

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Cluster:
    """Which cluster, and which namespace in it.

    Attributes:
        namespace: None for that of the kubeconfig's context, or of the pod.
        context: of the kubeconfig; None for the current one.
        kubeconfig: None to look where kubectl looks.
    """

    namespace: str | None = None
    context: str | None = None
    kubeconfig: Path | None = None

    @contextmanager
    def client(self) -> "Iterator[MSJobClient]":
        """Connect.

        Yields:
            The client.

        Raises:
            Failure: for whatever the client raises, there or in the block.
        """
        from msjob_client import MSJobClient  # noqa: PLC0415 - takes time, which the help has not

        with (
            translated(),
            MSJobClient.connect(kubeconfig=self.kubeconfig, context=self.context, namespace=self.namespace) as client,
        ):
            yield client


def cluster(function: F) -> F:
    """Add `--namespace`, `--context` and `--kubeconfig`, as one argument `cluster`."""

    @wraps(function)
    def command(*, namespace: str | None, context: str | None, kubeconfig: Path | None, **rest: object) -> object:
        return function(cluster=Cluster(namespace, context, kubeconfig), **rest)

    options = (
        click.option(
            "-n",
            "--namespace",
            metavar="NAMESPACE",
            callback=namespace_name,
            help="Namespace of the job.  [default: that of the kubeconfig's context]",
        ),
        click.option("--context", metavar="NAME", help="Context of the kubeconfig.  [default: the current one]"),
        click.option(
            "--kubeconfig",
            metavar="FILE",
            type=click.Path(path_type=Path, exists=True, dir_okay=False),
            help="Kubeconfig.  [default: $KUBECONFIG, else ~/.kube/config]",
        ),
    )
    decorated: Any = command
    for option in reversed(options):
        decorated = option(decorated)
    result: F = decorated
    return result


@contextmanager
def translated() -> Iterator[None]:
    """Turn errors of the client into the one that ends the program.

    Raises:
        Failure: with the message, and the exit code that goes with it.
    """
    from msjob_client import MSJobError  # noqa: PLC0415 - see above

    try:
        yield
    except MSJobError as error:
        raise Failure(str(error), exit_code(error)) from None


def exit_code(error: "MSJobError") -> ExitCode:
    """The exit code of an error of the client."""
    from msjob_client import InvalidJobError, JobWaitTimeoutError  # noqa: PLC0415 - see above

    if isinstance(error, JobWaitTimeoutError):
        return ExitCode.TIME_UP
    return ExitCode.PROBLEMS if isinstance(error, InvalidJobError) else ExitCode.FAILED


def each(jobs: Iterable[T], act: Callable[[T], ExitCode | None]) -> ExitCode:
    """Do something with several jobs; what fails for one is told and keeps nothing from the others.

    Args:
        jobs: their names, or what else says which they are.
        act: does it, and tells; what it gives is what came of it, None for good.

    Returns:
        The worst of what came of it.

    Raises:
        MSJobError: what would fail for all others alike, such as a cluster that does not answer.
    """
    from msjob_client import (  # noqa: PLC0415 - see above
        ClusterUnreachableError,
        MSJobError,
        NotInstalledError,
        UnauthorizedError,
    )

    worst = ExitCode.GOOD
    for job in jobs:
        try:
            worst = max(worst, act(job) or ExitCode.GOOD)
        except (ClusterUnreachableError, NotInstalledError, UnauthorizedError):
            raise
        except MSJobError as error:
            terminal.error(str(error))
            worst = max(worst, exit_code(error))
    return worst


def full_name(name: str) -> str:
    """A job with its kind, as kubectl names it: `msjob.mindspore.gitee.com/train`."""
    from msjob.api.meta import GROUP, SINGULAR  # noqa: PLC0415 - see above

    return f"{SINGULAR}.{GROUP}/{name}"


def tell(name: str, what: str) -> None:
    """Write what came of a job, as in `msjob.mindspore.gitee.com/train created`."""
    terminal.result(terminal.printable(f"{full_name(name)} {what}") + "\n")

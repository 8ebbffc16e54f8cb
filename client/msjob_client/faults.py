"""An error of a request, as an error for its user: what could not be done, why, and what to do."""

import contextlib
import errno
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from msjob.api import Problem, meta
from msjob_client.errors import (
    ClusterUnreachableError,
    ForbiddenError,
    InvalidJobError,
    JobExistsError,
    JobNotFoundError,
    MSJobError,
    NotInstalledError,
    RequestFailedError,
    UnauthorizedError,
)
from msjob_controller.kube.errors import (
    AlreadyExists,
    ApiError,
    Forbidden,
    Invalid,
    NotFound,
    Terminating,
    Unauthorized,
    Unreachable,
)
from msjob_controller.kube.hints import hint

INSTALL: Final = (
    "the cluster knows no MSJobs: install the operator with `kubectl apply -f dist/`, or ask an administrator to"
)
RIGHTS: Final = "ask an administrator for the ClusterRole edit in this namespace; view suffices to read"
ALL_NAMESPACES: Final = "name a namespace, or ask an administrator for rights in all of them"

FILES: Final = "allow more with `ulimit -n`, or choose some of the pods by role or index"

_WRITES: Final = ("POST ", "PATCH ")
_PART: Final = re.compile(r"\[(\d+)\]|\[([^\]]*)\]|([^.\[\]]+)")
"""An index, a key that holds dots, or a plain key."""
_BAD_REQUEST: Final = 400
_TOO_LARGE: Final = 413


class Doing(NamedTuple):
    """What is being done, for the message of an error.

    Attributes:
        text: Such as `MSJob train in namespace default cannot be read`.
        name: Of the job that it is about; empty if it is about none alone.
        namespace: Of that job.
    """

    text: str
    name: str = ""
    namespace: str = ""


@contextlib.contextmanager
def told(doing: Doing) -> Iterator[None]:
    """Let errors of requests leave as errors of this package."""
    try:
        yield
    except ApiError as error:
        raise translate(error, doing) from error


def translate(error: ApiError, doing: Doing) -> MSJobError:  # noqa: PLR0911 - one return a kind of error
    """The error for the user.

    Args:
        error: Of the request.
        doing: What was being done.
    """
    match error:
        case NotFound():
            return _missing(error, doing)
        case AlreadyExists():
            text = f"MSJob {doing.name} exists already in namespace {doing.namespace}"
            return JobExistsError(text, name=doing.name, namespace=doing.namespace)
        case Unauthorized():
            return UnauthorizedError(_line(doing, error.message, hint(error).get("hint", "")))
        case Terminating():
            return ForbiddenError(_line(doing, error.message, "use another namespace"))
        case Forbidden():
            advice = RIGHTS if "/namespaces/" in error.request else ALL_NAMESPACES
            return ForbiddenError(_line(doing, error.message, "" if error.causes else advice))
        case Invalid():
            return InvalidJobError(_line(doing, error.message), _problems(error))
        case Unreachable() if out_of_files(error):
            return RequestFailedError(_line(doing, error.message, FILES), error.status)
        case Unreachable():
            return ClusterUnreachableError(
                _line(doing, f"the API server does not answer ({error.message})", hint(error).get("hint", ""))
            )
    said = hint(error).get("hint", "")
    if error.status in (_BAD_REQUEST, _TOO_LARGE) and not said and error.request.startswith(_WRITES):
        return InvalidJobError(_line(doing, error.message), _problems(error))
    return RequestFailedError(_line(doing, f"{error.message} ({error.status} {error.reason})", said), error.status)


def out_of_files(error: ApiError) -> bool:
    """Whether this process may open no more connections, which does not pass while it holds those that it has."""
    return getattr(error.__cause__, "errno", None) in (errno.EMFILE, errno.ENFILE)


def _missing(error: NotFound, doing: Doing) -> MSJobError:
    if error.reason != "NotFound":
        # No Status of Kubernetes: nothing is served at that path.
        return NotInstalledError(_line(doing, INSTALL)) if meta.GROUP in error.request else _other(error, doing)
    if error.request.startswith("POST "):
        return RequestFailedError(
            _line(doing, f"namespace {doing.namespace} is not there", f"`kubectl create namespace {doing.namespace}`"),
            error.status,
        )
    return JobNotFoundError(doing.name, doing.namespace) if doing.name else _other(error, doing)


def _other(error: ApiError, doing: Doing) -> MSJobError:
    return RequestFailedError(_line(doing, error.message), error.status)


def _line(doing: Doing, said: str, advice: str = "") -> str:
    text = " ".join(said.split())
    return f"{doing.text}: {text}; {advice}" if advice else f"{doing.text}: {text}"


def _problems(error: ApiError) -> tuple[Problem, ...]:
    return tuple(Problem(_path(field), " ".join(message.split()), "api-server") for field, message in error.causes)


def _path(field: str) -> tuple[str | int, ...]:
    """A field as the API server writes it, such as `spec.roles[a.b].containers[0]`."""
    return tuple(
        int(index) if index else key or name for index, key, name in _PART.findall("" if field == "<nil>" else field)
    )

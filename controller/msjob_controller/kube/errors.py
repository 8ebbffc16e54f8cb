"""What can go wrong with a request to the API server.

::

    ApiError
    ├── Unauthorized       401  the credentials are not accepted, also after they were renewed
    ├── Forbidden          403  RBAC, a quota or an admission plugin refuses
    │   └── Terminating    403  the namespace is being deleted: nothing new will ever be taken in it
    ├── NotFound           404
    ├── Conflict           409  the object changed since it was read, or a precondition does not hold
    ├── AlreadyExists      409  reason AlreadyExists: a create met an object of that name
    ├── Gone               410  reason Expired: the resource version is too old, list again
    ├── Invalid            422  the object breaks its schema or a validation rule
    ├── TooManyRequests    429  the server asks to slow down
    ├── ServerError        5xx
    └── Unreachable        no answer: connection refused, reset, closed or timed out
    ConfigError            no usable kubeconfig or ServiceAccount, or an address that cannot be bound
    LeadershipLost         another instance leads, or the Lease could not be renewed in time

`AlreadyExists` is no `Conflict`: after a conflict one reads again and retries, after the other one is often done.
Any other status (400, 405, 413, 415, a redirect) is a plain `ApiError`.
"""
# ruff: noqa: N818 - the classes carry the names of the Kubernetes status reasons

import json
from collections.abc import Mapping
from typing import Any, Final

_MESSAGE_LIMIT: Final = 2048
"""Characters kept of a message: a proxy may answer with a page of HTML."""


class ApiError(Exception):
    """The API server refused a request, or could not be asked.

    Attributes:
        status: HTTP status code; 0 when there was no answer.
        reason: `reason` of the Kubernetes Status, such as `NotFound`; else the reason phrase of HTTP.
        message: What the server said.
        retry_after: Seconds the server asks to wait before the next attempt; None when it asks for nothing.
        request: Method and path, such as `POST /api/v1/namespaces/ns/pods`; empty for an error met in a watch.
        causes: Field and fault of each thing that is wrong with an object, as far as the server lists them.
    """

    causes: tuple[tuple[str, str], ...] = ()

    def __init__(
        self, status: int, reason: str, message: str, retry_after: float | None = None, *, request: str = ""
    ) -> None:
        super().__init__(status, reason, message)
        self.status = status
        self.reason = reason
        self.message = message
        self.retry_after = retry_after
        self.request = request

    def __str__(self) -> str:
        """Return request, message and code in one line."""
        where = f"{self.request}: " if self.request else ""
        code = f"{self.status} {self.reason}".strip() if self.status else self.reason
        return f"{where}{self.message} ({code})"


class Unauthorized(ApiError):
    """401: the credentials are missing, wrong or expired."""


class Forbidden(ApiError):
    """403: the identity may not do this (RBAC), or a quota or an admission plugin refused."""


class Terminating(Forbidden):
    """403 with cause NamespaceTerminating: the namespace is being deleted, which nothing stops."""


class NotFound(ApiError):
    """404: no such object, or no such resource type."""


class Conflict(ApiError):
    """409: the object changed since it was read, or its uid is not the expected one."""


class AlreadyExists(ApiError):
    """409 with reason AlreadyExists: an object of that name exists."""


class Gone(ApiError):
    """410: the resource version or the continue token is too old."""


class Invalid(ApiError):
    """422: the object breaks its schema or a validation rule; the message names the fields."""


class TooManyRequests(ApiError):
    """429: the server sheds load; `retry_after` says for how long."""


class ServerError(ApiError):
    """5xx: the server failed."""


class Unreachable(ApiError):
    """No answer: connection refused, reset, closed or timed out. Whether a write took effect is not known."""

    def __init__(self, message: str, *, request: str = "") -> None:
        super().__init__(0, "Unreachable", message, request=request)


class ConfigError(Exception):
    """No usable kubeconfig, ServiceAccount or address to bind; the message names file or flag and what is wrong."""


class LeadershipLost(Exception):
    """This instance leads no longer and must stop acting at once."""


_BY_STATUS: Final[Mapping[int, type[ApiError]]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Gone,
    422: Invalid,
    429: TooManyRequests,
}
_BY_REASON: Final[Mapping[str, type[ApiError]]] = {"AlreadyExists": AlreadyExists, "Expired": Gone}
_TERMINATING: Final = "NamespaceTerminating"
_SERVER_ERRORS: Final = range(500, 600)


def from_response(
    status: int, body: bytes, *, phrase: str = "", retry_after: str | None = None, request: str = ""
) -> ApiError:
    """Map a failed response to its error.

    Args:
        status: HTTP status code.
        body: Body of the response: a Kubernetes Status, or anything at all from a proxy.
        phrase: HTTP reason phrase, used when the body names no reason.
        retry_after: The Retry-After header. Only seconds are understood, the form the API server sends.
        request: Method and path.

    Returns:
        The error to raise.
    """
    try:
        content = json.loads(body)
    except ValueError:
        content = None
    if not isinstance(content, dict):
        content = {"message": body.decode(errors="replace").strip()}
    error = from_status({**content, "code": status}, phrase=phrase, request=request)
    if retry_after is not None and retry_after.strip().isdecimal():
        error.retry_after = float(retry_after)
    return error


def from_status(content: Mapping[str, Any], *, phrase: str = "", request: str = "") -> ApiError:
    """Map a Kubernetes Status, such as the object of a watch event of type ERROR, to its error.

    Args:
        content: The Status: `code`, `reason`, `message`, `details.retryAfterSeconds`, each optional.
        phrase: Used when the Status names no reason.
        request: Method and path.

    Returns:
        The error to raise.
    """
    code = content.get("code")
    status = code if isinstance(code, int) else 500
    reason = str(content.get("reason") or phrase)
    message = str(content.get("message") or phrase or "no message")[:_MESSAGE_LIMIT]
    details = content.get("details")
    details = details if isinstance(details, dict) else {}
    seconds = details.get("retryAfterSeconds")
    retry_after = float(seconds) if isinstance(seconds, int) and seconds > 0 else None
    fallback = ServerError if status in _SERVER_ERRORS else ApiError
    kind = _BY_REASON.get(reason) or _BY_STATUS.get(status, fallback)
    listed = details.get("causes")
    causes = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    if any(one.get("reason") == _TERMINATING for one in causes):
        kind = Terminating
    error = kind(status, reason, message, retry_after, request=request)
    error.causes = tuple((str(one.get("field") or ""), str(one.get("message") or "")) for one in causes)
    return error

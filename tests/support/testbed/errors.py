"""The errors of the test bed.

HarnessError
    The test bed itself cannot do its work: a program is missing, does not build, or ends while it starts.
ApiError
    The API server refused a request.
    |- BadRequestError, UnauthorizedError, ForbiddenError, NotFoundError, InvalidError, ExpiredError
    |- ConflictError
       |- AlreadyExistsError
UnreachableError
    No answer came from the API server.
WaitTimeoutError
    What a test waited for did not come.
"""

from typing import Any


class HarnessError(Exception):
    """The test bed cannot do its work; the message says what failed and what to do about it."""


class UnreachableError(Exception):
    """The API server could not be reached, or went away before it had answered."""


class WaitTimeoutError(AssertionError):
    """What a test waited for did not come in time: the test has failed."""


class ApiError(Exception):
    """The API server refused a request.

    Attributes:
        status: The HTTP status code, such as 403.
        reason: The reason that Kubernetes gives, such as ``Forbidden``; empty where the answer was no ``Status``.
        message: The message for people.
        body: The whole answer; text under ``raw`` where it was no JSON object.
    """

    def __init__(self, status: int, body: dict[str, Any], request: str = "") -> None:
        self.status = status
        self.reason = str(body.get("reason", ""))
        self.message = str(body.get("message", body.get("raw", "")))
        self.body = body
        super().__init__(f"{request + ': ' if request else ''}{status} {self.reason}: {self.message}")


class BadRequestError(ApiError):
    """400: the request makes no sense to the API server."""


class UnauthorizedError(ApiError):
    """401: the token is not known, or no longer valid."""


class ForbiddenError(ApiError):
    """403: RBAC or an admission plugin does not let this user do that."""


class NotFoundError(ApiError):
    """404: there is no such object, or no such resource."""


class ConflictError(ApiError):
    """409: the object was changed in between, or is in a state that does not allow the request."""


class AlreadyExistsError(ConflictError):
    """409 on creation: an object of that name is there."""


class ExpiredError(ApiError):
    """410: the resource version of a list or watch is too old."""


class InvalidError(ApiError):
    """422: the object breaks the schema or a validation rule."""


_BY_STATUS: dict[int, type[ApiError]] = {
    400: BadRequestError,
    401: UnauthorizedError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    410: ExpiredError,
    422: InvalidError,
}


def api_error(status: int, body: dict[str, Any], request: str = "") -> ApiError:
    """Give the error that fits an answer of the API server.

    Args:
        status: The HTTP status code.
        body: The answer, a ``Status`` object as a rule.
        request: What was asked, for the message.
    """
    kind = _BY_STATUS.get(status, ApiError)
    if status == 409 and body.get("reason") == "AlreadyExists":
        kind = AlreadyExistsError
    return kind(status, body, request)

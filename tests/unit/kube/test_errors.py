"""Which error a response becomes, and what it says."""

import json

import pytest

from msjob_controller.kube import errors


def answer(code: int, reason: str = "", **fields: object) -> bytes:
    """Return the body of a failed request."""
    return json.dumps({"kind": "Status", "code": code, "reason": reason, "message": "why", **fields}).encode()


@pytest.mark.parametrize(
    ("code", "reason", "expected"),
    [
        (400, "BadRequest", errors.ApiError),
        (401, "Unauthorized", errors.Unauthorized),
        (403, "Forbidden", errors.Forbidden),
        (404, "NotFound", errors.NotFound),
        (409, "Conflict", errors.Conflict),
        (409, "AlreadyExists", errors.AlreadyExists),
        (410, "Gone", errors.Gone),
        (410, "Expired", errors.Gone),
        (413, "RequestEntityTooLarge", errors.ApiError),
        (422, "Invalid", errors.Invalid),
        (429, "TooManyRequests", errors.TooManyRequests),
        (500, "InternalError", errors.ServerError),
        (504, "Timeout", errors.ServerError),
    ],
)
def test_status_becomes_its_class(code: int, reason: str, expected: type[errors.ApiError]) -> None:
    """Each status has one class, told apart by its reason where the number does not tell."""
    error = errors.from_response(code, answer(code, reason), request="GET /x")

    assert type(error) is expected
    assert (error.status, error.reason, error.message) == (code, reason, "why")
    assert str(error) == f"GET /x: why ({code} {reason})"


def test_already_exists_is_no_conflict() -> None:
    """Who retries after a conflict does not retry a create that found the name taken."""
    assert not issubclass(errors.AlreadyExists, errors.Conflict)


def test_namespace_on_its_way_out() -> None:
    """A create refused because its namespace is being deleted is told apart by its cause, and is still forbidden."""
    causes = [{"reason": "NamespaceTerminating", "message": "is being terminated", "field": "metadata.namespace"}]
    error = errors.from_response(403, answer(403, "Forbidden", details={"causes": causes}))

    assert type(error) is errors.Terminating
    assert isinstance(error, errors.Forbidden)


def test_proxy_page_is_kept_short() -> None:
    """A page of HTML from a proxy becomes a message of bounded length, with the phrase of HTTP as its reason."""
    error = errors.from_response(502, b"<html>" + b"x" * 100_000, phrase="Bad Gateway")

    assert isinstance(error, errors.ServerError)
    assert error.reason == "Bad Gateway"
    assert error.message.startswith("<html>")
    assert len(error.message) == 2048


@pytest.mark.parametrize(
    "body", [b"", b"\xff\xfe", b"null", b"[1]", b'"text"', b'{"message": null}', b'{"details": {"causes": 5}}']
)
def test_any_body_makes_an_error(body: bytes) -> None:
    """Whatever a broken server sends, the error says something."""
    error = errors.from_response(500, body, phrase="Internal Server Error")

    assert isinstance(error, errors.ServerError)
    assert error.message


@pytest.mark.parametrize(
    ("header", "details", "expected"),
    [
        ("3", None, 3.0),
        (None, {"retryAfterSeconds": 7}, 7.0),
        ("3", {"retryAfterSeconds": 7}, 3.0),
        ("Wed, 21 Oct 2026 07:28:00 GMT", None, None),
        (None, None, None),
    ],
)
def test_retry_after(header: str | None, details: object, expected: float | None) -> None:
    """The header wins over the body; a date, which the API server never sends, is ignored."""
    error = errors.from_response(429, answer(429, details=details), retry_after=header)

    assert error.retry_after == expected


def test_watch_error_carries_its_own_code() -> None:
    """The Status in a watch event is the only place that tells the code."""
    error = errors.from_status({"code": 410, "reason": "Expired", "message": "too old"})

    assert type(error) is errors.Gone


def test_status_without_code_is_the_servers_fault() -> None:
    """An ERROR event without a code is treated like a failure of the server, which is retried."""
    assert type(errors.from_status({})) is errors.ServerError


def test_unreachable_names_the_request() -> None:
    """Without an answer there is no status to show."""
    assert str(errors.Unreachable("timed out", request="GET /x")) == "GET /x: timed out (Unreachable)"


def test_causes_are_kept() -> None:
    """Field and fault of each thing that is wrong with an object, whatever else is in the list."""
    causes = [{"field": "spec.x", "message": "Required value", "reason": "FieldValueRequired"}, "odd", {"message": 5}]
    error = errors.from_response(422, answer(422, "Invalid", details={"causes": causes}))

    assert error.causes == (("spec.x", "Required value"), ("", "5"))
    assert errors.from_response(422, answer(422, "Invalid")).causes == ()

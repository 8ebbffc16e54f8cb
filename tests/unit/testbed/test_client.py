"""The parts of the test client that need no API server."""

import pytest

from support.testbed.client import path_of
from support.testbed.errors import (
    AlreadyExistsError,
    ApiError,
    ConflictError,
    NotFoundError,
    WaitTimeoutError,
    api_error,
)
from support.testbed.waiting import wait_for


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        (("v1/pods",), "/api/v1/pods"),
        (("v1/pods", "a", "b", "status"), "/api/v1/namespaces/a/pods/b/status"),
        (("v1/nodes", None, "a/b"), "/api/v1/nodes/a%2Fb"),
        (("apps/v1/deployments", "a"), "/apis/apps/v1/namespaces/a/deployments"),
    ],
)
def test_paths(arguments: tuple[str, ...], path: str) -> None:
    """A resource is found under the path that its API version and its place give."""
    assert path_of(*arguments) == path


def test_error_types() -> None:
    """The status code decides on the type of an error; that an object is there already is a conflict too."""
    exists = api_error(409, {"reason": "AlreadyExists", "message": "pods a"}, "POST /x")
    plain = api_error(503, {"raw": "no leader"})

    assert isinstance(exists, AlreadyExistsError)
    assert isinstance(exists, ConflictError)
    assert str(exists) == "POST /x: 409 AlreadyExists: pods a"
    assert type(plain) is ApiError
    assert (plain.status, plain.message) == (503, "no leader")


def test_waiting_gives_what_came() -> None:
    """A wait gives the first true value; that an object is missing only means not yet."""
    answers = iter([0, NotFoundError(404, {}), "", "here"])

    def ask() -> object:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    assert wait_for(ask, 5, interval=0) == "here"


def test_waiting_in_vain() -> None:
    """A wait in vain fails the test and tells what was seen last; other errors end it at once."""
    with pytest.raises(WaitTimeoutError, match=r"waited 0 s for dawn; last: \[\]"):
        wait_for(list, 0, what="dawn")
    with pytest.raises(ZeroDivisionError):
        wait_for(lambda: 1 // 0, 5)

"""Which error a refused request becomes for its user, and the one line that it says."""

import errno
import re

import pytest

from msjob_client import errors
from msjob_client.faults import Doing, told, translate
from msjob_controller.kube import errors as kube

READING = Doing("MSJob train in namespace ns cannot be read", "train", "ns")
JOB = "GET /apis/mindspore.gitee.com/v1/namespaces/ns/msjobs/train"
CREATE = "POST /apis/mindspore.gitee.com/v1/namespaces/ns/msjobs"

CASES: list[tuple[kube.ApiError, type[errors.MSJobError], str]] = [
    (
        kube.NotFound(404, "NotFound", 'msjobs "train" not found', request=JOB),
        errors.JobNotFoundError,
        "there is no MSJob train in namespace ns: `msjob get -A` shows",
    ),
    (
        kube.NotFound(404, "Not Found", "404 page not found", request=JOB),
        errors.NotInstalledError,
        "cannot be read: the cluster knows no MSJobs: install the operator with `kubectl apply -f dist/`",
    ),
    (
        kube.NotFound(404, "NotFound", 'namespaces "ns" not found', request=CREATE),
        errors.RequestFailedError,
        "namespace ns is not there; `kubectl create namespace ns`",
    ),
    (
        kube.AlreadyExists(409, "AlreadyExists", "exists", request=CREATE),
        errors.JobExistsError,
        "MSJob train exists already in namespace ns",
    ),
    (
        kube.Unauthorized(401, "Unauthorized", "Unauthorized", request=JOB),
        errors.UnauthorizedError,
        "the credentials are expired or of another cluster: log in again",
    ),
    (
        kube.Forbidden(403, "Forbidden", 'User "a" cannot get resource "msjobs"', request=JOB),
        errors.ForbiddenError,
        'User "a" cannot get resource "msjobs"; ask an administrator for the ClusterRole edit',
    ),
    (
        kube.Forbidden(403, "Forbidden", 'User "a" cannot list', request="GET /apis/mindspore.gitee.com/v1/msjobs"),
        errors.ForbiddenError,
        'User "a" cannot list; name a namespace, or ask an administrator for rights in all of them',
    ),
    (
        kube.Terminating(403, "Forbidden", "it is being terminated", request=CREATE),
        errors.ForbiddenError,
        "it is being terminated; use another namespace",
    ),
    (
        kube.Invalid(422, "Invalid", 'MSJob "train" is invalid:\n* spec.x: Required value', request=CREATE),
        errors.InvalidJobError,
        'MSJob "train" is invalid: * spec.x: Required value',
    ),
    (
        kube.ApiError(400, "BadRequest", 'unknown field "spec.y"', request=CREATE),
        errors.InvalidJobError,
        'unknown field "spec.y"',
    ),
    (
        kube.ApiError(400, "BadRequest", "Client sent an HTTP request to an HTTPS server.", request=JOB),
        errors.RequestFailedError,
        "its address in the kubeconfig must begin with https://",
    ),
    (
        kube.Unreachable("Connection refused", request=JOB),
        errors.ClusterUnreachableError,
        "the API server does not answer (Connection refused)",
    ),
    (
        kube.ServerError(500, "InternalError", "etcd is away", request=JOB),
        errors.RequestFailedError,
        "etcd is away (500 InternalError)",
    ),
    (
        kube.TooManyRequests(429, "TooManyRequests", "slow down", request=JOB),
        errors.RequestFailedError,
        "slow down (429 TooManyRequests)",
    ),
]


@pytest.mark.parametrize(("error", "kind", "said"), CASES, ids=[type(case[0]).__name__ for case in CASES])
def test_errors(error: kube.ApiError, kind: type[errors.MSJobError], said: str) -> None:
    """Its class, and a line with what is wrong and what to do."""
    found = translate(error, READING)
    assert type(found) is kind
    assert said in str(found)
    assert "\n" not in str(found)


def test_a_bad_question_is_no_bad_job() -> None:
    """A selector that cannot be read, for one."""
    error = kube.ApiError(400, "BadRequest", "unable to parse requirement", request="GET /apis/x")
    assert type(translate(error, READING)) is errors.RequestFailedError


def test_too_many_open_files() -> None:
    """That is no fault of the cluster."""
    error = kube.Unreachable("Cannot connect: [Too many open files]", request=JOB)
    error.__cause__ = OSError(errno.EMFILE, "Too many open files")
    found = translate(error, READING)
    assert type(found) is errors.RequestFailedError
    assert "`ulimit -n`" in str(found)


def test_fields() -> None:
    """The causes of a refusal are told field by field, keys with dots among them."""
    error = kube.Invalid(422, "Invalid", "bad", request=CREATE)
    error.causes = (
        ("spec.msReplicaSpecs[a.b].template.spec.containers[0].name", "Required\nvalue"),
        ("<nil>", "a rule"),
    )
    found = translate(error, READING)
    assert isinstance(found, errors.InvalidJobError)
    assert found.problems[0].path == ("spec", "msReplicaSpecs", "a.b", "template", "spec", "containers", 0, "name")
    assert [problem.message for problem in found.problems] == ["Required value", "a rule"]
    assert found.problems[1].path == ()


def test_the_cause_is_kept() -> None:
    """For who looks into it."""
    error = kube.ServerError(500, "", "odd", request=JOB)
    with pytest.raises(errors.RequestFailedError, match=re.escape(READING.text)) as caught, told(READING):
        raise error
    assert caught.value.__cause__ is error
    assert caught.value.status == 500


def test_all_are_of_one_family() -> None:
    """A caller may catch them as one."""
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    assert len(kinds) == 12
    assert all(issubclass(kind, errors.MSJobError) for kind in kinds)

"""Why a child could not be made: what that means for the job, and for what its user reads."""

import re
from collections.abc import Iterable
from http import HTTPStatus
from typing import Final, NamedTuple

from msjob.api import Reason
from msjob_controller.actions import Failure, NameTakenError
from msjob_controller.kube.errors import (
    ApiError,
    Conflict,
    Forbidden,
    Invalid,
    Terminating,
    TooManyRequests,
    Unauthorized,
    Unreachable,
)

REASONS: Final = frozenset(
    {
        Reason.QUOTA,
        Reason.FORBIDDEN,
        Reason.ADMISSION,
        Reason.NAME_TAKEN,
        Reason.CREATE_FAILED,
        Reason.RENDER_FAILED,
    }
)
"""Reasons of `Stalled` that only who makes the children can know; all others show in the pods."""

_QUOTA: Final = re.compile(r"\b(exceeded|failed) quota\b")
"""Words of the ResourceQuota plugin: too much is used, or the pod does not say what it needs."""
_ADMISSION: Final = re.compile(r'^admission webhook |\bfailed calling webhook "|\bValidatingAdmissionPolicy \'')
"""Words of the API server about webhooks and admission policies. Both may deny with a code of their own choice."""


class Hindrance(NamedTuple):
    """What keeps a child from being made.

    Attributes:
        reason: of the condition `Stalled`.
        message: names the child and says what the API server said.
    """

    reason: Reason
    message: str


def hindrance(failures: Iterable[Failure]) -> Hindrance | None:
    """Find what a job has to be told; None if it is nothing, or nothing that the job has to do with.

    An API server that is not there, that is busy or that takes no credentials is no matter of one job. Nor is a
    conflict: quotas make pods that are created at the same time run into each other.
    """
    for failure in failures:
        if not (passing(failure) or isinstance(failure.error, (Conflict, TooManyRequests, Unauthorized, Unreachable))):
            return Hindrance(_reason(failure.error), f"{failure.name} cannot be created: {why(failure)}")
    return None


def why(failure: Failure) -> str:
    """What the API server said, without the request it answered."""
    return str(getattr(failure.error, "message", failure.error))


def passing(failure: Failure) -> bool:
    """Whether a failure is in the course of things, and nobody need hear of it."""
    return isinstance(failure.error, Terminating) or getattr(failure.error, "leaving", False)


def refused(failure: Failure) -> bool:
    """Whether the same request can never succeed.

    What a webhook or a policy denies now it may allow later, whatever code it answers with.
    """
    error = failure.error
    if isinstance(error, NameTakenError) or _ADMISSION.search(error.message):
        return False
    return isinstance(error, Invalid) or error.status == HTTPStatus.BAD_REQUEST


def _reason(error: ApiError | NameTakenError) -> Reason:
    if isinstance(error, NameTakenError):
        return Reason.NAME_TAKEN
    if _ADMISSION.search(error.message):
        return Reason.ADMISSION
    if not isinstance(error, Forbidden):
        return Reason.CREATE_FAILED
    return Reason.QUOTA if _QUOTA.search(error.message) else Reason.FORBIDDEN

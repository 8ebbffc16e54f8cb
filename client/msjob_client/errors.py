"""What can go wrong, each with one line that says what to do.

::

    MSJobError
    ├── JobNotFoundError         there is no MSJob of that name
    ├── JobExistsError           there is one already
    ├── JobFinishedError         the job has ended, so that what was asked for cannot come
    ├── JobSuspendedError        the job is suspended, which stands against what was asked for
    ├── JobWaitTimeoutError      it did not come within the time given
    ├── InvalidJobError          the API server, or the client before it, refuses the content
    ├── ForbiddenError           the account may not do this
    │   └── UnauthorizedError    the credentials are not accepted at all
    ├── NotInstalledError        the cluster knows no MSJobs
    ├── ClusterUnreachableError  no usable kubeconfig, or no answer
    └── RequestFailedError       the API server refused for any other reason
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from msjob.api import Problem
    from msjob_client.job import MSJob


class MSJobError(Exception):
    """Base of all errors of this package: the message is one line, for a person."""


class JobNotFoundError(MSJobError):
    """There is no MSJob of that name in the namespace.

    Attributes:
        name: Of the job.
        namespace: Where it was looked for.
    """

    def __init__(self, name: str, namespace: str, message: str = "") -> None:
        super().__init__(
            message
            or f"there is no MSJob {name} in namespace {namespace}: `msjob get -A` shows those of all namespaces"
        )
        self.name = name
        self.namespace = namespace


class JobExistsError(MSJobError):
    """An MSJob of that name exists.

    Attributes:
        name: Of the job.
        namespace: Its namespace.
    """

    def __init__(self, message: str, *, name: str, namespace: str) -> None:
        super().__init__(message)
        self.name = name
        self.namespace = namespace


class JobFinishedError(MSJobError):
    """The job has ended, and nothing of it changes any more.

    Attributes:
        job: The job as it ended; None if it was deleted.
    """

    def __init__(self, message: str, job: "MSJob | None" = None) -> None:
        super().__init__(message)
        self.job = job


class JobSuspendedError(MSJobError):
    """The job is suspended.

    Attributes:
        job: The job.
    """

    def __init__(self, message: str, job: "MSJob") -> None:
        super().__init__(message)
        self.job = job


class JobWaitTimeoutError(MSJobError):
    """What was waited for did not come in time.

    Attributes:
        job: The job as it was seen last; None if there was none.
    """

    def __init__(self, message: str, job: "MSJob | None" = None) -> None:
        super().__init__(message)
        self.job = job


class InvalidJobError(MSJobError):
    """The content of a job, or of a change to one, breaks a rule.

    Attributes:
        problems: Fields and faults, as far as they are known one by one; may be empty.
    """

    def __init__(self, message: str, problems: "tuple[Problem, ...]" = ()) -> None:
        super().__init__(message)
        self.problems = problems


class ForbiddenError(MSJobError):
    """The account lacks a right, or a quota or an admission policy of the cluster refuses."""


class UnauthorizedError(ForbiddenError):
    """The credentials are missing, expired, or of another cluster."""


class NotInstalledError(MSJobError):
    """The cluster has no CustomResourceDefinition of MSJobs."""


class ClusterUnreachableError(MSJobError):
    """There is no usable kubeconfig or ServiceAccount, or the API server does not answer."""


class RequestFailedError(MSJobError):
    """The API server refused a request for a reason that has no class of its own.

    Attributes:
        status: HTTP status code.
    """

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status

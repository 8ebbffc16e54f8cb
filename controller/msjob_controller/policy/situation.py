"""All that a decision about one job looks at, besides its status, which changes while it is made."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime

from msjob.api import Job
from msjob_controller.policy.attempt import Attempt
from msjob_controller.policy.observed import Observed, PodKey


@dataclass(frozen=True, slots=True)
class Situation:
    """One job at one moment.

    Attributes:
        job: the job.
        attempt: the present attempt.
        observed: what the job owns, old attempts included.
        without: failed pods that it goes on without.
        now: current time, UTC.
    """

    job: Job
    attempt: Attempt
    observed: Observed
    without: AbstractSet[PodKey]
    now: datetime

    @property
    def name(self) -> str:
        """The job as messages name it."""
        return f"{self.job.namespace}/{self.job.name}"

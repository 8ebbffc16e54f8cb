"""What a render gives: one template per role, and the bodies of all objects once the facts are known.

Plain Python without cdk8s: the controller holds these and fills them in, while the constructs run in a process of their
own.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from msjob.api import Role
from msjob.workload.tokens import Facts, Template


@dataclass(frozen=True, slots=True)
class PodRange:
    """Pods of one role that differ only in what tokens stand for.

    Attributes:
        role: which.
        first: lowest replica index.
        count: how many.
        template: of each of them.
    """

    role: Role
    first: int
    count: int
    template: Template


@dataclass(frozen=True, slots=True)
class Rendered:
    """The objects of one job, before the facts.

    The controller creates them in the order Service, a site's own, pods, autoscaler: pods are told the address of the
    Service and may use the site's objects, and the autoscaler acts on pods that run.

    Attributes:
        service: the Service in front of the MindSpore Scheduler, if the job has one.
        pods: in order of creation: Scheduler, PS, Worker, by index.
        extras: objects that a site's own construct adds, owned by the job.
        autoscaler: the HorizontalPodAutoscaler of an elastic job.
    """

    service: Template | None
    pods: tuple[PodRange, ...]
    extras: tuple[Template, ...] = ()
    autoscaler: Template | None = None

    def pod(self, role: Role, index: int, facts: Facts) -> str:
        """Body of one pod as JSON text.

        Raises:
            KeyError: the job has no such pod.
        """
        for part in self.pods:
            if part.role is role and part.first <= index < part.first + part.count:
                return part.template.fill(facts, index)
        raise KeyError((role, index))

    def bodies(self, facts: Facts) -> Iterator[str]:
        """Bodies of all objects as JSON text, in the order in which the controller creates them."""
        for template in (self.service, *self.extras):
            if template is not None:
                yield template.fill(facts)
        for part in self.pods:
            for index in range(part.first, part.first + part.count):
                yield part.template.fill(facts, index)
        if self.autoscaler is not None:
            yield self.autoscaler.fill(facts)

    def objects(self, facts: Facts | None = None) -> list[dict[str, Any]]:
        """All objects, in order of creation.

        Args:
            facts: of the running cluster; placeholders by default.
        """
        return [json.loads(body) for body in self.bodies(facts or Facts())]

    def to_wire(self) -> dict[str, Any]:
        """As plain JSON, for the pipe between the construct worker and the controller."""
        return {
            "service": None if self.service is None else self.service.to_wire(),
            "pods": [
                {"role": part.role.value, "first": part.first, "count": part.count, **part.template.to_wire()}
                for part in self.pods
            ],
            "extras": [extra.to_wire() for extra in self.extras],
            "autoscaler": None if self.autoscaler is None else self.autoscaler.to_wire(),
        }

    @classmethod
    def from_wire(cls, data: Mapping[str, Any]) -> "Rendered":
        """The reverse of `to_wire`."""
        return cls(
            service=None if data["service"] is None else Template.from_wire(data["service"]),
            pods=tuple(PodRange(Role(p["role"]), p["first"], p["count"], Template.from_wire(p)) for p in data["pods"]),
            extras=tuple(Template.from_wire(extra) for extra in data["extras"]),
            autoscaler=None if data["autoscaler"] is None else Template.from_wire(data["autoscaler"]),
        )

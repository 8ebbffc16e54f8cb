"""The construct of one MSJob: the single definition behind `dist/`, `msjob render` and the live pods."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from msjob.api import InvalidJobError, Job, Role
from msjob.cdk import ApiObject, ApiObjectMetadata, Chart, Construct
from msjob.placing import place
from msjob.validation import admit
from msjob.workload import autoscaler, environment, labels, pods, service
from msjob.workload.tokens import Facts, Template, Tokens

PACKED: Final = "packed"
"""API version of an object in the tree that stands for a part of a workload; its name is the part's key."""

Kind = Literal["service", "pods", "autoscaler", "extra"]


@dataclass(frozen=True, slots=True)
class Part:
    """Objects of a job that one template stands for.

    Attributes:
        template: of each of them.
        kind: what they are: pods of a role, the Service, the HorizontalPodAutoscaler, or an object of a site's.
        role: of pods.
        first: lowest replica index of pods.
        count: how many objects.
    """

    template: Template
    kind: Kind
    role: Role | None = None
    first: int = 0
    count: int = 1


class MSJobWorkload(Construct):
    """The Kubernetes objects of one MSJob: a Service, the pods of each role, and what scales an elastic job.

    In any cdk8s app it adds plain API objects to the chart:

        MSJobWorkload(chart, "train", job=yaml.safe_load(text))

    A site changes what its jobs are made of by a subclass that overrides `labels`, `environment`, `pod`, `service` or
    `autoscaler`, or that adds objects of its own in `__init__`; the operator runs it with `--job-construct
    package.module:Class`, so generated manifests and live pods stay the same. Overridden methods are called while
    `__init__` runs, see the tokens of `self.tokens` where a value is known only later, and may change what they got
    from the base class.

    Args:
        scope: parent construct.
        id: construct id, unique in its scope.
        job: the job as the JSON of an MSJob, which is judged first, or a parsed one that has been.
        facts: values of the running cluster; placeholders by default.
        packed: internal to `msjob.render`: the tree has one object per part, which holds the part's key only.

    Attributes:
        job: the job, parsed.
        tokens: stand-ins for the facts and the index of a pod.
        parts: what the job is made of, by key; what jsii keeps for ever is then a short key and not a manifest.

    Raises:
        InvalidJobError: the API server would refuse the job, or no pod could be made of it.
        ValueError: an overridden method took something from an object that the operator needs.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,  # noqa: A002 - the name that every construct uses
        *,
        job: Job | Mapping[str, Any],
        facts: Facts | None = None,
        packed: bool = False,
    ) -> None:
        super().__init__(scope, id)
        self.job = job if isinstance(job, Job) else _read(job, scope)
        self.tokens = Tokens.absent_from(f"{self.job.namespace} {self.job.name} {self.job.spec.model_dump_json()}")
        self._facts = facts or Facts()
        self._packed = packed
        self.parts: dict[str, Part] = {}
        front = service.service(self.job, self.tokens)
        if front is not None:
            self._add_own("service", self.service(), front)
        for role, spec in self.job.roles.items():
            RolePods(self, role, spec.replicas)
        scaler = autoscaler.autoscaler(self.job, self.tokens)
        if scaler is not None:
            self._add_own("autoscaler", self.autoscaler(), scaler)

    def labels(self, role: Role) -> dict[str, str]:
        """The operator's labels for pods of a role."""
        return labels.pod(self.job, role, self.tokens)

    def environment(self, role: Role, *, host: bool) -> list[environment.EnvVar]:
        """The operator's variables for the `mindspore` container; see `msjob.workload.environment`."""
        return environment.injected(self.job, role, self.tokens, host=host)

    def pod(self, role: Role, *, host: bool) -> dict[str, Any]:
        """The manifest of a pod of a role; see `msjob.workload.pods`."""
        return pods.pod(
            self.job,
            role,
            self.tokens,
            host=host,
            labels=self.labels(role),
            environment=self.environment(role, host=host),
        )

    def service(self) -> dict[str, Any] | None:
        """The manifest of the Service in front of the MindSpore Scheduler; not called for a job that has none."""
        return service.service(self.job, self.tokens)

    def autoscaler(self) -> dict[str, Any] | None:
        """The manifest of the HorizontalPodAutoscaler; not called for a job without `elasticPolicy`."""
        return autoscaler.autoscaler(self.job, self.tokens)

    def add_object(self, id: str, manifest: Mapping[str, Any]) -> None:  # noqa: A002 - as above
        """Add an object of the site's own, created by the operator before the pods and removed with the job.

        It gets the namespace of the job, an owner reference, and a label with the job's name unless it has its own. It
        must be of a kind that lives in a namespace, and its name should contain the job's, so that no two jobs claim
        one object.

        Args:
            id: construct id, unique in the workload.
            manifest: the object, with `apiVersion`, `kind` and `metadata.name`.

        Raises:
            ValueError: one of the three is missing, or it is to live in another namespace.
        """
        self._add(self, id, labels.adopted(self.job, manifest, self.tokens), "extra")

    def _add_own(
        self, kind: Literal["service", "autoscaler"], manifest: dict[str, Any] | None, wanted: Mapping[str, Any]
    ) -> None:
        """Add an object that a method of the same name gave, if it is still the one the operator looks for."""
        _require(kind, manifest or {}, wanted["metadata"], self.tokens)
        self._add(self, kind, manifest or {}, kind)

    def _add(
        self,
        scope: Construct,
        name: str,
        manifest: Mapping[str, Any],
        kind: Kind,
        pods: tuple[Role, range] | None = None,
    ) -> None:
        template = Template.of(manifest, self.tokens)
        if self._packed:
            key = str(len(self.parts))
            role, indices = pods or (None, range(1))
            self.parts[key] = Part(template, kind, role, indices.start, len(indices))
            # Typed metadata and no patch: each call through jsii costs a render a tenth of a millisecond or two.
            ApiObject(scope, name, api_version=PACKED, kind=manifest["kind"], metadata=ApiObjectMetadata(name=key))
        elif pods is not None:
            for index in pods[1]:
                place(scope, f"{name}-{index}", json.loads(template.fill(self._facts, index)))
        else:
            place(scope, name, json.loads(template.fill(self._facts)))


def _read(job: Mapping[str, Any], scope: Construct) -> Job:
    """Judge a job and parse it; one that names no namespace is in that of its chart."""
    stored, problems = admit(job)
    if problems:
        raise InvalidJobError(problems)
    parsed = Job.parse(stored)
    given = stored["metadata"].get("namespace") or Chart.of(scope).namespace
    return replace(parsed, namespace=given) if given else parsed


class RolePods(Construct):
    """The pods of one role. One construct whatever the number of pods: they differ only in what tokens stand for.

    Args:
        workload: the job.
        role: which role.
        replicas: number of pods.
    """

    def __init__(self, workload: MSJobWorkload, role: Role, replicas: int) -> None:
        super().__init__(workload, role.slug)
        job, tokens = workload.job, workload.tokens
        wanted = labels.metadata(job, pods.name(job, role, tokens), labels.pod(job, role, tokens), tokens)
        hosts = min(1 if role is job.host_role else 0, replicas)
        for host, indices in ((True, range(hosts)), (False, range(hosts, replicas))):
            if indices:
                manifest = workload.pod(role, host=host)
                _require("pod", manifest, wanted, tokens)
                workload._add(self, "host" if host else "pod", manifest, "pods", (role, indices))  # noqa: SLF001


def _require(method: str, manifest: Mapping[str, Any], wanted: Mapping[str, Any], tokens: Tokens) -> None:
    """Refuse an object of a site's method that the operator would not find again."""
    lost = labels.lost(manifest.get("metadata") or {}, wanted)
    if lost is not None:
        raise ValueError(
            f"{method}() must keep {lost}, which the operator finds its objects by".replace(tokens.index, "<index>")
        )

"""The construct of one MSJob: the single definition behind `dist/`, `msjob render` and the live pods."""

import json
from collections.abc import Mapping
from typing import Any, Final

from msjob.api import Job, Role
from msjob.cdk import ApiObject, ApiObjectMetadata, Construct, JsonPatch
from msjob.workload import environment, labels, pods, service
from msjob.workload.tokens import Facts, Template, Tokens

PACKED: Final = "packed"
"""Top-level key under which a packed object carries its manifest as one JSON string through jsii."""


class MSJobWorkload(Construct):
    """The Kubernetes objects of one MSJob: a Service and the pods of each role.

    In any cdk8s app it adds plain API objects to the chart:

        MSJobWorkload(chart, "train", job=yaml.safe_load(text))

    A site changes what its jobs are made of by a subclass that overrides `labels`, `environment`, `pod` or `service`, or that
    adds objects of its own in `__init__`; the operator runs it with `--job-construct package.module:Class`, so generated
    manifests and live pods stay the same. Overridden methods see the tokens of `self.tokens` where a value is known only later,
    and must not change parts of the template in place.

    Args:
        scope: parent construct.
        id: construct id, unique in its scope.
        job: the job, parsed or as the JSON of an MSJob.
        facts: values of the running cluster; placeholders by default.
        packed: internal to `msjob.render`: one object per role, its manifest packed as a string.
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
        self.job = job if isinstance(job, Job) else Job.parse(job)
        self.tokens = Tokens.absent_from(self.job.spec.model_dump_json())
        self._facts = facts or Facts()
        self._packed = packed
        manifest = self.service()
        if manifest is not None:
            self._add(self, "service", manifest, {"service": True})
        for role, spec in self.job.roles.items():
            RolePods(self, role, spec.replicas)

    def labels(self, role: Role) -> dict[str, str]:
        """The operator's labels for pods of a role."""
        return labels.child(self.job, role, self.tokens.index) | {
            labels.meta.LABEL_RESTART_ATTEMPT: self.tokens.attempt
        }

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
        """The manifest of the Service in front of the MindSpore Scheduler, None for a job without."""
        return service.service(self.job, self.tokens)

    def _add(
        self, scope: Construct, name: str, manifest: dict[str, Any], extent: dict[str, Any], count: int = 1
    ) -> None:
        template = Template.of(manifest, self.tokens)
        if self._packed:
            body = json.dumps({**extent, "text": template.text, "tokens": [*_astuple(self.tokens)]})
            shell = ApiObject(scope, name, api_version=manifest["apiVersion"], kind=manifest["kind"])
            shell.add_json_patch(JsonPatch.add(f"/{PACKED}", body))
            return
        first = extent.get("first", 0)
        for index in range(first, first + count):
            _place(
                scope, f"{name}-{index}" if "first" in extent else name, json.loads(template.fill(self._facts, index))
            )


class RolePods(Construct):
    """The pods of one role. One construct whatever the number of pods: they differ only in what tokens stand for.

    Args:
        workload: the job.
        role: which role.
        replicas: number of pods.
    """

    def __init__(self, workload: MSJobWorkload, role: Role, replicas: int) -> None:
        super().__init__(workload, role.slug)
        hosts = 1 if role is workload.job.host_role else 0
        for host, first, last in ((True, 0, min(hosts, replicas)), (False, hosts, replicas)):
            if first < last:
                extent = {"role": role.value, "first": first, "count": last - first}
                manifest = workload.pod(role, host=host)
                workload._add(self, "host" if host else "pod", manifest, extent, last - first)  # noqa: SLF001


def _astuple(tokens: Tokens) -> tuple[str, ...]:
    return (tokens.index, tokens.scheduler_ip, tokens.owner_uid, tokens.attempt)


def _place(scope: Construct, name: str, manifest: dict[str, Any]) -> None:
    """Add a manifest to the tree as a plain API object."""
    metadata = manifest.pop("metadata")
    known = {key: metadata.pop(key) for key in ("name", "namespace", "labels", "annotations") if key in metadata}
    api_object = ApiObject(
        scope,
        name,
        api_version=manifest.pop("apiVersion"),
        kind=manifest.pop("kind"),
        metadata=ApiObjectMetadata(**known),
    )
    patches = [JsonPatch.add(f"/metadata/{key}", value) for key, value in metadata.items()]
    patches += [JsonPatch.add(f"/{key}", value) for key, value in manifest.items()]
    api_object.add_json_patch(*patches)

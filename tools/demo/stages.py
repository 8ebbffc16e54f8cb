"""What becomes of a simulated pod, as Stages for kwok.

Every pod runs a moment after it was put on a node, and is gone a moment after it was deleted. A pod of an MSJob ends by
itself, too: a Worker after its time, the others when the last Worker may have left, as a MindSpore Scheduler does.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from msjob.api import Role, meta

SECONDS: Final = "msjob-demo/seconds"
"""Annotation of a pod template: how long the pod runs."""

EXIT_CODE: Final = "msjob-demo/exit-code"
"""Annotation of a pod template: how the container ``mindspore`` exits, each time."""

DEFAULT_SECONDS: Final = 6.0
"""How long a Worker runs unless its template says otherwise: long enough to see it."""

LONGEST_SECONDS: Final = 86400.0
"""A day."""

AFTER_WORKERS: Final = 1.0
"""Seconds after which a Scheduler or parameter server notices that the Workers have left."""

START_MILLISECONDS: Final = (700, 2000)
"""Pods start after a time between these: one that pulls its image is not like the other."""

GONE_MILLISECONDS: Final = 500
"""A deleted pod is gone after these."""

_FAIL: Final = re.compile(r"(?i)(scheduler|ps|worker)-([0-9]{1,6})(?::([0-9]{1,3}))?")


@dataclass(frozen=True, slots=True)
class Fault:
    """A pod that fails the first time that it runs, and no second time.

    Attributes:
        role: Of the pod.
        index: Of the pod within its role.
        code: Exit code of the container ``mindspore``.
    """

    role: Role
    index: int
    code: int = 1

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read one as people write it, such as ``worker-1`` or ``worker-1:137``.

        Raises:
            ValueError: It is none; with what one looks like.
        """
        found = _FAIL.fullmatch(text)
        role = Role.parse(found[1]) if found else None
        code = int(found[3] or 1) if found else 0
        if found is None or role is None or not 1 <= code <= 255:  # noqa: PLR2004 - what a process can exit with
            raise ValueError(f"{text!r} names no pod: write worker-1, or with an exit code of 1 to 255 worker-1:137")
        return cls(role, int(found[2]), code)

    def __str__(self) -> str:
        return f"{self.role.slug}-{self.index} (exit code {self.code})"


def configuration(faults: Iterable[Fault] = (), *, longest: float = DEFAULT_SECONDS) -> str:
    """Give the configuration of kwok.

    Args:
        faults: Pods that fail.
        longest: Seconds that the Worker runs that runs longest.
    """
    end = _end(list(faults))
    worker = {meta.LABEL_REPLICA_TYPE: Role.WORKER.slug}
    stages = [
        _stage("start", [_key(".status.phase", "In", "Pending")], _RUNNING, delay=_between(*START_MILLISECONDS)),
        _stage("end-worker", _of_a_job(Role.WORKER), end, labels=worker, delay=_seconds(DEFAULT_SECONDS)),
        _stage("end-other", _of_a_job(Role.SCHEDULER, Role.PS), end, delay=_seconds(longest + AFTER_WORKERS)),
        _stage("gone", [], None, deleted=True, delay={"durationMilliseconds": GONE_MILLISECONDS}),
    ]
    return "".join(f"---\n{json.dumps(stage, indent=1)}\n" for stage in stages)


def logs(file: Path) -> str:
    """Give the configuration that lets kwok answer for the logs of all pods, as a kubelet does.

    Args:
        file: What each of them says, in the format of container runtimes.
    """
    answer = {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "ClusterLogs",
        "metadata": {"name": "all"},
        "spec": {"logs": [{"logsFile": str(file)}]},
    }
    return f"---\n{json.dumps(answer, indent=1)}\n"


def _stage(
    name: str,
    when: Sequence[dict[str, Any]],
    status: str | None,
    *,
    delay: dict[str, Any],
    labels: dict[str, str] | None = None,
    deleted: bool = False,
) -> dict[str, Any]:
    selector = {
        "matchExpressions": [_key(".metadata.deletionTimestamp", "Exists" if deleted else "DoesNotExist"), *when],
        **({"matchLabels": labels} if labels else {}),
    }
    return {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Stage",
        "metadata": {"name": name},
        "spec": {
            "resourceRef": {"apiGroup": "v1", "kind": "Pod"},
            "selector": selector,
            "delay": delay,
            "next": {"delete": True} if status is None else {"statusTemplate": status},
        },
    }


def _of_a_job(*roles: Role) -> list[dict[str, Any]]:
    """A running pod of an MSJob, in one of these roles."""
    return [
        _key(".status.phase", "In", "Running"),
        _key(f'.metadata.labels["{meta.LABEL_OPERATOR_NAME}"]', "In", meta.CONTROLLER_NAME),
        _key(f'.metadata.labels["{meta.LABEL_REPLICA_TYPE}"]', "In", *(role.slug for role in roles)),
    ]


def _key(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"jq": {"key": key, "operator": operator, **({"values": list(values)} if values else {})}}


def _between(least: int, most: int) -> dict[str, Any]:
    return {"durationMilliseconds": least, "jitterDurationMilliseconds": most}


def _seconds(default: float) -> dict[str, Any]:
    """As long as the annotation says, if there is one."""
    given = f'(.metadata.annotations["{SECONDS}"] // empty) + "s"'
    return {"durationMilliseconds": round(default * 1000), "durationFrom": {"jq": {"expression": given}}}


def _end(faults: Sequence[Fault]) -> str:
    """The template of the status of a pod whose time is over."""
    first = "".join(
        f'{{{{ if and (eq $pod "{fault.role.slug}-{fault.index}") (eq $attempt "0") (eq $restarts 0) }}}}'
        f'{{{{ $code = "{fault.code}" }}}}{{{{ end }}}}\n'
        for fault in faults
    )
    return f"{_FACTS}{first}{_ENDED}"


# Kubernetes has no template for kubelets, so these are made of the fields that a kubelet fills in.

_RUNNING = """
{{ $now := Now }}
conditions:
{{ range $type := list "PodReadyToStartContainers" "Initialized" "Ready" "ContainersReady" }}
- lastTransitionTime: {{ $now | Quote }}
  status: "True"
  type: {{ $type }}
{{ end }}
{{ range .spec.readinessGates }}
- lastTransitionTime: {{ $now | Quote }}
  status: "True"
  type: {{ .conditionType | Quote }}
{{ end }}
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  ready: true
  started: true
  restartCount: 0
  state:
    running:
      startedAt: {{ $now | Quote }}
{{ end }}
{{ with .spec.initContainers }}
initContainerStatuses:
{{ range . }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  ready: true
  restartCount: 0
  {{ if eq (or .restartPolicy "") "Always" }}
  started: true
  state:
    running:
      startedAt: {{ $now | Quote }}
  {{ else }}
  started: false
  state:
    terminated:
      exitCode: 0
      reason: Completed
      startedAt: {{ $now | Quote }}
      finishedAt: {{ $now | Quote }}
  {{ end }}
{{ end }}
{{ end }}
hostIP: {{ NodeIPWith .spec.nodeName | Quote }}
podIP: {{ PodIPWith .spec.nodeName (or .spec.hostNetwork false) (or .metadata.uid "") .metadata.name .metadata.namespace | Quote }}
phase: Running
startTime: {{ $now | Quote }}
"""  # noqa: E501 - the arguments of one function

_FACTS = f"""
{{{{ $now := Now }}}}
{{{{ $role := index .metadata.labels "{meta.LABEL_REPLICA_TYPE}" }}}}
{{{{ $pod := printf "%s-%s" $role (index .metadata.labels "{meta.LABEL_REPLICA_INDEX}") }}}}
{{{{ $attempt := index .metadata.labels "{meta.LABEL_RESTART_ATTEMPT}" }}}}
{{{{ $restarts := 0 }}}}
{{{{ $since := .status.startTime }}}}
{{{{ range .status.containerStatuses }}}}{{{{ if eq .name "{meta.CONTAINER}" }}}}
{{{{ $restarts = int .restartCount }}}}
{{{{ with .state.running }}}}{{{{ $since = .startedAt }}}}{{{{ end }}}}
{{{{ end }}}}{{{{ end }}}}
{{{{ $code := "0" }}}}
{{{{ with .metadata.annotations }}}}{{{{ with index . "{EXIT_CODE}" }}}}{{{{ $code = . }}}}{{{{ end }}}}{{{{ end }}}}
"""

_ENDED = f"""
{{{{ $again := and (ne $code "0") (eq .spec.restartPolicy "OnFailure") }}}}
containerStatuses:
{{{{ range .spec.containers }}}}
{{{{ $main := eq .name "{meta.CONTAINER}" }}}}
- name: {{{{ .name | Quote }}}}
  image: {{{{ .image | Quote }}}}
  {{{{ if $again }}}}
  ready: true
  started: true
  restartCount: {{{{ if $main }}}}{{{{ add1 $restarts }}}}{{{{ else }}}}0{{{{ end }}}}
  state:
    running:
      startedAt: {{{{ if $main }}}}{{{{ $now | Quote }}}}{{{{ else }}}}{{{{ $since | Quote }}}}{{{{ end }}}}
  {{{{ if $main }}}}
  lastState:
  {{{{ end }}}}
  {{{{ else }}}}
  ready: false
  started: false
  restartCount: {{{{ if $main }}}}{{{{ $restarts }}}}{{{{ else }}}}0{{{{ end }}}}
  state:
  {{{{ end }}}}
  {{{{ if or $main (not $again) }}}}
    terminated:
      exitCode: {{{{ if $main }}}}{{{{ $code }}}}{{{{ else }}}}0{{{{ end }}}}
      reason: {{{{ if and $main (ne $code "0") }}}}Error{{{{ else }}}}Completed{{{{ end }}}}
      startedAt: {{{{ $since | Quote }}}}
      finishedAt: {{{{ $now | Quote }}}}
  {{{{ end }}}}
{{{{ end }}}}
{{{{ if $again }}}}
phase: Running
{{{{ else }}}}
conditions:
{{{{ range $type := list "Ready" "ContainersReady" }}}}
- lastTransitionTime: {{{{ $now | Quote }}}}
  status: "False"
  reason: {{{{ if eq $code "0" }}}}PodCompleted{{{{ else }}}}PodFailed{{{{ end }}}}
  type: {{{{ $type }}}}
{{{{ end }}}}
{{{{ with .spec.initContainers }}}}
initContainerStatuses:
{{{{ range . }}}}
- name: {{{{ .name | Quote }}}}
  image: {{{{ .image | Quote }}}}
  ready: true
  restartCount: 0
  started: false
  state:
    terminated:
      exitCode: 0
      reason: Completed
      startedAt: {{{{ $since | Quote }}}}
      finishedAt: {{{{ $now | Quote }}}}
{{{{ end }}}}
{{{{ end }}}}
phase: {{{{ if eq $code "0" }}}}Succeeded{{{{ else }}}}Failed{{{{ end }}}}
{{{{ end }}}}
"""

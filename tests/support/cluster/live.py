"""A namespace of the cluster in which MSJobs train, and all that happens in it."""

import json
import re
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple, Self

from msjob.api import meta
from msjob_client import LogLine, MSJobClient
from support.cluster.recorder import Recorder, Seen
from support.cluster.site import Site, not_here
from support.cluster.trainings import CLAIM
from support.jobs import Json
from support.testbed.client import MSJOBS, PODS
from support.testbed.waiting import wait_for


class Step(NamedTuple):
    """One step that a Worker has told of.

    Attributes:
        attempt: The attempt.
        rank: Of the process.
        size: Processes of the group.
        step: Counted from 1.
        loss: After it.
    """

    attempt: int
    rank: int
    size: int
    step: int
    loss: float


class Live:
    """One namespace. Use it with ``with``.

    Args:
        site: The cluster.
        namespace: The namespace, which exists.

    Attributes:
        recorder: What happened to jobs and pods.
        lines: What pods printed, of jobs that are followed.
    """

    def __init__(self, site: Site, namespace: str) -> None:
        self.site = site
        self.namespace = namespace
        self.recorder = Recorder(site.client, namespace)
        self.lines: list[LogLine] = []
        self.jobs = MSJobClient.connect(kubeconfig=site.kubeconfig, namespace=namespace)
        self._followers: list[threading.Thread] = []

    # -- jobs ------------------------------------------------------------------------------------------------------

    def apply(self, job: Json) -> None:
        """Apply a job as a user does."""
        job["metadata"]["namespace"] = self.namespace
        self.kubectl("apply", "-f", "-", stdin=_text(job))

    def submit(self, job: Json) -> None:
        """Apply a job, and follow its logs over all restarts."""
        self.apply(job)
        name = job["metadata"]["name"]
        thread = threading.Thread(target=self._follow, args=(name,), name=f"logs of {name}", daemon=True)
        thread.start()
        self._followers.append(thread)

    def kubectl(self, *arguments: str | Path, stdin: str | None = None, timeout: float = 60) -> str:
        """Run kubectl in the namespace, and give what it prints."""
        return self.site.kubectl.run("--namespace", self.namespace, *arguments, stdin=stdin, timeout=timeout)

    def patch_run_policy(self, **fields: Any) -> None:
        """Set fields of `spec.runPolicy` of the job `train`, as a user, or a queue, does."""
        patch = _text({"spec": {"runPolicy": fields}})
        self.kubectl("patch", "msjob", "train", "--type=merge", "--patch", patch)

    def job(self, name: str = "train") -> Json:
        """A job as it is stored."""
        return self.site.client.get(MSJOBS, name, self.namespace)

    def status(self, name: str = "train") -> Json:
        """The status of a job."""
        return dict(self.job(name).get("status") or {})

    def condition(self, kind: str, name: str = "train") -> Json:
        """A condition of a job; empty if it has none of this type."""
        found = self.status(name).get("conditions") or []
        return next((item for item in found if item["type"] == kind), {})

    def wait_condition(self, kind: str, name: str = "train", timeout: float = 120, status: str = "True") -> Json:
        """Wait until a job has a condition, and give that."""
        wait_for(
            lambda: self.condition(kind, name).get("status") == status,
            timeout,
            what=f"{name} to be {kind}",
            interval=0.2,
        )
        return self.condition(kind, name)

    def ended(self, name: str = "train") -> str:
        """How a job has ended: `Succeeded` or `Failed`; empty if it has not."""
        last = (self.status(name).get("conditions") or [{"type": "", "status": ""}])[-1]
        return str(last["type"]) if last["type"] in ("Succeeded", "Failed") and last["status"] == "True" else ""

    def wait_finished(self, name: str = "train", timeout: float = 240) -> str:
        """Wait until a job has ended, and until its logs are read; give its last condition's type."""
        found = wait_for(lambda: self.ended(name), timeout, what=f"{name} to end", interval=0.2)
        for thread in self._followers:
            thread.join(30)
        return found

    # -- pods ------------------------------------------------------------------------------------------------------

    def pods(self, attempt: int | None = None) -> dict[str, Json]:
        """The pods that are there by role and index, such as `worker-0`, those of one attempt if one is named."""
        found = {}
        for pod in self.site.client.list(PODS, self.namespace):
            if attempt in (None, attempt_of(pod)):
                found[place_of(pod)] = pod
        return found

    def history(self, pod: str) -> list[Seen]:
        """All that was seen of the pods of a name such as `worker-0`, of all attempts."""
        return [item for item in self.recorder.seen if item.resource == PODS and place_of(item.object) == pod]

    def codes(self) -> dict[tuple[int, str], int]:
        """The exit codes that were seen, by attempt and pod."""
        found: dict[tuple[int, str], int] = {}
        for item in self.recorder.seen:
            code = exit_code(item.object) if item.resource == PODS else None
            if code is not None:
                found[attempt_of(item.object), place_of(item.object)] = code
        return found

    def new_pods_after(self, moment: float, attempt: int, count: int, timeout: float = 120) -> float:
        """Wait until all pods of an attempt are there; give the seconds from a moment to the last one's creation."""

        def all_there() -> list[Seen]:
            first: dict[str, Seen] = {}
            for item in tuple(self.recorder.seen):
                if item.resource == PODS and item.type == "ADDED" and attempt_of(item.object) == attempt:
                    first.setdefault(item.uid, item)
            return list(first.values()) if len(first) >= count else []

        found = wait_for(all_there, timeout, what=f"{count} pods of attempt {attempt}", interval=0.1)
        return max(item.at for item in found) - moment

    def reported(self, pod: str, attempt: int = 0, timeout: float = 60) -> float:
        """Wait until the kubelet has reported the end of a pod; give when that was heard of."""

        def ended() -> float:
            for item in self.history(pod):
                if attempt_of(item.object) == attempt and exit_code(item.object) is not None:
                    return item.at
            return 0

        return wait_for(ended, timeout, what=f"{pod} of attempt {attempt} to end", interval=0.1)

    def container_id(self, pod: str) -> str:
        """The id of the `mindspore` container of a pod such as `worker-0`."""
        status = self.pods()[pod]["status"]["containerStatuses"]
        main = next(item for item in status if item["name"] == "mindspore")
        return str(main["containerID"]).removeprefix("containerd://")

    # -- what they print -------------------------------------------------------------------------------------------

    def steps(self, attempt: int | None = None, rank: int | None = None) -> list[Step]:
        """The steps that Workers have told of so far."""
        found = []
        for line in tuple(self.lines):
            match = re.match(r"\[rank (\d+) of (\d+)\] epoch \S+ step (\d+)/\d+ loss (\S+)", line.text)
            if match:
                step = Step(line.attempt, int(match[1]), int(match[2]), int(match[3]), float(match[4]))
                if attempt in (None, step.attempt) and rank in (None, step.rank):
                    found.append(step)
        return found

    def texts(self, pattern: str, attempt: int | None = None) -> list[str]:
        """The lines that hold a pattern."""
        return [
            line.text for line in tuple(self.lines) if re.search(pattern, line.text) and attempt in (None, line.attempt)
        ]

    def wait_step(self, step: int, *, attempt: int = 0, timeout: float = 180) -> None:
        """Wait until rank 0 has made a step."""
        wait_for(
            lambda: any(item.step >= step for item in self.steps(attempt, 0)),
            timeout,
            what=f"step {step} of attempt {attempt}",
            interval=0.2,
        )

    # -- the namespace ---------------------------------------------------------------------------------------------

    def make_claim(self) -> None:
        """Make the claim for checkpoints; on the tests' own cluster its volume, too, as no StorageClass does."""
        lone = len(self.site.client.list("v1/nodes")) == 1
        mode = "ReadWriteOnce" if lone else "ReadWriteMany"
        claim: Json = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": CLAIM},
            "spec": {"accessModes": [mode], "resources": {"requests": {"storage": "1Gi"}}},
        }
        if self.site.cluster is not None:
            claim["spec"] |= {"storageClassName": "", "volumeName": self.namespace}
            self.site.client.create("v1/persistentvolumes", self.site.cluster.volume(self.namespace, CLAIM))
        elif not any(map(_by_default, self.site.client.list("storage.k8s.io/v1/storageclasses"))):
            not_here("it keeps checkpoints in a claim, and the cluster has no default StorageClass")
        self.kubectl("apply", "-f", "-", stdin=_text(claim))

    def __enter__(self) -> Self:
        self.recorder.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.jobs.close()
        for thread in self._followers:
            thread.join(10)
        self.recorder.__exit__()

    def _follow(self, name: str) -> None:
        for line in self.jobs.logs(name, follow=True):
            self.lines.append(line)


def _by_default(storage_class: Json) -> bool:
    annotations = storage_class["metadata"].get("annotations") or {}
    return bool(annotations.get("storageclass.kubernetes.io/is-default-class") == "true")


def attempt_of(pod: Json) -> int:
    """The attempt that a pod belongs to."""
    return int(pod["metadata"]["labels"].get(meta.LABEL_RESTART_ATTEMPT, 0))


def place_of(pod: Json) -> str:
    """Role and index of a pod, such as `worker-0`."""
    labels = pod["metadata"]["labels"]
    return f"{labels[meta.LABEL_REPLICA_TYPE]}-{labels[meta.LABEL_REPLICA_INDEX]}"


def exit_code(pod: Json) -> int | None:
    """The exit code of the `mindspore` container; None if it has not ended."""
    for status in pod.get("status", {}).get("containerStatuses") or []:
        if status["name"] == "mindspore":
            terminated = (status.get("state") or {}).get("terminated")
            return None if terminated is None else int(terminated["exitCode"])
    return None


def since(moment: float) -> float:
    """Seconds since a moment of the monotonic clock."""
    return time.monotonic() - moment


def _text(item: Any) -> str:
    return json.dumps(item)

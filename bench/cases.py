"""The work that is measured: jobs whose pods shall exist, and the same pods posted bare."""

import asyncio
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from api import Api
from msjob.api import meta
from msjob.render import render
from msjob.workload.tokens import Facts


@dataclass(frozen=True, slots=True)
class Case:
    """One piece of work.

    Attributes:
        name: short.
        jobs: how many MSJobs are created at once.
        workers: Workers of each, beside one Scheduler.
        padding: bytes of environment in each template, different for each job.
    """

    name: str
    jobs: int
    workers: int
    padding: int = 0

    @property
    def pods(self) -> int:
        """Pods that shall exist."""
        return self.jobs * (self.workers + 1)

    def manifests(self) -> Iterator[dict[str, Any]]:
        """The MSJobs."""
        for number in range(self.jobs):
            yield _job(f"bench-{number}", self.workers, f"{number:06d}" * (self.padding // 6))


@dataclass(frozen=True, slots=True)
class Result:
    """What was measured.

    Attributes:
        seconds: from the first MSJob posted until all pods exist.
        raw_seconds: the same pod bodies over one bare session.
        wrong: pods without the right `MS_SCHED_HOST`, missing or doubled.
    """

    seconds: float
    raw_seconds: float
    wrong: int

    @property
    def ratio(self) -> float:
        """Times the raw ceiling of the same run."""
        return self.seconds / self.raw_seconds


async def measure(api: Api, case: Case, run: int) -> Result:
    """Measure one case once: raw first, then through the operator, each in a namespace of its own."""
    raw_space, space = f"raw-{case.name}-{run}", f"msjob-{case.name}-{run}"
    await api.namespace(raw_space)
    await api.namespace(space)
    bodies = _pod_bodies(case, raw_space)
    started = time.monotonic()
    await api.post_all(f"/api/v1/namespaces/{raw_space}/pods", bodies)
    raw_seconds = time.monotonic() - started
    await api.call("DELETE", f"/api/v1/namespaces/{raw_space}/pods")
    jobs = [json.dumps(manifest).encode() for manifest in case.manifests()]
    started = time.monotonic()
    posting = asyncio.ensure_future(api.post_all(f"/apis/mindspore.gitee.com/v1/namespaces/{space}/msjobs", jobs))
    await until_pods(api, space, case.pods)
    seconds = time.monotonic() - started
    await posting
    wrong = await wrong_pods(api, case, space)
    await api.call("DELETE", f"/apis/mindspore.gitee.com/v1/namespaces/{space}/msjobs")
    # The garbage collector is at work for some seconds: the next run shall not share the machine with it.
    await until_gone(api, space)
    return Result(seconds, raw_seconds, wrong)


def _job(name: str, workers: int, padding: str) -> dict[str, Any]:
    env = [{"name": "PADDING", "value": padding}] if padding else []
    template = {
        "spec": {"containers": [{"name": "mindspore", "image": "mindspore:test", "command": ["train"], "env": env}]}
    }
    return {
        "apiVersion": "mindspore.gitee.com/v1",
        "kind": "MSJob",
        "metadata": {"name": name},
        "spec": {
            "msReplicaSpecs": {
                "Scheduler": {"template": template},
                "Worker": {"replicas": workers, "template": template},
            }
        },
    }


def _pod_bodies(case: Case, namespace: str) -> list[bytes]:
    """The pods that the operator would create, without owner: it does not exist here.

    The label by which the operator watches pods has another value: these are not its work.
    """
    bodies = []
    for manifest in case.manifests():
        manifest["metadata"]["namespace"] = namespace
        for body in render(manifest).bodies(Facts("10.96.0.1", "uid")):
            pod = json.loads(body)
            if pod["kind"] == "Pod":
                del pod["metadata"]["ownerReferences"]
                pod["metadata"]["labels"][meta.LABEL_OPERATOR_NAME] = "raw"
                bodies.append(json.dumps(pod).encode())
    return bodies


async def until_pods(api: Api, namespace: str, wanted: int, timeout_seconds: float = 300.0) -> None:
    """Wait until so many pods exist.

    Raises:
        RuntimeError: they do not within the time.
    """
    deadline = time.monotonic() + timeout_seconds
    while (found := await api.count(f"/api/v1/namespaces/{namespace}/pods")) < wanted:
        if time.monotonic() > deadline:
            raise RuntimeError(f"{found} of {wanted} pods after {timeout_seconds:g} s")
        await asyncio.sleep(0.02)


async def until_gone(api: Api, namespace: str, timeout_seconds: float = 300.0) -> None:
    """Wait until the garbage collector has removed all pods.

    Raises:
        RuntimeError: it has not within the time.
    """
    deadline = time.monotonic() + timeout_seconds
    while left := await api.count(f"/api/v1/namespaces/{namespace}/pods"):
        if time.monotonic() > deadline:
            raise RuntimeError(f"{left} pods of deleted jobs are there after {timeout_seconds:g} s")
        await asyncio.sleep(0.1)


async def wrong_pods(api: Api, case: Case, namespace: str) -> int:
    """Pods of a case without the right `MS_SCHED_HOST`, missing or doubled."""
    pods = (await api.get(f"/api/v1/namespaces/{namespace}/pods"))["items"]
    services = (await api.get(f"/api/v1/namespaces/{namespace}/services"))["items"]
    addresses = {item["metadata"]["name"]: item["spec"]["clusterIP"] for item in services}
    good = 0
    for pod in pods:
        labels = pod["metadata"]["labels"]
        env = {entry["name"]: entry for entry in pod["spec"]["containers"][0]["env"]}
        host = env.get("MS_SCHED_HOST", {})
        if labels["replica-type"] == "scheduler":
            good += host.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath") == "status.podIP"
        else:
            good += host.get("value") == addresses.get(f"{labels['job-name']}-scheduler-0")
    return abs(len(pods) - case.pods) + len(pods) - good

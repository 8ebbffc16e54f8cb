"""The reconciler on a small API server in memory, which refuses what a test wants refused.

It hears of what happens when the test says so.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from msjob.api import Job
from msjob.rendered import PodRange, Rendered
from msjob.workload import environment, labels, pods, service
from msjob.workload.tokens import Template, Tokens
from msjob_controller.cluster import Cluster
from msjob_controller.kube.events import EventRecorder
from msjob_controller.kube.transport import Transport
from msjob_controller.metrics import Metrics
from msjob_controller.reconciler import Reconciler
from msjob_controller.renderer import RenderFailedError
from support.apiserver import Answer, FakeApiServer, Object
from support.jobs import msjob
from support.pods import at

JOBS = "/apis/mindspore.gitee.com/v1/namespaces/default/msjobs"
CORE = "/api/v1/namespaces/default"
ADDRESS = "10.96.0.7"
PODS = ["train-scheduler-0", "train-worker-0", "train-worker-1"]
"""Those of the job that `create` makes."""


@dataclass
class Refusal:
    """What a test wants refused, and the paths that it was refused for so far."""

    method: str
    path: str
    answer: Answer
    times: int
    met: list[str] = field(default_factory=list)


class Api(FakeApiServer):
    """An API server that allocates addresses and can be told to refuse."""

    def __init__(self) -> None:
        super().__init__()
        self.refusals: list[Refusal] = []

    def refuse(self, method: str, path: str, answer: Answer, times: int = 1_000) -> Refusal:
        """Answer requests of a method whose path ends like this, for so many times."""
        refusal = Refusal(method, path, answer, times)
        self.refusals.append(refusal)
        return refusal

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        for refusal in self.refusals:
            left = refusal.method == request.method and len(refusal.met) < refusal.times
            if left and request.path.endswith(refusal.path):
                refusal.met.append(request.path)
                return await refusal.answer(request)
        return await super()._handle(request)

    def _create(self, path: str, body: Object) -> web.Response:
        if path.endswith("/services"):
            body["spec"]["clusterIP"] = ADDRESS
        return super()._create(path, body)

    def names(self, plural: str) -> list[str]:
        """Names of all objects of a kind."""
        return sorted(path.rpartition("/")[2] for path in self.objects if f"/{plural}/" in path)

    def writes(self) -> list[str]:
        """What was written and taken, in order: method, kind, and for events the reason."""
        return [
            " ".join(filter(None, (seen.method, _kind(seen.path), (seen.body or {}).get("reason"))))
            for seen in self.requests
            if seen.method != "GET"
        ]

    def events(self) -> list[tuple[str, str, str]]:
        """Type, reason and message of all events."""
        found = [item for path, item in self.objects.items() if "/events/" in path]
        return [(item["type"], item["reason"], item["message"]) for item in found]


def _kind(path: str) -> str:
    parts = path.split("/namespaces/default/")[1].split("/")
    return f"{parts[0]}/{parts[2]}" if len(parts) > 2 else parts[0]


class PlainRenderer:
    """Renders in this process what the project's own construct renders in its own, without a Node.

    Attributes:
        failure: what a render fails with, if it is to fail.
        asked: names of the jobs that were rendered.
        extras: objects that the construct adds.
    """

    def __init__(self) -> None:
        self.failure: str | None = None
        self.asked: list[str] = []
        self.extras: list[Object] = []

    async def render(self, obj: Object) -> Rendered:
        """Render a job."""
        self.asked.append(obj["metadata"]["name"])
        if self.failure is not None:
            raise RenderFailedError(self.failure)
        job, tokens = Job.parse(obj), Tokens.absent_from("")
        front = service.service(job, tokens)
        ranges = [
            PodRange(
                role,
                0,
                spec.replicas,
                Template.of(
                    pods.pod(
                        job,
                        role,
                        tokens,
                        host=role is job.host_role,
                        labels=labels.pod(job, role, tokens),
                        environment=environment.injected(job, role, tokens, host=role is job.host_role),
                    ),
                    tokens,
                ),
            )
            for role, spec in job.roles.items()
        ]
        extras = tuple(Template.of(labels.adopted(job, extra, tokens), tokens) for extra in self.extras)
        scaler = None
        if job.spec.elastic_policy is not None:
            body = {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": job.name}}
            scaler = Template.of(labels.adopted(job, body, tokens), tokens)
        return Rendered(None if front is None else Template.of(front, tokens), tuple(ranges), extras, scaler)

    def forget(self, uid: str) -> None:
        """Keep nothing, so there is nothing to forget."""


@dataclass
class Shell:
    """A reconciler and what is around it.

    Attributes:
        now: its wall clock, in seconds after `support.pods.START`.
        keys: jobs that its caches have called for a look at.
    """

    api: Api
    cluster: Cluster
    reconciler: Reconciler
    renderer: PlainRenderer
    metrics: Metrics
    recorder: EventRecorder
    keys: list[str] = field(default_factory=list)
    now: float = 0.0

    async def hear(self) -> None:
        """Bring the caches up to date."""
        for informer in self.cluster.informers:
            await informer._list()

    async def create(self, **fields: Any) -> None:
        """A user creates a job, and the operator hears of it."""
        self.api.put(JOBS, msjob(generation=1, **fields))
        await self.hear()

    async def reconcile(self, name: str = "train") -> float | None:
        """Work on a job, and wait until its events are written."""
        try:
            return await self.reconciler.reconcile(f"default/{name}")
        finally:
            await self.recorder.flush()

    async def run(self, **fields: Any) -> None:
        """Bring a job to where all its pods run, and the operator knows it."""
        await self.create(**fields)
        await self.reconcile()
        for name in self.api.names("pods"):
            self.set_pod(name, "Running")
        await self.hear()
        await self.reconcile()
        assert self.state()[-1] == "Running=True"
        self.api.requests.clear()

    def status(self, name: str = "train") -> Object:
        """The stored status."""
        found: Object = self.api.objects[f"{JOBS}/{name}"].get("status") or {}
        return found

    def state(self, name: str = "train") -> list[str]:
        """Conditions in their order, whether pods are ready aside."""
        listed = self.status(name).get("conditions", [])
        return [f"{item['type']}={item['status']}" for item in listed if item["type"] != "PodsReady"]

    def stalled(self, name: str = "train") -> Object:
        """The condition `Stalled`."""
        return next(item for item in self.status(name)["conditions"] if item["type"] == "Stalled")

    def set_pod(
        self, name: str, phase: str, code: int | None = None, *, state: Object | None = None, node: str | None = None
    ) -> None:
        """The kubelet changes a pod.

        Args:
            name: of the pod.
            phase: of the pod.
            code: exit code of its `mindspore` container.
            state: of that container, if it has not ended.
            node: where it is, if it is anywhere yet.
        """
        pod = self.api.objects[f"{CORE}/pods/{name}"]
        status: Object = {"phase": phase}
        if code is not None:
            ended = {"exitCode": code, "finishedAt": "2026-01-02T03:05:05Z"}
            state = {"terminated": ended}
        if state is not None:
            status["containerStatuses"] = [{"name": "mindspore", "state": state}]
        spec = pod["spec"] if node is None else {**pod["spec"], "nodeName": node}
        self.api.put(f"{CORE}/pods", {**pod, "spec": spec, "status": status})

    def counted(self, name: str) -> float:
        """Value of a metric, all its labels together."""
        return sum(
            sample.value
            for family in self.metrics.registry.collect()
            for sample in family.samples
            if sample.name == name
        )


@contextlib.asynccontextmanager
async def shell() -> AsyncIterator[Shell]:
    """Start all."""
    async with Api() as api, Transport(api.connection(), attempts=1) as transport:
        keys: list[str] = []
        metrics, renderer, recorder = Metrics(), PlainRenderer(), EventRecorder(transport)
        cluster = Cluster(transport, "default", keys.append, lambda _: None)
        reconciler = Reconciler(
            transport,
            cluster,
            renderer,  # type: ignore[arg-type]  # its two methods are all that is used
            recorder,
            metrics,
            clock=lambda: at(found.now),
        )
        telling = asyncio.create_task(recorder.run())
        found = Shell(api, cluster, reconciler, renderer, metrics, recorder, keys)
        yield found
        telling.cancel()
        await asyncio.wait((telling,))

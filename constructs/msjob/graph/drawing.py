"""From the objects of jobs to a picture of them.

All that is drawn is read from the rendered objects: a call from the variable that holds the address of the Service,
what stands behind the Service from its selector.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from msjob.api import Job, Role, meta
from msjob.api.job import ACCELERATOR
from msjob.graph.model import Edge, Frame, Graph, Node, Shape
from msjob.graph.references import CLAIM, CONFIG_MAP, SECRET, references
from msjob.rendered import PodRange, Rendered
from msjob.workload.environment import LOCAL_WORKERS
from msjob.workload.tokens import Facts, Template

_SHAPES: Final = {"Service": Shape.SERVICE, CLAIM: Shape.VOLUME, CONFIG_MAP: Shape.SETTINGS, SECRET: Shape.SETTINGS}

_Key = tuple[str, str, str]
"""Namespace, kind and name of an object."""


def draw(jobs: Iterable[tuple[Job, Rendered]]) -> Graph:
    """Draw jobs into one picture.

    Each job is a frame around what it owns. What its pods name and nobody renders (claims, ConfigMaps, Secrets) is in
    a frame of its namespace: jobs that share a claim are seen to.

    Args:
        jobs: parsed jobs with their objects.
    """
    picture = _Picture()
    for job, rendered in jobs:
        _Drawing(picture, job, rendered).draw()
    return picture.graph()


@dataclass
class _Picture:
    """What all jobs of a picture share."""

    counts: Counter[str] = field(default_factory=Counter)
    frames: list[Frame] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    needed: dict[_Key, Node] = field(default_factory=dict)

    def id(self, word: str) -> str:
        """A new id, which is no word of a language for pictures: it ends in a number."""
        slug = "".join(letter for letter in word.lower() if "a" <= letter <= "z") or "object"
        self.counts[slug] += 1
        return f"{slug}{self.counts[slug]}"

    def node(self, kind: str, name: str, *more: str, later: bool = False) -> Node:
        return Node(
            self.id("claim" if kind == CLAIM else kind), _SHAPES.get(kind, Shape.PLAIN), (kind, name, *more), later
        )

    def graph(self) -> Graph:
        needed: dict[str, list[Node]] = {}
        for (namespace, _, _), node in self.needed.items():
            needed.setdefault(namespace, []).append(node)
        frames = [
            Frame(self.id("needed"), f"has to be there in namespace {namespace}", tuple(nodes))
            for namespace, nodes in needed.items()
        ]
        return Graph((*self.frames, *frames), tuple(self.edges))


@dataclass
class _Drawing:
    """One job on its way into a picture."""

    picture: _Picture
    job: Job
    rendered: Rendered

    def draw(self) -> None:
        frame = self.picture.id("job")
        groups = [(part, self._pods(part)) for part in self.rendered.pods]
        services = [(item, self._service(item)) for item in (self.rendered.service,) if item is not None]
        scalers = [(item, self._scaler(item)) for item in (self.rendered.autoscaler,) if item is not None]
        extras = [(item, self._object(item)) for item in self.rendered.extras]
        # Who acts stands before what is acted on, which is how a picture is read.
        nodes = [node for items in (scalers, groups[::-1], services, extras) for _, node in items]
        state = " once it is resumed" if self.job.suspended else ""
        title = f"{meta.KIND} {self.job.namespace}/{self.job.name} owns{state}"
        self.picture.frames.append(Frame(frame, title, tuple(nodes)))
        for _, node in scalers:
            self._scales(node, groups)
        for part, node in groups[::-1]:
            for _, service in services:
                self._calls(part, node, service)
        for item, node in (*services, *((extra, node) for extra, node in extras if node.lines[0] == "Service")):
            self._leads(item, node, groups)
        own = {(self.job.namespace, node.lines[0], node.lines[1]): node for _, node in extras}
        for part, node in groups[::-1]:
            self._needs(part, node, own)

    def _pods(self, part: PodRange) -> Node:
        names = [_read(part.template, index)["metadata"]["name"] for index in (part.first, part.first + part.count - 1)]
        if part.count > 2:  # noqa: PLR2004 - the first and the last are all of two
            names[1] = f"… {names[1]}"
        title = f"{part.role}, {part.count} Pod{'s' if part.count > 1 else ''}"
        shape = Shape.SEVERAL if part.count > 1 else Shape.PLAIN
        lines = (title, *dict.fromkeys(names), *_size(part))
        return Node(self.picture.id(part.role), shape, lines, self.job.suspended)

    def _service(self, template: Template) -> Node:
        body = _read(template)
        ports = [f"port {port['port']}" for port in (body.get("spec") or {}).get("ports") or [] if "port" in port]
        return self.picture.node("Service", body["metadata"]["name"], *ports, later=self.job.suspended)

    def _scaler(self, template: Template) -> Node:
        body = _read(template)
        spec = body.get("spec") or {}
        bounds = f"{spec.get('minReplicas', 1)} to {spec.get('maxReplicas')} Workers"
        lines = (body["kind"], body["metadata"]["name"], bounds)
        return Node(self.picture.id("autoscaler"), Shape.SCALER, lines, self.job.suspended)

    def _object(self, template: Template) -> Node:
        body = _read(template)
        return self.picture.node(body["kind"], body["metadata"]["name"], later=self.job.suspended)

    def _scales(self, node: Node, groups: list[tuple[PodRange, Node]]) -> None:
        workers = [group for part, group in groups if part.role is Role.WORKER]
        if workers:
            # Under msrun without a Scheduler Worker 0 stands alone; the others come and go.
            self._arrow(node, workers[-1], f"scales, through the {meta.KIND}")

    def _calls(self, part: PodRange, node: Node, service: Node) -> None:
        """Draw that pods call the Service of the job, if one of their variables holds its address."""
        template = part.template
        containers = (json.loads(template.text).get("spec") or {}).get("containers") or []
        variables = [entry for container in containers for entry in container.get("env") or []]
        names = [entry["name"] for entry in variables if template.tokens.scheduler_ip in str(entry.get("value"))]
        if names:
            self._arrow(node, service, names[0])

    def _leads(self, template: Template, node: Node, groups: list[tuple[PodRange, Node]]) -> None:
        selector = (_read(template).get("spec") or {}).get("selector") or {}
        for part, group in groups:
            if selector and _selected(part, selector):
                self._arrow(node, group)

    def _needs(self, part: PodRange, node: Node, own: Mapping[_Key, Node]) -> None:
        for kind, name in references(_read(part.template, part.first).get("spec") or {}):
            key = (self.job.namespace, kind, name)
            there = own.get(key) or self.picture.needed.get(key)
            if there is None:
                there = self.picture.needed[key] = self.picture.node(kind, name)
            self.picture.edges.append(Edge(node.id, there.id, uses=True))

    def _arrow(self, source: Node, target: Node, label: str = "") -> None:
        self.picture.edges.append(Edge(source.id, target.id, label))


def _read(template: Template, index: int = 0) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(template.fill(Facts(), index))
    return body


def _size(part: PodRange) -> list[str]:
    """What each pod has of devices and processes, if it is told."""
    containers = (_read(part.template, part.first).get("spec") or {}).get("containers") or []
    main: Mapping[str, Any] = next((item for item in containers if item.get("name") == meta.CONTAINER), {})
    limits = (main.get("resources") or {}).get("limits") or {}
    told = [f"{amount} {name}" for name, amount in limits.items() if ACCELERATOR.fullmatch(name)]
    processes = [entry.get("value") for entry in main.get("env") or [] if entry.get("name") == LOCAL_WORKERS]
    told += [f"{number} processes" for number in processes if number not in (None, "1")]
    return [f"{', '.join(told)}{' each' if part.count > 1 else ''}"] if told else []


def _selected(part: PodRange, selector: Mapping[str, str]) -> bool:
    """Whether a Service leads to one of the pods at least."""
    template = part.template
    labels = json.loads(template.text)["metadata"].get("labels") or {}
    indexes = {str(index) for index in range(part.first, part.first + part.count)}
    return all(
        value in indexes if labels.get(key) == template.tokens.index else labels.get(key) == value
        for key, value in selector.items()
    )

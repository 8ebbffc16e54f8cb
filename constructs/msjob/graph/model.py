"""What a picture is made of, before it is written in a language for pictures."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

_LONGEST: Final = 100
"""Characters of a line; names of Kubernetes objects are shorter, but some input is all name."""


class Shape(Enum):
    """The outline of a node: one for each kind of thing."""

    PLAIN = auto()
    """One pod, or an object of a site's own."""
    SEVERAL = auto()
    """Several pods."""
    SERVICE = auto()
    SCALER = auto()
    VOLUME = auto()
    SETTINGS = auto()
    """A ConfigMap or Secret."""


@dataclass(frozen=True, slots=True)
class Node:
    """An object, or several that are alike.

    Attributes:
        id: unique in the picture; lower-case letters and a number.
        shape: of its outline.
        lines: what stands in it: any text.
        later: whether it is not there now, since its job is suspended.
    """

    id: str
    shape: Shape
    lines: tuple[str, ...]
    later: bool = False


@dataclass(frozen=True, slots=True)
class Frame:
    """Nodes that belong together.

    Attributes:
        id: as that of a node.
        title: any text.
        nodes: in the order in which they are written.
    """

    id: str
    title: str
    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Edge:
    """An arrow.

    Attributes:
        source: id of a node.
        target: likewise.
        label: any text; empty for none.
        uses: whether the source only needs the target to be there, and does not act on it.
    """

    source: str
    target: str
    label: str = ""
    uses: bool = False


@dataclass(frozen=True, slots=True)
class Graph:
    """A picture of one or more jobs.

    Attributes:
        frames: one for each job, then one for each namespace in which something has to be there.
        edges: between nodes of any frames.
    """

    frames: tuple[Frame, ...]
    edges: tuple[Edge, ...]

    def nodes(self) -> Iterator[Node]:
        """All nodes, frame by frame."""
        for frame in self.frames:
            yield from frame.nodes


def legible(text: str) -> str:
    """Text that is fit for a line of a picture: not too long, and without control characters."""
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}…"
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)

"""Pictures in DOT, the language of Graphviz, for `dot -Tsvg` and `dot -Tpng`."""

from collections.abc import Iterator
from typing import Final

from msjob.graph.model import Graph, Node, Shape, legible

_OUTLINES: Final = {
    Shape.PLAIN: "box",
    Shape.SEVERAL: "box3d",
    Shape.SERVICE: "hexagon",
    Shape.SCALER: "ellipse",
    Shape.VOLUME: "cylinder",
    Shape.SETTINGS: "note",
}


def dot(graph: Graph) -> str:
    """Write a picture as a directed graph in DOT."""
    return "".join(f"{line}\n" for line in _lines(graph))


def _lines(graph: Graph) -> Iterator[str]:
    yield "digraph msjob {"
    yield '  graph [fontname="sans-serif", fontsize=12, style=rounded]'
    yield '  node [fontname="sans-serif", fontsize=11]'
    yield '  edge [fontname="sans-serif", fontsize=10]'
    for frame in graph.frames:
        yield f"  subgraph cluster_{frame.id} {{"
        yield f"    label={_text(frame.title)}"
        yield from (f"    {_node(node)}" for node in frame.nodes)
        yield "  }"
    for edge in graph.edges:
        options = ["style=dashed"] if edge.uses else []
        options += [f"label={_text(edge.label)}"] if edge.label else []
        yield f"  {edge.source} -> {edge.target}" + (f" [{', '.join(options)}]" if options else "")
    yield "}"


def _node(node: Node) -> str:
    style = ", style=dashed" if node.later else ""
    return f"{node.id} [shape={_OUTLINES[node.shape]}, label={_text(*node.lines)}{style}]"


def _text(*lines: str) -> str:
    """A quoted string of lines. Graphviz reads backslashes and entities of HTML in it."""
    shown = [legible(line).replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;") for line in lines]
    return '"' + "\\n".join(shown) + '"'

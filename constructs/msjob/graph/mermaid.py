"""Pictures as Mermaid flowcharts, which GitHub, GitLab and many editors draw from Markdown."""

from collections.abc import Iterator
from typing import Final

from msjob.graph.model import Graph, Node, Shape, legible

_OUTLINES: Final = {
    Shape.PLAIN: ("[", "]"),
    Shape.SEVERAL: ("[[", "]]"),
    Shape.SERVICE: ("{{", "}}"),
    Shape.SCALER: ("(", ")"),
    Shape.VOLUME: ("[(", ")]"),
    Shape.SETTINGS: ("[/", "/]"),
}
_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.,/… ")
"""Characters that stand for themselves. All others may mean something to Mermaid, to HTML or to Markdown."""

_SETTINGS: Final = '%%{init: {"flowchart": {"wrappingWidth": 400}}}%%'
"""Names of pods have up to 63 characters: with Mermaid's 200 pixels they would be broken."""


def mermaid(graph: Graph) -> str:
    """Write a picture as a Mermaid flowchart, to be put into a code block `mermaid`.

    It sets no colours, so that it is legible on light and on dark.
    """
    return "".join(f"{line}\n" for line in _lines(graph))


def _lines(graph: Graph) -> Iterator[str]:
    yield _SETTINGS
    yield "flowchart TB"
    for frame in graph.frames:
        yield f'  subgraph {frame.id}["{_text(frame.title)}"]'
        # Without it Mermaid turns a frame that no arrow leaves on its side.
        yield "    direction TB"
        yield from (f"    {_node(node)}" for node in frame.nodes)
        yield "  end"
    for edge in graph.edges:
        arrow = "-.->" if edge.uses else "-->"
        label = f'|"{_text(edge.label)}"|' if edge.label else ""
        yield f"  {edge.source} {arrow}{label} {edge.target}"
    later = [node.id for node in graph.nodes() if node.later]
    if later:
        yield "  classDef later stroke-dasharray: 6 4"
        yield f"  class {','.join(later)} later"


def _node(node: Node) -> str:
    left, right = _OUTLINES[node.shape]
    return f'{node.id}{left}"{"<br/>".join(map(_text, node.lines))}"{right}'


def _text(text: str) -> str:
    """Text as it stands in quotes: whatever may mean something is written by its number."""
    return "".join(letter if letter in _PLAIN else f"#{ord(letter)};" for letter in legible(text))

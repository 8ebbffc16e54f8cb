"""Pictures as Mermaid and as DOT: well formed whatever the text in them, which comes back as it was."""

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msjob.graph import Edge, Frame, Graph, Node, Shape, dot, mermaid

TRAPS = (
    'x"]; click a "javascript:alert(1)"',
    "<script>alert(1)</script><b>&amp;</b>#35;",
    "%%{init: {}}%% %% end subgraph style a:#fff; classDef b:#000;",
    "1. list `code` - **bold** _it_ --> a|b|c{{d}}",
    "\\N \\n \\\\ \\",
    "\x00\n\r\t\x1b[31m\u2028\u202e",
    "训练 😀 é",
    "",
    "x" * 5000,
)
"""Text that means something to one of the languages, to HTML, to Markdown or to a terminal."""

QUOTED = r'"(?:[A-Za-z0-9 _.,/…-]|<br/>|#[0-9]+;)*"'
NODE = (
    rf"[a-z]+[0-9]+(?:\[{QUOTED}\]|\[\[{QUOTED}\]\]|\{{\{{{QUOTED}\}}\}}|\({QUOTED}\)|\[\({QUOTED}\)\]|\[/{QUOTED}/\])"
)
LINE = re.compile(
    rf"(?:flowchart TB|  end|    direction TB|  subgraph [a-z]+[0-9]+\[{QUOTED}\]|    {NODE}"
    rf"|  [a-z]+[0-9]+ (?:-->|-\.->)(?:\|{QUOTED}\|)? [a-z]+[0-9]+"
    r"|  classDef later stroke-dasharray: 6 4|  class [a-z0-9,]+ later)"
)
"""All that a line of a flowchart may be: quotes, brackets and signs of Mermaid stand where the writer puts them."""


def picture(text: str, shape: Shape = Shape.PLAIN, *, later: bool = False) -> Graph:
    """A picture with a text at each place where one may be."""
    nodes = (Node("pod1", shape, (text, text), later), Node("pod2", shape, ("b",)))
    return Graph((Frame("job1", text, nodes),), (Edge("pod1", "pod2", text), Edge("pod2", "pod1", uses=True)))


def shown(text: str) -> str:
    """Text as a picture shows it: cut, and without control characters."""
    cut = text if len(text) <= 100 else f"{text[:100]}…"
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in cut)


def check_mermaid(text: str, shape: Shape = Shape.PLAIN) -> None:
    """Check that every line is one of a flowchart, and that a browser would show the text."""
    settings, *lines = mermaid(picture(text, shape)).splitlines()
    assert settings.startswith("%%{init: ")
    assert [line for line in lines if not LINE.fullmatch(line)] == []
    title = re.findall(r'"(.*)"', lines[1])[0]
    assert unescape(title.replace("#", "&#")) == shown(text)


def check_dot(text: str, shape: Shape = Shape.PLAIN) -> None:
    """Check that every quoted string ends where it should, and that Graphviz would show the text."""
    written = dot(picture(text, shape))
    strings = re.findall(r'"((?:[^"\\]|\\.)*)"', written)
    assert re.sub(r'"(?:[^"\\]|\\.)*"', '""', written).count('"') == 2 * len(strings)
    title = unescape(re.sub(r"\\(.)", r"\1", strings[3]))
    assert title == shown(text) == shown(title)
    assert written.count("\n") == dot(picture("x", shape)).count("\n")


@pytest.mark.parametrize("shape", Shape)
@pytest.mark.parametrize("text", TRAPS)
def test_traps(text: str, shape: Shape) -> None:
    """Text that means something elsewhere means nothing in a picture, in nodes of every shape."""
    check_mermaid(text, shape)
    check_dot(text, shape)


@given(st.text())
def test_any_text(text: str) -> None:
    """Likewise any text."""
    check_mermaid(text)
    check_dot(text)


def test_style_is_no_directive() -> None:
    """Mermaid takes a semicolon away after `style…:…#…;` in a line, likewise `classDef`: no text brings that about."""
    written = mermaid(picture("style:#34; classDef:#34;"))

    assert not re.search(r"(style|classDef).*:\S*#.*;", written)


def test_what_is_not_there_is_dashed() -> None:
    """Nodes that are not there now are dashed, in both languages."""
    assert "  class pod1 later\n" in mermaid(picture("x", later=True))
    assert 'pod1 [shape=box, label="x\\nx", style=dashed]' in dot(picture("x", later=True))
    assert "later" not in mermaid(picture("x"))


def test_arrows() -> None:
    """A call is a line with its label, a need a dotted one."""
    assert '  pod1 -->|"x"| pod2\n  pod2 -.-> pod1\n' in mermaid(picture("x"))
    assert '  pod1 -> pod2 [label="x"]\n  pod2 -> pod1 [style=dashed]\n' in dot(picture("x"))

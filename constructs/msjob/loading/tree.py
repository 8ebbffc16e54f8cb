"""Objects with the place of each of their fields, built from YAML events without recursion and within limits.

What a bomb of aliases would grow to is counted before anything is built: a node knows the size of what it stands for,
and an alias adds that size to all that encloses it.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from msjob.loading.errors import LoadError
from msjob.loading.events import events
from msjob.loading.limits import MAX_CHARACTERS, MAX_DEPTH, MAX_NODES
from msjob.loading.nodes import Node, Place
from msjob.loading.scalars import ScalarError, read_scalar

_MERGE_TAG: Final = "tag:yaml.org,2002:merge"
_COLLECTION_TAGS: Final = ("!", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")
_ALIASES_COUNT: Final = "each alias counted as what it stands for"

Children = dict[str, Node] | list[Node]


def documents(text: str, name: str) -> Iterator[Node]:
    """Read the documents of a file.

    Args:
        text: of the file, YAML or JSON.
        name: for messages.

    Yields:
        The root of each document; the value of one without content is None.

    Raises:
        LoadError: no YAML, ambiguous (a key that is there twice), nothing that JSON can hold, or beyond the limits.
    """
    builder = _Builder(name)
    for event in events(text, name):
        root = builder.take(event)
        if root is not None:
            yield root


@dataclass(slots=True)
class _Open:
    """A mapping or a list whose end has not been read yet.

    Attributes:
        children: read so far.
        place: where it begins.
        anchor: its name, if it has one.
        key: that waits for its value.
        merging: whether that key is `<<`.
        own: where each key stands, without those that `<<` brought.
        size: of what was read so far, itself included; characters and height likewise.
    """

    children: Children
    place: Place
    anchor: str | None
    key: str | None = None
    merging: bool = False
    own: dict[str, Place] = field(default_factory=dict)
    size: int = 1
    characters: int = 0
    height: int = 1

    @property
    def awaits_key(self) -> bool:
        return isinstance(self.children, dict) and self.key is None

    def close(self) -> Node:
        value: Any
        if isinstance(self.children, dict):
            value = {key: child.value for key, child in self.children.items()}
        else:
            value = [child.value for child in self.children]
        return Node(value, self.place, self.children, self.size, self.characters, self.height)


class _Builder:
    """Takes the events of a file one by one."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._open: list[_Open] = []
        self._anchors: dict[str, Node | None] = {}  # None while what it names is still open
        self._root: Node | None = None
        self._size = 0
        self._characters = 0

    def take(self, event: yaml.Event) -> Node | None:
        """Take an event; give the root when it ends a document."""
        match event:  # the most frequent first
            case yaml.ScalarEvent():
                self._scalar(event, _place(event))
            case yaml.CollectionEndEvent():
                closed = self._open.pop()
                self._add(closed.close(), closed.anchor)
            case yaml.MappingStartEvent():
                self._start(event, _place(event), {})
            case yaml.SequenceStartEvent():
                self._start(event, _place(event), [])
            case yaml.AliasEvent():
                self._alias(event, _place(event))
            case yaml.DocumentStartEvent():
                self._anchors, self._root = {}, None
            case yaml.DocumentEndEvent():
                return self._end()
        return None

    def _error(self, place: Place, message: str) -> LoadError:
        return LoadError(self._name, *place, message)

    def _end(self) -> Node | None:
        if self._root is not None:
            self._size += self._root.size
            self._characters += self._root.characters
        return self._root

    @property
    def _mapping(self) -> _Open | None:
        """The mapping that awaits a key, if that comes next."""
        return self._open[-1] if self._open and self._open[-1].awaits_key else None

    def _start(self, event: yaml.CollectionStartEvent, place: Place, children: Children) -> None:
        if self._mapping:
            raise self._error(place, "a key must be text, not a mapping or a list")
        if event.tag is not None and event.tag not in _COLLECTION_TAGS:
            raise self._error(place, f"the tag {_shorten(event.tag)} has no meaning in a Kubernetes object: remove it")
        if len(self._open) >= MAX_DEPTH:
            raise self._error(place, f"nested deeper than {MAX_DEPTH} levels")
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        self._open.append(_Open(children, place, event.anchor))

    def _alias(self, event: yaml.AliasEvent, place: Place) -> None:
        anchor = _shorten(event.anchor)
        if event.anchor not in self._anchors:
            raise self._error(place, f"the alias *{anchor} has no anchor &{anchor} before it")
        node = self._anchors[event.anchor]
        if node is None:
            raise self._error(place, f"the alias *{anchor} stands inside of what it refers to")
        mapping = self._mapping
        if mapping is None:
            self._add(node.at(place), None)
        elif isinstance(node.value, str):
            self._take_key(mapping, node.value, place)
        else:
            raise self._error(place, f"a key must be text, and *{anchor} is none")

    def _scalar(self, event: yaml.ScalarEvent, place: Place) -> None:
        plain = event.implicit[0]
        mapping = self._mapping
        if mapping and (event.tag == _MERGE_TAG or (plain and event.tag is None and event.value == "<<")):
            self._take_key(mapping, "<<", place)
            mapping.merging = True
            return
        try:
            value = read_scalar(event.value, event.tag, plain=plain)
        except ScalarError as error:
            raise self._error(place, str(error)) from None
        node = Node(value, place, characters=len(event.value))
        if mapping is None:
            self._add(node, event.anchor)
            return
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        self._take_key(mapping, self._key(event.value, value, place), place)

    def _key(self, text: str, value: object, place: Place) -> str:
        """The key that kubectl makes of a scalar; refused where it would not be the text that stands there."""
        if isinstance(value, str):
            return value
        if isinstance(value, (bool, int)) and str(value).lower() == text:
            return text
        raise self._error(place, f"the key {_shorten(text)} is read as {json.dumps(value)}: write it in quotes")

    def _take_key(self, mapping: _Open, key: str, place: Place) -> None:
        first = mapping.own.get(key)
        if first is not None:
            raise self._error(place, f"the key {_shorten(key)} is there twice, first in line {first[0]}: remove one")
        mapping.own[key] = place
        mapping.key = key
        mapping.characters += len(key)

    def _add(self, node: Node, anchor: str | None) -> None:
        """Put a complete node where it belongs."""
        if anchor is not None:
            self._anchors[anchor] = node
        if not self._open:
            self._root = node
            return
        frame = self._open[-1]
        self._count(frame, node)
        if isinstance(frame.children, list):
            frame.children.append(node)
        elif frame.key is not None:
            if frame.merging:
                self._merge(frame, frame.children, node)
            else:
                frame.children[frame.key] = node.at(frame.own[frame.key])
            frame.key, frame.merging = None, False

    def _count(self, frame: _Open, node: Node) -> None:
        frame.size += node.size
        frame.characters += node.characters
        frame.height = max(frame.height, node.height + 1)
        if self._size + frame.size > MAX_NODES or self._characters + frame.characters > MAX_CHARACTERS:
            limits = f"{MAX_NODES} values or {MAX_CHARACTERS >> 20} MiB of text"
            raise self._error(node.place, f"more than {limits} in one file, {_ALIASES_COUNT}")
        if len(self._open) + node.height > MAX_DEPTH:
            raise self._error(node.place, f"nested deeper than {MAX_DEPTH} levels, {_ALIASES_COUNT}")

    def _merge(self, frame: _Open, children: dict[str, Node], node: Node) -> None:
        """Honour `<<`: the first mapping that has a key gives it, unless the key is set after it."""
        parts = node.children if isinstance(node.children, list) else [node]
        for part in parts:
            if not isinstance(part.children, dict):
                raise self._error(node.place, "<< takes a mapping or a list of mappings")
            for key, child in part.children.items():
                if key in frame.own:
                    raise self._error(
                        frame.own["<<"],
                        f"<< brings the key {_shorten(key)}, which line {frame.own[key][0]} sets too: kubectl would "
                        "take the one, YAML says the other; put << first",
                    )
                children.setdefault(key, child)


def _place(event: yaml.Event) -> Place:
    mark = event.start_mark
    return (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)


def _shorten(text: str | None) -> str:
    text = text or ""
    return text if len(text) <= 40 else f"{text[:37]}..."  # noqa: PLR2004 - enough to find it

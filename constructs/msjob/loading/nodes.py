"""Values with the place of each of their fields."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Place = tuple[int, int]
"""Line and column in a file, both from 1."""


@dataclass(frozen=True, slots=True)
class Node:
    """A value and where it is.

    Attributes:
        value: plain JSON: dict, list, str, int, float, bool or None. Aliases share what they stand for: do not change.
        place: of the key for a field of a mapping, else of the value.
        children: of a mapping by key, of a list by position; None for a scalar.
        size: number of values in it, itself included.
        characters: of all text in it.
        height: of the tree, 1 for a scalar.
    """

    value: Any
    place: Place
    children: dict[str, "Node"] | list["Node"] | None = None
    size: int = 1
    characters: int = 0
    height: int = 1

    def at(self, place: Place) -> "Node":
        """The same value at another place, for an alias or the key of a field."""
        return Node(self.value, place, self.children, self.size, self.characters, self.height)

    def find(self, path: Sequence[str | int]) -> "Node":
        """Give the node at a path, or its nearest parent that is there."""
        node = self
        for part in path:
            children = node.children
            child = None
            if isinstance(children, dict):
                child = children.get(str(part))
            elif isinstance(children, list) and isinstance(part, int) and 0 <= part < len(children):
                child = children[part]
            if child is None:
                break
            node = child
        return node

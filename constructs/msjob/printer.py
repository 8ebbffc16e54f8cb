"""Manifests as YAML text: the one printer of `dist/` and of `msjob render`.

The text depends on the objects alone. Keys are sorted, as `kubectl get -o yaml` prints them; nothing is folded at a
line width; there are no anchors. Strings are quoted wherever any reader of YAML 1.1 or 1.2 would take them for
something else, and text of several lines is printed as a literal block.

The pure Python emitter of PyYAML is used on purpose: the one of libyaml, which not every installation has, breaks some
lines elsewhere.
"""

import re
from collections.abc import Iterable
from typing import Any

import yaml

_SEPARATOR = "---\n"


class _Dumper(yaml.SafeDumper):
    """PyYAML's safe dumper, with quotes for what only other readers resolve, and without anchors."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - the signature is PyYAML's
        """Print an object that occurs twice twice: anchors are hard to review, and some readers limit them."""
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """Choose the style: a literal block for lines, escapes for what cannot be printed, else what PyYAML finds.

    YAML 1.1 sees line breaks in U+0085, U+2028 and U+2029 and YAML 1.2 does not, so these are always escaped.
    PyYAML itself falls back to quotes where a literal block cannot hold the text.
    """
    style = None
    if not text.isprintable():
        style = "|" if all(line.isprintable() for line in text.split("\n")) else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)
# PyYAML lacks some of YAML 1.1 and 1.2. The readers of kubectl (Go) and of cdk8s (JavaScript) also see booleans in `y`
# and `n`, floats without a dot, and octal numbers with an `o`.
_FLOAT = r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z"
_Dumper.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"[yYnN]\Z"), list("yYnN"))
_Dumper.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(_FLOAT), list("-+.0123456789"))
_Dumper.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"[-+]?0[oO][0-7]+\Z"), list("-+0"))


def to_yaml(objects: Iterable[Any], header: str = "") -> str:
    """Print objects as a stream of YAML documents.

    Args:
        objects: plain JSON values (dicts, lists, strings, finite numbers, booleans, None).
        header: lines put before the first document as comments; empty for none.

    Returns:
        The text. Each document starts with `---`, so texts can be joined; empty without header and objects.

    Raises:
        yaml.representer.RepresenterError: an object holds something other than plain JSON values.
    """
    parts = [f"# {line}\n" for line in header.splitlines()]
    for item in objects:
        parts.append(_SEPARATOR)
        parts.append(
            yaml.dump(
                item, Dumper=_Dumper, sort_keys=True, default_flow_style=False, allow_unicode=True, width=float("inf")
            )
        )
    return "".join(parts)

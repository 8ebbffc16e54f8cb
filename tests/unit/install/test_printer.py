"""Manifests as YAML: read back alike by every reader, and the same text every time."""

import random
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from msjob.printer import to_yaml

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)

READ_AS_SOMETHING_ELSE = [
    *("y", "Y", "n", "N", "yes", "No", "on", "Off", "true", "False", "TRUE", "null", "Null", "~", ""),
    *("0775", "0o17", "-0o7", "0x1F", "0b101", "1_000", "12", "-12", "+12", "1e3", "1E3", "-1e-3", "1.", ".5", "1.5"),
    *("1.e3", ".inf", "-.INF", ".nan", "1:30", "1:30:45", "190:20:30.15", "2001-12-14", "2001-12-14t21:59:43.10-05:00"),
    *(
        "=",
        "<<",
        "-",
        "- a",
        "?",
        ":",
        "a: b",
        "a #b",
        "#",
        "&a",
        "*a",
        "!a",
        "|",
        ">",
        "%",
        "@",
        "`",
        "{",
        "[",
        ",",
        "'",
        '"',
    ),
]


@given(st.lists(JSON, max_size=3))
def test_reads_back(objects: list[Any]) -> None:
    """Whatever JSON is printed, reading it gives the same again."""
    assert [*yaml.safe_load_all(to_yaml(objects))] == objects


@pytest.mark.parametrize("text", READ_AS_SOMETHING_ELSE)
def test_ambiguous_text_is_quoted(text: str) -> None:
    """Text that some reader of YAML 1.1 or 1.2 takes for a boolean, a number, a date or syntax stands in quotes."""
    printed = to_yaml([{"value": text}])

    assert printed in (f"---\nvalue: '{text.replace(chr(39), chr(39) * 2)}'\n", f'---\nvalue: "{text}"\n')


@pytest.mark.parametrize(
    "text", ["a", "500m", "512Mi", "v1", "1.2.3", "ms-operator", "/healthz", ":8080", "--a=b", "é"]
)
def test_plain_text_is_not(text: str) -> None:
    """Ordinary values stay free of quotes, as people write them."""
    assert to_yaml([{"value": text}]) == f"---\nvalue: {text}\n"


@pytest.mark.parametrize("character", ["\x85", "\u2028", "\u2029", "\t", "\r", "\0", "\ufeff", "\x7f"])
def test_what_readers_differ_about_is_escaped(character: str) -> None:
    """A character that is a line break to some readers, or invisible, is printed as an escape."""
    printed = to_yaml([f"a{character}b", f"a{character}b\nc\n"])

    assert character not in printed
    assert [*yaml.safe_load_all(printed)] == [f"a{character}b", f"a{character}b\nc\n"]


def test_lines_are_a_block() -> None:
    """A script in a manifest stays readable: one line of it is one line of the file."""
    assert to_yaml([{"script": "set -e\n  train\n"}]) == "---\nscript: |\n  set -e\n    train\n"


def test_long_lines_are_not_folded() -> None:
    """A long value stays on one line: folding differs between printers, and hides in diffs."""
    long = "word " * 100 + "end"

    assert to_yaml([{"value": long}]) == f"---\nvalue: {long}\n"


def test_keys_are_sorted() -> None:
    """The order in which keys came does not show, at any depth; the order of lists stays."""
    keys = [*"zyxabc"]
    expected = to_yaml([{key: {inner: ["b", "a"] for inner in keys} for key in keys}])
    for seed in range(5):
        random.Random(seed).shuffle(keys)  # noqa: S311 - no secret

        assert to_yaml([{key: {inner: ["b", "a"] for inner in keys} for key in keys}]) == expected


def test_no_anchors() -> None:
    """An object that occurs twice is printed twice."""
    shared = {"a": [1]}

    assert to_yaml([{"one": shared, "two": shared}]) == "---\none:\n  a:\n  - 1\ntwo:\n  a:\n  - 1\n"


def test_documents_and_header() -> None:
    """The header is comments; each document starts with a marker, so that files can be joined."""
    text = to_yaml([{"a": 1}, {"b": 2}], "one\ntwo")

    assert text == "# one\n# two\n---\na: 1\n---\nb: 2\n"
    assert [*yaml.safe_load_all(text + text)] == [{"a": 1}, {"b": 2}] * 2
    assert to_yaml([]) == ""


def test_only_json() -> None:
    """Anything but plain JSON is refused: it could not be read back alike."""
    with pytest.raises(yaml.representer.RepresenterError):
        to_yaml([{"a": object()}])

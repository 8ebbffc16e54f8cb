"""Reading files: objects, the place of their fields, encodings, lists, merges."""

import json
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from msjob.loading import LoadError, jobs, read, read_bytes
from msjob.printer import to_yaml
from support.jobs import msjob

TEXT = """\
# a comment
kind: MSJob
spec:
  roles:
    Worker: {replicas: 2,
      command: [python, train.py]}
    "PS":
      replicas: 1
  list:
  - name: a
  -
    name: b
"""


def load(source: str) -> Any:
    """The only object of a text."""
    (document,) = read(source.encode(), "job.yaml")
    return document.object


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ((), (2, 1)),
        (("kind",), (2, 1)),
        (("spec",), (3, 1)),
        (("spec", "roles", "Worker"), (5, 5)),
        (("spec", "roles", "Worker", "replicas"), (5, 14)),
        (("spec", "roles", "Worker", "command", 1), (6, 25)),
        (("spec", "roles", "PS", "replicas"), (8, 7)),
        (("spec", "list", 0), (10, 5)),
        (("spec", "list", 1, "name"), (12, 5)),
        # What is missing is shown at the nearest parent that is there.
        (("metadata", "name"), (2, 1)),
        (("spec", "roles", "PS", "template", "spec"), (7, 5)),
        (("spec", "list", 2, "name"), (9, 3)),
        (("spec", "list", "name"), (9, 3)),
        (("spec", "list", -1), (9, 3)),
        (("spec", "roles", 0), (4, 3)),
        (("kind", "x"), (2, 1)),
    ],
)
def test_position_of_a_field(path: tuple[str | int, ...], place: tuple[int, int]) -> None:
    """A field is found by line and column of its key, an item of a list by its own."""
    (document,) = read(TEXT.encode(), "job.yaml")

    assert document.position(path) == place


def test_without_libyaml(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where PyYAML was built without libyaml, values and places are the same."""
    (fast,) = read(TEXT.encode(), "job.yaml")
    monkeypatch.setattr("msjob.loading.events._LOADER", yaml.SafeLoader)
    (slow,) = read(TEXT.encode(), "job.yaml")

    assert slow == fast


def test_position_in_json() -> None:
    """JSON has positions too, with tabs and in the second object of a file as well."""
    text = '{"a": 1}\n{\n\t"b": {"c":\t[true,\n "x"]}}'
    first, second = read(text.encode(), "job.json")

    assert (first.object, second.object) == ({"a": 1}, {"b": {"c": [True, "x"]}})
    assert [second.position(path) for path in [(), ("b",), ("b", "c"), ("b", "c", 1)]] == [
        (2, 1),
        (3, 2),
        (3, 8),
        (4, 2),
    ]


def test_position_behind_an_alias() -> None:
    """A field reached through an alias is the one at the alias, what is in it stands at the anchor."""
    (document,) = read(b"a: &x\n  b: 1\nc: *x\nd: [*x]\ne:\n  <<: *x\n", "job.yaml")

    assert document.object == {"a": {"b": 1}, "c": {"b": 1}, "d": [{"b": 1}], "e": {"b": 1}}
    assert [document.position(path) for path in [("c",), ("c", "b"), ("d", 0), ("e", "b")]] == [
        (3, 1),
        (2, 3),
        (4, 5),
        (2, 3),
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: &x {b: 1, c: 2}\nd: {<<: *x, c: 3}", {"b": 1, "c": 3}),
        ("a: &x {b: 1}\ne: &y {b: 2, c: 2}\nd: {<<: [*x, *y]}", {"b": 1, "c": 2}),
        ("d: {<<: {b: 1}, c: 2}", {"b": 1, "c": 2}),
        ("d: {<<: [], c: 2}", {"c": 2}),
        ("d: {'<<': 1}", {"<<": 1}),
        ("d: {!!merge x: {b: 1}}", {"b": 1}),
        ("d: [<<]", ["<<"]),
    ],
)
def test_merge_keys(text: str, value: object) -> None:
    """`<<` brings the keys of other mappings; keys that follow win over it, and mappings named first over later."""
    assert load(text)["d"] == value


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("1: x", "1"),
        ("true: x", "true"),
        ("'on': x", "on"),
        ("&a k: *a", "k"),
        ("x: &a k\n*a : 1", "k"),
        ("? k\n: 1", "k"),
    ],
)
def test_keys_that_are_text_in_json(text: str, key: str) -> None:
    """A key that kubectl turns to the text that stands there is that text."""
    assert key in load(text)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings(encoding: str) -> None:
    """UTF-8 is read with and without a byte order mark, UTF-16 with one, as kubectl does."""
    (document,) = read("a: 'é 😀'\n".encode(encoding), "job.yaml")

    assert document.object == {"a": "é 😀"}
    assert document.position(("a",)) == (1, 1)


def test_surrogate_pairs_in_json() -> None:
    """JSON as Python's json module writes it by default is read, with characters beyond 16 bits as two escapes."""
    assert load(json.dumps({"a": "😀"})) == {"a": "😀"}


def test_almost_json_is_yaml() -> None:
    """What begins like JSON and is none is read as YAML: a last comma, bare words, comments."""
    assert load('{"a": NaN, b: [1, 2,], # more\n}') == {"a": "NaN", "b": [1, 2]}


def test_documents_without_content_are_passed_over() -> None:
    """Several documents are several objects; separators that enclose nothing do no harm."""
    found = read(b"---\n---\na: 1\n---\n# nothing\n---\nb: 2\n...\n---\n", "job.yaml")

    assert [document.object for document in found] == [{"a": 1}, {"b": 2}]


def test_lists_hold_jobs() -> None:
    """The jobs of a `List` and of an `MSJobList` are found, at their places in the file."""
    one, two = msjob("one"), msjob("two")
    lists = [
        {"apiVersion": "v1", "kind": "List", "items": [one, {"apiVersion": "v1", "kind": "List", "items": [two]}]},
        {"apiVersion": "mindspore.gitee.com/v1", "kind": "MSJobList", "items": []},
    ]
    text = json.dumps(lists[0], indent=1) + json.dumps(lists[1])

    found = [job for document in read(text.encode(), "job.json") for job in jobs(document)]

    assert [job.object for job in found] == [one, two]
    assert [text.splitlines()[job.position(("metadata", "name"))[0] - 1].strip(' ",') for job in found] == [
        'name": "one',
        'name": "two',
    ]


_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | _texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_texts, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=40)
@given(st.dictionaries(_texts, _values, min_size=1, max_size=5))
def test_what_is_printed_is_read(value: dict[str, Any]) -> None:
    """JSON of Python's json module and YAML of this project's printer give back the value they were made of."""
    for text in (json.dumps(value), json.dumps(value, indent="\t"), to_yaml([value])):
        assert load(text) == value


def test_standard_input(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """`-` is standard input, any other name a file."""
    (tmp_path / "job.yaml").write_bytes(b"a: 1")
    with (tmp_path / "job.yaml").open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        assert read_bytes("-") == read_bytes(str(tmp_path / "job.yaml")) == b"a: 1"


def test_endless_input_ends() -> None:
    """Of a file that never ends only as much is read as is needed to refuse it."""
    with pytest.raises(LoadError, match="larger than 8 MiB"):
        read(read_bytes("/dev/zero"), "/dev/zero")

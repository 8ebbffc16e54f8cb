"""Files that are refused: each with its reason and, where there is one, its line."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from msjob.loading import Document, LoadError, jobs, read, read_bytes
from msjob.loading.limits import MAX_BYTES

LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9)
)
FEW_LAUGHS = "".join(LAUGHS.splitlines(keepends=True)[:5])
CHAIN = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 200))
LONG_TEXT = f"a: &a {'x' * 100_000}\nb: [{', '.join(['*a'] * 100)}]"

REFUSED = {
    # What is wrong: text, line, column, message.
    "empty": ("", None, None, "no object in it: the file is empty"),
    "only comments": ("# nothing\n---\n# still nothing\n", None, None, "no object in it"),
    "only null": ("null\n---\n~\n", None, None, "no object in it"),
    "text": ("hello", 1, 1, "text is no object: expected kind MSJob of mindspore.gitee.com/v1"),
    "number": ("12", 1, 1, "a number is no object"),
    "boolean": ("true", 1, 1, "a boolean is no object"),
    "list": ("- a\n- b\n", 1, 1, "a list is no object"),
    "second document a list": ("a: 1\n---\n\n- b\n", 4, 1, "a list is no object"),
    "colon": ("a: b: c", 1, 5, "is not YAML: mapping values are not allowed"),
    "unclosed": ("a: [1,\nb: 2\n", 3, 1, "is not YAML: while parsing a flow sequence"),
    "unclosed quote": ("a: 'x\n", 2, 1, "is not YAML: while scanning a quoted scalar"),
    "tab": ("a:\n\tb: 1\n", 2, 1, "(indent with spaces, not with tabs)"),
    "indent": ("a:\n  b: 1\n c: 2\n", 3, 2, "is not YAML"),
    "directive": ("%YAML 3.0\n---\na: 1\n", 1, 1, "is not YAML"),
    "undefined tag prefix": ("a: !x!y 1\n", 1, 4, "is not YAML"),
    "duplicate": ("a:\n  b: 1\n  b: 2\n", 3, 3, "the key b is there twice, first in line 2"),
    "duplicate after conversion": ("1: a\n'1': b\n", 2, 1, "the key 1 is there twice, first in line 1"),
    "duplicate in JSON": ('{"a": 1,\n "a": 2}', 2, 2, "the key a is there twice, first in line 1"),
    "duplicate merge": ("a: {<<: {b: 1}, <<: {c: 1}}", 1, 17, "the key << is there twice"),
    "duplicate long": (
        f"{'k' * 60}: 1\n{'k' * 60}: 2\n",
        2,
        1,
        "the key kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk... is there",
    ),
    "key read as boolean": ("on: 1\n", 1, 1, "the key on is read as true: write it in quotes"),
    "key read as null": ("~: 1\n", 1, 1, "the key ~ is read as null"),
    "key read as another number": ("0x10: 1\n", 1, 1, "the key 0x10 is read as 16"),
    "key read as a float": ("1.5: 1\n", 1, 1, "the key 1.5 is read as 1.5"),
    "key of a list": ("? [a]\n: 1\n", 1, 3, "a key must be text"),
    "key of an alias": ("a: &a [1]\n*a : 1\n", 2, 1, "a key must be text, and *a is none"),
    "merge of a number": ("a: {<<: 1}\n", 1, 9, "<< takes a mapping"),
    "merge of numbers": ("a: {<<: [1]}\n", 1, 9, "<< takes a mapping"),
    "merge after its key": ("a: &a {b: 1}\nc:\n  b: 2\n  <<: *a\n", 4, 3, "<< brings the key b, which line 3 sets too"),
    "set": ("a: !!set {b}\n", 1, 4, "the tag tag:yaml.org,2002:set has no meaning"),
    "alias of nothing": ("a: *b\n", 1, 4, "the alias *b has no anchor &b before it"),
    "alias of another document": ("a: &a 1\n---\nb: *a\n", 3, 4, "the alias *a has no anchor"),
    "alias of itself": ("a: &a [1, *a]\n", 1, 11, "the alias *a stands inside of what it refers to"),
    "alias bomb": (LAUGHS, 6, 25, "more than 200000 values"),
    "alias bomb of text": (LONG_TEXT, 2, 337, "8 MiB of text"),
    "alias bomb over documents": ("---\n".join([FEW_LAUGHS] * 3), 17, 40, "more than 200000 values"),
    "alias tower": (CHAIN, 99, 12, "nested deeper than 100 levels, each alias counted"),
    "nested lists": ("[" * 100_000, 1, 1001, "is not YAML: while increasing flow level"),
    "nested lists of lines": ("a: " + "[\n" * 500, 100, 1, "nested deeper than 100 levels"),
    "nested block": ("- " * 5_000, 1, 201, "nested deeper than 100 levels"),
    "nested JSON": ('{"a":' * 100_000, 1, 501, "nested deeper than 100 levels"),
    "nested JSON, complete": ('{"a":' * 300 + "1" + "}" * 300, 1, 501, "nested deeper than 100 levels"),
    "surrogate in YAML": ('a: "\\ud800"\n', 1, 7, "invalid Unicode character"),
    "surrogate in JSON": ('{"a": "\\ud800"}', 1, 7, "half of a surrogate pair"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_text_is_refused(case: str) -> None:
    """The first thing that is wrong is told, with the place where an editor should go."""
    text, line, column, message = REFUSED[case]

    with pytest.raises(LoadError) as caught:
        read(text.encode(), "job.yaml")

    assert (caught.value.line, caught.value.column) == (line, column)
    assert message in caught.value.message
    assert str(caught.value).startswith("job.yaml:")


def test_many_values_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit counts values that stand there as it counts those of aliases, over all documents of a file."""
    monkeypatch.setattr("msjob.loading.tree.MAX_NODES", 1000)
    document = "a:\n" + "- 1\n" * 400
    read(document.encode(), "job.yaml")

    with pytest.raises(LoadError, match=r"^job.yaml:1001:3: more than 1000 values"):
        read("---\n".join([document] * 3).encode(), "job.yaml")


@pytest.mark.parametrize(
    ("source", "line", "message"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x00", 1, "is not text in UTF-8 (byte 0x89 at offset 0)"),
        (b"a: 1\nb: \xff\n", 2, "is not text in UTF-8 (byte 0xff at offset 8)"),
        (b"\x7fELF\x02\x01", 1, "control character U+007F: this is no text file"),
        (b"a: 1\nb: \x00\n", 2, "control character U+0000"),
        (b"\xff\xfea", None, "is not text in UTF-8"),
        (b"#" * (MAX_BYTES + 1), None, "is larger than 8 MiB"),
    ],
    ids=["png", "latin-1", "elf", "nul", "half utf-16", "large"],
)
def test_what_is_no_text_is_refused(source: bytes, line: int | None, message: str) -> None:
    """A binary file, another encoding and a file without end are told apart from bad YAML."""
    with pytest.raises(LoadError) as caught:
        read(source, "job.yaml")

    assert caught.value.line == line
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("kind: Pod\napiVersion: v1\n", 1, "found kind Pod of v1: expected kind MSJob of mindspore.gitee.com/v1"),
        ("kind: MSJob\napiVersion: v1beta1\n", 2, "found kind MSJob of v1beta1"),
        ("metadata:\n  name: x\n", 1, "apiVersion is missing: expected kind MSJob"),
        ("apiVersion: mindspore.gitee.com/v1\n", 1, "kind is missing"),
        ("apiVersion: 1\nkind: MSJob\n", 1, "apiVersion must be text, not a number"),
        ("apiVersion: v1\nkind: [a]\n", 2, "kind must be text, not a list"),
        ("apiVersion: v1\nkind: List\n", 1, "items of a List must be a list"),
        ("apiVersion: v1\nkind: List\nitems: {}\n", 3, "items of a List must be a list"),
        ("apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n", 5, "found kind Pod of v1"),
        ("apiVersion: v1\nkind: List\nitems:\n- x\n", 4, "text is no object"),
        ("apiVersion: v1\nkind: List\nitems:\n-\n", 4, "nothing is no object"),
        ("apiVersion: {}\nkind: MSJob\n", 1, "apiVersion must be text, not a mapping"),
    ],
)
def test_objects_that_are_no_jobs_are_refused(text: str, line: int, message: str) -> None:
    """Another kind, another version and lists of something else are named for what they are."""
    (document,) = read(text.encode(), "job.yaml")

    with pytest.raises(LoadError) as caught:
        jobs(document)

    assert caught.value.line == line
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("name", "message"),
    [("missing.yaml", "No such file"), (".", "is a folder"), ("a\0b", "cannot be read"), ("x" * 300, "cannot be read")],
)
def test_files_that_cannot_be_read(name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing file, a folder and an impossible name are errors of the file as the user named it."""
    monkeypatch.chdir(tmp_path)

    with pytest.raises(LoadError) as caught:
        read_bytes(name)

    assert caught.value.file == name
    assert message in caught.value.message


def _read_all(source: bytes) -> list[Document]:
    """All jobs of a file, none if it is refused."""
    try:
        return [job for document in read(source, "job.yaml") for job in jobs(document)]
    except LoadError:
        return []


@given(st.binary(max_size=400))
def test_no_bytes_break_the_reader(source: bytes) -> None:
    """Arbitrary bytes are read or refused, and nothing else happens."""
    assert isinstance(_read_all(source), list)


_PIECES = st.sampled_from(
    [
        "a",
        ": ",
        "- ",
        "\n",
        "  ",
        "{",
        "}",
        "[",
        "]",
        ",",
        "&x ",
        "*x",
        "<<",
        "!!str ",
        "!",
        "? ",
        "|",
        ">-",
        "'",
        '"',
        "#",
    ]
) | st.sampled_from(
    ["---\n", "...\n", "%TAG ! x\n", "\t", "1", "on", "~", "kind", "MSJob", "\\ud800", "\u2028", "\ufeff", "@", "`"]
)


@given(st.lists(_PIECES, max_size=40).map("".join))
@example("? a\n? b\n")
@example("&x &x a")
@example("a: !")
def test_no_text_breaks_the_reader(text: str) -> None:
    """Text made of the signs of YAML is read or refused, and nothing else happens."""
    assert isinstance(_read_all(text.encode()), list)

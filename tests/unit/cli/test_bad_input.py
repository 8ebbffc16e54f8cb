"""Bad input of every class: a clear message with its line, the exit code, nothing on standard output of `render`."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.cli import msjob_call, text
from support.jobs import Json, jobs, msjob, role, template

GOOD = """\
apiVersion: mindspore.gitee.com/v1
kind: MSJob
metadata:
  name: train
spec:
  msReplicaSpecs:
    Scheduler:
      replicas: 1
      template:
        spec: &pod
          containers:
          - name: mindspore
            image: example.com/train:1
    Worker:
      replicas: 2
      template:
        spec: *pod
"""
ROLES = "spec.msReplicaSpecs"
WORKER = f"{ROLES}.Worker"
POD = f"{ROLES}.Scheduler.template.spec"

BAD_JOBS = {
    # What is replaced by what, and how the finding begins: line, column, field, words of the message.
    "replicas of a wrong type": ("replicas: 2", "replicas: two", 15, 7, f"{WORKER}.replicas", "integer"),
    "replicas in quotes": ("replicas: 2", "replicas: '2'", 15, 7, f"{WORKER}.replicas", "integer"),
    "replicas are half": ("replicas: 2", "replicas: 0.5", 15, 7, f"{WORKER}.replicas", "integer"),
    "negative replicas": ("replicas: 2", "replicas: -1", 15, 7, f"{WORKER}.replicas", "at least 0"),
    "too many replicas": ("replicas: 2", "replicas: 100001", 15, 7, f"{WORKER}.replicas", "at most"),
    "template is a list": ("template:\n        spec: *pod", "template: [a]", 16, 7, f"{WORKER}.template", "mapping"),
    "containers are a mapping": ("- name: mindspore", "  name: x", 11, 11, f"{POD}.containers", "list"),
    "image is a number": ("example.com/train:1", "1", 13, 13, f"{POD}.containers[0].image", "string"),
    "unknown field": ("replicas: 2", "replica: 2", 15, 7, f"{WORKER}.replica", "did you mean replicas"),
    "unknown role": ("Worker:", "Workers:", 14, 5, f"{ROLES}.Workers", "unknown role"),
    "role named twice": ("Worker:", "SCHEDULER:", 14, 5, f"{ROLES}.SCHEDULER", "named twice"),
    "two Schedulers": ("replicas: 1", "replicas: 2", 8, 7, f"{ROLES}.Scheduler.replicas", "one Scheduler"),
    "no mindspore container": ("- name: mindspore", "- name: main", 11, 11, f"{POD}.containers", "mindspore"),
    "name with dots": ("name: train", "name: train.1", 4, 3, "metadata.name", "no dots"),
    "name too long": ("name: train", f"name: {'a' * 60}", 4, 3, "metadata.name", "too long"),
    "no name": ("name: train", "labels: {}", 3, 1, "metadata.name", "metadata.name"),
    "name is a number": ("name: train", "name: 12", 4, 3, "metadata.name", "string"),
    "label of a wrong type": ("name: train", "name: train\n  labels: {a: yes}", 5, 12, "metadata.labels.a", "quotes"),
    "unknown launch mode": ("spec:\n  ms", "spec:\n  launchMode: Magic\n  ms", 6, 3, "spec.launchMode", "one of"),
}


@pytest.mark.parametrize("case", BAD_JOBS)
def test_bad_job(case: str) -> None:
    """A job that breaks a rule is refused by both commands, with the same line on what is wrong."""
    old, new, line, column, field, words = BAD_JOBS[case]
    assert GOOD.count(old) >= 1
    bad = GOOD.replace(old, new, 1)

    validated = msjob_call("validate", "-f", "-", stdin=bad)
    rendered = msjob_call("render", "-f", "-", stdin=bad)

    assert validated.lines[0].startswith(f"-:{line}:{column}: {field}")
    assert words in validated.lines[0]
    assert (validated.code, validated.err) == (1, "")
    assert (rendered.code, rendered.out, rendered.err) == (1, "", validated.out)


UNREADABLE: dict[str, tuple[bytes, str, str]] = {
    "empty": (b"", "-: ", "no object in it"),
    "comments only": (b"# a\n", "-: ", "no object in it"),
    "not YAML": (GOOD.replace("replicas: 2", "replicas: 2: 3").encode(), "-:15:18: ", "is not YAML"),
    "tabs": (GOOD.replace("  name: train", "\tname: train").encode(), "-:4:1: ", "not with tabs"),
    "binary": (bytes(range(256)), "-:", "text"),
    "picture": (b"\x89PNG\r\n\x1a\n", "-:1: ", "is not text in UTF-8"),
    "NUL": (GOOD.encode() + b"\x00", "-:18:1: ", "control character U+0000"),
    "key twice": (GOOD.replace("replicas: 2", "replicas: 2\n      replicas: 3").encode(), "-:16:7: ", "twice"),
    "alias bomb": (
        b"a: &a0 [x, x, x, x, x, x, x, x, x]\n"
        + b"".join(b"a%d: &a%d [%s]\n" % (n, n, b", ".join([b"*a%d" % (n - 1)] * 9)) for n in range(1, 9)),
        "-:6:",
        "each alias counted as what it stands for",
    ),
    "recursive alias": (b"a: &a {b: *a}", "-:1:11: ", "stands inside of what it refers to"),
    "deep": (b"[" * 50_000, "-:1:", "nesting"),
    "python tag": (b"!!python/object/apply:os.system [id]", "-:1:1: ", "has no meaning"),
    "text": (b"hello", "-:1:1: ", "text is no object"),
    "other kind": (b"apiVersion: batch/v1\nkind: Job\n", "-:2:1: ", "found kind Job of batch/v1"),
    "other version": (
        GOOD.replace("com/v1", "com/v9").encode(),
        "-:1:1: ",
        "found kind MSJob of mindspore.gitee.com/v9",
    ),
    "too large": (b"#" * (9 << 20), "-: ", "larger than 8 MiB"),
}


@pytest.mark.parametrize("case", UNREADABLE)
def test_unreadable_input(case: str) -> None:
    """Input that holds no MSJob is refused by both commands with exit code 2 and one line."""
    source, start, words = UNREADABLE[case]

    validated = msjob_call("validate", "-f", "-", stdin=source)
    rendered = msjob_call("render", "-f", "-", stdin=source)

    assert validated.out.startswith(start)
    assert words in validated.out
    assert (validated.code, len(validated.lines), validated.err) == (2, 1, "")
    assert (rendered.code, rendered.out, rendered.err) == (2, "", validated.out)


def test_huge_template() -> None:
    """A job that no API server could store is refused before anything is rendered from it."""
    env = [{"name": f"V{n}", "value": "x" * 1000} for n in range(1100)]

    outcome = msjob_call("render", "-f", "-", stdin=json.dumps(msjob(worker=role(1, template(env=env)))))

    assert (outcome.code, outcome.out) == (1, "")
    assert "too many to store" in outcome.err


def test_an_alias_may_be_used() -> None:
    """Aliases that do not explode are honoured: both roles of the good job share a pod template."""
    assert msjob_call("validate", "-f", "-", stdin=GOOD).code == 0


def test_one_bad_document_keeps_the_others_from_being_printed() -> None:
    """Nothing is printed unless everything can be: half an output looks like a whole one."""
    outcome = msjob_call("render", "-f", "-", stdin=f"{GOOD}---\n{GOOD.replace('replicas: 2', 'replicas: -1')}")

    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith("-:33:7: ")


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_no_bytes_crash(source: bytes) -> None:
    """Arbitrary bytes end with an exit code that says what they are."""
    assert msjob_call("validate", "-f", "-", stdin=source).code == 2


_places = st.integers(0, len(GOOD))
_insertions = st.text(st.sampled_from("{}[]&*!|>'\"%@`,:#-?\n \tabn0\x00\x85\ufeff\u2028é"), max_size=6)


@settings(deadline=None)
@given(st.lists(st.tuples(_places, st.integers(0, 12), _insertions), min_size=1, max_size=3))
def test_no_damage_to_the_text_crashes(edits: list[tuple[int, int, str]]) -> None:
    """A good file with pieces cut out and signs put in is good, bad or unreadable."""
    bad = GOOD
    for place, length, insertion in edits:
        bad = bad[:place] + insertion + bad[place + length :]

    assert msjob_call("validate", "-f", "-", stdin=bad).code in (0, 1, 2)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=5,
)


@st.composite
def damaged_jobs(draw: st.DrawFn) -> Json:
    """Good jobs of which one value, anywhere, was replaced by any other, or left out."""
    job: Json = draw(jobs())
    parent: Json | list[object] = job
    while True:
        key = draw(st.sampled_from([*parent] if isinstance(parent, dict) else [*range(len(parent))]))
        child = parent[key]
        if not (isinstance(child, dict | list) and child) or draw(st.integers(0, 3)) == 0:
            break
        parent = child
    if draw(st.booleans()):
        parent[key] = draw(_json)
    else:
        del parent[key]
    return job


@settings(deadline=None, max_examples=60)
@given(damaged_jobs())
def test_what_validates_renders(job: Json) -> None:
    """A job with a value of any kind anywhere is refused by both commands, or rendered: never does one fail on it."""
    source = text(job)

    validated = msjob_call("validate", "-f", "-", stdin=source)
    rendered = msjob_call("render", "-f", "-", stdin=source)

    assert validated.code == rendered.code
    assert validated.code in (0, 1, 2)

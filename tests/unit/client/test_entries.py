"""The bytes of a log become lines, however they arrive."""

from hypothesis import given
from hypothesis import strategies as st

from msjob_client.logs.entries import Cutter, Entry

STAMP = b"2026-12-01T09:00:00.123456789Z "
NANOS = 1796115600123456789


def cut(*chunks: bytes, flush: bool = True) -> list[Entry]:
    """All entries of an answer that comes in these pieces."""
    cutter = Cutter()
    found = [entry for chunk in chunks for entry in cutter.feed(chunk)]
    return [*found, *cutter.flush()] if flush else found


def texts(*chunks: bytes) -> list[bytes]:
    """Their texts."""
    return [entry.text for entry in cut(*chunks)]


def test_stamps() -> None:
    """Nanoseconds, in any time zone, with any number of digits."""
    first, second, third = cut(
        STAMP + b"a\n2026-12-01T17:00:00.1234+08:00 b\n2026-12-01T09:00:00Z c d\n",
    )
    assert (first.stamp, first.text) == (NANOS, b"a")
    assert (second.stamp, second.text) == (1796115600123400000, b"b")
    assert second.time is not None
    assert second.time.isoformat() == "2026-12-01T09:00:00.123400+00:00"
    assert (third.stamp, third.text) == (1796115600000000000, b"c d")


def test_what_has_no_stamp() -> None:
    """The kubelet may say something of its own in place of a log."""
    for line in (b"unable to retrieve container logs", b"", b"2026-12-01 x", b"2026-13-01T00:00:00Z x", b"T x"):
        assert [entry.stamp for entry in cut(line + b"\n")] == [None]
        assert texts(line + b"\n") == [line]


def test_lines() -> None:
    """Empty lines stay; the end of a line may be that of Windows; bytes are left alone."""
    assert texts(STAMP + b"a\n" + STAMP + b"\n" + STAMP + b"b\r\n" + STAMP + b"\xff\xe4\xb8\xad\n") == [
        b"a",
        b"",
        b"b",
        b"\xff\xe4\xb8\xad",
    ]


def test_a_line_without_an_end_comes_last() -> None:
    """It is kept back until somebody decides that it is one."""
    assert cut(STAMP + b"a\n" + STAMP + b"b", flush=False) == cut(STAMP + b"a\n")
    assert texts(STAMP + b"a\n" + STAMP + b"b") == [b"a", b"b"]


def test_progress_bars() -> None:
    """A carriage return ends a part, which comes at once and has the stamp of its line."""
    found = cut(STAMP + b"\r 1%\r 2%\r 3", flush=False)
    assert [(entry.stamp, entry.text) for entry in found] == [(NANOS, b" 1%"), (NANOS, b" 2%")]
    assert texts(STAMP + b"\r 1%\r 2%\r 3", b"%\nnext\n") == [b" 1%", b" 2%", b" 3%", b"next"]


@given(st.data())
def test_any_pieces(data: st.DataObject) -> None:
    """However an answer is cut in pieces, its entries are the same."""
    lines = data.draw(st.lists(st.binary(max_size=6).map(lambda text: text.replace(b"\n", b"\r")), max_size=5))
    answer = b"".join(STAMP + line + b"\n" for line in lines) + data.draw(st.sampled_from([b"", STAMP, b"x", b"\r"]))
    places = sorted(data.draw(st.lists(st.integers(0, len(answer)), max_size=6)))
    pieces = [answer[start:end] for start, end in zip([0, *places], [*places, len(answer)], strict=True)]
    assert cut(*pieces) == cut(answer)

"""A log that is read in many pieces is told whole and once."""

from hypothesis import given
from hypothesis import strategies as st

from msjob_client.logs.entries import Entry
from msjob_client.logs.seen import Seen

SECOND = 10**9
BASE = 1_796_115_600 * SECOND


def entry(stamp: int | None, text: bytes = b"x") -> Entry:
    """An entry; its time does not matter here."""
    return Entry(stamp, None, text)


def read(seen: Seen, answer: list[Entry]) -> list[Entry]:
    """Take in an answer, and give what was news."""
    seen.reopen()
    news = []
    for item in answer:
        if seen.is_news(item):
            seen.add(item)
            news.append(item)
    return news


def asked(log: list[Entry], seen: Seen) -> list[Entry]:
    """What a kubelet answers: from a whole second on."""
    since = -1 if seen.since is None else int(seen.since.timestamp()) * SECOND
    return [item for item in log if item.stamp is None or item.stamp >= since]


@given(st.data())
def test_answers_that_break_off_anywhere(data: st.DataObject) -> None:
    """Same texts, same stamps, stamps that are a little out of order: each entry is told once, in its place."""
    steps = data.draw(st.lists(st.tuples(st.integers(0, SECOND), st.integers(0, SECOND // 2)), max_size=30))
    stamp = BASE
    log = []
    for step, back in steps:
        stamp += step
        log.append(entry(stamp - back, data.draw(st.sampled_from([b"a", b"b"]))))
    seen, told = Seen(), []
    for length in data.draw(st.lists(st.integers(0, len(log) + 1), max_size=6)):
        told += read(seen, asked(log, seen)[:length])
    told += read(seen, asked(log, seen))
    assert told == log
    assert seen.caught_up
    assert read(seen, asked(log, seen)) == []


def test_the_same_line_twice() -> None:
    """A log may hold the same line at the same moment, and more of them may come."""
    seen = Seen()
    assert len(read(seen, [entry(BASE)] * 3)) == 3
    assert len(read(seen, [entry(BASE)] * 5)) == 2


def test_a_log_that_was_rotated() -> None:
    """What is known may be gone; what is there is news all the same."""
    seen = Seen()
    read(seen, [entry(BASE + number) for number in range(5)])
    assert read(seen, [entry(BASE + 4), entry(BASE + 5)]) == [entry(BASE + 5)]
    assert not seen.caught_up


def test_what_was_before_the_last_lines_that_were_asked_for() -> None:
    """It is not news when the log is read on from a second that holds it."""
    log = [entry(BASE + number, str(number).encode()) for number in range(10)]
    seen = Seen()
    assert read(seen, log[8:]) == log[8:]
    log.append(entry(BASE + 11, b"new"))
    assert read(seen, log) == [log[-1]]
    assert read(seen, log) == []


def test_what_the_kubelet_says_itself() -> None:
    """It comes anew with each answer, and is told once."""
    seen = Seen()
    assert read(seen, [entry(None, b"no log")]) == [entry(None, b"no log")]
    assert read(seen, [entry(None, b"no log"), entry(BASE)]) == [entry(BASE)]


def test_it_forgets() -> None:
    """Only the last seconds are kept, however long the log."""
    seen = Seen()
    read(seen, [entry(BASE + number * SECOND // 10) for number in range(10_000)])
    assert len(seen._recent) < 50

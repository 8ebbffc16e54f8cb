"""Messages between the controller and its construct worker."""

import io
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from msjob_controller import frames

_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
_messages = st.dictionaries(st.text(), _values, max_size=3)


@given(st.lists(_messages, max_size=3))
def test_what_goes_in_comes_out(messages: list[dict[str, Any]]) -> None:
    """Messages come out one by one as they went in, any text in them, and then None."""
    stream = io.BytesIO(b"".join(map(frames.encode, messages)))
    assert [frames.read(stream) for _ in messages] == messages
    assert frames.read(stream) is None


@given(_messages, st.data())
def test_a_broken_off_message_is_none(message: dict[str, Any], data: st.DataObject) -> None:
    """A stream that ends in the middle of a message ends before it."""
    whole = frames.encode(message)
    cut = data.draw(st.integers(0, len(whole) - 1))
    assert frames.read(io.BytesIO(whole[:cut])) is None


def test_a_large_message() -> None:
    """A message of many megabytes passes."""
    message = {"text": "x" * (8 << 20)}
    assert frames.read(io.BytesIO(frames.encode(message))) == message

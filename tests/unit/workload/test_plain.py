"""Plain JSON: what the API server would keep of what a user wrote."""

import pytest

from msjob.workload.plain import plain


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ({"a": None, "b": {"c": None}}, {"b": {}}),
        ([{"a": None}, None], [{}, None]),
        ({"a": "", "b": [], "c": {}, "d": 0, "e": False}, {"a": "", "b": [], "c": {}, "d": 0, "e": False}),
        (1.0, 1),
        (0.5, 0.5),
        (("a", "b"), ["a", "b"]),
    ],
)
def test_what_is_kept(written: object, kept: object) -> None:
    """Null fields go, empty values stay, whole floats are integers."""
    assert plain(written) == kept
    assert repr(plain(written)) == repr(kept)


def test_copy_shares_nothing() -> None:
    """The copy may be changed without changing what it was made of."""
    written = {"a": [{"b": 1}]}

    plain(written)["a"][0]["b"] = 2

    assert written == {"a": [{"b": 1}]}

"""What scalars mean: what kubectl makes of them, so that every door sees the job that `kubectl apply` sends."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from msjob.loading import LoadError, read

# Measured with kubectl 1.32: `kubectl annotate --local -o json` of an object that holds these in a list.
KUBECTL = {
    "y": True,
    "n": False,
    "Y": True,
    "yes": True,
    "No": False,
    "on": True,
    "Off": False,
    "true": True,
    "TRUE": True,
    "tRUE": "tRUE",
    "~": None,
    "null": None,
    "Null": None,
    '""': "",
    "'12'": "12",
    "1": 1,
    "+12": 12,
    "-0": 0,
    "0x1F": 31,
    "+0x1F": 31,
    "-0x1F": -31,
    "0X1f": 31,
    "0o17": 15,
    "0O17": 15,
    "017": 15,
    "-017": -15,
    "0_17": 15,
    "08": 8,
    "0o8": "0o8",
    "0b11": 3,
    "-0b11": -3,
    "0B11": 3,
    "0x": "0x",
    "0b": "0b",
    "1_000": 1000,
    "1_": 1,
    "1__0": 10,
    "0x_1": 1,
    "1_0.5": 10.5,
    "1_e3": 1000,
    "1e3": 1000,
    "1E3": 1000,
    "1.5e+3": 1500,
    ".5e3": 500,
    "1.": 1,
    "1.0": 1,
    "1.e3": 1000,
    ".5": 0.5,
    "+.5": 0.5,
    "-.5": -0.5,
    ".1_0": 0.1,
    "._1": "._1",
    ".e3": ".e3",
    "0.1": 0.1,
    "-0.0": 0,
    "1e21": 1e21,
    "1e400": "1e400",
    "123456789.123456789": 123456789.12345679,
    "100000000000000000000.0": 100000000000000000000,
    "1:30": "1:30",
    "1-2": "1-2",
    "2001-01-01": "2001-01-01",
    "2001-12-14 21:59:43.10 -5": "2001-12-14 21:59:43.10 -5",
    "=": "=",
    ".": ".",
    "+": "+",
    "!!str 12": "12",
    "! 12": "12",
    "!!int '12'": 12,
    "!!float 12": 12,
    "!!bool yes": True,
    "!!null ''": None,
    "!!timestamp 2001-01-01": "2001-01-01",
}


@pytest.mark.parametrize("written", KUBECTL)
def test_scalar_means_what_kubectl_takes_it_for(written: str) -> None:
    """A scalar gives the value and the type that kubectl sends to the API server."""
    (document,) = read(f"value: {written}\n".encode(), "job.yaml")

    value = document.object["value"]
    assert (value, type(value)) == (KUBECTL[written], type(KUBECTL[written]))


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (".inf", "no infinite numbers"),
        ("-.INF", "no infinite numbers"),
        (".nan", "no NaN"),
        ("!!binary aGk=", "the tag !!binary"),
        ("!!python/object:os.system x", "the tag !!python/object:os.system"),
        ("!site 12", "the tag !site"),
        ("!!int twelve", "does not fit"),
        ("!!int yes", "does not fit"),
        ("!!float yes", "does not fit"),
        ("!!bool 1", "does not fit"),
        ("!<x:" + "y" * 60 + "> 1", "yyy..."),
    ],
)
def test_what_json_cannot_hold_is_refused(written: str, said: str) -> None:
    """A value that no API server could be sent is refused where it stands."""
    with pytest.raises(LoadError) as caught:
        read(f"a: 1\nvalue: {written}\n".encode(), "job.yaml")

    assert (caught.value.line, caught.value.column) == (2, 8)
    assert said in caught.value.message


@given(st.text(st.sampled_from("+-._0123456789abcdefxXoObBeEinfINFANYyesnulTR~=:"), max_size=80))
@example("9" * 5000)
@example("0x" + "f" * 40)
@example("-" + "9" * 19)
@example("0b" + "1" * 64)
def test_any_plain_scalar_has_a_meaning(written: str) -> None:
    """Whatever looks like a number, a boolean or null is read as JSON of one of these types, or refused."""
    try:
        (document,) = read(b"value: " + written.encode(), "job.yaml")
    except LoadError:
        return
    value = document.object["value"]
    assert value is None or isinstance(value, str | bool | int | float | dict)

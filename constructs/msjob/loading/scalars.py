"""What a scalar of YAML means: the reading of kubectl, which is neither that of PyYAML nor that of YAML 1.2.

kubectl converts YAML to JSON with a Go reader of YAML 1.1 that knows `y` and `0o17`, has no base 60 (`1:30` is text)
and leaves timestamps as text. Reading them as PyYAML does would print and check another job than the one that `kubectl
apply` sends. The rules were measured with kubectl 1.32; the table in `tests/unit/loading/test_scalars.py` holds the
results.
"""

import math
import re
from typing import Final

Scalar = str | int | float | bool | None

_WORDS: Final[dict[str, Scalar]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
}
_SURROGATE = re.compile("[\ud800-\udfff]")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_INT = re.compile(
    r"(?P<sign>[-+]?)(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[bB](?P<binary>[01]+)|0[oO]?(?P<octal>[0-7]+)|(?P<decimal>0|[1-9][0-9]*))"
)
_BASES: Final = {"hex": 16, "binary": 2, "octal": 8, "decimal": 10}
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_LONGEST_INT: Final = 67
"""Characters of the longest 64-bit integer: sign, `0b` and 64 digits. Python refuses to read very long ones."""
_INT_RANGE: Final = range(-(2**63), 2**64)
_PLAIN_FLOAT: Final = 1e21
"""Go writes whole numbers below it without exponent in JSON: `1e3` arrives at the API server as the integer 1000."""

_TAG: Final = "tag:yaml.org,2002:"
_TEXT: Final = frozenset({"!", f"{_TAG}str", f"{_TAG}timestamp"})
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    f"{_TAG}null": (type(None),),
    f"{_TAG}bool": (bool,),
    f"{_TAG}int": (int,),
    f"{_TAG}float": (int, float),
}


class ScalarError(ValueError):
    """A scalar that has no counterpart in JSON; the message says why and what to write instead."""


def read_scalar(text: str, tag: str | None, *, plain: bool) -> Scalar:
    """Give the JSON value of a scalar.

    Args:
        text: of the scalar, without quotes.
        tag: as written and expanded, such as `tag:yaml.org,2002:str`; None for none.
        plain: whether it stood there without quotes.

    Raises:
        ScalarError: infinite, not a number, not Unicode, or of a type that JSON does not have.
    """
    if _SURROGATE.search(text):
        raise ScalarError("half of a surrogate pair is no character: write the character itself")
    if tag in _TEXT or (tag is None and not plain):
        return text
    if tag is None:
        return resolve(text)
    if tag not in _TYPES:
        raise ScalarError(f"the tag {_shorten(tag)} has no meaning in a Kubernetes object: remove it")
    value = resolve(text)
    if not isinstance(value, _TYPES[tag]) or (isinstance(value, bool) and bool not in _TYPES[tag]):
        raise ScalarError(f"the tag {_shorten(tag)} does not fit this value: remove it")
    return value


def resolve(text: str) -> Scalar:
    """Give the JSON value of a plain scalar without a tag.

    Raises:
        ScalarError: infinite or not a number.
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "+-.0123456789" or text.startswith("._"):
        return text
    if _NOT_FINITE.fullmatch(text):
        raise ScalarError("JSON has no infinite numbers and no NaN: quote it if text is meant")
    digits = text.replace("_", "")
    match = _INT.fullmatch(digits) if len(digits) <= _LONGEST_INT else None
    if match is not None and match.lastgroup is not None:
        value = int(match["sign"] + match[match.lastgroup], _BASES[match.lastgroup])
        if value in _INT_RANGE:
            return value
    return _float(text, digits)


def _float(text: str, digits: str) -> Scalar:
    if not _FLOAT.fullmatch(digits):
        return text
    value = float(digits)
    if math.isinf(value):
        return text
    return int(value) if value.is_integer() and abs(value) < _PLAIN_FLOAT else value


def _shorten(tag: str) -> str:
    short = f"!!{tag.removeprefix(_TAG)}" if tag.startswith(_TAG) else tag
    return short if len(short) <= 40 else f"{short[:37]}..."  # noqa: PLR2004 - a tag is a word

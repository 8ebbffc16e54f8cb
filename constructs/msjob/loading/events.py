"""Text as a stream of YAML events, from which `msjob.loading.tree` builds objects.

Events and not nodes: composing nodes recurses, in the C of libyaml too, and fails on deep nesting in ways that Python
cannot catch.
"""

import json
import re
from collections.abc import Iterator
from typing import Final, NoReturn

import yaml
from yaml.reader import ReaderError

from msjob.loading.errors import LoadError
from msjob.loading.files import place

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml where PyYAML was built with it: 40 times as fast."""

_BLANK = re.compile(r"[ \t\n\r]*")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]|[-+.0-9A-Za-z]+|\n')


def events(text: str, name: str) -> Iterator[yaml.Event]:
    """Parse text.

    Text that is JSON is read as JSON, as kubectl does: tabs between tokens and surrogate pairs in escapes are fine
    there, and several objects may follow each other. What only begins like JSON is read as YAML, which it may well be;
    kubectl 1.32 refuses it.

    Args:
        text: of the file.
        name: for messages.

    Raises:
        LoadError: neither JSON nor YAML.
    """
    spans = _json_spans(text)
    if spans:
        yield from _json_events(text, spans)
        return
    try:
        yield from yaml.parse(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        raise _syntax_error(error, text, name) from None
    except ReaderError as error:
        raise LoadError(name, None, None, f"is not YAML: {error.reason}") from None


def _syntax_error(error: yaml.MarkedYAMLError, text: str, name: str) -> LoadError:
    mark = error.problem_mark or error.context_mark
    said = ", ".join(part for part in (error.context, error.problem) if part)
    if mark is None:
        return LoadError(name, None, None, f"is not YAML: {said}")
    lines = text.splitlines()
    if mark.line < len(lines) and "\t" in lines[mark.line][: mark.column + 1]:
        said += " (indent with spaces, not with tabs)"
    return LoadError(name, mark.line + 1, mark.column + 1, f"is not YAML: {said}")


def _json_spans(text: str) -> list[tuple[int, int]]:
    """Where the objects of a JSON text begin and end; empty if it is none."""
    spans = []
    position = _skip(text, 0)
    if not text.startswith("{", position):
        return []
    decoder = json.JSONDecoder(parse_constant=_not_json)
    try:
        while position < len(text):
            _, end = decoder.raw_decode(text, position)
            spans.append((position, end))
            position = _skip(text, end)
    except (ValueError, RecursionError):
        return []
    return spans


def _json_events(text: str, spans: list[tuple[int, int]]) -> Iterator[yaml.Event]:
    """Events of text that is known to be JSON."""
    for start, end in spans:
        yield yaml.DocumentStartEvent()
        line, column = place(text, start)
        line_start = start - column + 1
        for match in _TOKEN.finditer(text, start, end):
            if match[0] == "\n":
                line, line_start = line + 1, match.end()
                continue
            token = match[0]
            mark = yaml.Mark("", match.start(), line - 1, match.start() - line_start, None, 0)
            match token[0]:
                case "{":
                    yield yaml.MappingStartEvent(None, None, implicit=True, start_mark=mark)
                case "[":
                    yield yaml.SequenceStartEvent(None, None, implicit=True, start_mark=mark)
                case "}":
                    yield yaml.MappingEndEvent(mark)
                case "]":
                    yield yaml.SequenceEndEvent(mark)
                case '"':
                    yield yaml.ScalarEvent(None, None, (False, True), json.loads(token), mark)
                case _:
                    yield yaml.ScalarEvent(None, None, (True, False), token, mark)
        yield yaml.DocumentEndEvent()


def _skip(text: str, position: int) -> int:
    match = _BLANK.match(text, position)
    return match.end() if match else position


def _not_json(constant: str) -> NoReturn:
    raise ValueError(constant)

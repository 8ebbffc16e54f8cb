"""Logs: JSON lines, whoever writes them."""

import json
import sys
from datetime import datetime
from typing import Any

from support.programs import run_program


def lines(body: str, level: str = "info") -> list[dict[str, Any]]:
    """Run a program that logs, and read what it wrote: nothing but JSON objects, a line each."""
    start = f"import logging, structlog\nfrom msjob_controller import logs\nlogs.configure({level!r})\n"
    done = run_program(sys.executable, "-c", f"{start}log = structlog.get_logger('test')\n{body}")
    assert done.stdout == ""
    found = [json.loads(line) for line in done.stderr.splitlines()]
    assert all(isinstance(line, dict) for line in found)
    return found


def test_an_event() -> None:
    """An event is one line with message, level, time and its own fields, any text in them."""
    (line,) = lines("log.info('job.retry', job='a/b', error='two\\nlines, \"quoted\", \u00fc', count=3)")
    assert datetime.fromisoformat(line.pop("timestamp")).utcoffset() is not None
    assert line == {
        "msg": "job.retry",
        "level": "info",
        "job": "a/b",
        "error": 'two\nlines, "quoted", ü',
        "count": 3,
    }


def test_values_that_are_no_json() -> None:
    """Whatever a field holds, the line is written."""
    (line,) = lines("log.error('odd', value={1}, error=OSError(2, 'gone'))")
    assert (line["value"], line["error"]) == ("{1}", "FileNotFoundError(2, 'gone')")


def test_an_exception() -> None:
    """A traceback is a field of its event."""
    (line,) = lines("try:\n    1 / 0\nexcept ZeroDivisionError:\n    log.exception('job.error', job='a/b')")
    assert (line["msg"], line["level"]) == ("job.error", "error")
    assert line["exception"].startswith("Traceback")
    assert "ZeroDivisionError: division by zero" in line["exception"]


def test_levels() -> None:
    """Only what is at the level or above it is written."""
    body = "for name in ('debug', 'info', 'warning', 'error'):\n    getattr(log, name)(name)"
    for count, level in enumerate(("error", "warning", "info", "debug"), start=1):
        assert len(lines(body, level)) == count


def test_libraries() -> None:
    """What libraries log comes in the same form, with the name of their logger; only warnings and above."""
    body = (
        "logging.getLogger('aiohttp.server').warning('odd %s', 'request')\n"
        "logging.getLogger('aiohttp.access').info('GET /healthz')\n"
        "try:\n    1 / 0\nexcept ZeroDivisionError:\n    logging.getLogger('aiohttp').exception('failed')\n"
        "import warnings; warnings.warn('old', FutureWarning)\n"
    )
    odd, failed, old = lines(body, "debug")
    assert (odd["msg"], odd["level"], odd["logger"]) == ("odd request", "warning", "aiohttp.server")
    assert (failed["msg"], failed["logger"]) == ("failed", "aiohttp")
    assert "ZeroDivisionError" in failed["exception"]
    assert "FutureWarning: old" in old["msg"]
    assert len(lines(body, "error")) == 1


def test_a_task_that_failed_unseen() -> None:
    """Asyncio reports an exception that nobody waited for: in a line like all others."""
    body = (
        "import asyncio, gc\n"
        "async def fail(): raise ValueError('lost')\n"
        "async def main():\n"
        "    task = asyncio.create_task(fail())\n    await asyncio.sleep(0)\n    del task\n    gc.collect()\n"
        "asyncio.run(main())\n"
    )
    (line,) = lines(body)
    assert (line["logger"], line["level"]) == ("asyncio", "error")
    assert "ValueError: lost" in line["exception"]


def test_an_unforeseen_end() -> None:
    """Even an exception that nobody caught is a line."""
    (line,) = lines("raise RuntimeError('unforeseen')")
    assert (line["msg"], line["level"]) == ("process.failed", "critical")
    assert "RuntimeError: unforeseen" in line["exception"]

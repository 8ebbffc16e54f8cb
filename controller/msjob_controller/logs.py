"""Logs as JSON lines on standard error, one event a line, those of libraries included."""

import logging
import sys
from typing import Final

import structlog
from structlog.typing import Processor

_COMMON: Final[tuple[Processor, ...]] = (
    structlog.contextvars.merge_contextvars,
    structlog.processors.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.format_exc_info,
    structlog.processors.EventRenamer("msg"),
)


def configure(level: str) -> None:
    """Set up logging for the process.

    What libraries log (asyncio, aiohttp, warnings of Python) and what ends a thread or the process unforeseen comes out
    in the same form, with the name of the logger.

    Args:
        level: lowest level that is written: `debug`, `info`, `warning` or `error`. Libraries write warnings and errors.
    """
    lowest = logging.getLevelNamesMapping()[level.upper()]
    render = structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[*_COMMON, render],
        wrapper_class=structlog.make_filtering_bound_logger(lowest),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *_COMMON, render],
        )
    )
    logging.basicConfig(handlers=[handler], level=max(lowest, logging.WARNING), force=True)
    logging.captureWarnings(capture=True)
    sys.excepthook = _unforeseen


def _unforeseen(kind: type[BaseException], error: BaseException, trace: object) -> None:
    del kind, trace
    logging.getLogger("msjob_controller").critical("process.failed", exc_info=error)

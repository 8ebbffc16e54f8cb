"""`ms-operator`: the controller as a program."""

import asyncio
import os
import signal
import threading
from typing import Final

import structlog

from msjob_controller import logs
from msjob_controller.kube.errors import ConfigError, LeadershipLost
from msjob_controller.operator import serve
from msjob_controller.options import Options, command
from msjob_controller.renderer import BadConstructError, Renderer, RenderFailedError

WRONG_USAGE: Final = 2
"""Exit status for flags that no start can work with, click's own."""

STOP_SECONDS: Final = 4.5
"""Time between SIGTERM and the end, whatever still runs: it is promised to be over within 5 s."""

_log = structlog.get_logger(__name__)


def main() -> None:
    """Entry point of the console script."""
    command(run)()


def run(options: Options) -> int:
    """Run the operator.

    Args:
        options: see there.

    Returns:
        Exit status: 0 after a signal, 1 for a fault that a person must mend or that a restart may, 2 for a construct
        that cannot be loaded.
    """
    logs.configure(options.log_level)
    try:
        asyncio.run(_serve(options))
    except BadConstructError as error:
        _log.error("operator.failed", error=str(error), job_construct=options.job_construct)
        return WRONG_USAGE
    except (ConfigError, LeadershipLost, RenderFailedError, OSError) as error:
        _log.error("operator.failed", error=str(error))
        return 1
    except BaseExceptionGroup as group:
        _log.error("operator.failed", error="; ".join(str(error) for error in group.exceptions))
        return 1
    _log.info("operator.stopped")
    return 0


async def _serve(options: Options) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def ask_to_stop() -> None:
        stop.set()
        # A thread, since what holds up the end may be the event loop, or a thread that it waits for (a name server
        # that does not answer).
        watchdog = threading.Timer(STOP_SECONDS, _give_up)
        watchdog.daemon = True
        watchdog.start()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ask_to_stop)
    _log.info("operator.starting", namespace=options.namespace or "all", leader_elect=options.leader_elect)
    if options.job_construct is not None:
        await _check_construct(options.job_construct)
    await serve(options, stop)


async def _check_construct(construct: str) -> None:
    """See that a site's construct can be loaded: each job would be told that it cannot, and none would run."""
    renderer = Renderer(construct)
    try:
        await renderer.check()
    finally:
        await renderer.close()


def _give_up() -> None:
    """End at once: the time that the operator has for an orderly end is over, and nothing it does needs one."""
    _log.warning("operator.stop_timed_out", seconds=STOP_SECONDS)
    os._exit(0)


if __name__ == "__main__":
    main()

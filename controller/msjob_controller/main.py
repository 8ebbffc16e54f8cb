"""`ms-operator`: the controller as a program."""

import asyncio
import signal
from typing import Final

import structlog

from msjob_controller import logs
from msjob_controller.kube.errors import ConfigError, LeadershipLost
from msjob_controller.operator import serve
from msjob_controller.options import Options, command

STOP_SECONDS: Final = 5.0
"""Time between SIGTERM and the end, whatever still runs."""

_log = structlog.get_logger(__name__)


def main() -> None:
    """Entry point of the console script."""
    command(run)()


def run(options: Options) -> int:
    """Run the operator.

    Args:
        options: see there.

    Returns:
        Exit status: 0 after a signal, 1 for a fault that a person must mend or that a restart may.
    """
    logs.configure(options.log_level)
    try:
        asyncio.run(_serve(options))
    except (ConfigError, LeadershipLost, OSError) as error:
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
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    _log.info("operator.starting", namespace=options.namespace or "all", leader_elect=options.leader_elect)
    serving = asyncio.ensure_future(serve(options, stop))
    stopping = asyncio.ensure_future(stop.wait())
    await asyncio.wait((serving, stopping), return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if not serving.done():
        await asyncio.wait((serving,), timeout=STOP_SECONDS)
    if serving.done():
        serving.result()
    else:
        serving.cancel()


if __name__ == "__main__":
    main()

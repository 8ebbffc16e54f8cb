"""``python -m demo``: read the arguments, show, and end in a way that leaves nothing."""

import argparse
import contextlib
import signal
import sys
from collections.abc import Sequence
from types import FrameType


class _EndedError(BaseException):
    """A signal asks the demo to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.code = 128 + number


_DEFAULT = "samples/ms_wide_deep_dataparallel.yaml"
_LIMIT = 300.0
_LONGEST = 86400.0


def main(arguments: Sequence[str]) -> int:
    """Run the demo.

    Args:
        arguments: Of the command line, without the program.

    Returns:
        The exit code: 0 all jobs succeeded, 1 one failed or is not valid, 2 there is none to read, 3 the demo itself
        could not go on, 124 a job did not end in time, 130 Ctrl-C.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)
    try:
        return _run(_parse(arguments))
    except _EndedError as ended:
        return ended.code
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


def _run(args: argparse.Namespace) -> int:
    # Some take a while to load: Ctrl-C is known before.
    from demo.sample import SampleError  # noqa: PLC0415
    from demo.screen import OutputClosedError, Screen  # noqa: PLC0415
    from demo.show import Wishes, show  # noqa: PLC0415
    from demo.stages import Fault  # noqa: PLC0415
    from msjob_cli.exits import ExitCode  # noqa: PLC0415
    from support.testbed.errors import HarnessError  # noqa: PLC0415
    from support.testbed.owner import end_with  # noqa: PLC0415

    if args.parent:
        end_with(args.parent)
    screen = Screen()
    try:
        faults = [Fault.parse(item) for item in args.fail.replace(",", " ").split()]
        return show(Wishes(args.sample, faults, args.limit, args.keep), screen)
    except SampleError as error:
        with contextlib.suppress(OSError):
            sys.stdout.write("".join(f"{line}\n" for line in error.lines))
        return ExitCode.PROBLEMS if error.readable else ExitCode.UNREADABLE
    except ValueError as error:
        _complain(str(error))
        return ExitCode.UNREADABLE
    except (HarnessError, OSError) as error:
        _complain(str(error))
        return ExitCode.FAILED
    except OutputClosedError:
        return ExitCode.OUTPUT_CLOSED


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m demo", description="Show an MSJob's life on simulated nodes.")
    parser.add_argument("sample", nargs="?", default=_DEFAULT, help="file or folder with MSJobs (default: %(default)s)")
    parser.add_argument(
        "--fail", default="", metavar="POD[:CODE]…", help="let pods fail once, such as 'worker-1 ps-0:137'"
    )
    parser.add_argument(
        "--limit", type=_seconds, default=_LIMIT, metavar="S", help="a job may take (default: %(default)g)"
    )
    parser.add_argument("--keep", action="store_true", help="stay up at the end, until Ctrl-C")
    parser.add_argument("--parent", type=int, default=0, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not 1 <= seconds <= _LONGEST:
        raise argparse.ArgumentTypeError(f"{text} is no number of seconds from 1 to {_LONGEST:g}")
    return seconds


def _complain(text: str) -> None:
    with contextlib.suppress(OSError):
        sys.stderr.write(f"demo: {text}\n")


def _end(number: int, frame: FrameType | None) -> None:
    del frame
    raise _EndedError(number)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""``python -m support.testbed``: build the programs, or run a control plane by hand."""

import argparse
import os
import signal
import sys

from support.testbed.binaries import build_oldest, find_all, find_node_programs
from support.testbed.controlplane import ControlPlane
from support.testbed.errors import HarnessError
from support.testbed.pins import OLDEST_MODULE, read_pins
from support.testbed.progress import to_stderr


def main() -> int:
    """Run the command that the arguments name.

    Returns:
        The exit code.
    """
    parser = argparse.ArgumentParser(prog="python -m support.testbed", description="A real control plane for tests.")
    commands = parser.add_subparsers(dest="command", required=True)
    build = commands.add_parser("build", help="build the programs where they are missing, and end")
    build.add_argument("--node", action="store_true", help="those of a real node, too")
    build.add_argument(
        "--oldest", action="store_true", help="those of the oldest Kubernetes that is supported; prints their folder"
    )
    commands.add_parser("up", help="run a control plane until Ctrl-C; prints the path of its kubeconfig")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        if given.command == "build":
            if given.oldest:
                os.environ["KUBEBUILDER_ASSETS"] = str(build_oldest())
            find_all()
            if given.oldest:
                to_stderr(f"Kubernetes {read_pins(OLDEST_MODULE).kubernetes}")
                sys.stdout.write(f"{os.environ['KUBEBUILDER_ASSETS']}\n")
            if given.node:
                find_node_programs()
        else:
            _up()
    except HarnessError as error:
        to_stderr(str(error))
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _up() -> None:
    with ControlPlane() as control_plane:
        sys.stdout.write(f"{control_plane.kubeconfig}\n")
        sys.stdout.flush()
        to_stderr("running; Ctrl-C ends it")
        signal.pause()


if __name__ == "__main__":
    sys.exit(main())

"""``python -m support.cluster``: a cluster to work with by hand."""

import argparse
import signal
import sys

from support.cluster import standing
from support.testbed.errors import HarnessError
from support.testbed.progress import to_stderr


def main() -> int:
    """Run the command that the arguments name.

    Returns:
        The exit code.
    """
    parser = argparse.ArgumentParser(prog="python -m support.cluster", description="A real cluster of one node.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("up", help="start it, and leave it running")
    commands.add_parser("down", help="stop it, and remove all that it left")
    commands.add_parser("serve", help="be it; of use to up alone").add_argument("descriptor", type=int)
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        if given.command == "up":
            standing.up(to_stderr)
            sys.stdout.write(f"export KUBECONFIG={standing.kubeconfig()}\n")
        elif given.command == "down":
            to_stderr("the cluster is gone" if standing.down() else "there is no cluster")
        else:
            standing.serve(given.descriptor, to_stderr)
    except HarnessError as error:
        to_stderr(str(error))
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())

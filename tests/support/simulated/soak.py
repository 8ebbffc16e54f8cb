"""Lives of jobs for as long as asked: `python -m support.simulated.soak --seconds 600 --seed 7`.

Each round has a seed, the first the one that is given, and all families take turns. A violation is shrunk to the
shortest life that has it, and printed with the seed that brings it back.
"""

import itertools
import secrets
import sys
import time
import traceback
from argparse import ArgumentParser
from collections.abc import Sequence

from hypothesis import Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from support.simulated.life import lives
from support.simulated.shapes import FAMILIES

EXAMPLES = 40
"""Lives of each family in one round."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run rounds until the time is over.

    Args:
        arguments: of the command line, by default those of the process.

    Returns:
        Exit status: 1 if a round found a violation.
    """
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0, help="how long to go on; a round is complete")
    parser.add_argument("--rounds", type=int, default=1, help="how many rounds to run at least")
    parser.add_argument("--seed", type=int, default=None, help="of the first round; default: chance")
    parser.add_argument("--examples", type=int, default=EXAMPLES, help="lives of each family in a round")
    parser.add_argument("--steps", type=int, default=40, help="moves in a life")
    parser.add_argument("--family", choices=sorted(FAMILIES), action="append", help="default: all")
    parser.add_argument("--no-shrink", action="store_true", help="show a violation as it was found")
    args = parser.parse_args(arguments)
    first = secrets.randbelow(2**31) if args.seed is None else args.seed
    families = args.family or list(FAMILIES)
    _say(f"SEED={first}, {args.seconds:.0f} s, {', '.join(families)}")
    started = time.monotonic()
    for count in itertools.count():
        for family in families:
            if not _round(family, first + count, args.examples, args.steps, shrink=not args.no_shrink):
                _say(f"violation in family {family}; again: make soak SEED={first + count}")
                return 1
        if count + 1 >= args.rounds and time.monotonic() - started > args.seconds:
            done = (count + 1) * args.examples * len(families)
            _say(f"SEED={first}: {count + 1} rounds, {done} lives, no violation")
            return 0
    raise AssertionError


def _say(text: str) -> None:
    sys.stdout.write(f"soak: {text}\n")
    sys.stdout.flush()


def _round(family: str, number: int, examples: int, steps: int, *, shrink: bool) -> bool:
    phases = (Phase.generate, Phase.shrink) if shrink else (Phase.generate,)
    chosen = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        phases=phases,
        database=None,
        report_multiple_bugs=False,
    )
    machine = seed(number)(lives(family, examples))
    try:
        run_state_machine_as_test(machine, settings=chosen)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        traceback.print_exc()
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())

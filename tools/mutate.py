"""Put faults into copies of the policies, one at a time, and see who notices: the simulation, the tables, or nobody.

Run by `make mutate`. The faults stand in `tests/support/mutations.py`. A fault is caught by the simulation when a life
of a job breaks a law, and by the tables when a test in `tests/unit/policy` fails.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from support.mutations import FOLDER, MUTATIONS, Mutation  # noqa: E402 - found by the line above

SEED = 1
ROUNDS = 60
EXAMPLES = 20
"""Lives of each family in a round: few, since most faults show soon."""


class Result(NamedTuple):
    """Who noticed a fault.

    Attributes:
        law: that the simulation found broken; empty if it found nothing.
        seconds: that it took.
        tables: whether a table test failed.
    """

    law: str
    seconds: float
    tables: bool


def main() -> int:
    """Print a table; 1 if a fault survives the simulation."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="only faults whose file or description has this text")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of the simulation, after which a fault survives")
    parser.add_argument("--no-tables", action="store_true", help="leave the table tests out")
    parser.add_argument("--no-baseline", action="store_true", help="do not look first whether the code is sound")
    parser.add_argument("--jobs", type=int, default=1, help="faults at a time")
    args = parser.parse_args()
    chosen = [mutation for mutation in MUTATIONS if args.only in f"{mutation.file}: {mutation.what}"]
    print("| policy | fault | simulation | tables |\n| --- | --- | --- | --- |", flush=True)
    survivors = []
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(args.jobs) as pool:
        # From one state of the code, whoever works on it meanwhile.
        source = Path(folder)
        for part in ("constructs", "controller", "tests"):
            shutil.copytree(ROOT / part, source / part, ignore=shutil.ignore_patterns("__pycache__", ".hypothesis"))
        if not args.no_baseline and (law := _simulate(_environment(source, source), args.rounds)):
            raise SystemExit(f"the code breaks a law as it is: {law}")
        results = pool.map(lambda one: try_out(source, one, args.rounds, tables=not args.no_tables), chosen)
        for mutation, result in zip(chosen, results, strict=True):
            simulation = f"caught: {result.law}" if result.law else "**survived**"
            tables = "caught" if result.tables else "survived"
            print(f"| `{mutation.file}` | {mutation.what} | {simulation} | {tables} |", flush=True)
            survivors += [] if result.law else [mutation]
    print(f"\n{len(chosen) - len(survivors)} of {len(chosen)} faults are caught by the simulation.")
    return 1 if survivors else 0


def try_out(source: Path, mutation: Mutation, rounds: int, *, tables: bool) -> Result:
    """Put one fault into a copy of the controller, and run everything against it."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        shutil.copytree(source / "controller", copy / "controller")
        path = copy / FOLDER / mutation.file
        text = path.read_text()
        if text.count(mutation.old) != 1:
            raise SystemExit(f"{mutation.file}: {mutation.old!r} is there {text.count(mutation.old)} times, not once")
        path.write_text(text.replace(mutation.old, mutation.new))
        environment = _environment(source, copy)
        started = time.monotonic()
        law = _simulate(environment, rounds)
        seconds = time.monotonic() - started
        command = ["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", str(source / "tests/unit/policy")]
        return Result(law, seconds, tables and _run(command, environment).returncode != 0)


def _environment(source: Path, controller: Path) -> dict[str, str]:
    paths = [controller / "controller", source / "constructs", source / "tests"]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)), "PYTHONDONTWRITEBYTECODE": "1"}


def _simulate(environment: dict[str, str], rounds: int) -> str:
    """The law that the simulation finds broken; empty for none."""
    options = ["--seconds", "0", "--seed", str(SEED), "--examples", str(EXAMPLES), "--no-shrink"]
    done = _run(["-m", "support.simulated.soak", "--rounds", str(rounds), *options], environment)
    if done.returncode == 0:
        return ""
    errors = re.findall(r"^(?:\w+\.)*(\w*(?:Error|Exception|KeyError)): (.*)$", done.stderr, re.MULTILINE)
    if not errors:
        raise SystemExit(f"the simulation itself failed:\n{done.stdout}{done.stderr}")
    kind, text = errors[0]
    return str(text if kind == "AssertionError" else f"{kind}: {text}").replace("|", "/")


def _run(arguments: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


if __name__ == "__main__":
    sys.exit(main())

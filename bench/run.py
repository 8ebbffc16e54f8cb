"""`make bench`: the goals of this project for speed, memory and scale, measured on this machine."""

import argparse
import asyncio
import json
import sys
import traceback
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final

from api import Api
from cases import Case
from churn import churn
from commands import commands
from creation import creation, restarts
from fairness import beside_blocked, beside_large
from life import ends, writes
from msjob.schema import crd_manifest
from overload import overload
from process import machine
from rest import memory_of_made, memory_of_present, start_and_idle
from stage import OPERATOR, Stage
from support.testbed.controlplane import ControlPlane
from table import Row, header, line

Measure = Callable[[Stage], Awaitable[list[Row]]]

CASES: Final[Mapping[str, Measure]] = {
    "60x5": creation(Case("60x5", jobs=60, workers=4), 4),
    "400x5": creation(Case("400x5", jobs=400, workers=4), 3),
    "1x1000": creation(Case("1x1000", jobs=1, workers=999), 2),
    "60x5-8k": creation(Case("60x5-8k", jobs=60, workers=4, padding=8000), 6),
    "restart": restarts,
    "ends": ends,
    "writes": writes,
    "memory-400": memory_of_made,
    "memory-5000": memory_of_present(5000, 400),
    "start-idle": start_and_idle,
    "fairness": beside_large,
    "quota": beside_blocked,
    "overload-429": overload("429"),
    "overload-slow": overload("slow"),
    "churn": churn,
}
COMMANDS: Final = "commands"
"""The one case that needs no control plane."""
AUDITED: Final = frozenset({"writes", "quota"})
"""Cases that read the audit log; the others are measured without one."""


def main() -> int:
    """Run the benchmark.

    Returns:
        0 if every case ran and every goal is met, else 1.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="runs of what creates pods, after one that is not counted")
    parser.add_argument("--churn", type=int, default=20_000, metavar="JOBS", help="jobs of the case churn")
    parser.add_argument("--json", type=Path, default=Path("build/bench.json"), help="where the figures go")
    parser.add_argument("--case", action="append", choices=[*CASES, COMMANDS], help="only these cases")
    arguments = parser.parse_args()
    report: dict[str, Any] = {"machine": machine(), "cases": {}, "errors": {}}
    good = True
    print(header(), flush=True)
    for name in arguments.case or [*CASES, COMMANDS]:
        try:
            rows = commands() if name == COMMANDS else _measure(name, arguments.runs, arguments.churn)
        except (RuntimeError, OSError) as error:
            # The other cases are still worth their figures.
            traceback.print_exc()
            report["errors"][name] = str(error)
            good = False
            continue
        report["cases"][name] = [row.data() for row in rows]
        good = good and all(row.met for row in rows)
        print("\n".join(line(row) for row in rows), flush=True)
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(report | {"good": good}, indent=2) + "\n")
    print(f"written to {arguments.json}")
    return 0 if good else 1


def _measure(name: str, runs: int, jobs: int) -> list[Row]:
    """One case on a control plane of its own, so that none meets what another has left."""
    with ControlPlane(manifests=[crd_manifest()], audit=name in AUDITED, users=[OPERATOR]) as plane:
        return asyncio.run(_run(CASES[name], plane, runs, jobs))


async def _run(measure: Measure, plane: ControlPlane, runs: int, jobs: int) -> list[Row]:
    async with Api(plane.kubeconfig) as api:
        return await measure(Stage(plane, api, runs, jobs))


if __name__ == "__main__":
    sys.exit(main())

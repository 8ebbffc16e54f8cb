"""The demo, step by step: install, apply, look on, look back."""

import json
import os
import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from demo.cluster import Cluster, to_json
from demo.operator import Installed
from demo.sample import Json, Sample, SampleError, load
from demo.screen import Screen
from demo.stages import Fault
from msjob.api import meta
from msjob.api.job import managed
from msjob_cli.exits import ExitCode
from support.testbed.client import MSJOBS
from support.testbed.errors import ApiError, HarnessError, UnreachableError, WaitTimeoutError

ROOT: Final = Path(__file__).resolve().parents[2]
"""The folder of the checkout."""

DIST: Final = ROOT / "dist"

LOGS: Final = ROOT / "build" / "demo-logs"

_OUTCOMES: Final = {0: "Done", ExitCode.PROBLEMS: "Done; a job failed", ExitCode.TIME_UP: "Time is up"}

_SECONDS_OF_PATIENCE: Final = 10
"""That `msjob wait` may take longer than it was told."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What is to be shown.

    Attributes:
        sample: Path of a file or folder.
        faults: Pods that fail.
        limit: Seconds that a job may take.
        keep: Stay up at the end, until Ctrl-C.
    """

    sample: str
    faults: Sequence[Fault]
    limit: float
    keep: bool


def show(wishes: Wishes, screen: Screen) -> int:
    """Show a sample's life.

    Args:
        wishes: What is to be shown.
        screen: Where to.

    Returns:
        The exit code: the largest of ``msjob wait`` for the jobs.

    Raises:
        SampleError: There is nothing to show.
        HarnessError: A program of the cluster is missing or ended.
    """
    sample = load(wishes.sample)
    _check_faults(sample, wishes.faults)
    for warning in sample.warnings:
        screen.line(warning)
    with Cluster(sample, wishes.faults, screen.news) as cluster:
        try:
            return _Show(wishes, sample, screen, cluster).run()
        except (HarnessError, ApiError, UnreachableError, WaitTimeoutError) as error:
            raise HarnessError(f"{error}\n{cluster.keep_logs(LOGS)}".rstrip()) from error


def _check_faults(sample: Sample, faults: Sequence[Fault]) -> None:
    for fault in faults:
        if not any(fault.index < job.replicas(fault.role) for job in sample.jobs):
            raise SampleError([f"{sample.path}: no job in it has a pod {fault.role.slug}-{fault.index}"], readable=True)


class _Show:
    def __init__(self, wishes: Wishes, sample: Sample, screen: Screen, cluster: Cluster) -> None:
        self._wishes = wishes
        self._sample = sample
        self._screen = screen
        self._cluster = cluster
        self._marks: list[str] = []

    def run(self) -> int:
        self._install()
        jobs = self._apply()
        codes = [code for namespace, name in jobs if (code := self._live(namespace, name)) is not None]
        if codes and ExitCode.TIME_UP not in codes:
            self._mark("the last job had ended" if len(codes) > 1 else "the job had ended")
        code = max(codes, default=0)
        self._look_back(jobs)
        self._end(jobs, code)
        return code

    def _install(self) -> None:
        screen, cluster = self._screen, self._cluster
        screen.step("Starting a control plane, and kwok to play nodes and pods")
        cluster.start()
        self._mark("the control plane ran")
        installed = Installed.read(DIST)
        screen.step("Installing the operator: all of dist/, as in any cluster")
        self._must("kubectl", "apply", "-f", f"{os.path.relpath(DIST)}/")
        cluster.start_operator(installed)
        cluster.wait_ready()
        self._mark("the operator worked")
        screen.step("The operator works")
        screen.say(
            f"Pods run nothing here, the pod of the Deployment {installed.name} neither. So the program ms-operator "
            f"runs beside the cluster, with the flags of that Deployment and the rights of its ServiceAccount."
        )
        screen.say(f"Simulated nodes, which offer what the sample asks for: {', '.join(cluster.node_names)}.")
        if self._wishes.faults:
            screen.say(f"To fail the first time: {', '.join(map(str, self._wishes.faults))}.")

    def _apply(self) -> list[tuple[str, str]]:
        """Apply the sample; the namespaces and names of its MSJobs."""
        screen, cluster, sample = self._screen, self._cluster, self._sample
        screen.step(f"Applying {sample.path}")
        for namespace in sample.namespaces():
            self._make_namespace(namespace)
        expected = sample.expected()
        for item in expected:
            cluster.create(item)
        if expected:
            names = (f"{item['kind']} {item['metadata']['name']}" for item in expected)
            screen.say(f"Made, since pods of the sample name it: {', '.join(names)}.")
        jobs = list(dict.fromkeys((job.namespace, job.name) for job in sample.jobs if job.name))
        if not sample.generated and sample.lasts:
            self._must("kubectl", "apply", "-f", sample.path)
            return jobs
        if sample.applied:
            self._must("kubectl", "apply", "-f", "-", stdin=to_json(sample.applied))
        made = [self._create(item) for item in sample.generated]
        kept = dict.fromkeys(_place(item) for item in sample.applied if item.get("kind") == "MSJob")
        return [*kept, *made]

    def _create(self, item: Json) -> tuple[str, str]:
        """Create a job whose name the API server makes."""
        self._screen.command(["kubectl", "create", "-f", "-"], comment="generateName, which apply does not take")
        code, out, err = self._cluster.read("kubectl", "create", "-f", "-", "-o", "json", stdin=json.dumps(item))
        if code:
            raise HarnessError(f"kubectl create failed: {err.strip()}")
        namespace, name = _place(json.loads(out))
        self._screen.line(f"msjob.mindspore.gitee.com/{name} created")
        return namespace, name

    def _make_namespace(self, name: str) -> None:
        admin = self._cluster.control_plane.admin
        if not admin.exists("v1/namespaces", name):
            self._must("kubectl", "create", "namespace", name)
            # No pod can be created before it has one.
            admin.wait_until("v1/serviceaccounts", "default", name, bool, timeout=20)

    def _live(self, namespace: str, name: str) -> int | None:
        """Show a job until it ends; the exit code of ``msjob wait``. None for one that lives elsewhere."""
        screen, where = self._screen, _where(namespace)
        screen.step(f"The life of {name}")
        stored = self._cluster.control_plane.admin.get(MSJOBS, name, namespace)
        if not managed(stored):
            screen.say("Another controller runs this job, as managedBy says: nothing happens to it here.")
            return None
        until = time.monotonic() + self._wishes.limit
        if (stored["spec"].get("runPolicy") or {}).get("suspend"):
            self._wait(until, name, *where, "--for=suspended")
            screen.say("The job is suspended and has no pods, until somebody resumes it. For the show:")
            self._must("msjob", "resume", name, *where)
        code = self._wait(until, name, *where, meanwhile=_Once("Running", lambda: self._show_pods(namespace, name)))
        if code:
            self._run("msjob", "why", name, *where)
        if code == ExitCode.TIME_UP:
            logs = self._cluster.keep_logs(LOGS)
            screen.say(f"{name} did not end within {self._wishes.limit:g} s, see above; LIMIT= gives it more. {logs}")
        return code

    def _look_back(self, jobs: Sequence[tuple[str, str]]) -> None:
        self._screen.step("What is left")
        for namespace, name in jobs:
            where = _where(namespace)
            self._run("kubectl", "events", *where, "--for", f"msjob/{name}")
            self._run("kubectl", "get", "pods", *where, "-l", _selector(name))
        everywhere = ["-A"] if {namespace for namespace, _ in jobs} != {"default"} else []
        self._run("kubectl", "get", "msjob", *everywhere, "-o=wide")

    def _end(self, jobs: Sequence[tuple[str, str]], code: int) -> None:
        screen = self._screen
        if self._wishes.keep:
            self._stay(*jobs[-1])
        screen.step(
            f"{_OUTCOMES.get(code, 'A job was lost sight of')}. Stopping all programs, and removing their files"
        )
        screen.say(f"{'; '.join(self._marks)}.")
        if not self._wishes.keep:
            screen.say(
                "Next: make demo KEEP=1 stays up, for you to try kubectl and msjob; make demo SAMPLE=FILE shows "
                "another job, FAIL=worker-1 one with a pod that fails. docs/demo.md has more, README.md how to install."
            )

    def _stay(self, namespace: str, name: str) -> None:
        screen, cluster = self._screen, self._cluster
        screen.step("The cluster stays up until Ctrl-C. In another terminal:")
        programs = {cluster.control_plane.binaries.kubectl.parent, ROOT / ".venv" / "bin"}
        screen.line(f"\nexport KUBECONFIG={shlex.quote(str(cluster.control_plane.kubeconfig))}")
        screen.line(f'export PATH={shlex.quote(":".join(map(str, sorted(programs))))}:"$PATH"')
        where = " ".join(_where(namespace))
        for line in (f"kubectl get msjob {where}", f"msjob why {name} {where}", f"msjob logs {name} {where}"):
            screen.line(line.rstrip())
        try:
            while not cluster.operator_ended:
                time.sleep(0.5)
            screen.say(
                "The operator has ended, as after make undeploy, which takes its rights away. The cluster stays up, "
                "and nothing acts on jobs any more: make demo KEEP=1 starts another one, make run an operator in this."
            )
            while cluster.operator_ended:
                time.sleep(0.5)
        except KeyboardInterrupt:
            screen.line("")

    def _show_pods(self, namespace: str, name: str) -> None:
        self._run("kubectl", "get", "pods", *_where(namespace), "-l", _selector(name))
        self._screen.line("")

    def _mark(self, what: str) -> None:
        """Note when something was so."""
        self._marks.append(f"{what} after {self._screen.seconds:.1f} s")

    def _wait(self, until: float, name: str, *more: str, meanwhile: Callable[[str], None] = lambda _: None) -> int:
        left = max(1, round(until - time.monotonic()))
        command = ("msjob", "wait", name, *more, f"--timeout={left}s")
        return self._cluster.run(self._screen, *command, limit=left + _SECONDS_OF_PATIENCE, meanwhile=meanwhile)

    def _run(self, *command: str) -> int:
        return self._cluster.run(self._screen, *command)

    def _must(self, *command: str, stdin: str | None = None) -> None:
        code = self._cluster.run(self._screen, *command, stdin=stdin)
        if code:
            raise HarnessError(f"{shlex.join(command)} ended with exit code {code}; above is what it said")


class _Once:
    """Does something after the first line of `msjob wait` that tells of a state.

    Args:
        state: Of the job.
        what: To do.
    """

    def __init__(self, state: str, what: Callable[[], None]) -> None:
        self._state = state
        self._what = what
        self._done = False

    def __call__(self, line: str) -> None:
        if not self._done and line.split()[1:2] == [self._state]:
            self._done = True
            self._what()


def _selector(name: str) -> str:
    return f"{meta.LABEL_JOB_NAME}={name}"


def _where(namespace: str) -> list[str]:
    return [] if namespace == "default" else ["-n", namespace]


def _place(item: Json) -> tuple[str, str]:
    metadata = item["metadata"]
    return metadata.get("namespace") or "default", metadata["name"]

"""SIGTERM: the operator ends in time, whatever it is doing, and leaves no process behind."""

import json
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from support.jobs import msjob
from support.live_jobs import Jobs
from support.operator import Operator, Operators, processes
from support.programs import ROOT, write_program
from support.site_constructs import SLOW
from support.testbed.controlplane import ControlPlane
from support.testbed.waiting import wait_for

SECONDS = 5.0
"""Time that the operator has from SIGTERM to its end."""


def check_ends(operator: Operator) -> None:
    """End it, and check exit code, time, last words, and that its construct workers are gone with it."""
    groups = operator.workers()
    code, seconds = operator.terminate()

    assert (code, seconds < SECONDS) == (0, True), f"exit code {code} after {seconds:.1f} s"
    assert operator.log()[-1]["msg"] == "operator.stopped"
    assert [command for _, _, group, command in processes() if group in groups] == []


def test_at_rest(own_operators: Operators) -> None:
    """An operator that has nothing to do ends at once, and so does one that waits for it to give way."""
    leader = own_operators.start("--leader-elect").wait_leading()
    check_ends(own_operators.start("--leader-elect").wait_ready())
    check_ends(leader)


def test_under_load(own_operators: Operators, jobs: Jobs) -> None:
    """In the middle of creating hundreds of pods it ends in time, and the next one completes them."""
    operator = own_operators.start("--namespace", jobs.namespace).wait_leading()
    names = [f"job-{number}" for number in range(30)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: jobs.create(msjob(name, worker=9)), names))
    jobs.client.wait_for(lambda: len(jobs.client.pods(jobs.namespace)) > 10, what="the first pods")
    check_ends(operator)
    assert len(jobs.client.pods(jobs.namespace)) < 300, "it ended too late to prove anything"

    own_operators.start("--namespace", jobs.namespace)
    jobs.client.wait_for(lambda: len(jobs.client.pods(jobs.namespace)) == 300, 40, what="all pods")


def test_in_a_render_that_takes_long(own_operators: Operators, jobs: Jobs) -> None:
    """A construct that takes 20 s does not hold it up."""
    operator = own_operators.start(
        "--namespace",
        jobs.namespace,
        "--job-construct",
        "support.site_constructs:MoodyWorkload",
        env={"PYTHONPATH": str(ROOT / "tests")},
    ).wait_leading()
    jobs.create(name=f"a-{SLOW}-one")
    jobs.client.wait_for(operator.nodes, what="the render to begin")
    check_ends(operator)


def test_without_api_server(own_operators: Operators, control_plane: ControlPlane) -> None:
    """It ends when there is no API server to say farewell to."""
    operator = own_operators.start("--leader-elect").wait_leading()
    control_plane.stop_apiserver(kill=True)
    try:
        check_ends(operator)
    finally:
        own_operators.bring_back_apiserver()


def test_with_an_api_server_that_hangs(own_operators: Operators, jobs: Jobs, control_plane: ControlPlane) -> None:
    """It ends in time when requests in flight, its Lease and its last events get no answer."""
    operator = own_operators.start("--leader-elect", "--namespace", jobs.namespace).wait_leading()
    jobs.create()
    jobs.wait_pods(3)
    control_plane.freeze_apiserver()
    try:
        code, seconds = operator.terminate()
    finally:
        control_plane.thaw_apiserver()
    assert (code, seconds < SECONDS) == (0, True), f"exit code {code} after {seconds:.1f} s"


def test_before_it_works(own_operators: Operators, tmp_path: Path, control_plane: ControlPlane) -> None:
    """It ends in time while a program that should give its credentials takes its time."""
    plugin = write_program(tmp_path / "plugin", "sleep 30")
    entry = {"apiVersion": "client.authentication.k8s.io/v1", "command": str(plugin), "interactiveMode": "Never"}
    config = json.loads(control_plane.kubeconfig.read_text())
    config["users"][0]["user"] = {"exec": entry}
    path = tmp_path / "kubeconfig"
    path.write_text(json.dumps(config))
    operator = own_operators.start(kubeconfig=path)
    wait_for(lambda: operator.log("operator.starting"), what="its first words")
    wait_for(lambda: any(str(plugin) in command for _, _, _, command in processes()), what="the plugin to run")

    code, seconds = operator.terminate()
    assert (code, seconds < SECONDS) == (0, True), f"exit code {code} after {seconds:.1f} s"


def test_interrupt(own_operators: Operators) -> None:
    """An interrupt, as of Ctrl-C under ``make run``, is as good as SIGTERM."""
    operator = own_operators.start().wait_leading()
    os.kill(operator.pid, signal.SIGINT)
    assert operator.wait_ended() == 0

"""The construct worker: a real process, in good and in bad hands."""

import asyncio
import os
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from msjob.rendered import Rendered
from msjob.workload.tokens import Facts
from msjob_controller import renderer as module
from msjob_controller.renderer import BadConstructError, Renderer, RenderFailedError
from support.jobs import msjob
from support.programs import ROOT, run_program

ODD = "support.odd_constructs:OddWorkload"
Make = Callable[..., Renderer]


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The temporary folder of operator and worker, and the tests' own modules on the worker's path."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "tests"))
    return tmp_path


@pytest.fixture
async def make(scratch: Path) -> AsyncIterator[Make]:
    """Makes renderers; at the end each is closed, and nothing may be left of any."""

    def left() -> list[Path]:
        return list(scratch.iterdir())

    made: list[tuple[Renderer, list[str]]] = []
    groups: set[int] = set()

    def new(construct: str | None = ODD, **settings: Any) -> Renderer:
        outcomes: list[str] = []
        renderer = Renderer(construct, on_render=outcomes.append, **settings)
        made.append((renderer, outcomes))
        results[renderer] = outcomes
        return renderer

    yield new
    for renderer, _ in made:
        if renderer.pid is not None:
            groups.add(renderer.pid)
        await renderer.close()
        assert renderer.pid is None
    assert [members(group) for group in groups if members(group)] == []
    assert left() == []


results: dict[Renderer, list[str]] = {}
"""Outcomes of the renders of each renderer."""


def job(name: str = "train", generation: int = 1, **fields: Any) -> dict[str, Any]:
    """A job as the API server gives it."""
    return msjob(name, uid=f"uid-{name}", generation=generation, **fields)


def names(rendered: Rendered) -> list[str]:
    """Names of all objects."""
    return [item["metadata"]["name"] for item in rendered.objects(Facts("10.0.0.1", "uid", 0))]


def members(group: int) -> dict[int, str]:
    """Processes of a group that live, by what they run."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(fields[2]) == group and fields[0] != "Z":
                found[int(folder.name)] = (folder / "cmdline").read_text().replace("\0", " ")
        except (OSError, ValueError):
            continue  # gone in between
    return found


def node_of(renderer: Renderer) -> int:
    """The Node of the worker."""
    assert renderer.pid is not None
    (node,) = (pid for pid, command in members(renderer.pid).items() if "jsii" in command and pid != renderer.pid)
    return node


async def until(condition: Callable[[], bool], seconds: float = 4.0) -> None:
    """Wait for something."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come"
        await asyncio.sleep(0.01)


async def test_render(make: Make) -> None:
    """A job comes back as its objects, by a process that was not there before."""
    renderer = make(None)
    assert renderer.pid is None
    rendered = await renderer.render(job())
    assert names(rendered) == ["train-scheduler-0", "train-scheduler-0", "train-worker-0", "train-worker-1"]
    assert results[renderer] == ["ok"]


async def test_a_site_construct(make: Make) -> None:
    """A site's construct is the one that renders."""
    with pytest.raises(RenderFailedError, match=r"OddWorkload failed on default/raises: .*no such pool"):
        await make().render(job("raises"))


async def test_cache(make: Make) -> None:
    """A job is rendered once for each generation of its spec, until it is forgotten."""
    renderer = make(None)
    first = await renderer.render(job())
    assert await renderer.render(job(worker=7)) is first
    second = await renderer.render(job(generation=2, worker=3))
    assert len(names(second)) == 5
    renderer.forget("uid-other")
    assert await renderer.render(job(generation=2)) is second
    renderer.forget("uid-train")
    assert await renderer.render(job(generation=2)) is not second
    assert results[renderer] == ["ok"] * 3


async def test_the_cache_has_a_bound(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many jobs those that were asked for last are kept."""
    monkeypatch.setattr(module, "CACHED", 2)
    renderer = make(None)
    for name in ("a", "b", "a", "c", "a", "b"):
        await renderer.render(job(name))
    assert results[renderer] == ["ok"] * 4


async def test_at_once(make: Make) -> None:
    """Jobs that are asked for at the same time each get their own, from one worker; one job is rendered once."""
    renderer = make()
    wanted = ["a", "b", "slow", "c", "a", "slow"]
    found = await asyncio.gather(*(renderer.render(job(name)) for name in wanted))
    assert [names(item)[0] for item in found] == [f"{name}-scheduler-0" for name in wanted]
    assert results[renderer] == ["ok"] * 4


async def test_idle(make: Make, scratch: Path) -> None:
    """A worker without work is stopped: no process of it is left, no file, and the next job starts another."""

    def files() -> list[Path]:
        return list(scratch.iterdir())

    renderer = make(None, idle_seconds=0.3)
    await renderer.render(job())
    first = renderer.pid
    assert first is not None
    assert len(members(first)) > 1
    assert files()
    await until(lambda: renderer.pid is None and not members(first) and not files())
    await renderer.render(job("again"))
    assert renderer.pid not in (None, first)


async def test_not_idle(make: Make) -> None:
    """A worker that is asked for something now and then is not stopped."""
    renderer = make(None, idle_seconds=0.6)
    await renderer.render(job())
    first = renderer.pid
    for number in range(4):
        await asyncio.sleep(0.25)
        await renderer.render(job(f"job-{number}"))
    assert renderer.pid == first


async def test_recycled(make: Make) -> None:
    """A worker that has done its share is replaced: jsii gives no memory back."""
    renderer = make(None, renders_per_worker=2)
    pids = []
    for number in range(3):
        await renderer.render(job(f"job-{number}"))
        pids.append(renderer.pid)
    assert pids[0] == pids[1] != pids[2]


@pytest.mark.parametrize("victim", ["worker", "node"])
async def test_killed_at_rest(make: Make, victim: str) -> None:
    """A worker, or its Node, that was killed between two jobs costs neither of them."""
    renderer = make()
    await renderer.render(job("a"))
    assert renderer.pid is not None
    os.kill(node_of(renderer) if victim == "node" else renderer.pid, signal.SIGKILL)
    assert len(names(await renderer.render(job("b")))) == 4
    assert results[renderer] == ["ok", "retry", "ok"]


@pytest.mark.parametrize("victim", ["worker", "node"])
async def test_killed_in_the_middle(make: Make, victim: str) -> None:
    """A worker, or its Node, that is killed in the middle of a job costs that job nothing."""
    renderer = make()
    await renderer.render(job("a"))
    rendering = asyncio.create_task(renderer.render(job("slow")))
    await asyncio.sleep(0.2)
    assert renderer.pid is not None
    os.kill(node_of(renderer) if victim == "node" else renderer.pid, signal.SIGKILL)
    assert names(await rendering)[0] == "slow-scheduler-0"
    assert results[renderer] == ["ok", "retry", "ok"]


async def test_a_construct_that_hangs(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job whose construct hangs fails after the limit of time; others do not wait for it again and again."""
    renderer = make(render_seconds=1.0)
    for _ in range(2):
        with pytest.raises(RenderFailedError, match="the construct took longer than 1 s"):
            await renderer.render(job("hangs"))
    assert results[renderer] == ["error"]
    assert len(names(await renderer.render(job("b")))) == 4
    # Another generation is another try, and so is one after a while.
    assert len(
        names(await renderer.render({**job("train", 2), "metadata": job("hangs", 2)["metadata"] | {"name": "x"}}))
    )
    monkeypatch.setattr(module, "HOLD_FACTOR", 0)
    renderer.forget("uid-hangs")
    with pytest.raises(RenderFailedError):
        await renderer.render(job("hangs"))
    assert results[renderer] == ["error", "ok", "ok", "error"]


@pytest.mark.parametrize(
    ("name", "message"),
    [("raises", "no such pool"), ("exits", r"the construct ended the process: SystemExit\(3\)")],
)
async def test_a_construct_that_fails(make: Make, name: str, message: str) -> None:
    """A job whose construct raises, or calls sys.exit, fails with what it said, and the worker goes on."""
    renderer = make()
    await renderer.render(job("a"))
    first = renderer.pid
    with pytest.raises(RenderFailedError, match=message):
        await renderer.render(job(name))
    await renderer.render(job("b"))
    assert renderer.pid == first
    assert results[renderer] == ["ok", "error", "ok"]


async def test_a_construct_that_says_much(make: Make) -> None:
    """What a construct says is cut, and made text that can be sent on."""
    with pytest.raises(RenderFailedError) as caught:
        await make().render(job("raises-much"))
    assert 1_000 < len(str(caught.value)) <= 10_000
    assert str(caught.value).encode()


async def test_a_construct_that_ends_its_process(make: Make) -> None:
    """A job that ends one worker after the other is to blame itself; the next job is not."""
    renderer = make()
    with pytest.raises(RenderFailedError, match="ended 3 times in the middle of this job"):
        await renderer.render(job("exits-hard"))
    assert len(names(await renderer.render(job("b")))) == 4
    assert results[renderer] == ["retry", "retry", "retry", "error", "ok"]


async def test_a_construct_that_prints(make: Make) -> None:
    """What a construct prints is logged line by line, and does not get between the messages."""
    renderer = make()
    with capture_logs() as logs:
        assert names(await renderer.render(job("prints")))[0] == "prints-scheduler-0"
        assert names(await renderer.render(job("b")))[0] == "b-scheduler-0"
        await renderer.close()
    texts = [entry["text"] for entry in logs if entry["event"] == "construct.output"]
    assert "hello from the construct" in texts
    assert "and its errors ü" in texts
    assert max(map(len, texts)) == 4096


async def test_a_construct_that_reads(make: Make) -> None:
    """A construct that reads its standard input finds it empty, and takes no message away."""
    renderer = make()
    assert names(await renderer.render(job("reads")))[0] == "reads-scheduler-0"
    assert names(await renderer.render(job("b")))[0] == "b-scheduler-0"


async def test_a_construct_that_leaves_a_process(make: Make) -> None:
    """A process that a construct started and that keeps the worker's streams open does not keep the worker."""
    renderer = make()
    await renderer.render(job("leaves-a-child"))
    started = time.monotonic()
    await renderer.close()
    assert time.monotonic() - started < 3


@pytest.mark.parametrize("moment", [0.05, 0.3])
async def test_cancelled(make: Make, moment: float) -> None:
    """Who stops waiting for a job, while a worker starts or renders, leaves nothing for the next job to be given."""
    renderer = make()
    if moment > 0.1:
        await renderer.render(job("a"))
    waiting = asyncio.create_task(renderer.render(job("slow")))
    await asyncio.sleep(moment)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert names(await renderer.render(job("b")))[0] == "b-scheduler-0"
    assert names(await renderer.render(job("c")))[0] == "c-scheduler-0"


@pytest.mark.parametrize(
    ("construct", "message"),
    [
        ("no.such:Thing", "no.such:Thing: ModuleNotFoundError"),
        ("support.odd_constructs:Nothing", "AttributeError"),
        ("support.odd_constructs:NotAWorkload", "not a subclass of"),
        ("nonsense", "write it as package.module:Class"),
        ("support.exits_on_import:Job", r"the construct ended the process: SystemExit\('no licence'\)"),
    ],
)
async def test_a_construct_that_cannot_be_loaded(make: Make, construct: str, message: str) -> None:
    """A construct that is none fails each job with the reason, as it fails a check, and holds no process."""
    renderer = make(construct)
    with pytest.raises(BadConstructError, match=f"the construct worker cannot start: .*{message}"):
        await renderer.check()
    assert renderer.pid is None
    with pytest.raises(BadConstructError, match=f"the construct worker cannot start: .*{message}"):
        await renderer.render(job())
    assert renderer.pid is None


async def test_a_construct_that_can_be_loaded(make: Make) -> None:
    """A check starts the worker that the first job is rendered by; another check finds it running."""
    renderer = make()
    await renderer.check()
    worker = renderer.pid
    await renderer.check()
    await renderer.render(job())
    assert worker is not None
    assert renderer.pid == worker


async def test_a_check_without_node(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing can be rendered at all, the construct is not to blame."""
    monkeypatch.setenv("JSII_NODE", "/nowhere/node")
    with pytest.raises(RenderFailedError, match="JSII_NODE=/nowhere/node is not a usable Node") as caught:
        await make().check()
    assert not isinstance(caught.value, BadConstructError)


async def test_a_worker_that_dies_at_its_start(make: Make) -> None:
    """A worker that ends before it can say why is told, and leaves nothing."""
    with pytest.raises(RenderFailedError, match="the construct worker ended while it started"):
        await make("support.dies_on_import:Job").check()


async def test_no_node(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a usable Node the message says what was looked for; once there is one, the next job is rendered."""
    renderer = make()
    with monkeypatch.context() as patch:
        patch.setenv("JSII_NODE", "/nowhere/node")
        with pytest.raises(RenderFailedError, match="JSII_NODE=/nowhere/node is not a usable Node"):
            await renderer.render(job())
    assert len(names(await renderer.render(job()))) == 4


async def test_no_python(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that cannot be started at all is a failure of the render, not of the operator."""
    renderer = make()
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(RenderFailedError, match=r"the construct worker cannot start: .*/nowhere/python"):
        await renderer.render(job())
    assert renderer.pid is None


async def test_a_start_that_hangs(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that does not get ready is given up."""
    monkeypatch.setattr(module, "START_SECONDS", 0.05)
    with pytest.raises(RenderFailedError, match=r"did not start in 0\.05 s"):
        await make().render(job())


async def test_closed(make: Make) -> None:
    """A renderer can be closed before it has done anything, and twice."""
    renderer = make()
    await renderer.close()
    await renderer.render(job())
    await renderer.close()
    await renderer.close()
    assert renderer.pid is None


SCRIPT = """
import asyncio, ctypes, os, signal, sys
from msjob_controller.renderer import Renderer
from support.jobs import msjob

async def main():
    renderer = Renderer()
    await renderer.render(msjob(uid="u", generation=1))
    {body}

asyncio.run(main())
"""


def test_first_process_of_a_container(scratch: Path) -> None:
    """An operator that is the first process of its container leaves no zombies: nobody else would wait for Node."""
    body = """os.write(1, str(renderer.pid).encode())
    await renderer.close()
    try:
        left = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        left = None
    assert left is None, left"""
    # As if it were: orphans become its children.
    reaper = "assert ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0\n    "
    env = {"PYTHONPATH": str(ROOT / "tests"), "TMPDIR": str(scratch)}
    done = run_program(sys.executable, "-c", SCRIPT.format(body=reaper + body), env=env)
    assert (done.returncode, done.stderr) == (0, "")
    assert not members(int(done.stdout))


async def test_an_operator_that_is_killed(scratch: Path) -> None:
    """A worker whose operator was killed ends by itself, and its Node with it."""
    body = "os.write(1, str(renderer.pid).encode()); os.kill(os.getpid(), signal.SIGKILL)"
    env = {"PYTHONPATH": str(ROOT / "tests"), "TMPDIR": str(scratch)}
    done = run_program(sys.executable, "-c", SCRIPT.format(body=body), env=env)
    assert done.returncode == -signal.SIGKILL
    await until(lambda: not members(int(done.stdout)))

"""Logs through a real API server: merged, followed, and over all that breaks on the way."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from msjob_client import InvalidJobError, JobNotFoundError, LogLine, MSJobClient, RequestFailedError, Stream
from support.jobs import template
from support.live_jobs import Jobs
from support.operator import Operators
from support.testbed.controlplane import ControlPlane
from support.testbed.logs import LogServer
from support.testbed.podstatus import running, waiting
from support.testbed.waiting import wait_for

pytestmark = pytest.mark.usefixtures("operator")

LONG = "x" * 300_000


def texts(lines: list[LogLine]) -> list[str]:
    """Pod and text of lines, such as `worker-0: hello`."""
    return [f"{line.label}: {line.text}" for line in lines]


class Reader:
    """Reads a stream in a thread of its own, as a program that prints lines does."""

    def __init__(self, stream: Stream[LogLine]) -> None:
        self.lines: list[LogLine] = []
        self.error: Exception | None = None
        self._stream = stream
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        try:
            for line in self._stream:
                self.lines.append(line)
        except Exception as error:  # noqa: BLE001 - the test looks at it
            self.error = error

    @property
    def texts(self) -> list[str]:
        """What it has read."""
        return texts(self.lines)

    def wait(self, *expected: str, timeout: float = 20) -> None:
        """Wait until it has read lines that end so, in any order."""
        wait_for(lambda: self.error or set(expected) <= set(self.texts), timeout, what=f"{expected}")
        assert self.error is None

    def end(self, timeout: float = 30) -> list[str]:
        """Wait for the end of the stream."""
        self._thread.join(timeout)
        assert not self._thread.is_alive(), self.texts
        assert self.error is None
        return self.texts

    def close(self) -> None:
        """End it."""
        self._stream.close()
        self._thread.join()


@contextmanager
def following(client: MSJobClient, **asked: object) -> Iterator[Reader]:
    """Follow the logs of the job `train`."""
    reader = Reader(client.logs("train", follow=True, **asked))  # type: ignore[arg-type]
    try:
        yield reader
    finally:
        reader.close()


def test_lines_of_all_pods_come_in_the_order_of_their_times(client: MSJobClient, jobs: Jobs, logs: LogServer) -> None:
    """What was written is merged by time; each line says where it comes from."""
    jobs.create()
    jobs.run(3)
    now = time.time()
    logs.write("train-worker-0", "first", "second", at=now)
    logs.write("train-worker-1", "third \u2714 \u4e2d\u6587", at=now + 1)
    logs.write("train-scheduler-0", "before all", at=now - 1)
    logs.write("train-worker-0", LONG, at=now + 2)

    lines = list(client.logs("train"))

    assert texts(lines) == [
        "scheduler-0: before all",
        "worker-0: first",
        "worker-0: second",
        "worker-1: third \u2714 \u4e2d\u6587",
        f"worker-0: {LONG}",
    ]
    last = lines[-1]
    assert (last.pod, last.role, last.index, last.rank) == ("train-worker-0", "Worker", 0, 0)
    assert (last.attempt, last.container) == (0, "mindspore")
    assert last.time is not None
    assert abs(last.time.timestamp() - now - 2) < 0.001
    assert lines[0].rank is None


def test_what_is_asked_for(client: MSJobClient, jobs: Jobs, logs: LogServer) -> None:
    """Roles, indices, the last lines and the last seconds; pods that have not started have no lines."""
    jobs.create(worker=3)
    jobs.wait_pods(4)
    for pod in ("scheduler-0", "worker-0", "worker-1"):
        jobs.set(pod)
    jobs.set("worker-2", "Pending", containers={"mindspore": waiting()})
    now = time.time()
    for pod in ("train-scheduler-0", "train-worker-0", "train-worker-1"):
        logs.write(pod, "a", at=now - 100)
        logs.write(pod, "b", "c", at=now - 5)

    def read(**asked: object) -> list[str]:
        return texts(list(client.logs("train", **asked)))  # type: ignore[arg-type]

    assert read(roles=["WORKER"], tail=1) == ["worker-0: c", "worker-1: c"]
    assert read(indexes=[1]) == ["worker-1: a", "worker-1: b", "worker-1: c"]
    assert read(roles=["scheduler"], since=50) == ["scheduler-0: b", "scheduler-0: c"]
    assert read(roles=["worker"], indexes=[2]) == []
    assert read(tail=0) == []


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"roles": ["ps"]}, "MSJob train has no role ps: it has Scheduler, Worker"),
        ({"indexes": [7]}, "MSJob train has no pod of index 7: the last one is 1"),
        ({"container": "nope"}, "MSJob train has no container nope: it has mindspore"),
    ],
)
def test_what_cannot_be(client: MSJobClient, jobs: Jobs, asked: dict[str, object], said: str) -> None:
    """A role, index or container that the job does not have is refused, and what it has is said."""
    jobs.create()
    jobs.wait_pods(3)
    with pytest.raises(InvalidJobError) as caught:
        list(client.logs("train", **asked))  # type: ignore[arg-type]
    assert str(caught.value) == said


def test_no_such_job(client: MSJobClient) -> None:
    """The logs of a job that is not there."""
    with pytest.raises(JobNotFoundError):
        list(client.logs("missing"))


def test_an_answer_that_breaks_off_is_read_on(client: MSJobClient, jobs: Jobs, logs: LogServer) -> None:
    """Kubelets that fall in the middle of a line, at the end of one and before the first byte cost nothing."""
    jobs.create()
    jobs.run(3)
    written = [f"line {number}" for number in range(200)]
    logs.write("train-worker-0", *written)
    whole = len(b"2026-12-01T00:00:00.000000000Z line 0\n")
    logs.cut("train-worker-0", whole * 3 + 11, whole * 2, 0, whole * 50 + 1)

    assert texts(list(client.logs("train", roles=["worker"]))) == [f"worker-0: {text}" for text in written]


def test_a_kubelet_that_falls_again_and_again(client: MSJobClient, jobs: Jobs, logs: LogServer) -> None:
    """Answers that end here and there, and bring nothing new, are not taken for the end of the log."""
    jobs.create(worker=1)
    jobs.run(2)
    written = [f"line {number}" for number in range(50)]
    logs.write("train-worker-0", *written)
    logs.cut("train-worker-0", 39 * 20, *[60, 130] * 8)

    assert texts(list(client.logs("train", roles=["worker"]))) == [f"worker-0: {text}" for text in written]


def test_a_pod_that_cannot_be_read_keeps_no_other_from_it(client: MSJobClient, jobs: Jobs, logs: LogServer) -> None:
    """The lines of all others come first; then an error names the pod."""
    jobs.create()
    jobs.run(3)
    logs.write("train-worker-1", "still here")
    logs.refuse["train-worker-0"] = 500
    lines = client.logs("train")

    assert next(lines).text == "still here"
    with pytest.raises(RequestFailedError, match=r"the log of train-worker-0 cannot be read to its end: .*refused"):
        next(lines)
    assert list(lines) == []


def test_following_sees_what_is_there_and_what_comes(client: MSJobClient, jobs: Jobs, logs: LogServer) -> None:
    """What is there comes merged, then lines as they are written; it ends with the job, and all is read."""
    jobs.create(run_policy={"cleanPodPolicy": "None"})
    jobs.run(3)
    now = time.time()
    logs.write("train-worker-1", "second", at=now)
    logs.write("train-worker-0", "first", at=now - 1)
    with following(client) as reader:
        reader.wait("worker-1: second")
        assert reader.texts == ["worker-0: first", "worker-1: second"]
        logs.write("train-worker-1", "now")
        reader.wait("worker-1: now")
        logs.write("train-worker-0", "last of 0")
        logs.write("train-worker-1", "last of 1")
        for pod in ("train-worker-0", "train-worker-1"):
            logs.end(pod)
        jobs.finish("worker-0", "worker-1")
        assert sorted(reader.end()[3:]) == ["worker-0: last of 0", "worker-1: last of 1"]


def test_only_what_comes(client: MSJobClient, jobs: Jobs, logs: LogServer) -> None:
    """With a tail of 0 nothing of the past is told, and nothing that comes is lost, though the connection breaks."""
    jobs.create()
    jobs.run(3)
    logs.write("train-worker-0", "old", "older")
    with following(client, tail=0) as reader:
        wait_for(lambda: logs.followed("train-worker-0"))
        logs.write("train-worker-0", "new 1")
        reader.wait("worker-0: new 1")
        logs.sever("train-worker-0")
        logs.write("train-worker-0", "new 2")
        logs.write("train-worker-1", "first of all")
        reader.wait("worker-0: new 2", "worker-1: first of all")
        assert sorted(reader.texts) == ["worker-0: new 1", "worker-0: new 2", "worker-1: first of all"]


def test_nothing_is_lost_nor_told_twice_when_connections_break(
    client: MSJobClient, jobs: Jobs, logs: LogServer
) -> None:
    """A log that is written on and on, and severed again and again, in order and in the middle of lines."""
    jobs.create(worker=1)
    jobs.run(2)
    expected = [f"worker-0: step {number % 7} of the same" for number in range(600)]
    with following(client, roles=["worker"]) as reader:
        for number in range(600):
            logs.write("train-worker-0", f"step {number % 7} of the same")
            if number % 97 == 0:
                logs.cut("train-worker-0", 60, 130)
                logs.sever("train-worker-0")
            time.sleep(0.002)
        logs.end("train-worker-0")
        jobs.finish("worker-0")
        assert reader.end() == expected


def test_the_log_is_rotated_while_nobody_listens(client: MSJobClient, jobs: Jobs, logs: LogServer) -> None:
    """What is gone is gone, but nothing that is there is taken for known."""
    jobs.create(worker=1)
    jobs.run(2)
    with following(client, roles=["worker"]) as reader:
        logs.write("train-worker-0", *["same"] * 10)
        wait_for(lambda: len(reader.lines) == 10)
        logs.rotate("train-worker-0", keep=1)
        logs.sever("train-worker-0")
        logs.write("train-worker-0", "after")
        reader.wait("worker-0: after")
        assert reader.texts == ["worker-0: same"] * 10 + ["worker-0: after"]


def test_a_kubelet_that_does_not_know_its_pod_yet(client: MSJobClient, jobs: Jobs, logs: LogServer) -> None:
    """One that was just started answers 404 for a pod that it has not looked at yet: the pod is there, and its log."""
    jobs.create(worker=1)
    jobs.run(2)
    with following(client, roles=["worker"]) as reader:
        logs.write("train-worker-0", "before")
        reader.wait("worker-0: before")
        wait_for(lambda: logs.followed("train-worker-0"))
        asked = len(logs.requests["train-worker-0"])
        logs.refuse["train-worker-0"] = 404
        logs.sever("train-worker-0")
        wait_for(lambda: len(logs.requests["train-worker-0"]) > asked + 1, what="it to be asked again")
        del logs.refuse["train-worker-0"]
        logs.write("train-worker-0", "after")
        reader.wait("worker-0: after")
        assert reader.texts == ["worker-0: before", "worker-0: after"]


def test_pods_of_the_next_attempt_join(client: MSJobClient, jobs: Jobs, logs: LogServer) -> None:
    """A restart replaces all pods by others of the same names; their lines follow, with their attempt."""
    jobs.create(restart_policy="OnFailure")
    jobs.run(3)
    logs.write("train-worker-0", "of the first attempt")
    with following(client, roles=["worker"], tail=5) as reader:
        reader.wait("worker-0: of the first attempt")
        wait_for(lambda: logs.followed("train-worker-0"))
        logs.write("train-worker-0", "dying")
        logs.end("train-worker-0")
        jobs.finish("worker-0", code=1)
        jobs.wait_attempt(1, 3)
        jobs.run(3)
        logs.write("train-worker-0", *(f"again {number}" for number in range(20)))
        reader.wait("worker-0: again 19")
        assert reader.texts[:2] == ["worker-0: of the first attempt", "worker-0: dying"]
        assert [line.text for line in reader.lines[2:]] == [f"again {number}" for number in range(20)]
        assert {line.attempt for line in reader.lines[2:]} == {1}


def test_pods_that_start_late(client: MSJobClient, jobs: Jobs, logs: LogServer) -> None:
    """Following may begin before the first container has started: it waits, and misses nothing."""
    jobs.create()
    jobs.wait_pods(3)
    with following(client) as reader:
        jobs.set("worker-0", "Pending", containers={"mindspore": waiting()})
        jobs.set("worker-1")
        logs.write("train-worker-1", "one")
        reader.wait("worker-1: one")
        jobs.set("worker-0")
        logs.write("train-worker-0", "zero")
        reader.wait("worker-0: zero")
        assert reader.error is None


def test_a_container_that_the_kubelet_restarts(client: MSJobClient, jobs: Jobs, logs: LogServer) -> None:
    """The last words of the run before are in a log of their own, and are told, too."""
    jobs.create(scheduler=None, worker=1, restart_policy="OnFailure")
    jobs.run(1)
    with following(client) as reader:
        logs.write("train-worker-0", "run 0")
        reader.wait("worker-0: run 0")
        logs.cut("train-worker-0", 0)
        logs.sever("train-worker-0")
        logs.write("train-worker-0", "last words")
        logs.restart("train-worker-0")
        logs.write("train-worker-0", "run 1")
        jobs.set("worker-0", containers={"mindspore": running(restart_count=1)})
        reader.wait("worker-0: last words", "worker-0: run 1")
        assert sorted(reader.texts) == ["worker-0: last words", "worker-0: run 0", "worker-0: run 1"]


def test_a_line_without_an_end(client: MSJobClient, jobs: Jobs, logs: LogServer) -> None:
    """A process that dies in the middle of a line has said that much."""
    jobs.create(worker=1, run_policy={"cleanPodPolicy": "None"})
    jobs.run(2)
    logs.write("train-worker-0", "whole")
    logs.write_raw("train-worker-0", b"hal")
    assert texts(list(client.logs("train"))) == ["worker-0: whole", "worker-0: hal"]
    with following(client) as reader:
        logs.end("train-worker-0")
        jobs.finish("worker-0", code=1)
        assert reader.end() == ["worker-0: whole", "worker-0: hal"]


def test_sidecars_and_init_containers(client: MSJobClient, jobs: Jobs, logs: LogServer) -> None:
    """One container by its name, or all of them."""
    pod = template(containers=[{"name": "metrics", "image": "x"}], init_containers=[{"name": "fetch", "image": "x"}])
    jobs.create(worker=1, pod=pod)
    jobs.run(2)
    now = time.time()
    logs.write("train-worker-0", "data", container="fetch", at=now - 2)
    logs.write("train-worker-0", "train", at=now - 1)
    logs.write("train-worker-0", "scrape", container="metrics", at=now)

    assert texts(list(client.logs("train", container="metrics"))) == ["worker-0: scrape"]
    everything = list(client.logs("train", all_containers=True))
    assert [(line.container, line.text) for line in everything] == [
        ("fetch", "data"),
        ("mindspore", "train"),
        ("metrics", "scrape"),
    ]


def test_a_deleted_job_ends_it(client: MSJobClient, jobs: Jobs, logs: LogServer) -> None:
    """Following ends when the job is deleted, and an ended job needs no following."""
    jobs.create()
    jobs.run(3)
    logs.write("train-worker-0", "hello")
    with following(client) as reader:
        reader.wait("worker-0: hello")
        jobs.delete()
        logs.end("train-worker-0")
        assert reader.end() == ["worker-0: hello"]


def test_a_pod_that_goes_while_its_last_words_are_on_their_way(
    client: MSJobClient, jobs: Jobs, logs: LogServer
) -> None:
    """They are told: by the time they arrive no pod has its name, or one that has not begun."""
    jobs.create(scheduler=None, worker=2, launch_mode="Standalone", restart_policy="OnFailure")
    jobs.run(2)
    with following(client) as reader:
        wait_for(lambda: logs.followed("train-worker-0") and logs.followed("train-worker-1"))
        uid = jobs.pods()["worker-1"]["metadata"]["uid"]

        def replace() -> None:
            jobs.delete_pods(["worker-1"])
            wait_for(lambda: jobs.pods().get("worker-1", {"metadata": {"uid": uid}})["metadata"]["uid"] != uid)

        logs.meanwhile["train-worker-1"] = replace
        logs.write("train-worker-1", "last words of 1")
        reader.wait("worker-1: last words of 1")
        jobs.run(2)
        logs.write("train-worker-1", "first words of its successor")
        reader.wait("worker-1: first words of its successor")

        def remove() -> None:
            jobs.delete()
            jobs.client.wait_gone("v1/pods", "train-worker-0", jobs.namespace)

        logs.meanwhile["train-worker-0"] = remove
        logs.write("train-worker-0", "last words of 0")
        for pod in ("train-worker-0",):
            logs.end(pod)
        assert sorted(reader.end()) == [
            "worker-0: last words of 0",
            "worker-1: first words of its successor",
            "worker-1: last words of 1",
        ]


def test_the_api_server_falls(
    own_operators: Operators, control_plane: ControlPlane, client: MSJobClient, jobs: Jobs, logs: LogServer
) -> None:
    """All connections break at once, and nothing can be opened for a while; then reading goes on."""
    jobs.create(worker=1)
    jobs.run(2)
    logs.write("train-worker-0", "before")
    with following(client) as reader:
        reader.wait("worker-0: before")
        wait_for(lambda: logs.followed("train-worker-0"))
        logs.write("train-worker-0", *(f"line {number}" for number in range(50)))
        control_plane.stop_apiserver(kill=True)
        own_operators.bring_back_apiserver()
        logs.write("train-worker-0", "after")
        reader.wait("worker-0: after", timeout=40)
        assert reader.texts == ["worker-0: before", *(f"worker-0: line {n}" for n in range(50)), "worker-0: after"]

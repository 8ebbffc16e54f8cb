"""Passes that remove, restart and scale: what is written in which order, and what is not when a write fails."""

import asyncio
from typing import Any

import pytest
from aiohttp import web

from msjob_controller.actions import FIRST_BATCH, IN_FLIGHT
from msjob_controller.kube.errors import Conflict, Forbidden
from msjob_controller.kube.transport import Transport
from msjob_controller.reconciler import RetryLaterError
from support.apiserver import status
from support.pods import stamp
from support.shell import CORE, JOBS, PODS, Shell, shell

SCALERS = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
ATTEMPT = "mindspore.gitee.com/restart-attempt"


def attempts(operator: Shell) -> set[str]:
    """Attempts that the pods in the API server belong to."""
    pods = [item for path, item in operator.api.objects.items() if "/pods/" in path]
    return {pod["metadata"]["labels"][ATTEMPT] for pod in pods}


def ask_to_go(operator: Shell, name: str, seconds: float, *, node: str) -> None:
    """Somebody deletes a pod, and its kubelet does not answer."""
    operator.set_pod(name, "Running", node=node)
    pod = operator.api.objects[f"{CORE}/pods/{name}"]
    pod["metadata"] |= {"deletionTimestamp": stamp(seconds + 5), "deletionGracePeriodSeconds": 5}
    operator.api.put(f"{CORE}/pods", pod)


def bodies(operator: Shell, method: str, path: str) -> list[Any]:
    """What was sent to a path."""
    return [seen.body for seen in operator.api.requests if seen.method == method and seen.path == path]


class TestRestart:
    """From a failure to the pods of the next attempt."""

    async def test_in_two_passes(self, operator: Shell) -> None:
        """The status comes first, then all pods go, and once they are gone the next attempt is made without a pause."""
        await operator.run(restart_policy="OnFailure")
        operator.set_pod("train-worker-1", "Failed", 137)
        await operator.hear()
        assert await operator.reconcile() == 0
        assert (operator.status()["attempt"], operator.state()[-1]) == (1, "Restarting=True")
        assert operator.api.names("pods") == []
        assert operator.api.names("services") == ["train-scheduler-0"]
        # The next pass needs no event to know that they are gone.
        await operator.reconcile()
        assert operator.api.names("pods") == PODS
        assert attempts(operator) == {"1"}
        writes = [item for item in operator.api.writes() if "events" not in item]
        assert writes[:4] == ["PATCH msjobs/status", *["DELETE pods"] * 3]
        assert [write for write in writes[4:] if "PATCH" not in write] == ["POST pods"] * 3
        assert operator.counted("msjob_job_restarts_total") == 1
        assert operator.counted("training_operator_jobs_restarted_total") == 1
        assert operator.counted("deleted_pods_total") == 3

    async def test_a_conflict(self, operator: Shell) -> None:
        """Nothing is deleted for an attempt that could not be written."""
        await operator.run(restart_policy="OnFailure")
        operator.set_pod("train-worker-1", "Failed", 137)
        await operator.hear()
        operator.api.refuse("PATCH", "/status", status(409, "Conflict", "changed"), times=1)
        with pytest.raises(Conflict):
            await operator.reconcile()
        assert operator.api.writes() == []
        assert operator.api.names("pods") == PODS
        assert operator.counted("msjob_job_restarts_total") == 0

    async def test_no_pod_before_its_attempt(self, operator: Shell) -> None:
        """The status comes first also when there is nothing to delete: no pod is of an attempt that nobody knows."""
        await operator.run(restart_policy="OnFailure")
        for name in PODS:
            operator.api.remove(f"{CORE}/pods/{name}")
        await operator.hear()
        operator.api.refuse("PATCH", "/status", status(409, "Conflict", "changed"), times=1)
        with pytest.raises(Conflict):
            await operator.reconcile()
        assert operator.api.names("pods") == []
        await operator.reconcile()
        await operator.reconcile()
        assert (operator.api.names("pods"), attempts(operator)) == (PODS, {"1"})

    async def test_a_pod_of_the_last_attempt(self, operator: Shell) -> None:
        """One that is there although the cache does not know of it is removed, and takes nobody's place."""
        await operator.run(restart_policy="OnFailure")
        job = operator.api.objects[f"{JOBS}/train"]
        operator.api.put(JOBS, {**job, "status": {**job["status"], "attempt": 1}})
        async with shell() as other:
            other.api.objects, other.api.version = operator.api.objects, operator.api.version
            await other.cluster.jobs._list()
            await other.cluster.services._list()
            await other.reconcile()
            await other.reconcile()
            assert attempts(other) == {"1"}
            assert other.api.names("pods") == PODS

    async def test_another_pod_of_that_name(self, operator: Shell) -> None:
        """A deletion is of the pod that was judged, whatever has taken its name since."""
        await operator.run(restart_policy="OnFailure")
        operator.set_pod("train-worker-1", "Failed", 137)
        await operator.hear()
        pod = operator.api.remove(f"{CORE}/pods/train-worker-1")
        operator.api.put(f"{CORE}/pods", pod)
        with pytest.raises(RetryLaterError):
            await operator.reconcile()
        assert operator.api.names("pods") == ["train-worker-1"]

    async def test_many_pods(self, operator: Shell) -> None:
        """All pods of a large job are asked to go at once, in one pass, each by its uid."""
        await operator.create(scheduler=None, worker=300, restart_policy="OnFailure", launch_mode="None")
        await operator.reconcile()
        for name in operator.api.names("pods"):
            operator.set_pod(name, "Running")
        operator.set_pod("train-worker-7", "Failed", 1)
        await operator.hear()
        operator.api.requests.clear()
        await operator.reconcile()
        deletions = [seen for seen in operator.api.requests if seen.method == "DELETE"]
        assert len(deletions) == 300
        assert all(seen.body["preconditions"]["uid"] for seen in deletions)
        assert ("Normal", "SuccessfulDeletePod", "Deleted 300 pods") in operator.api.events()


class TestForce:
    """Pods that hang in deletion on a lost node."""

    async def test_removed(self, operator: Shell) -> None:
        """When their time is over they are removed by uid and without grace, and an event says so, once."""
        await operator.run(run_policy={"forceDeleteAfterSeconds": 60})
        for name in PODS[:2]:
            operator.set_pod(name, "Running", node="here")
        operator.api.put(
            "/api/v1/nodes",
            {"metadata": {"name": "here"}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}},
        )
        ask_to_go(operator, "train-worker-1", 10, node="gone")
        uid = operator.api.objects[f"{CORE}/pods/train-worker-1"]["metadata"]["uid"]
        operator.cluster.nodes.has_synced.set()
        await operator.hear()
        operator.now = 40
        await operator.reconcile()
        path = f"{CORE}/pods/train-worker-1"
        assert bodies(operator, "DELETE", path) == []
        operator.now = 71
        await operator.reconcile()
        (body,) = bodies(operator, "DELETE", path)
        assert (body["gracePeriodSeconds"], body["preconditions"]) == (0, {"uid": uid})
        assert [item for item in operator.api.events() if item[1] == "ForceDeletedPod"] == [
            ("Warning", "ForceDeletedPod", "Removed from lost nodes by force: 1 pod")
        ]


class TestExpiry:
    """A finished job whose time is over."""

    async def finished(self, operator: Shell, ttl: int = 30) -> None:
        """Bring a job to its end."""
        await operator.run(run_policy={"ttlSecondsAfterFinished": ttl})
        operator.set_pod("train-worker-0", "Succeeded", 0)
        await operator.hear()
        await operator.reconcile()
        assert operator.state()[-1] == "Succeeded=True"
        operator.now = 10
        await operator.reconcile()
        assert operator.api.names("pods") == ["train-worker-0"]
        operator.api.requests.clear()

    async def test_deleted(self, operator: Shell) -> None:
        """It is looked at when its time comes, and deleted in the state that was judged, with all that it owns."""
        await self.finished(operator)
        assert await operator.reconcile() == 20
        operator.now = 29.5
        assert await operator.reconcile() == 0.5
        assert operator.api.writes() == []
        job = operator.api.objects[f"{JOBS}/train"]["metadata"]
        operator.now = 30
        await operator.reconcile()
        (body,) = bodies(operator, "DELETE", f"{JOBS}/train")
        assert body["preconditions"] == {"uid": job["uid"], "resourceVersion": job["resourceVersion"]}
        assert body["propagationPolicy"] == "Background"
        assert f"{JOBS}/train" not in operator.api.objects
        assert "SuccessfulDeleteJob" in [reason for _, reason, _ in operator.api.events()]
        # Its event may take a while: until then the job seems to be there.
        await operator.reconcile()
        assert "FailedDeleteJob" not in [reason for _, reason, _ in operator.api.events()]

    async def test_edited_meanwhile(self, operator: Shell) -> None:
        """A job whose TTL was raised before the operator heard of it stays."""
        await self.finished(operator)
        job = operator.api.objects[f"{JOBS}/train"]
        job["spec"]["runPolicy"]["ttlSecondsAfterFinished"] = 3600
        job["metadata"]["generation"] = 2
        operator.api.put(JOBS, job)
        operator.now = 31
        with pytest.raises(Conflict):
            await operator.reconcile()
        await operator.hear()
        assert await operator.reconcile() == 3600 - 31
        assert f"{JOBS}/train" in operator.api.objects

    async def test_refused(self, operator: Shell) -> None:
        """A job that may not be deleted says so, and is tried again."""
        await self.finished(operator)
        operator.api.refuse("DELETE", "/train", status(403, "Forbidden", "not yours"), times=1)
        operator.now = 31
        with pytest.raises(RetryLaterError, match="not yours"):
            await operator.reconcile()
        assert ("Warning", "FailedDeleteJob", "Error deleting train: not yours") in operator.api.events()
        await operator.reconcile()
        assert f"{JOBS}/train" not in operator.api.objects

    async def test_held_by_a_finalizer(self, operator: Shell) -> None:
        """A job that a finalizer keeps is deleted once and then left alone."""
        await self.finished(operator)
        job = operator.api.objects[f"{JOBS}/train"]
        leaving = {**job["metadata"], "deletionTimestamp": stamp(31), "resourceVersion": "9999"}

        async def held(_: web.Request) -> web.Response:
            return web.json_response({**job, "metadata": leaving})

        operator.api.refuse("DELETE", "/train", held)
        operator.now = 31
        await operator.reconcile()
        await operator.reconcile()
        assert len(bodies(operator, "DELETE", f"{JOBS}/train")) == 0
        assert len(operator.api.refusals[0].met) == 1


class TestAutoscaler:
    """The HorizontalPodAutoscaler of an elastic job."""

    async def test_with_the_pods(self, operator: Shell) -> None:
        """It is made in the same go, after the last pod, once, and removed when the job is over."""
        await operator.create(elastic_policy={"maxReplicas": 4})
        assert await operator.reconcile() is None
        assert operator.api.names("horizontalpodautoscalers") == ["train"]
        writes = operator.api.writes()
        assert writes.index("POST horizontalpodautoscalers") > max(
            index for index, write in enumerate(writes) if write == "POST pods"
        )
        assert "SuccessfulCreateAutoscaler" in [reason for _, reason, _ in operator.api.events()]
        for name in PODS:
            operator.set_pod(name, "Running")
        operator.set_pod("train-worker-0", "Succeeded", 0)
        await operator.hear()
        await operator.reconcile()
        assert operator.state()[-1] == "Succeeded=True"
        assert operator.api.names("horizontalpodautoscalers") == []
        assert "SuccessfulDeleteAutoscaler" in [reason for _, reason, _ in operator.api.events()]
        assert operator.api.writes().count("POST horizontalpodautoscalers") == 1

    async def test_without_the_right(self, operator: Shell) -> None:
        """The job says that it cannot be scaled, once, and runs; when the right comes, it says so."""
        refusal = operator.api.refuse("POST", "/horizontalpodautoscalers", status(403, "Forbidden", "no right"))
        await operator.create(elastic_policy={"maxReplicas": 4})
        for _ in range(3):
            with pytest.raises(RetryLaterError, match="no right"):
                await operator.reconcile()
            await operator.hear()
        assert operator.api.names("pods") == PODS
        assert operator.state() == ["Stalled=True", "Created=True"]
        assert operator.stalled()["message"] == "train cannot be created: no right"
        assert operator.api.writes().count("PATCH msjobs/status") == 2
        refusal.times = 0
        assert await operator.reconcile() is None
        assert operator.state() == ["Stalled=False", "Created=True"]

    async def test_that_can_never_be(self, operator: Shell) -> None:
        """One that the API server refuses fails the job, with the field to mend."""
        operator.api.refuse(
            "POST", "/horizontalpodautoscalers", status(422, "Invalid", "spec.metrics[0]: no such type")
        )
        await operator.create(elastic_policy={"maxReplicas": 4})
        await operator.reconcile()
        assert operator.state()[-1] == "Failed=True"
        message = operator.status()["conditions"][-1]["message"]
        assert "spec.elasticPolicy: train: spec.metrics[0]: no such type" in message
        assert operator.api.names("pods") == []

    async def test_one_of_the_site(self, operator: Shell) -> None:
        """An autoscaler of another name is a site's own, and no reason to leave out the job's."""
        await operator.create(elastic_policy={"maxReplicas": 4})
        owner = {"kind": "MSJob", "name": "train", "controller": True}
        owner["uid"] = operator.api.objects[f"{JOBS}/train"]["metadata"]["uid"]
        operator.api.put(
            SCALERS, {"metadata": {"name": "site", "namespace": "default", "ownerReferences": [owner]}, "spec": {}}
        )
        await operator.hear()
        await operator.reconcile()
        assert operator.api.names("horizontalpodautoscalers") == ["site", "train"]


class TestManyPods:
    """Pods of a large job."""

    async def test_at_a_time(self, operator: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
        """All are made, never more at a time than leaves room for other jobs."""
        now, most = 0, 0
        create = Transport.create

        async def counted(transport: Transport, path: str, body: bytes) -> bytes:
            nonlocal now, most
            now += 1
            most = max(most, now)
            await asyncio.sleep(0)
            try:
                return await create(transport, path, body)
            finally:
                now -= 1

        monkeypatch.setattr(Transport, "create", counted)
        await operator.run(worker=200)
        assert len(operator.api.names("pods")) == 201
        assert FIRST_BATCH < most <= IN_FLIGHT

    @pytest.mark.parametrize(("room", "most"), [(0, FIRST_BATCH), (50, 50 + IN_FLIGHT)])
    async def test_no_room(self, operator: Shell, monkeypatch: pytest.MonkeyPatch, room: int, most: int) -> None:
        """Once a pod cannot be made no other is tried, and what was made is kept."""
        tried = 0
        create = Transport.create

        async def limited(transport: Transport, path: str, body: bytes) -> bytes:
            nonlocal tried
            tried += path.endswith("/pods")
            if path.endswith("/pods") and tried > room:
                raise Forbidden(403, "Forbidden", "exceeded quota: pods", request=path)
            return await create(transport, path, body)

        monkeypatch.setattr(Transport, "create", limited)
        await operator.create(worker=200)
        with pytest.raises(RetryLaterError):
            await operator.reconcile()
        assert len(operator.api.names("pods")) == room
        assert room < tried <= most

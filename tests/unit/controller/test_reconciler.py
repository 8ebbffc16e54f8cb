"""One pass over one job, where the API server does not do as it is asked."""

import asyncio

import pytest
from aiohttp import web

from msjob_controller import reconciler as module
from msjob_controller.kube.errors import Conflict, LeadershipLost, ServerError
from msjob_controller.reconciler import RetryLaterError
from support.apiserver import status
from support.jobs import msjob
from support.shell import CORE, JOBS, PODS, Shell, shell


class TestStart:
    """From a job to its pods."""

    async def test_in_one_go(self, operator: Shell) -> None:
        """Service, address and pods take one call; each event follows the write that it tells of."""
        await operator.create()
        assert await operator.reconcile() is None
        assert operator.api.names("services") == ["train-scheduler-0"]
        assert operator.api.names("pods") == PODS
        assert operator.state() == ["Created=True"]
        writes = operator.api.writes()
        assert writes.index("PATCH msjobs/status") < writes.index("POST events MSJobCreated")
        assert writes.index("POST services") < writes.index("POST events SuccessfulCreateService")
        assert (
            writes.index("POST services") < writes.index("POST pods") < writes.index("POST events SuccessfulCreatePod")
        )
        assert ("Normal", "SuccessfulCreatePod", "Created 3 pods") in operator.api.events()
        assert operator.counted("created_pods_total") == 3
        assert operator.counted("succeeded_service_creation_total") == 1
        assert operator.counted("training_operator_jobs_created_total") == 1

    async def test_nothing_new(self, operator: Shell) -> None:
        """A look at a job where nothing has changed writes nothing, whether its own writes were heard of or not."""
        await operator.create()
        await operator.reconcile()
        operator.api.requests.clear()
        await operator.reconcile()
        await operator.hear()
        await operator.reconcile()
        assert operator.api.writes() == []

    async def test_a_cache_that_is_behind(self, operator: Shell) -> None:
        """Children that exist although the cache does not know of them are not made twice."""
        await operator.create()
        await operator.reconcile()
        # Another instance, whose caches are of before all this.
        async with shell() as other:
            other.api.objects = operator.api.objects
            other.api.version = operator.api.version
            await other.cluster.jobs._list()
            assert await other.reconcile() is None
            await other.reconcile()
        assert operator.api.names("pods") == PODS

    async def test_jobs_of_others(self, operator: Shell) -> None:
        """A job that another controller manages is left alone, an invalid one, too."""
        await operator.create(managed_by="kueue.x-k8s.io/multikueue")
        operator.api.put(
            JOBS, msjob("bad", generation=1, managed_by="kueue.x-k8s.io/multikueue", worker=None, scheduler=None)
        )
        await operator.hear()
        operator.api.requests.clear()
        for name in ("train", "bad", "no-such-job"):
            assert await operator.reconcile(name) is None
        assert operator.api.writes() == []


class TestExtras:
    """Objects that a site's construct adds."""

    @pytest.mark.parametrize(
        ("api_version", "kind", "path"),
        [
            ("v1", "ConfigMap", "/api/v1/namespaces/default/configmaps"),
            ("networking.k8s.io/v1", "NetworkPolicy", "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies"),
            ("networking.k8s.io/v1", "Ingress", "/apis/networking.k8s.io/v1/namespaces/default/ingresses"),
            ("example.com/v1", "Gateway", "/apis/example.com/v1/namespaces/default/gateways"),
        ],
    )
    async def test_before_the_pods(self, operator: Shell, api_version: str, kind: str, path: str) -> None:
        """They are made after the Service and before the pods, owned by the job, and not again when they are there."""
        operator.renderer.extras = [{"apiVersion": api_version, "kind": kind, "metadata": {"name": "train-site"}}]
        await operator.create()
        assert await operator.reconcile() is None
        made = operator.api.objects[f"{path}/train-site"]
        assert made["metadata"]["ownerReferences"][0]["name"] == "train"
        posts = [seen.path for seen in operator.api.requests if seen.method == "POST" and "events" not in seen.path]
        assert posts == [f"{CORE}/services", path, *[f"{CORE}/pods"] * 3]
        operator.api.remove(f"{CORE}/pods/train-worker-1")
        await operator.hear()
        assert await operator.reconcile() is None
        assert operator.api.names("pods") == PODS

    async def test_without_the_right(self, operator: Shell) -> None:
        """Pods wait for them: an event says what is missing."""
        operator.renderer.extras = [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "train-site"}}]
        refusal = operator.api.refuse("POST", "/configmaps", status(403, "Forbidden", "no such right"), times=1)
        await operator.create()
        with pytest.raises(RetryLaterError, match="no such right"):
            await operator.reconcile()
        assert (len(refusal.met), operator.api.names("pods")) == (1, [])
        assert ("Warning", "FailedCreatePod", "Error creating train-site: no such right") in operator.api.events()
        assert await operator.reconcile() is None
        assert operator.api.names("pods") == PODS


class TestLeadership:
    """An operator that was frozen, and wakes up when another leads."""

    async def test_no_write(self, operator: Shell) -> None:
        """Whatever it was about to do, it writes nothing more and says why."""
        await operator.create()
        operator.reconciler._leads = lambda: False
        with pytest.raises(LeadershipLost):
            await operator.reconcile()
        operator.reconciler._leads = lambda: True
        await operator.reconcile()
        operator.set_pod("train-worker-0", "Failed", code=1)
        await operator.hear()
        operator.api.requests.clear()
        operator.reconciler._leads = lambda: False
        with pytest.raises(LeadershipLost):
            await operator.reconcile()
        assert operator.api.writes() == []

    async def test_in_the_middle(self, operator: Shell) -> None:
        """Frozen between two writes of one pass it does the first and not the second."""
        await operator.create()
        answers = iter([True, True])
        operator.reconciler._leads = lambda: next(answers, False)
        with pytest.raises(LeadershipLost):
            await operator.reconcile()
        assert operator.api.names("services") == ["train-scheduler-0"]
        assert operator.api.names("pods") == []


class TestStatus:
    """The one write that everything else waits for."""

    async def test_conflict(self, operator: Shell) -> None:
        """A status that cannot be written is not told of, and the next look makes up for it."""
        await operator.create()
        operator.api.refuse("PATCH", "/status", status(409, "Conflict", "changed"), times=1)
        with pytest.raises(Conflict):
            await operator.reconcile()
        assert "MSJobCreated" not in [reason for _, reason, _ in operator.api.events()]
        assert operator.counted("training_operator_jobs_created_total") == 0
        await operator.reconcile()
        assert operator.state() == ["Created=True"]
        assert [reason for _, reason, _ in operator.api.events()].count("MSJobCreated") == 1
        assert operator.api.names("pods") == PODS

    async def test_a_job_that_changed_meanwhile(self, operator: Shell) -> None:
        """A decision about a job that has changed since does not reach its status."""
        await operator.run()
        operator.set_pod("train-worker-1", "Failed", 1)
        await operator.cluster.pods._list()
        changed = operator.api.objects[f"{JOBS}/train"]
        changed["spec"]["runPolicy"] = {"suspend": True}
        operator.api.put(JOBS, changed)
        with pytest.raises(Conflict):
            await operator.reconcile()
        assert operator.state()[-1] == "Running=True"
        assert "DELETE pods" not in operator.api.writes()

    async def test_deletions_wait_for_it(self, operator: Shell) -> None:
        """Pods of a job that ended are deleted only when it is written what they came to."""
        await operator.run()
        operator.set_pod("train-worker-0", "Failed", 7)
        await operator.hear()
        operator.api.refuse("PATCH", "/status", status(500, "InternalError", "down"), times=1)
        with pytest.raises(ServerError):
            await operator.reconcile()
        assert "DELETE pods" not in operator.api.writes()
        operator.api.requests.clear()
        await operator.reconcile()
        assert operator.state()[-1] == "Failed=True"
        assert operator.api.names("pods") == ["train-worker-0"]
        assert operator.api.names("services") == []
        writes = operator.api.writes()
        assert writes.index("PATCH msjobs/status") < writes.index("DELETE pods")
        messages = {reason: message for _, reason, message in operator.api.events()}
        assert messages["SuccessfulDeletePod"] == "Deleted 2 pods"
        assert messages["SuccessfulDeleteService"] == "Deleted the Service"
        assert operator.counted("deleted_pods_total") == 2
        assert operator.counted("training_operator_jobs_failed_total") == 1

    async def test_pods_that_settle(self, operator: Shell) -> None:
        """What runs when its job succeeds is left alone for ten seconds, and goes then."""
        await operator.run()
        operator.set_pod("train-worker-0", "Succeeded", 0)
        await operator.hear()
        assert await operator.reconcile() == 10
        assert operator.state()[-1] == "Succeeded=True"
        assert operator.api.names("pods") == PODS
        assert operator.api.names("services") == ["train-scheduler-0"]
        operator.now = 10
        await operator.reconcile()
        assert operator.api.names("pods") == ["train-worker-0"]
        assert operator.api.names("services") == []
        assert operator.counted("training_operator_jobs_successful_total") == 1

    async def test_a_deletion_that_meets_another(self, operator: Shell) -> None:
        """An answer without a version, as of a pod that its kubelet removes at that moment, is no news to keep."""
        await operator.run()
        operator.set_pod("train-worker-0", "Failed", code=7)
        await operator.hear()
        left = {
            "metadata": {"name": "train-worker-1", "namespace": "default", "deletionTimestamp": "2026-01-02T03:05:05Z"}
        }

        async def going(_: web.Request) -> web.Response:
            return web.json_response(left)

        operator.api.refuse("DELETE", "/pods/train-worker-1", going)
        assert await operator.reconcile() == 1.0
        assert operator.state()[-1] == "Failed=True"
        assert operator.api.names("pods") == ["train-worker-0", "train-worker-1"]

    async def test_a_deletion_that_fails(self, operator: Shell) -> None:
        """A pod that cannot be deleted is told of and tried again; the end stays the end."""
        await operator.run()
        operator.set_pod("train-worker-1", "Failed", 7)
        await operator.hear()
        operator.api.refuse("DELETE", "/train-worker-0", status(403, "Forbidden", "not yours"), times=1)
        with pytest.raises(RetryLaterError, match="not yours"):
            await operator.reconcile()
        assert operator.state()[-1] == "Failed=True"
        assert "FailedDeletePod" in [reason for _, reason, _ in operator.api.events()]
        assert operator.counted("failed_pods_total") == 1
        await operator.reconcile()
        assert operator.api.names("pods") == ["train-worker-1"]
        assert operator.counted("training_operator_jobs_failed_total") == 1

    async def test_counts_wait_for_each_other(self, operator: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
        """A change of numbers alone is written after a moment, with all that came in it; a condition at once."""
        monkeypatch.setattr(module, "COALESCE_SECONDS", 0.2)
        await operator.create()
        await operator.reconcile()
        operator.api.requests.clear()
        for name in PODS[:2]:
            operator.set_pod(name, "Running")
            await operator.hear()
            wait = await operator.reconcile()
            assert wait is not None
            assert 0 < wait <= 0.2
        assert operator.api.writes() == []
        await asyncio.sleep(0.2)
        assert await operator.reconcile() is None
        assert operator.api.writes() == ["PATCH msjobs/status"]
        assert operator.status()["workersReady"] == "1/2"
        operator.set_pod("train-worker-1", "Running")
        await operator.hear()
        assert await operator.reconcile() is None
        assert operator.state()[-1] == "Running=True"

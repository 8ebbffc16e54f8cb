"""One pass over one job, where the API server does not do as it is asked."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from msjob_controller import reconciler as module
from msjob_controller.kube.errors import Conflict, LeadershipLost, ServerError
from msjob_controller.reconciler import RetryLaterError
from support.apiserver import status
from support.jobs import msjob
from support.shell import CORE, JOBS, Shell, shell

PODS = ["train-scheduler-0", "train-worker-0", "train-worker-1"]


@pytest.fixture
async def operator() -> AsyncIterator[Shell]:
    """A reconciler on an empty API server."""
    async with shell() as found:
        yield found


async def running(operator: Shell, **fields: object) -> None:
    """Bring a job to where all its pods run, and the operator knows it."""
    await operator.create(**fields)
    await operator.reconcile()
    for name in operator.api.names("pods"):
        operator.set_pod(name, "Running")
    await operator.hear()
    await operator.reconcile()
    assert operator.state()[-1] == "Running=True"
    operator.api.requests.clear()


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


class TestNameTaken:
    """A child's name that belongs to somebody else."""

    async def test_stranger(self, operator: Shell) -> None:
        """The job waits, says whose name it is, touches nothing, and goes on when the name is free."""
        stranger = {"metadata": {"name": "train-worker-0", "namespace": "default"}}
        operator.api.put(f"{CORE}/pods", stranger)
        await operator.create()
        for _ in range(2):
            with pytest.raises(RetryLaterError, match="train-worker-0 exists and does not belong to this job"):
                await operator.reconcile()
        (event,) = (item for item in operator.api.events() if item[1] == "FailedCreatePod")
        assert event[0] == "Warning"
        assert "train-worker-0 exists and does not belong to this job" in event[2]
        assert "DELETE pods" not in operator.api.writes()
        assert operator.state() == ["Created=True"]
        operator.api.remove(f"{CORE}/pods/train-worker-0")
        assert await operator.reconcile() is None
        assert operator.api.names("pods") == PODS

    async def test_a_job_of_that_name_before(self, operator: Shell) -> None:
        """Children of a deleted job of the same name are waited for in silence."""
        old = {
            "metadata": {
                "name": "train-scheduler-0",
                "namespace": "default",
                "deletionTimestamp": "2026-01-02T03:04:05Z",
                "ownerReferences": [{"kind": "MSJob", "name": "train", "uid": "another", "controller": True}],
            }
        }
        operator.api.put(f"{CORE}/services", old)
        await operator.create()
        with pytest.raises(RetryLaterError):
            await operator.reconcile()
        assert [reason for _, reason, _ in operator.api.events()] == ["MSJobCreated"]
        assert operator.api.names("pods") == []

    async def test_service(self, operator: Shell) -> None:
        """No pod gets the address of a Service that is not the job's."""
        stranger = {
            "metadata": {"name": "train-scheduler-0", "namespace": "default"},
            "spec": {"clusterIP": "10.1.1.1"},
        }
        operator.api.put(f"{CORE}/services", stranger)
        await operator.create()
        with pytest.raises(RetryLaterError):
            await operator.reconcile()
        assert operator.api.names("pods") == []
        assert operator.counted("failed_service_creation_total") == 1

    async def test_free_again(self, operator: Shell) -> None:
        """A name that was taken and is free by the time one looks is tried again, and nobody need hear of it."""
        operator.api.refuse("POST", "/pods", status(409, "AlreadyExists"), times=1)
        await operator.create()
        with pytest.raises(RetryLaterError):
            await operator.reconcile()
        assert len(operator.api.names("pods")) == len(PODS) - 1
        assert "FailedCreatePod" not in [reason for _, reason, _ in operator.api.events()]
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


class TestRefused:
    """Children that the API server does not take."""

    @pytest.mark.parametrize("code", [400, 422])
    async def test_for_good(self, operator: Shell, code: int) -> None:
        """A pod that can never be made fails the job, once, with the reason; pods that were taken go."""
        message = "spec.containers[0].image: Required value"
        operator.api.refuse("POST", "/pods", status(code, "Invalid", message), times=2)
        await operator.create()
        await operator.reconcile()
        assert operator.state()[-1] == "Failed=True"
        failed = operator.status()["conditions"][-1]
        assert failed["reason"] == "MSJobFailedValidation"
        assert message in failed["message"]
        assert len(operator.status()["conditions"]) == len(operator.state())
        assert operator.api.names("pods") == []
        assert operator.api.names("services") == []
        reasons = [reason for _, reason, _ in operator.api.events()]
        assert reasons.count("MSJobFailedValidation") == reasons.count("MSJobCreated") == 1
        assert operator.counted("training_operator_jobs_created_total") == 1
        assert operator.counted("training_operator_jobs_failed_total") == 1

    async def test_at_the_first_look(self, operator: Shell) -> None:
        """A job whose pods are refused in the pass that first saw it counts as created and as failed once each."""
        operator.api.refuse("POST", "/pods", status(422, "Invalid", "no"))
        await operator.create(scheduler=None)
        await operator.reconcile()
        assert operator.state() == ["Created=True", "Failed=True"]
        assert operator.counted("training_operator_jobs_created_total") == 1
        assert operator.counted("training_operator_jobs_failed_total") == 1

    @pytest.mark.parametrize(
        ("code", "reason", "message"),
        [
            (403, "Forbidden", 'pods "train-worker-1" is forbidden: exceeded quota: pods'),
            (400, "BadRequest", 'admission webhook "policy.example" denied the request: not on weekdays'),
        ],
        ids=["quota", "webhook"],
    )
    async def test_for_now(self, operator: Shell, code: int, reason: str, message: str) -> None:
        """What may be allowed later is waited for: an event says so, what was made stays, the rest follows."""
        operator.api.refuse("POST", "/pods", status(code, reason, message), times=1)
        await operator.create()
        with pytest.raises(RetryLaterError):
            await operator.reconcile()
        assert len(operator.api.names("pods")) == 2
        assert operator.state() == ["Created=True"]
        (event,) = (item for item in operator.api.events() if item[1] == "FailedCreatePod")
        assert (event[0], message in event[2]) == ("Warning", True)
        assert operator.counted("failed_pod_creations_total") == 1
        assert await operator.reconcile() is None
        assert operator.api.names("pods") == PODS
        assert operator.counted("created_pods_total") == 3

    async def test_quota_of_a_large_job(self, operator: Shell) -> None:
        """When nothing can be made, few pods are asked for: a job of a thousand does not knock a thousand times."""
        refusal = operator.api.refuse("POST", "/pods", status(403, "Forbidden", "exceeded quota"))
        await operator.create(scheduler=None, worker=1000)
        with pytest.raises(RetryLaterError):
            await operator.reconcile()
        assert len(refusal.met) == 16

    async def test_a_namespace_on_its_way_out(self, operator: Shell) -> None:
        """Where nothing can be made any more nothing is tried again, and nobody is told."""
        content = {
            "kind": "Status",
            "code": 403,
            "reason": "Forbidden",
            "message": "because it is being terminated",
            "details": {"causes": [{"reason": "NamespaceTerminating"}]},
        }

        async def terminating(_: web.Request) -> web.Response:
            return web.json_response(content, status=403)

        refusal = operator.api.refuse("POST", "", terminating)
        await operator.create()
        assert await operator.reconcile() is None
        assert sorted(refusal.met) == [f"{CORE}/events", f"{CORE}/services"]


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
        await running(operator)
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
        await running(operator)
        operator.set_pod("train-worker-0", "Succeeded", 0)
        await operator.hear()
        operator.api.refuse("PATCH", "/status", status(500, "InternalError", "down"), times=1)
        with pytest.raises(ServerError):
            await operator.reconcile()
        assert "DELETE pods" not in operator.api.writes()
        operator.api.requests.clear()
        await operator.reconcile()
        assert operator.state()[-1] == "Succeeded=True"
        assert operator.api.names("pods") == ["train-worker-0"]
        assert operator.api.names("services") == []
        writes = operator.api.writes()
        assert writes.index("PATCH msjobs/status") < writes.index("DELETE pods")
        messages = {reason: message for _, reason, message in operator.api.events()}
        assert messages["SuccessfulDeletePod"] == "Deleted 2 pods"
        assert messages["SuccessfulDeleteService"] == "Deleted the Service"
        assert operator.counted("deleted_pods_total") == 2
        assert operator.counted("training_operator_jobs_successful_total") == 1

    async def test_a_deletion_that_meets_another(self, operator: Shell) -> None:
        """An answer without a version, as of a pod that its kubelet removes at that moment, is no news to keep."""
        await running(operator)
        operator.set_pod("train-worker-0", "Succeeded", code=0)
        await operator.hear()
        left = {
            "metadata": {"name": "train-worker-1", "namespace": "default", "deletionTimestamp": "2026-01-02T03:05:05Z"}
        }

        async def going(_: web.Request) -> web.Response:
            return web.json_response(left)

        operator.api.refuse("DELETE", "/pods/train-worker-1", going)
        assert await operator.reconcile() is None
        assert operator.state()[-1] == "Succeeded=True"
        assert operator.api.names("pods") == ["train-worker-0", "train-worker-1"]

    async def test_a_deletion_that_fails(self, operator: Shell) -> None:
        """A pod that cannot be deleted is told of and tried again; the end stays the end."""
        await running(operator)
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


class TestStalled:
    """Jobs whose construct does not do."""

    async def test_render(self, operator: Shell) -> None:
        """The job says what is wrong, once, and goes on when the construct does; it counts as created once."""
        operator.renderer.failure = "no such pool"
        await operator.create()
        for _ in range(2):
            with pytest.raises(RetryLaterError, match="no such pool"):
                await operator.reconcile()
        assert operator.state() == ["Stalled=True", "Created=True"]
        assert operator.api.writes().count("PATCH msjobs/status") == 2
        assert [item for item in operator.api.events() if item[1] != "MSJobCreated"] == [
            ("Warning", "MSJobRenderFailed", "no such pool")
        ]
        operator.renderer.failure = None
        await operator.reconcile()
        assert operator.state() == ["Stalled=False", "Created=True"]
        assert operator.api.names("pods") == PODS
        assert operator.counted("training_operator_jobs_created_total") == 1

    async def test_no_render_without_need(self, operator: Shell) -> None:
        """Nothing is rendered for a job that needs nothing made: not while it runs, not at its end, not if invalid."""
        await running(operator)
        operator.renderer.asked.clear()
        operator.set_pod("train-worker-0", "Succeeded", 0)
        await operator.hear()
        await operator.reconcile()
        operator.api.put(JOBS, msjob("bad", generation=1, worker=None, scheduler=None))
        operator.api.put(JOBS, msjob("later", generation=1, suspend=True))
        await operator.hear()
        await operator.reconcile("bad")
        await operator.reconcile("later")
        assert operator.state("bad") == ["Failed=True"]
        assert operator.state("later") == ["Created=True", "Suspended=True"]
        assert operator.renderer.asked == []

"""Children that cannot be made: what becomes of the job, and what its user reads."""

from copy import deepcopy
from typing import Any

import pytest
from aiohttp import web

from msjob_controller.reconciler import RetryLaterError
from support.apiserver import status
from support.jobs import msjob
from support.shell import CORE, JOBS, PODS, Shell

PODS_PATH = f"{CORE}/pods/train-worker-1"
SERVICES_PATH = f"{CORE}/services/train-scheduler-0"
AUTOSCALERS_PATH = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers/train"
LATER = [
    pytest.param(
        403, "Forbidden", 'pods "x" is forbidden: exceeded quota: q, used: pods=2', "QuotaExceeded", id="quota"
    ),
    pytest.param(
        403, "Forbidden", 'pods "x" is forbidden: failed quota: q: must specify cpu', "QuotaExceeded", id="cpu"
    ),
    pytest.param(
        403, "Forbidden", 'pods "x" is forbidden: violates PodSecurity "baseline:v1"', "Forbidden", id="level"
    ),
    pytest.param(
        400, "BadRequest", 'admission webhook "a.example" denied the request: no', "AdmissionDenied", id="webhook"
    ),
    pytest.param(
        500, "InternalError", 'failed calling webhook "a.example": no route', "AdmissionDenied", id="no-webhook"
    ),
    pytest.param(
        422,
        "Invalid",
        "pods \"x\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no",
        "AdmissionDenied",
        id="policy",
    ),
    pytest.param(500, "InternalError", "etcdserver: leader changed", "CreateFailed", id="server"),
]
"""What an API server may say to a creation now, and not say later; and what the job says then."""


class TestNameTaken:
    """A child's name that belongs to somebody else."""

    async def test_stranger(self, operator: Shell) -> None:
        """The job waits, says which name it is, once, touches nothing, and goes on when the name is free."""
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
        assert operator.state() == ["Stalled=True", "Created=True"]
        assert operator.stalled()["reason"] == "NameTaken"
        assert "train-worker-0 cannot be created" in operator.stalled()["message"]
        assert operator.api.writes().count("POST events NameTaken") == 1
        operator.api.remove(f"{CORE}/pods/train-worker-0")
        assert await operator.reconcile() is None
        assert operator.api.names("pods") == PODS
        assert operator.state() == ["Stalled=False", "Created=True"]

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

    async def test_own_pod_without_its_labels(self, operator: Shell) -> None:
        """A pod of the job that somebody took the labels from is told of, not looked for without end."""
        await operator.run()
        path = f"{CORE}/pods/train-worker-1"
        pod = operator.api.objects[path]
        pod["metadata"]["labels"] = {}
        operator.api.put(f"{CORE}/pods", pod)
        await operator.hear()
        # The whole job is restarted; then the name is found to be taken.
        assert await operator.reconcile() == 0
        with pytest.raises(RetryLaterError, match="lost the labels"):
            await operator.reconcile()
        assert operator.stalled()["reason"] == "NameTaken"

    async def test_own_pod_with_the_labels_of_another(self, operator: Shell) -> None:
        """A pod whose labels say that it is another is told of, not made, found and looked for again at once."""
        await operator.create()
        await operator.reconcile()
        path = f"{CORE}/pods/train-worker-1"
        pod = deepcopy(operator.api.objects[path])
        pod["metadata"]["labels"]["training.kubeflow.org/replica-index"] = "0"
        operator.api.put(f"{CORE}/pods", pod)
        await operator.hear()
        with pytest.raises(RetryLaterError, match="train-worker-1 exists and has lost the labels"):
            await operator.reconcile()
        assert operator.stalled()["reason"] == "NameTaken"

    @pytest.mark.parametrize(
        ("path", "change"),
        [
            (PODS_PATH, {"controller": False}),
            (PODS_PATH, {"kind": "Other"}),
            (SERVICES_PATH, {"controller": None}),
            (AUTOSCALERS_PATH, {"controller": None}),
        ],
    )
    async def test_own_child_that_the_job_no_longer_controls(
        self, operator: Shell, path: str, change: dict[str, Any]
    ) -> None:
        """A child whose owner is no controller any more is a stranger's, for whoever may take it over."""
        await operator.create(elastic_policy={"maxReplicas": 3})
        await operator.reconcile()
        child = deepcopy(operator.api.objects[path])
        child["metadata"]["ownerReferences"][0] |= change
        operator.api.put(path.rpartition("/")[0], child)
        await operator.hear()
        with pytest.raises(RetryLaterError, match=f"{path} exists and does not belong to this job"):
            await operator.reconcile()
        assert operator.stalled()["reason"] == "NameTaken"

    async def test_deadlines_go_on(self, operator: Shell) -> None:
        """A job that cannot have its children is looked at when its deadline passes, however long the pauses are."""
        stranger = {
            "metadata": {"name": "train-scheduler-0", "namespace": "default"},
            "spec": {"clusterIP": "10.1.1.1"},
        }
        operator.api.put(f"{CORE}/services", stranger)
        await operator.create(run_policy={"activeDeadlineSeconds": 30})
        with pytest.raises(RetryLaterError) as caught:
            await operator.reconcile()
        assert caught.value.timer == pytest.approx(30, abs=1)

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

    @pytest.mark.parametrize(("code", "reason", "message", "why"), LATER)
    async def test_for_now(self, operator: Shell, code: int, reason: str, message: str, why: str) -> None:
        """What may be allowed later is waited for: condition and event say so, what was made stays, the rest follows.

        The job comes to rest: failing again changes nothing in it.
        """
        await operator.create()
        for _ in range(2):
            operator.api.refuse("POST", "/pods", status(code, reason, message), times=1)
            with pytest.raises(RetryLaterError):
                await operator.reconcile()
            assert len(operator.api.names("pods")) == 2
            assert operator.state() == ["Stalled=True", "Created=True"]
            assert operator.api.writes().count("PATCH msjobs/status") == 2
        assert operator.stalled()["reason"] == why
        assert operator.stalled()["message"].endswith(f" cannot be created: {message}")
        told = [reason for _, reason, _ in operator.api.events()]
        assert told.count(why) == 1
        (event,) = {item for item in operator.api.events() if item[1] == "FailedCreatePod"}
        assert (event[0], message in event[2]) == ("Warning", True)
        assert await operator.reconcile() is None
        assert operator.api.names("pods") == PODS
        assert operator.counted("created_pods_total") == 3
        assert operator.state() == ["Stalled=False", "Created=True"]

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
        await operator.run()
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

    async def test_a_pod_in_the_way(self, operator: Shell) -> None:
        """With two causes the status comes to rest: what the pods show stays, the other one is told by events."""
        await operator.create()
        operator.api.refuse("POST", "/pods", status(403, "Forbidden", "exceeded quota: q"), times=1)
        with pytest.raises(RetryLaterError):
            await operator.reconcile()
        waiting = {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}
        made = operator.api.names("pods")[0]
        operator.set_pod(made, "Pending", state=waiting)
        await operator.hear()
        for _ in range(2):
            operator.api.refuse("POST", "/pods", status(403, "Forbidden", "exceeded quota: q"), times=1)
            with pytest.raises(RetryLaterError):
                await operator.reconcile()
            assert operator.stalled()["reason"] == "ImagePullBackOff"
        assert operator.api.writes().count("PATCH msjobs/status") == 3

    @pytest.mark.parametrize(
        "code", [pytest.param(409, id="conflict"), pytest.param(429, id="busy"), pytest.param(401, id="credentials")]
    )
    async def test_not_the_jobs_business(self, operator: Shell, code: int) -> None:
        """Two quotas that collide, a busy API server or an expired token do not stall a job: it is tried again."""
        operator.api.refuse("POST", "/pods", status(code, "", "not now"), times=1)
        await operator.create()
        with pytest.raises(RetryLaterError, match="not now"):
            await operator.reconcile()
        assert operator.state() == ["Created=True"]
        assert await operator.reconcile() is None
        assert operator.api.names("pods") == PODS

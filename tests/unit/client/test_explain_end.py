"""Why a job has ended, exit codes, and explanations as data."""

import json

import pytest

from msjob_client import Kind
from msjob_client.explain import codes, words
from support.explained import GUILTY, condition, moment, pod, stored, told
from support.jobs import Json


def test_it_has_succeeded() -> None:
    """When, after how long, why, and when it goes."""
    end = condition(
        "Succeeded", "MSJobSucceeded", "MSJob default/train successfully completed: all 2 Workers succeeded."
    )
    job = stored(
        end,
        run_policy={"ttlSecondsAfterFinished": 600},
        status_completionTime=moment(-300),
        status_restarts=1,
    )
    found = told(job)
    assert (found.kind, found.verdict) == (Kind.SUCCEEDED, "MSJob train succeeded 5 min ago after 5 min.")
    assert found.because == (
        "It successfully completed: all 2 Workers succeeded.",
        "It was restarted 1 time, 0 of them counted.",
        "It is deleted in 5 min (12:05:00 UTC) (ttlSecondsAfterFinished).",
    )
    assert (found.exit_code, found.advice) == (0, ())
    kept = stored(end, run_policy={"ttlSecondsAfterFinished": 600, "suspend": True}, status_completionTime=moment(-300))
    assert told(kept).next_time is None


FAILURES: dict[str, tuple[str, Json | None, Json, str, str]] = {
    "code": (
        "MSJobFailed",
        GUILTY,
        {},
        "container mindspore of pod train-worker-1 ended with exit code 1",
        "restartPolicy OnFailure with a backoffLimit",
    ),
    "limit": (
        "BackoffLimitExceeded",
        {**GUILTY, "exitCode": 139},
        {"backoffLimit": 3},
        "container mindspore of pod train-worker-1 ended with exit code 139, and backoffLimit 3 is used up",
        "driver, CANN or CUDA",
    ),
    "memory": (
        "MSJobFailed",
        {**GUILTY, "exitCode": 137, "reason": "OOMKilled"},
        {},
        "container mindspore of pod train-worker-1 ended with exit code 137 (OOMKilled)",
        "raise the memory limit",
    ),
    "node": (
        "MSJobFailed",
        {"pod": "train-worker-1", "reason": "NodeLost", "node": "n7"},
        {},
        "pod train-worker-1 was lost with node n7",
        "disruptions do not count",
    ),
    "deleted": ("MSJobFailed", {"pod": "p", "reason": "Deleted"}, {}, "pod p was deleted", "disruptions do not count"),
    "evicted": ("MSJobFailed", {"pod": "p", "reason": "Evicted"}, {}, "pod p failed (Evicted)", "resources.requests"),
    "unknown": ("MSJobFailed", None, {}, "a pod failed", "`msjob submit --replace"),
    "deadline": (
        "DeadlineExceeded",
        GUILTY,
        {"activeDeadlineSeconds": 60},
        "it ran longer than the 60 s of activeDeadlineSeconds",
        "activeDeadlineSeconds",
    ),
    "startup": (
        "StartupDeadlineExceeded",
        None,
        {"startupDeadlineSeconds": 60},
        "not all of its pods ran within startupDeadlineSeconds of 60 s",
        "`kubectl get events -n default` tells for an hour why pods did not run raise runPolicy.startupDeadlineSeconds",
    ),
    "invalid": ("MSJobFailedValidation", None, {}, "it breaks a rule", "`msjob validate -f FILE` finds the line"),
}


@pytest.mark.parametrize(("reason", "failure", "policy", "cause", "help_"), FAILURES.values(), ids=FAILURES)
def test_it_has_failed(reason: str, failure: Json | None, policy: Json, cause: str, help_: str) -> None:
    """The cause in the verdict; the operator's words, and what to do."""
    end = condition("Failed", reason, "MSJob default/train has failed: the words.")
    job = stored(end, run_policy=policy, status_completionTime=moment(-180), status_lastFailure=failure)
    found = told(job)
    assert (found.kind, found.verdict) == (Kind.FAILED, f"MSJob train failed 3 min ago: {cause}.")
    assert found.because[0] == "It has failed: the words."
    assert help_ in " ".join(found.advice)
    assert found.advice[-1].startswith("`msjob submit --replace -n default -f FILE` runs it anew")
    if reason == "DeadlineExceeded":
        assert "Before that container mindspore of pod train-worker-1 ended with exit code 1." in found.because


def test_the_log_of_the_guilty_pod_is_pointed_at() -> None:
    """While the pod is there."""
    end = condition("Failed", "MSJobFailed", "x")
    job = stored(end, status_completionTime=moment(-180), status_lastFailure=GUILTY)
    assert not any("msjob logs" in line for line in told(job).advice)
    found = told(job, pod("worker-1", "Failed"))
    assert "read its log with `msjob logs train -n default --role worker --index 1`" in found.advice
    # A later pod of that name has another log.
    assert not any("msjob logs" in line for line in told(job, pod("worker-1", attempt=1)).advice)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (1, "did not handle"),
        (127, "not in the image"),
        (135, "shared memory"),
        (143, "SIGTERM"),
        (136, "SIGFPE"),
        (77, "own"),
    ],
)
def test_exit_codes(code: int, said: str) -> None:
    """What they mean."""
    assert said in codes.meaning(code)


def test_as_json() -> None:
    """For programs: what is empty is left out."""
    end = condition("Failed", "MSJobFailed", "x")
    found = told(stored(end, status_completionTime=moment(-180), status_lastFailure=GUILTY)).to_json()
    assert json.loads(json.dumps(found)) == found
    assert found["kind"] == "Failed"
    assert found["exitCode"] == 1
    assert (found["pod"], found["node"], found["state"], found["reason"]) == (
        "train-worker-1",
        "n7",
        "Failed",
        "MSJobFailed",
    )
    assert "nextTime" not in found
    assert told(None).to_json().keys() == {"job", "namespace", "kind", "verdict", "advice"}


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 s"),
        (119, "119 s"),
        (120, "2 min"),
        (3599, "59 min"),
        (3600, "1 h"),
        (7500, "2 h 5 min"),
        (100_000, "1 d 3 h"),
    ],
)
def test_spans(seconds: float, said: str) -> None:
    """Lengths of time as people say them."""
    assert words.span(seconds) == said


def test_odd_values_do_no_harm() -> None:
    """A status that is nonsense is explained as far as it goes."""
    job = stored(
        condition("Running", age=-500),
        run_policy={"activeDeadlineSeconds": 2**53, "ttlSecondsAfterFinished": "soon"},
        status_startTime="9999-12-31T23:59:59Z",
        status_nextRestartTime=5,
        status_lastFailure={"exitCode": "x"},
    )
    assert told(job).verdict == "MSJob train runs."

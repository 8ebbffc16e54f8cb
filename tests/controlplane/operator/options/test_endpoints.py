"""Probes and metrics over HTTP."""

from prometheus_client.parser import text_string_to_metric_families

from support.live_jobs import Jobs
from support.operator import Operator, Operators


def test_probes(operator: Operator) -> None:
    """A working operator is alive and ready, and has nothing else to tell."""
    assert operator.get("/healthz") == (200, "ok\n")
    assert operator.get("/readyz") == (200, "ok\n")
    assert operator.get("/")[0] == 404


def test_metrics(own_operators: Operators, jobs: Jobs) -> None:
    """Jobs, pods, renders and requests are counted under the documented names, none by the name of a job."""
    operator = own_operators.start("--namespace", jobs.namespace).wait_leading()
    for name in ("good", "bad"):
        jobs.create(name=name)
        jobs.run(3, name)
    jobs.finish("worker-0", name="good")
    jobs.finish("worker-0", name="bad", code=1)
    jobs.wait_state("Succeeded", "good")
    jobs.wait_state("Failed", "bad")
    jobs.delete("bad")
    jobs.client.wait_for(
        lambda: operator.metric("training_operator_jobs_deleted_total", job_namespace=jobs.namespace) == 1,
        what="the deletion to be counted",
    )

    def jobs_total(what: str) -> float:
        return operator.metric(
            f"training_operator_jobs_{what}_total", job_namespace=jobs.namespace, framework="mindspore"
        )

    assert (jobs_total("created"), jobs_total("successful"), jobs_total("failed")) == (2, 1, 1)
    assert operator.metric("created_pods_total") == 6
    assert operator.metric("msjob_renders_total", result="ok") == 2
    assert operator.metric("msjob_api_request_seconds_count", verb="create", resource="pods", code="201") == 6
    assert operator.metric("msjob_reconcile_seconds_count", result="ok") > 0
    assert operator.metric("msjob_leader") == 1
    text = operator.get("/metrics")[1]
    labels = {
        (key, value)
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        for key, value in sample.labels.items()
    }
    assert {value for _, value in labels}.isdisjoint({"good", "bad", f"{jobs.namespace}/good"})

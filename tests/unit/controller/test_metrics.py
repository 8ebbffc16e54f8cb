"""What the operator counts."""

from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from msjob_controller.metrics import Metrics

KUBEFLOW = {
    "training_operator_jobs_created_total",
    "training_operator_jobs_deleted_total",
    "training_operator_jobs_successful_total",
    "training_operator_jobs_failed_total",
    "training_operator_jobs_restarted_total",
    "created_pods_total",
    "deleted_pods_total",
    "failed_pods_total",
    "succeeded_service_creation_total",
    "failed_service_creation_total",
}
"""Names of Kubeflow's training operator v1.9 that dashboards and alerts know, but those of pod groups."""
REFERENCE = Path(__file__).parents[3] / "docs/reference/operator.md"


def used() -> Metrics:
    """Metrics in which everything has been counted once."""
    metrics = Metrics()
    for what in ("created", "deleted", "successful", "failed"):
        metrics.job(what, "team-a")
    metrics.restarted("team-a", "failure", 2)
    metrics.restarted("team-a", "disruption")
    metrics.restarted("team-a", "scale")
    metrics.created_pods.inc(3)
    metrics.deleted_pods.inc(2)
    metrics.failed_pods.inc()
    metrics.failed_pod_creations.inc()
    metrics.service(created=True)
    metrics.service(created=False)
    metrics.reconciles.labels("ok").observe(0.003)
    metrics.render("ok")
    metrics.request("create", "pods", "201", 0.002)
    metrics.leader.set(1)
    return metrics


def samples(metrics: Metrics) -> dict[str, tuple[float, set[str]]]:
    """Value and label names of each sample that is exposed."""
    families = text_string_to_metric_families(metrics.expose().decode())
    return {sample.name: (sample.value, set(sample.labels)) for family in families for sample in family.samples}


def test_names_of_kubeflow() -> None:
    """Counters that dashboards know have their names and labels."""
    found = samples(used())
    assert found.keys() >= KUBEFLOW
    for name in KUBEFLOW:
        labels = {"job_namespace", "framework"} if name.startswith("training_operator_jobs") else set()
        assert found[name][1] == labels
    assert found["created_pods_total"][0] == 3
    assert found["deleted_pods_total"][0] == 2
    assert 'training_operator_jobs_failed_total{framework="mindspore",job_namespace="team-a"} 1.0' in str(
        used().expose(), "utf-8"
    )


def test_no_label_without_a_bound() -> None:
    """No label has the name of a job or pod: a metric of each job that ever was would fill memory and Prometheus."""
    labels = set().union(*(found for _, found in samples(used()).values()))
    assert labels == {"job_namespace", "framework", "reason", "result", "verb", "resource", "code", "le"}


def test_restarts() -> None:
    """Each restart counts by what it was for; one for a new number of Workers is none of those that dashboards know."""
    text = str(used().expose(), "utf-8")
    for reason, count in (("failure", 2), ("disruption", 1), ("scale", 1)):
        assert f'msjob_job_restarts_total{{job_namespace="team-a",reason="{reason}"}} {count}.0' in text
    assert samples(used())["training_operator_jobs_restarted_total"][0] == 3


def test_two_operators_in_one_process() -> None:
    """Each has metrics of its own; nothing is counted in the process's global registry."""
    first, second = used(), Metrics()
    assert samples(first)["created_pods_total"][0] == 3
    assert samples(second)["created_pods_total"][0] == 0


def test_the_reference_lists_all() -> None:
    """Every metric stands in the reference, by its name or in a list of endings."""
    text = REFERENCE.read_text()
    names = {family.name for family in text_string_to_metric_families(used().expose().decode())}
    for name in names:
        stem, _, ending = name.rpartition("_")
        assert name in text or (f"{stem}_{{" in text and ending in text), name

"""What the operator counts, for Prometheus.

The `training_operator_*` names are those of Kubeflow's training operator v1.9, so that dashboards keep working; none
carries the name of a job, whose number has no bound.
"""

from typing import Final, Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest

# The time at which each counter was made is one more series a counter, of use to nobody here.
disable_created_metrics()  # type: ignore[no-untyped-call]  # the package has no annotation for it

FRAMEWORK: Final = "mindspore"
RestartReason = Literal["failure", "disruption", "scale"]
"""What a job was restarted for."""
_BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """The metrics of one operator, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._jobs = {
            what: Counter(
                f"training_operator_jobs_{what}",
                f"Jobs {what}.",
                ("job_namespace", "framework"),
                registry=self.registry,
            )
            for what in ("created", "deleted", "successful", "failed", "restarted")
        }
        self._restarts = Counter(
            "msjob_job_restarts",
            "Restarts of jobs by what they were for.",
            ("job_namespace", "reason"),
            registry=self.registry,
        )
        self.created_pods = Counter("created_pods", "Pods created.", registry=self.registry)
        self.deleted_pods = Counter("deleted_pods", "Pods deleted by the operator.", registry=self.registry)
        self.failed_pod_creations = Counter(
            "failed_pod_creations", "Pods that could not be created.", registry=self.registry
        )
        self._services = {
            True: Counter("succeeded_service_creation", "Services created.", registry=self.registry),
            False: Counter("failed_service_creation", "Services that could not be created.", registry=self.registry),
        }
        self.failed_pods = Counter("failed_pods", "Pods that failed.", registry=self.registry)
        self.reconciles = Histogram(
            "msjob_reconcile_seconds",
            "Time of one pass over a job.",
            ("result",),
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self.renders = Counter("msjob_renders", "Renders of jobs.", ("result",), registry=self.registry)
        self.requests = Histogram(
            "msjob_api_request_seconds",
            "Requests to the API server.",
            ("verb", "resource", "code"),
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self.queue_depth = Gauge("msjob_queue_depth", "Jobs waiting for a pass.", registry=self.registry)
        self.leader = Gauge("msjob_leader", "1 while this instance leads.", registry=self.registry)

    def job(self, what: str, namespace: str) -> None:
        """Count a job: created, deleted, successful or failed."""
        self._jobs[what].labels(namespace, FRAMEWORK).inc()

    def restarted(self, namespace: str, reason: RestartReason, count: int = 1) -> None:
        """Count restarts of a job. One for a new number of Workers is none in the sense of `status.restarts`."""
        self._restarts.labels(namespace, reason).inc(count)
        if reason != "scale":
            self._jobs["restarted"].labels(namespace, FRAMEWORK).inc(count)

    def service(self, *, created: bool) -> None:
        """Count the creation of a Service, or that it failed."""
        self._services[created].inc()

    def request(self, verb: str, resource: str, code: str, seconds: float) -> None:
        """Count a request to the API server."""
        self.requests.labels(verb, resource, code).observe(seconds)

    def render(self, result: str) -> None:
        """Count a render: `ok`, `error`, or `retry` after a worker died."""
        self.renders.labels(result).inc()

    def expose(self) -> bytes:
        """All metrics in the Prometheus text format."""
        return generate_latest(self.registry)

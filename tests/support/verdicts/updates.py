"""Updates that only the API server judges, because only it knows both states."""

from collections.abc import Callable

from support.jobs import Json, msjob, role, template
from support.verdicts.case import CPU_METRIC, EVICTED, all_of, changed, failing, set_to

_SELF, _KUEUE = "mindspore.gitee.com/ms-operator", "kueue.x-k8s.io/multikueue"
_SUSPEND = set_to("spec.runPolicy", {"suspend": True})
_RESUME = set_to("spec.runPolicy", {"suspend": False})
_IMAGE = set_to("C.image", "example.com/other:2")

_ON_NODE = msjob(worker=role(1, template(host_network=True, node_name="node-1")))
_LOWER = changed("spec.msReplicaSpecs", {"worker": role(2)})
_ELASTIC = msjob(elastic_policy={"maxReplicas": 4, "metrics": [CPU_METRIC]})


def _state(state: str, status: str = "True") -> Json:
    """A status with one condition after that of the creation."""
    return {"conditions": [{"type": "Created", "status": "True"}, {"type": state, "status": status}]}


_ENDED = msjob(status=_state("Failed"))


def _respell(job: Json) -> None:
    """Spell a role in another way."""
    roles = job["spec"]["msReplicaSpecs"]
    roles["worker"] = roles.pop("Worker")


UPDATES_GOOD: tuple[tuple[str, str, Callable[[Json], None], Json], ...] = (
    ("say-the-default", "managed-by-immutable", set_to("spec.managedBy", _SELF), msjob()),
    ("no-longer-say-it", "managed-by-immutable", set_to("spec.managedBy", ...), msjob(managed_by=_SELF)),
    ("say-the-default", "mode-immutable", set_to("spec.successPolicy", ""), msjob()),
    ("while-suspended", "roles-immutable", _IMAGE, msjob(suspend=True)),
    ("and-resume", "roles-immutable", all_of(_IMAGE, _RESUME), msjob(suspend=True)),
    ("and-suspend", "roles-immutable", all_of(_IMAGE, _SUSPEND), msjob()),
    ("policy", "roles-immutable", set_to("spec.runPolicy", {"backoffLimit": 1}), msjob()),
    ("workers-while-suspended", "roles-fixed", set_to("W.replicas", 5), msjob(suspend=True)),
    ("workers", "roles-immutable", set_to("W.replicas", 5), msjob()),
    ("workers-to-the-default", "roles-immutable", set_to("W.replicas", ...), msjob()),
    ("workers-in-lower-case", "roles-fixed", set_to("spec.msReplicaSpecs.worker.replicas", 5), _LOWER),
    ("failure-policy", "mode-immutable", set_to("spec.runPolicy", failing(EVICTED)["spec"]["runPolicy"]), msjob()),
    ("workers-of-elastic", "mode-immutable", set_to("W.replicas", 4), _ELASTIC),
    ("none-left", "host-network-node", set_to("W.replicas", 0), _ON_NODE),
    ("workers-before-the-end", "workers-final", set_to("W.replicas", 5), msjob(status=_state("Running"))),
    ("workers-after-a-restart", "workers-final", set_to("W.replicas", 5), msjob(status=_state("Failed", "False"))),
    ("policy-after-the-end", "workers-final", set_to("spec.runPolicy", {"backoffLimit": 1}), _ENDED),
    ("same-number-after-the-end", "workers-final", set_to("W.replicas", ...), msjob(worker=1, status=_ENDED["status"])),
)

UPDATES_BAD: tuple[tuple[str, str, Callable[[Json], None], Json], ...] = (
    ("to-another", "managed-by-immutable", set_to("spec.managedBy", _KUEUE), msjob()),
    ("to-self", "managed-by-immutable", set_to("spec.managedBy", ...), msjob(managed_by=_KUEUE)),
    ("launch-mode", "mode-immutable", set_to("spec.launchMode", "Msrun"), msjob()),
    ("success-policy", "mode-immutable", set_to("spec.successPolicy", "AllWorkers"), msjob()),
    ("dynamic-worker", "mode-immutable", set_to("spec.enableDynamicWorker", value=True), msjob()),
    ("processes", "mode-immutable", set_to("spec.procPerWorker", 2), msjob(proc_per_worker=1)),
    ("elastic-policy-bound", "mode-immutable", set_to("spec.elasticPolicy.maxReplicas", 5), _ELASTIC),
    ("elastic-policy-metric", "mode-immutable", set_to("spec.elasticPolicy.metrics.0.resource.name", "x"), _ELASTIC),
    ("elastic-policy-less", "mode-immutable", set_to("spec.elasticPolicy", ...), _ELASTIC),
    ("elastic-policy-more", "mode-immutable", set_to("spec.elasticPolicy", {"maxReplicas": 2}), msjob(suspend=True)),
    ("while-running", "roles-immutable", _IMAGE, msjob()),
    ("with-workers", "roles-immutable", all_of(_IMAGE, set_to("W.replicas", 5)), msjob()),
    ("one-more", "roles-fixed", set_to("spec.msReplicaSpecs.PS", role()), msjob(suspend=True)),
    ("one-less", "roles-fixed", set_to("spec.msReplicaSpecs.PS", ...), msjob(suspend=True, ps=1)),
    ("restart-policy", "roles-fixed", set_to("W.restartPolicy", "Always"), msjob(suspend=True)),
    ("ps", "roles-fixed", set_to("spec.msReplicaSpecs.PS.replicas", 2), msjob(suspend=True, ps=1)),
    ("restart-scope", "roles-fixed", set_to("W.restartScope", "Pod"), msjob(suspend=True)),
    ("other-spelling", "roles-fixed", _respell, msjob(suspend=True)),
    ("beyond-the-bounds", "elastic-replicas", set_to("W.replicas", 5), _ELASTIC),
    ("one-more", "host-network-node", set_to("W.replicas", 2), _ON_NODE),
    ("failed", "workers-final", set_to("W.replicas", 5), _ENDED),
    ("succeeded", "workers-final", set_to("W.replicas", ...), msjob(status=_state("Succeeded"))),
    (
        "lower-case",
        "workers-final",
        set_to("spec.msReplicaSpecs.worker.replicas", 5),
        {**_LOWER, "status": _state("Failed")},
    ),
    ("while-suspended", "workers-final", set_to("W.replicas", 5), msjob(suspend=True, status=_state("Failed"))),
)

"""MSJobs for tests: a builder with keyword shortcuts, and hypothesis strategies for jobs that every door accepts.

All of it is plain JSON, a new object on each call, so a test may change what it got.
"""

from collections.abc import Collection, Mapping
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st
from pydantic.alias_generators import to_camel

Json = dict[str, Any]

UID = "0c5e6f3a-8f0e-4f8e-9d39-6f1f5d1f7a10"
"""A uid for jobs that tests pretend an API server has stored."""


def template(  # noqa: PLR0913 - keyword-only shortcuts
    *,
    image: str = "mindspore/mindspore-cpu:2.2.14",
    command: list[str] | None = None,
    env: list[Json] | None = None,
    ports: list[Json] | None = None,
    limits: Mapping[str, Any] | None = None,
    container: Mapping[str, Any] | None = None,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    **spec: Any,
) -> Json:
    """A pod template with a `mindspore` container.

    Args:
        image: of the container.
        command: of the container, by default a python one-liner.
        env: of the container.
        ports: of the container.
        limits: resource limits of the container.
        container: more fields of the container.
        labels: of the pod.
        annotations: of the pod.
        **spec: fields of the pod spec in snake case, such as `restart_policy="Never"`; `containers` are added to the
            `mindspore` container.
    """
    main: Json = {"name": "mindspore", "image": image, "command": command or ["python", "/train.py"]}
    if env is not None:
        main["env"] = env
    if ports is not None:
        main["ports"] = ports
    if limits is not None:
        main["resources"] = {"limits": dict(limits)}
    main.update(container or {})
    more = {to_camel(key): value for key, value in spec.items()}
    result: Json = {"spec": {"containers": [main, *more.pop("containers", [])], **more}}
    metadata = {
        key: dict(value) for key, value in (("labels", labels), ("annotations", annotations)) if value is not None
    }
    return {"metadata": metadata, **result} if metadata else result


def role(
    replicas: int | None = 1,
    pod: Json | None = None,
    restart_policy: str | None = None,
    restart_scope: str | None = None,
) -> Json:
    """An item of `msReplicaSpecs`; `None` leaves a field out.

    Args:
        replicas: number of pods.
        pod: its pod template, by default `template()`.
        restart_policy: of the role.
        restart_scope: of the role.
    """
    fields = {
        "replicas": replicas,
        "restartPolicy": restart_policy,
        "restartScope": restart_scope,
        "template": deepcopy(pod) if pod else template(),
    }
    return {key: value for key, value in fields.items() if value is not None}


def msjob(  # noqa: PLR0913 - keyword-only shortcuts
    name: str = "train",
    *,
    namespace: str | None = "default",
    uid: str | None = None,
    generation: int | None = None,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    scheduler: int | Json | None = 1,
    ps: int | Json | None = None,
    worker: int | Json | None = 2,
    pod: Json | None = None,
    restart_policy: str | None = None,
    run_policy: Json | None = None,
    suspend: bool | None = None,
    status: Json | None = None,
    **spec: Any,
) -> Json:
    """An MSJob: one Scheduler and two Workers unless told otherwise.

    Args:
        name: of the job.
        namespace: None leaves it out.
        uid: as the API server would set it; None leaves it out.
        generation: likewise.
        labels: of the MSJob.
        annotations: of the MSJob.
        scheduler: replicas, or a whole role (see `role`); None leaves the role out.
        ps: likewise.
        worker: likewise.
        pod: pod template of the roles given as a number, by default `template()`.
        restart_policy: of the roles given as a number.
        run_policy: `spec.runPolicy`.
        suspend: `spec.runPolicy.suspend`.
        status: of the MSJob.
        **spec: more fields of `spec` in snake case, such as `launch_mode="Msrun"` or `success_policy="AllWorkers"`.
    """
    metadata = {
        "name": name,
        "namespace": namespace,
        "uid": uid,
        "generation": generation,
        "labels": labels and dict(labels),
        "annotations": annotations and dict(annotations),
    }
    roles = {
        key: role(value, pod, restart_policy) if isinstance(value, int) else value
        for key, value in (("Scheduler", scheduler), ("PS", ps), ("Worker", worker))
        if value is not None
    }
    body: Json = {"msReplicaSpecs": roles, **{to_camel(key): value for key, value in spec.items()}}
    if run_policy is not None or suspend is not None:
        body["runPolicy"] = {**(run_policy or {}), **({} if suspend is None else {"suspend": suspend})}
    job: Json = {
        "apiVersion": "mindspore.gitee.com/v1",
        "kind": "MSJob",
        "metadata": {key: value for key, value in metadata.items() if value is not None},
        "spec": body,
    }
    if status is not None:
        job["status"] = status
    return job


# Text that a JSON document and a container's environment can both hold: no lone surrogates, no control characters.
texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20)
"""Any text, for values that Kubernetes does not look into."""

token_lookalikes = st.sampled_from(
    ["@msjob0.index@", "@msjob0.attempt@", "@msjob0.", "@msjob1.owner_uid@", "@msjob", "@", "\\u0040msjob0.index@", '"']
)
"""Text that resembles the stand-ins of `msjob.workload.tokens`."""

tricky_texts = st.lists(texts | token_lookalikes, max_size=4).map("".join)
"""Text with stand-ins of `msjob.workload.tokens` in it, whole and in parts."""

names = st.from_regex(r"[a-z]([-a-z0-9]{0,18}[a-z0-9])?", fullmatch=True)
"""Names of jobs."""

_identifiers = st.from_regex(r"[A-Z][A-Z0-9_]{0,10}", fullmatch=True)
_injected = st.sampled_from(
    ["MS_ROLE", "MS_SCHED_HOST", "MS_SCHED_PORT", "MS_WORKER_NUM", "MS_SERVER_NUM", "MS_NODE_ID", "MS_WORKER_IP"]
)
_label_keys = st.from_regex(r"(example\.com/)?[a-z][a-z0-9]{0,8}", fullmatch=True)
_label_values = st.from_regex(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,8}[A-Za-z0-9])?)?", fullmatch=True)


def env(values: st.SearchStrategy[str] = tricky_texts) -> st.SearchStrategy[list[Json]]:
    """Environment of a container, at times with variables that the operator injects.

    Args:
        values: strategy for the values.
    """
    keys = st.lists(_identifiers | _injected, max_size=4, unique=True)
    return keys.flatmap(
        lambda taken: st.tuples(*(values for _ in taken)).map(
            lambda chosen: [{"name": key, "value": text} for key, text in zip(taken, chosen, strict=True)]
        )
    )


@st.composite
def templates(draw: st.DrawFn) -> Json:
    """Pod templates that Kubernetes accepts, with the fields that users of the operator set."""
    result = template(command=["python", *draw(st.lists(texts, max_size=2))])
    main = result["spec"]["containers"][0]
    if draw(st.booleans()):
        main["env"] = draw(env())
    if draw(st.booleans()):
        main["ports"] = [{"name": "msjob-port", "containerPort": draw(st.integers(1024, 65535))}]
    if draw(st.booleans()):
        result["spec"]["containers"].insert(draw(st.integers(0, 1)), {"name": "logs", "image": "example.com/logs:1"})
    if draw(st.booleans()):
        result["spec"]["tolerations"] = [{"key": "gpu", "operator": "Exists"}]
        result["spec"]["volumes"] = [{"name": "data", "emptyDir": {}}]
        main["volumeMounts"] = [{"name": "data", "mountPath": "/data"}]
    if draw(st.booleans()):
        result["metadata"] = {
            "labels": draw(st.dictionaries(_label_keys, _label_values, max_size=2)),
            "annotations": draw(st.dictionaries(_label_keys, tricky_texts, max_size=2)),
        }
    if draw(st.booleans()):
        result["spec"]["terminationGracePeriodSeconds"] = draw(st.integers(0, 600))
    return result


_restart_policies = st.sampled_from([None, "Never", "OnFailure", "Always", "ExitCode"])
_restart_scopes = st.sampled_from([None, None, "Job", "Pod"])
_metrics = st.sampled_from(
    [
        {
            "type": "Resource",
            "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}},
        },
        {
            "type": "Pods",
            "pods": {"metric": {"name": "queue"}, "target": {"type": "AverageValue", "averageValue": "1"}},
        },
    ]
).map(deepcopy)
_shapes = st.sampled_from(
    [
        # Roles, launch mode: one line for each way in which processes find each other.
        (("Scheduler", "Worker"), None),
        (("Scheduler", "Worker"), "DynamicCluster"),
        (("Scheduler", "PS", "Worker"), None),
        (("Scheduler", "Worker"), "Msrun"),
        (("Worker",), "Msrun"),
        (("Worker",), None),
        (("Worker",), "Standalone"),
        (("Worker",), "None"),
        (("Scheduler", "Worker"), "None"),
    ]
)


@st.composite
def failure_policies(draw: st.DrawFn, keys: Collection[str]) -> Json:
    """Failure policies.

    Args:
        draw: given by hypothesis.
        keys: roles of the job.
    """
    parts: dict[str, st.SearchStrategy[Any]] = {
        "onExitCodes": st.fixed_dictionaries(
            {
                "operator": st.sampled_from(["In", "NotIn"]),
                "values": st.lists(st.integers(1, 255), min_size=1, max_size=3),
            },
            optional={"containerName": st.sampled_from(["mindspore", "logs"])},
        ),
        "onPodConditions": st.lists(
            st.fixed_dictionaries(
                {"type": st.sampled_from(["DisruptionTarget", "Ready"])},
                optional={"status": st.sampled_from(["True", "False", "Unknown"])},
            ),
            min_size=1,
            max_size=2,
        ),
        "onPodReasons": st.lists(st.sampled_from(["Evicted", "OOMKilled"]), min_size=1, max_size=2),
        "replicaTypes": st.lists(
            st.sampled_from(sorted(keys)).flatmap(lambda key: st.sampled_from([key, key.lower(), key.upper()])),
            min_size=1,
            max_size=3,
        ),
    }
    actions = st.sampled_from(["FailJob", "Restart", "RestartIgnoringLimit", "IgnorePod"])
    rules = []
    for _ in range(draw(st.integers(1, 2))):
        named = draw(st.sets(st.sampled_from(sorted(parts)), min_size=1, max_size=2))
        rules.append({"action": draw(actions), **{key: draw(parts[key]) for key in sorted(named)}})
    return {"rules": rules}


def elastic_policies(worker: Json) -> st.SearchStrategy[Json]:
    """Elastic policies.

    Args:
        worker: the role Worker of the job.
    """
    replicas = worker.get("replicas", 1)
    return st.fixed_dictionaries(
        {"maxReplicas": st.integers(replicas, replicas + 5)},
        optional={"minReplicas": st.integers(1, replicas), "metrics": st.lists(_metrics, max_size=2)},
    )


@st.composite
def run_policies(draw: st.DrawFn, keys: Collection[str]) -> Json:
    """Run policies of jobs that run: neither suspended nor of another manager.

    Args:
        draw: given by hypothesis.
        keys: roles of the job.
    """
    seconds = st.integers(1, 2**31 - 1)
    policy: Json = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "cleanPodPolicy": st.sampled_from(["", "All", "Running", "None"]),
                "ttlSecondsAfterFinished": st.just(0) | seconds,
                "activeDeadlineSeconds": seconds,
                "startupDeadlineSeconds": seconds,
                "backoffLimit": st.integers(0, 5),
                "forceDeleteAfterSeconds": seconds,
                "failurePolicy": failure_policies(keys),
            },
        )
    )
    return policy


@st.composite
def jobs(draw: st.DrawFn, max_workers: int = 3) -> Json:
    """Valid MSJobs of every launch mode.

    Args:
        draw: given by hypothesis.
        max_workers: most replicas of a role.
    """
    keys, mode = draw(_shapes)
    roles = {}
    for key in draw(st.permutations(keys)):
        spelling = draw(st.sampled_from([key, key.lower(), key.upper()]))
        replicas = 1 if key == "Scheduler" else draw(st.none() | st.integers(1, max_workers))
        roles[spelling] = role(replicas, draw(templates()), draw(_restart_policies), draw(_restart_scopes))
    job = msjob(draw(names), scheduler=None, worker=None)
    job["spec"]["msReplicaSpecs"] = roles
    optional = {
        "launchMode": st.just(mode),
        "procPerWorker": st.none() | st.integers(1, 16) | st.just("auto"),
        "successPolicy": st.sampled_from([None, "", "AllWorkers"]),
        "enableDynamicWorker": st.none() | st.booleans(),
        "runPolicy": st.none() | run_policies(keys),
        "elasticPolicy": st.none() | elastic_policies(roles["Worker"]) if "Worker" in roles else st.none(),
    }
    for field, strategy in optional.items():
        value = draw(strategy)
        if value is not None:
            job["spec"][field] = value
    return job

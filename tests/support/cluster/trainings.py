"""MSJobs that train: what they are made of. Pure."""

from collections.abc import Mapping
from textwrap import indent
from typing import Any, Final

from support.jobs import Json, msjob, role, template

CHECKPOINTS = "/checkpoints"
CLAIM = "checkpoints"
SHARED: Final[Json] = {"shareProcessNamespace": True}
"""Of a pod whose training can be killed from within.

The kernel protects process 1 of a namespace from all others in it, and by this the training is not process 1.
"""


def training(  # noqa: PLR0913 - keyword-only shortcuts
    image: str,
    name: str = "train",
    *,
    workers: int = 2,
    scheduler: bool = True,
    servers: int = 0,
    epochs: int = 1,
    steps: int = 10,
    every: int = 5,
    sleep: float = 0.0,
    claim: bool = False,
    command: list[str] | None = None,
    env: Mapping[str, str] | None = None,
    limits: Mapping[str, str] | None = None,
    restart_policy: str = "OnFailure",
    scheduler_role: Mapping[str, Any] | None = None,
    worker_role: Mapping[str, Any] | None = None,
    pod: Mapping[str, Any] | None = None,
    scheduler_pod: Mapping[str, Any] | None = None,
    **fields: Any,
) -> Json:
    """An MSJob that runs samples/training; its pods keep to the Restricted Pod Security profile.

    Args:
        image: The image of samples/training.
        name: Of the job.
        workers: Replicas.
        scheduler: Whether there is one.
        servers: Replicas of the role PS, with the Scheduler's pod.
        epochs: Times through the data.
        steps: Steps of an epoch.
        every: Steps from one checkpoint to the next.
        sleep: Seconds to wait after each step.
        claim: Whether checkpoints go to the claim `CLAIM`; else they go with the pod.
        command: Of the Workers; `python train.py` by default.
        env: More variables of all pods.
        limits: Resource limits of the Workers' container.
        restart_policy: Of both roles.
        scheduler_role: More fields of the role Scheduler, such as `restartScope`.
        worker_role: Likewise of the role Worker.
        pod: More fields of the Workers' pod spec.
        scheduler_pod: Likewise of the Scheduler's, which shares its process namespace as in the samples.
        **fields: As for `support.jobs.msjob`.
    """
    told = {
        "TRAIN_EPOCHS": str(epochs),
        "TRAIN_STEPS": str(steps),
        "TRAIN_EVERY": str(every),
        "TRAIN_SLEEP": str(sleep),
        "TRAIN_CHECKPOINTS": f"{CHECKPOINTS}/{name}" if claim else CHECKPOINTS,
        **(env or {}),
    }
    variables = [{"name": key, "value": value} for key, value in told.items()]
    volume: Json = {"persistentVolumeClaim": {"claimName": CLAIM}} if claim else {"emptyDir": {}}
    worker = _pod(image, command or ["python", "train.py"], variables, dict(limits or {}))
    container = worker["spec"]["containers"][0]
    container["volumeMounts"] = [{"name": CLAIM, "mountPath": CHECKPOINTS}]
    worker["spec"]["volumes"] = [{"name": CLAIM, **volume}]
    worker["spec"]["securityContext"]["fsGroup"] = 65532
    worker["spec"].update(pod or {})
    roles: Json = {"worker": {**role(workers, worker, restart_policy), **(worker_role or {})}}
    if scheduler:
        lone = _pod(image, ["python", "train.py"], variables, {})
        lone["spec"].update({**SHARED, **(scheduler_pod or {})})
        roles["scheduler"] = {**role(1, lone, restart_policy), **(scheduler_role or {})}
        if servers:
            roles["ps"] = role(servers, lone, restart_policy)
    else:
        roles["scheduler"] = None
    return msjob(name, **roles, **fields)


def unforgiving(image: str, *, steps: int, sleep: float = 0.3, every: int = 5, **run_policy: int) -> Json:
    """A training with checkpoints on the claim that no failure may restart: what restarts it all the same is none.

    Args:
        image: The image of samples/training.
        steps: Of its one epoch.
        sleep: Seconds to wait after each step.
        every: Steps from one checkpoint to the next.
        **run_policy: More fields of `spec.runPolicy`.
    """
    return training(
        image,
        steps=steps,
        sleep=sleep,
        every=every,
        claim=True,
        restart_policy="Never",
        run_policy={"backoffLimit": 0, **run_policy},
    )


def faulty(statement: str, *, step: int, rank: int | None = None) -> list[str]:
    """The command of Workers that train, of which some do something odd after a step of the first attempt.

    Args:
        statement: Lines of Python.
        step: When they have told of this step.
        rank: Of the one that runs them; None for all.
    """
    whose = "" if rank is None else f" and self.rank == {rank}"
    return ["python", "-c", _FAULTY.format(step=step, whose=whose, statement=indent(statement, " " * 8))]


_FAULTY: Final = """\
import os, signal, sys, train
say = train.Group.say
def say_and_more(self, text):
    say(self, text)
    if os.environ["MSJOB_RESTART_ATTEMPT"] == "0" and " step {step}/" in text{whose}:
{statement}
train.Group.say = say_and_more
sys.exit(train.main())
"""


def _pod(image: str, command: list[str], variables: list[Json], limits: Json) -> Json:
    return template(
        image=image,
        command=command,
        env=variables,
        limits=limits or None,
        container={
            "imagePullPolicy": "IfNotPresent",
            "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        },
        security_context={"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
    )

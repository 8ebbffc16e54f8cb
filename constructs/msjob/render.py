"""The one door to the workload: `render(job)` gives the objects of an MSJob to synth, command line and controller.

One cdk8s App per render: `chart.to_json()` validates the whole App, and jsii never gives an object back. So what
crosses jsii is one small object a role, which names a part of the workload, and its manifest takes its place here.
"""

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any, Final

from msjob.api import InvalidJobError, Job
from msjob.api.roles import Role
from msjob.cdk import App, Chart
from msjob.rendered import PodRange, Rendered
from msjob.workload import labels
from msjob.workload.construct import PACKED, MSJobWorkload
from msjob.workload.tokens import Template

_SHELL: Final = {"apiVersion", "kind", "metadata"}
"""What an object that stands for a part consists of; anything else is a patch, which would be lost."""


class RenderError(RuntimeError):
    """The construct of a job could not be loaded or failed; the message says what it said."""


def render(job: Job | Mapping[str, Any], construct: type[MSJobWorkload] = MSJobWorkload) -> Rendered:
    """Build the objects of a job.

    Args:
        job: a job that passed `msjob.validation.validate`.
        construct: a site's own subclass, by default the project's.

    Returns:
        Templates of all objects; see `Rendered`.

    Raises:
        InvalidJobError: the job cannot be read.
        RenderError: a construct failed.
    """
    parsed = job if isinstance(job, Job) else Job.parse(job)
    try:
        # The chart has the job's name, so that names which cdk8s makes up for a site's objects differ from job to job.
        chart = Chart(App(), parsed.name)
        workload = construct(chart, "workload", job=parsed, packed=True)
        rendered = _collect(workload, chart.to_json())
    except InvalidJobError:
        raise
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
        raise RenderError(f"{construct.__name__} failed on {parsed.namespace}/{parsed.name}: {told}") from error
    _release(workload)
    return rendered


def _release(workload: MSJobWorkload) -> None:
    """Let go of what a construct holds: jsii keeps the construct itself for ever, and a job may be large."""
    for name in [name for name in vars(workload) if not name.startswith("__")]:
        delattr(workload, name)


def _collect(workload: MSJobWorkload, manifests: Iterable[dict[str, Any]]) -> Rendered:
    """Unpack what came through jsii."""
    own: dict[str, Template] = {}
    pods: list[PodRange] = []
    extras: list[Template] = []
    for manifest in manifests:
        if manifest["apiVersion"] != PACKED:
            extras.append(Template.of(labels.adopted(workload.job, manifest, workload.tokens), workload.tokens))
            continue
        if set(manifest) != _SHELL or set(manifest["metadata"]) != {"name"}:
            raise ValueError(f"patches on the {manifest['kind']} of a job are lost: override its method instead")
        part = workload.parts.pop(manifest["metadata"]["name"])
        if part.role is not None:
            pods.append(PodRange(part.role, part.first, part.count, part.template))
        elif part.kind == "extra":
            extras.append(part.template)
        else:
            own[part.kind] = part.template
    order = list(Role)
    pods.sort(key=lambda part: (order.index(part.role), part.first))
    return Rendered(own.get("service"), tuple(pods), tuple(extras), own.get("autoscaler"))


def load_construct(path: str) -> type[MSJobWorkload]:
    """Import a site's construct.

    Args:
        path: `package.module:Class`, as given to `--job-construct`.

    Raises:
        RenderError: no such module or class, or it is no subclass of `MSJobWorkload`.
    """
    module, _, name = path.partition(":")
    if not (module and name):
        raise RenderError(f"--job-construct {path}: write it as package.module:Class")
    try:
        found = getattr(import_module(module), name)
    except Exception as error:
        raise RenderError(f"--job-construct {path}: {type(error).__name__}: {error}") from error
    if not (isinstance(found, type) and issubclass(found, MSJobWorkload)):
        raise RenderError(f"--job-construct {path}: not a subclass of msjob.workload.construct.MSJobWorkload")
    return found

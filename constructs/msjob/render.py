"""The one door to the workload: `render(job)` gives the objects of an MSJob to synth, the command line and the controller.

One cdk8s App per render: `chart.to_json()` validates the whole App, and jsii never gives an object back. Roles cross jsii packed
as one string each, which is put back here.
"""

import json
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from msjob.api import InvalidJobError, Job, meta
from msjob.api.roles import Role
from msjob.cdk import App, Chart
from msjob.rendered import PodRange, Rendered, template
from msjob.workload import labels
from msjob.workload.construct import PACKED, MSJobWorkload
from msjob.workload.tokens import Template, Tokens


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
        chart = Chart(App(), "msjob")
        workload = construct(chart, "workload", job=parsed, packed=True)
        manifests = chart.to_json()
    except InvalidJobError:
        raise
    except Exception as error:
        raise RenderError(f"{construct.__name__} failed on {parsed.namespace}/{parsed.name}: {error}") from error
    service: Template | None = None
    pods: list[PodRange] = []
    extras: list[Template] = []
    for manifest in manifests:
        if PACKED not in manifest:
            extras.append(_extra(parsed, manifest, workload.tokens))
            continue
        packed = json.loads(manifest[PACKED])
        if "role" in packed:
            pods.append(PodRange(Role(packed["role"]), packed["first"], packed["count"], template(packed)))
        else:
            service = template(packed)
    order = list(Role)
    pods.sort(key=lambda part: (order.index(part.role), part.first))
    return Rendered(service, tuple(pods), tuple(extras))


def load_construct(path: str) -> type[MSJobWorkload]:
    """Import a site's construct.

    Args:
        path: `package.module:Class`, as given to `--job-construct`.

    Raises:
        RenderError: no such module or class, or it is no subclass of `MSJobWorkload`.
    """
    module, _, name = path.partition(":")
    try:
        found = getattr(import_module(module), name) if module and name else None
    except (ImportError, AttributeError) as error:
        raise RenderError(f"--job-construct {path}: {error}") from error
    if not (isinstance(found, type) and issubclass(found, MSJobWorkload)):
        raise RenderError(f"--job-construct {path}: not a subclass of msjob.workload.construct.MSJobWorkload")
    return found


def _extra(job: Job, manifest: dict[str, Any], tokens: Tokens) -> Template:
    """An object of a site's construct: in the job's namespace and owned by the job unless it says otherwise."""
    metadata = manifest.setdefault("metadata", {})
    metadata.setdefault("namespace", job.namespace)
    metadata.setdefault("ownerReferences", [labels.owner(job, tokens)])
    metadata.setdefault("labels", {}).setdefault(meta.LABEL_JOB_NAME, job.name)
    return Template.of(manifest, tokens)

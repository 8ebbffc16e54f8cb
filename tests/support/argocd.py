"""The health check that `docs/examples/argocd/health.yaml` gives Argo CD, run by a Lua interpreter as by Argo CD."""

from typing import Any, Final, cast

import yaml
from lupa import lua51

from support.jobs import Json
from support.programs import ROOT

EXAMPLE: Final = ROOT / "docs" / "examples" / "argocd" / "health.yaml"
KEY: Final = "resource.customizations.health.mindspore.gitee.com_MSJob"

_HIDDEN: Final = ("string", "math", "io", "os", "debug", "coroutine", "require", "dofile", "loadfile", "print")
"""What Argo CD does not open to a health check unless the administrator says so."""


def health(job: Json) -> tuple[str, str]:
    """Judge a job as Argo CD would.

    Args:
        job: an MSJob as the API server gives it.

    Returns:
        Health and message.
    """
    config = yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))
    runtime = lua51.LuaRuntime(unpack_returned_tuples=True)
    names = runtime.globals()
    for name in _HIDDEN:
        names[name] = None
    names["obj"] = runtime.table_from(job, recursive=True)
    found = cast("Any", runtime.execute(config["data"][KEY]))
    return str(found["status"]), str(found["message"])

"""The one door to cdk8s, constructs and jsii: every other module imports these names from here.

Importing this module starts a Node.js process (0.3 to 1 s, about 120 MB), so what builds no construct must not import
it. Before that it settles what jsii reads from the environment: which Node.js to run (see :mod:`msjob.node`), that no
package cache is kept in the home folder, which a read-only root file system cannot hold, and that no version banner
reaches standard error. The settings stay in ``os.environ``, so that worker processes take the same Node.js.

What jsii does, and its users have to live with:

- It is not thread-safe. Build and render in one thread, or under one lock around the whole of it.
- It keeps every object for ever on both sides. A long-lived process renders in a worker that it replaces at times.
- Its Node.js is started once. When that process dies (out of memory, ``kill -9``), the call in flight raises
  ``json.JSONDecodeError`` and every later one ``BrokenPipeError``: this Python process can render no more, and the only
  cure is a new one.
- It unpacks about 3 MB into the temporary folder. A normal exit removes them; a hard kill leaves them behind.
"""

import importlib.util
import os
from pathlib import Path

from msjob.node import find_node

__all__ = ["ApiObject", "ApiObjectMetadata", "App", "Chart", "Construct", "JsonPatch", "YamlOutputType"]


def _prepare_environment() -> None:
    """Settle what jsii and its Node.js read from the environment.

    Raises:
        NodeNotFoundError: No usable Node.js was found.
    """
    node = find_node(os.environ)
    os.environ["JSII_NODE"] = str(node.path)
    os.environ.setdefault("JSII_RUNTIME_PACKAGE_CACHE", "disabled")
    # Read by @jsii/check-node: the first names the major versions to be silent about, the others only have to be
    # non-empty. The choice of Node.js has been checked above, so a banner could tell the user nothing that helps.
    os.environ["JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION"] = str(node.major)
    for matter in ("DEPRECATED", "KNOWN_BROKEN", "UNTESTED"):
        os.environ[f"JSII_SILENCE_WARNING_{matter}_NODE_VERSION"] = "1"


def _require_construct_library() -> None:
    """Check that the name ``constructs`` is the library's and not taken by a folder on the import path.

    Raises:
        ImportError: The library is not installed, or something else of that name hides it.
    """
    spec = importlib.util.find_spec("constructs")
    if spec is None:
        raise ImportError("The library `constructs` is not installed; run: pip install cdk8s", name="constructs")
    places = [Path(place) for place in spec.submodule_search_locations or ()]
    if spec.origin is None or not any((place / "_jsii").is_dir() for place in places):
        found = spec.origin or ", ".join(map(str, places))
        raise ImportError(
            f"`constructs` is not the construct library but {found}: install the library, and take that folder off the "
            "import path or remove its __init__.py",
            name="constructs",
            path=found,
        )


_require_construct_library()
_prepare_environment()

from cdk8s import ApiObject, ApiObjectMetadata, App, Chart, JsonPatch, YamlOutputType  # noqa: E402 - needs the settings above
from constructs import Construct  # noqa: E402 - likewise

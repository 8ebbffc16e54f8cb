"""Starting Node.js, which is what importing the construct library does."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from msjob.node import NodeNotFoundError
from msjob_cli.exits import Failure


@contextmanager
def starting_node() -> Iterator[None]:
    """Turn what may go wrong with an import of constructs into an error for the user.

    Raises:
        Failure: there is no usable Node.js, it does not run the construct library, or the library is not there.
    """
    try:
        yield
    except (NodeNotFoundError, ImportError) as error:
        raise Failure(str(error)) from None
    except (OSError, ValueError) as error:  # no answer, or none in JSON
        node = os.environ.get("JSII_NODE", "")
        said = f"Node.js ({node}) does not run the construct library: {type(error).__name__}: {error}"
        raise Failure(f"{said}; choose another with JSII_NODE") from None

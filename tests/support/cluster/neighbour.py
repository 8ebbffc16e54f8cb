"""Another node, which is ready and takes no pods: an object that this process keeps alive.

kube-controller-manager gives no node up while all of them are silent: it takes itself for the one who is cut off
("master disruption mode"). With one more that is well, what happens to a lost node is what happens in a larger cluster.
"""

import contextlib
import threading
from typing import Final, Self

from support.testbed.client import Client
from support.testbed.errors import ApiError, UnreachableError
from support.testbed.nodes import NODES, create_node, delete_node, set_node_ready

NAME: Final = "neighbour"
_PAUSE: Final = 2.0


class Neighbour:
    """That node. Use it with ``with``.

    Args:
        client: An administrator.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._live, name=NAME, daemon=True)

    def __enter__(self) -> Self:
        create_node(self._client, NAME)
        self._client.patch(NODES, NAME, {"spec": {"unschedulable": True}})
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._thread.join(10)
        delete_node(self._client, NAME)

    def _live(self) -> None:
        while not self._closing.wait(_PAUSE):
            with contextlib.suppress(ApiError, UnreachableError):
                set_node_ready(self._client, NAME, "True")

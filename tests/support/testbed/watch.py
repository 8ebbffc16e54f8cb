"""A watch on objects of the API server."""

import contextlib
import http.client
import json
import socket
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, Self

from support.testbed.errors import UnreachableError, api_error


class Watch:
    """A stream of changes: pairs of ``ADDED``, ``MODIFIED`` or ``DELETED`` and the object.

    It ends when the API server ends it, when the connection breaks, and when it is closed.
    """

    def __init__(self, connection: http.client.HTTPConnection, target: str, headers: Mapping[str, str]) -> None:
        self._connection = connection
        try:
            connection.request("GET", target, headers=dict(headers))
            self._response = connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise UnreachableError(f"watch {target}: {error!r}") from error
        self._socket = connection.sock
        if self._response.status >= 400:
            body = self._response.read()
            connection.close()
            raise api_error(self._response.status, as_object(body), f"watch {target}")

    def __iter__(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield each change.

        Raises:
            ApiError: The API server reports an error within the stream, such as 410.
        """
        try:
            for line in self._response:
                change = json.loads(line)
                if change["type"] == "ERROR":
                    raise api_error(int(change["object"].get("code", 500)), change["object"], "watch")
                yield change["type"], change["object"]
        except (OSError, http.client.HTTPException, json.JSONDecodeError):
            return  # closed, or cut off in the middle of a line
        finally:
            self._response.close()
            self._connection.close()

    def close(self) -> None:
        """End the watch; a thread that iterates over it comes to the end of its loop."""
        with contextlib.suppress(OSError):
            # Shuts the connection, below TLS if there is any: closing the socket would not wake a thread that reads it.
            socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        self._response.close()
        self._connection.close()


def as_object(answer: bytes) -> dict[str, Any]:
    """An answer as JSON; of a kind that there is not, the API server says so in plain text."""
    try:
        body = json.loads(answer)
    except ValueError:
        body = None
    return body if isinstance(body, dict) else {"raw": answer.decode(errors="replace").strip()}

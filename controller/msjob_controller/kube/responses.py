"""Responses of the API server: what they failed with, and those that last."""

import asyncio
import socket
from typing import Final

import aiohttp

from msjob_controller.kube.errors import ApiError, from_response

_KEEP_ALIVE: Final = (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3))
"""Options that Linux has and other systems may lack: a vanished peer is noticed after one minute."""
_CLOSING: Final = 2.0
"""Seconds that the end of TLS may take: it needs an answer of the other end."""


class Streams:
    """Connections with an answer that lasts. aiohttp leaves those that somebody hung up on to themselves."""

    def __init__(self) -> None:
        self._closed: set[asyncio.Future[None]] = set()

    def add(self, response: aiohttp.ClientResponse) -> None:
        """Look after the connection of a response that has begun."""
        keep_alive(response)
        protocol = None if response.connection is None else response.connection.protocol
        closed = None if protocol is None else protocol.closed
        if closed is not None:
            self._closed.add(closed)
            closed.add_done_callback(self._forget)

    async def wait_closed(self) -> None:
        """Wait until all are closed, once they are told to."""
        if self._closed:
            await asyncio.wait(tuple(self._closed), timeout=_CLOSING)

    def _forget(self, closed: asyncio.Future[None]) -> None:
        self._closed.discard(closed)
        if not closed.cancelled():
            closed.exception()  # how it ended is of no interest by now, and Python warns of what nobody looks at


def keep_alive(response: aiohttp.ClientResponse) -> None:
    """Let the kernel find out whether the other end is still there.

    A watch may rightly be silent, so silence alone takes long to mean anything.
    """
    connection = response.connection
    transport = None if connection is None else connection.transport
    sock = None if transport is None else transport.get_extra_info("socket")
    if sock is None:
        return
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEP_ALIVE:
        if hasattr(socket, name):
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


async def failure(response: aiohttp.ClientResponse, request: str) -> ApiError:
    """The error that a response with a status of 400 and above stands for."""
    return from_response(
        response.status,
        await response.read(),
        phrase=response.reason or "",
        retry_after=response.headers.get("Retry-After"),
        request=request,
    )


def what(error: Exception) -> str:
    """What is wrong with a connection."""
    return str(error) or ("timed out" if isinstance(error, TimeoutError) else type(error).__name__)

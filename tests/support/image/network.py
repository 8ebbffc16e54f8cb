"""A network namespace as a pod has it: nothing is in it but what the test puts there."""

import asyncio
import contextlib
import ctypes
import fcntl
import http.client
import os
import socket
import struct
import threading
from collections.abc import Callable
from concurrent.futures import Future
from types import TracebackType
from typing import Final, Self, TypeVar

T = TypeVar("T")

_CLONE_NEWNET: Final = 0x40000000
_SIOCSIFFLAGS: Final = 0x8914
_IFF_UP: Final = 0x1
_CHUNK: Final = 1 << 16
_libc = ctypes.CDLL(None, use_errno=True)


class Network:
    """A network namespace with a loopback device. Use it with ``with``; it ends with this process at the latest.

    Attributes:
        path: what an OCI runtime enters it by.
    """

    def __init__(self) -> None:
        self._descriptor = _in_thread(_new_namespace)
        self.path = f"/proc/{os.getpid()}/fd/{self._descriptor}"
        self._ends: list[Callable[[], None]] = []

    def socket(self) -> socket.socket:
        """A TCP socket of this network, for this process to use."""

        def make() -> socket.socket:
            _enter(self._descriptor)
            return socket.socket()

        return _in_thread(make)

    def get(self, port: int, path: str) -> tuple[int, str]:
        """Ask a server in this network.

        Returns:
            Status code and body; 0 when nothing answers.
        """
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        with contextlib.closing(connection), contextlib.suppress(OSError, http.client.HTTPException):
            connection.sock = self.socket()
            connection.sock.settimeout(5)
            connection.sock.connect(("127.0.0.1", port))
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        return 0, ""

    def reach(self, port: int) -> None:
        """Let those in this network reach a port of this machine's loopback at the same port of theirs."""
        listener = self.socket()
        listener.bind(("127.0.0.1", port))
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=_serve, args=(loop, listener, port), name="into the network", daemon=True)
        thread.start()

        def end() -> None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            listener.close()

        self._ends.append(end)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for end in reversed(self._ends):
            end()
        os.close(self._descriptor)


def _serve(loop: asyncio.AbstractEventLoop, listener: socket.socket, port: int) -> None:
    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            there, back = await asyncio.open_connection("127.0.0.1", port)
            await asyncio.gather(_pump(reader, back), _pump(there, writer))

    asyncio.set_event_loop(loop)
    server = loop.run_until_complete(asyncio.start_server(forward, sock=listener))
    loop.run_forever()
    server.close()
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
    loop.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError), contextlib.closing(writer):
        while chunk := await reader.read(_CHUNK):
            writer.write(chunk)
            await writer.drain()


def _in_thread(action: Callable[[], T]) -> T:
    """Do something in a thread of its own: the namespace that it enters is its own, too, and ends with it."""
    result: Future[T] = Future()

    def run() -> None:
        try:
            result.set_result(action())
        except BaseException as error:  # noqa: BLE001 - raised again in the calling thread
            result.set_exception(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return result.result()


def _new_namespace() -> int:
    if _libc.unshare(_CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "no network namespace can be made")
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP))
    return os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)


def _enter(descriptor: int) -> None:
    if _libc.setns(descriptor, _CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "the network namespace cannot be entered")

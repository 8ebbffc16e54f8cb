"""A cluster IP: whoever dials it reaches a port of this machine, as kube-proxy would have it."""

import contextlib
import secrets
import socket
import socketserver
import threading
from collections.abc import Iterator


def cluster_ip() -> str:
    """Give an address that no other run has, and that msrun does not take for one of this machine."""
    return "127." + ".".join(str(secrets.randbelow(253) + 2) for _ in range(3))


@contextlib.contextmanager
def forwarded(address: str, port: int, to: str) -> Iterator[None]:
    """Pass on all connections to a port of an address.

    Args:
        address: where to listen.
        port: there, and at the other end.
        to: the address at the other end.
    """

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            # Nobody listens there before the Scheduler is up; whoever dials is hung up on, and tries again.
            with contextlib.suppress(OSError), socket.create_connection((to, port), 5) as other:
                other.settimeout(None)
                back = threading.Thread(target=_copy, args=(other, self.request), daemon=True)
                back.start()
                _copy(self.request, other)
                back.join()

    class Server(socketserver.ThreadingTCPServer):
        allow_reuse_address = True
        daemon_threads = True
        block_on_close = False
        request_queue_size = 50

    with Server((address, port), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)

"""A way from the machine to the API server of a cluster, which is in a network of its own.

A socket belongs to the network in which it was made. So one that was made outside, and is handed in, takes connections
from the machine, and what is opened inside goes to the cluster.
"""

import asyncio
import socket
import threading
from typing import Final

_CHUNK: Final = 1 << 16


def serve(listener: socket.socket, host: str, port: int) -> None:
    """Hand on what connects, in a thread, as long as this process lives.

    Args:
        listener: Listens.
        host: Where to.
        port: Where to.
    """
    thread = threading.Thread(target=lambda: asyncio.run(_serve(listener, host, port)), name="forward", daemon=True)
    thread.start()


async def _serve(listener: socket.socket, host: str, port: int) -> None:
    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            inner_reader, inner_writer = await asyncio.open_connection(host, port)
        except OSError:
            writer.close()
            return
        await asyncio.gather(_copy(reader, inner_writer), _copy(inner_reader, writer))

    server = await asyncio.start_server(connected, sock=listener)
    await server.serve_forever()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()

"""The operator's endpoints, over HTTP."""

import socket
from collections.abc import AsyncIterator

import aiohttp
import pytest
from prometheus_client import CONTENT_TYPE_LATEST

from msjob_controller.probes import Probes


class State:
    """What the operator would say of itself."""

    healthy = True
    ready = True


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@pytest.fixture
def state() -> State:
    """Healthy and ready."""
    return State()


@pytest.fixture
async def probes(state: State) -> AsyncIterator[Probes]:
    """Endpoints that ask `state`."""
    found = Probes(lambda: state.healthy, lambda: state.ready, lambda: b"a_total 1.0\n")
    yield found
    await found.close()


async def get(port: int, path: str, host: str = "127.0.0.1") -> tuple[int, str, str]:
    """Status, content type and body of an answer."""
    async with aiohttp.ClientSession() as session, session.get(f"http://{host}:{port}{path}") as answer:
        return answer.status, answer.headers["Content-Type"], await answer.text()


async def test_health(probes: Probes, state: State) -> None:
    """`/healthz` and `/readyz` each follow their own question, asked anew each time."""
    port = free_port()
    await probes.serve_health("127.0.0.1", port)
    for path, name in (("/healthz", "healthy"), ("/readyz", "ready")):
        assert (await get(port, path))[::2] == (200, "ok\n")
        setattr(state, name, False)
        assert (await get(port, path))[::2] == (503, "not ready\n")
        setattr(state, name, True)
        assert (await get(port, path))[0] == 200


async def test_metrics(probes: Probes) -> None:
    """`/metrics` gives the Prometheus text with its content type."""
    port = free_port()
    await probes.serve_metrics("127.0.0.1", port)
    assert await get(port, "/metrics") == (200, CONTENT_TYPE_LATEST, "a_total 1.0\n")


async def test_each_port_has_its_own_endpoints(probes: Probes) -> None:
    """Metrics are not on the port of the probes, nor the other way round, and nothing else is on either."""
    health, metrics = free_port(), free_port()
    await probes.serve_health("127.0.0.1", health)
    await probes.serve_metrics("127.0.0.1", metrics)
    for port, path in ((health, "/metrics"), (metrics, "/healthz"), (metrics, "/readyz"), (health, "/")):
        assert (await get(port, path))[0] == 404


async def test_all_interfaces(probes: Probes) -> None:
    """An address without a host listens everywhere, where the kubelet can reach it."""
    port = free_port()
    await probes.serve_health("", port)
    assert (await get(port, "/healthz", "localhost"))[0] == 200


async def test_an_address_in_use(probes: Probes) -> None:
    """A port that is taken is an error that says so, and closing works all the same."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(OSError, match="in use"):
            await probes.serve_health("127.0.0.1", other.getsockname()[1])


async def test_closed(probes: Probes) -> None:
    """After closing nobody listens, and closing again does no harm."""
    port = free_port()
    await probes.serve_health("127.0.0.1", port)
    await probes.close()
    with pytest.raises(aiohttp.ClientConnectorError):
        await get(port, "/healthz")
    await probes.close()

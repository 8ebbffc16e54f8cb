"""What is advised where the API server cannot be reached as it is tried, with real servers of the wrong kind."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from msjob_controller.kube.cache import Informer
from msjob_controller.kube.connection import Connection
from msjob_controller.kube.errors import ApiError, Conflict, Forbidden, NotFound, Unauthorized
from msjob_controller.kube.hints import hint
from msjob_controller.kube.transport import Transport
from support.apiserver import FakeApiServer, status
from support.kubeconfigs import CERTIFICATE, KEY

JOBS = "/apis/mindspore.gitee.com/v1/msjobs"
GO_SAYS = b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"


@pytest.fixture
async def tls_port(tmp_path: Path) -> AsyncIterator[int]:
    """A server that speaks TLS, with a certificate that nobody knows."""
    (tmp_path / "crt").write_text(CERTIFICATE)
    (tmp_path / "key").write_text(KEY)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(tmp_path / "crt", tmp_path / "key")
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0, ssl=context)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def asked(server: str, *, tls: bool = False) -> ApiError:
    """Why a list from a server failed."""
    context = ssl.create_default_context() if tls else None
    async with Transport(Connection(server, tls=context), attempts=1) as transport:
        with pytest.raises(ApiError) as caught:
            await transport.list(JOBS)
    return caught.value


async def test_https_to_a_server_without_tls(server: FakeApiServer) -> None:
    """An address that should begin with http:// is told so."""
    error = await asked(server.connection().server.replace("http://", "https://"), tls=True)

    assert "should its address in the kubeconfig begin with http://" in hint(error)["hint"]


async def test_http_to_a_server_with_tls() -> None:
    """An address that should begin with https:// is told so."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(GO_SAYS)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as go:
        error = await asked(f"http://127.0.0.1:{go.sockets[0].getsockname()[1]}")

    assert "must begin with https://" in hint(error)["hint"]


async def test_certificate_of_another_cluster(tls_port: int) -> None:
    """A server that the certificate authority does not know is told as that, and not as a server that is down."""
    error = await asked(f"https://127.0.0.1:{tls_port}", tls=True)

    assert "is not of the certificate-authority in the kubeconfig" in hint(error)["hint"]


@pytest.mark.parametrize("server", ["http://127.0.0.1:1", "http://nowhere.invalid:1"])
async def test_nobody_there(server: str) -> None:
    """Where nobody listens, cluster and address are to be looked at."""
    assert hint(await asked(server)) == {"hint": "is the cluster running, and its address in the kubeconfig right?"}


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (Unauthorized(401, "Unauthorized", "no"), "log in again, or name the right kubeconfig with --kubeconfig"),
        (Forbidden(403, "Forbidden", "no"), "apply dist/0002-rbac.yaml"),
        (NotFound(404, "NotFound", "no", request=f"GET {JOBS}"), "the MSJob CRD is not installed: run make install"),
        (NotFound(404, "NotFound", "no", request=f"WATCH {JOBS}"), "kubectl apply -f dist/0000-crd.yaml"),
    ],
)
def test_refusal(error: ApiError, words: str) -> None:
    """Credentials, rights and a CRD that are missing come with the way to get them."""
    assert words in hint(error)["hint"]


@pytest.mark.parametrize(
    "error",
    [
        NotFound(404, "NotFound", "no", request="GET /api/v1/namespaces/a/pods/b"),
        Conflict(409, "Conflict", "changed"),
        ApiError(400, "Bad Request", "no such field"),
        TimeoutError(),
    ],
)
def test_nothing_to_add(error: Exception) -> None:
    """What says all there is to say has no hint."""
    assert hint(error) == {}


async def test_hint_is_logged(server: FakeApiServer, transport: Transport) -> None:
    """An informer that cannot list logs the hint beside the error."""
    server.prepared = [status(404, message="the server could not find the requested resource")]
    informer = Informer(transport, JOBS, lambda *_: None)
    with capture_logs() as logs:
        running = asyncio.create_task(informer.run())
        await asyncio.wait_for(informer.has_synced.wait(), 5)
        running.cancel()
        await asyncio.wait((running,))

    (failed,) = [entry for entry in logs if entry["event"] == "informer.failed"]
    assert failed["hint"].startswith("the MSJob CRD is not installed: run make install")

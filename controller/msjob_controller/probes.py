"""The HTTP endpoints of the operator: `/healthz`, `/readyz` and `/metrics`."""

from collections.abc import Awaitable, Callable

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST


class Probes:
    """Serves probes and metrics.

    Args:
        healthy: whether the process still does its work; a False restarts the pod.
        ready: whether it is up to date with the cluster.
        metrics: gives the Prometheus text.
    """

    def __init__(self, healthy: Callable[[], bool], ready: Callable[[], bool], metrics: Callable[[], bytes]) -> None:
        self._healthy = healthy
        self._ready = ready
        self._metrics = metrics
        self._runners: list[web.AppRunner] = []

    async def serve_health(self, host: str, port: int) -> None:
        """Open `/healthz` and `/readyz`.

        Raises:
            OSError: the address cannot be bound.
        """
        await self._serve(host, port, {"/healthz": self._healthz, "/readyz": self._readyz})

    async def serve_metrics(self, host: str, port: int) -> None:
        """Open `/metrics`.

        Raises:
            OSError: the address cannot be bound.
        """
        await self._serve(host, port, {"/metrics": self._expose})

    async def close(self) -> None:
        """Close all."""
        for runner in self._runners:
            await runner.cleanup()

    async def _serve(self, host: str, port: int, routes: dict[str, Callable[[web.Request], web.Response]]) -> None:
        app = web.Application()
        for path, handler in routes.items():
            app.router.add_get(path, _async(handler))
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        self._runners.append(runner)
        await runner.setup()
        await web.TCPSite(runner, host or None, port).start()

    def _healthz(self, request: web.Request) -> web.Response:
        del request
        return _answer(good=self._healthy())

    def _readyz(self, request: web.Request) -> web.Response:
        del request
        return _answer(good=self._ready())

    def _expose(self, request: web.Request) -> web.Response:
        del request
        return web.Response(body=self._metrics(), headers={"Content-Type": CONTENT_TYPE_LATEST})


def _answer(*, good: bool) -> web.Response:
    return web.Response(text="ok\n" if good else "not ready\n", status=200 if good else 503)


def _async(handler: Callable[[web.Request], web.Response]) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    async def handle(request: web.Request) -> web.StreamResponse:
        return handler(request)

    return handle

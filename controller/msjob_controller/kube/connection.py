"""Where the API server is and how to authenticate.

Kept apart from `config` so that only loading a kubeconfig imports the `kubernetes` package (20 MB, up to a second).
"""

import asyncio
import math
import ssl
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

import structlog

from msjob_controller.kube.errors import ConfigError

_RENEW_PAUSE: Final = 10.0
"""Seconds between two renewals at least: a token that is refused all the time must not start a plugin all the time."""
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Grant:
    """Credentials as they are now.

    Attributes:
        authorization: Value of the Authorization header; None when a client certificate (or nothing) speaks for us.
        lifetime: Seconds after which to renew; None to keep it until the server refuses it.
    """

    authorization: str | None = None
    lifetime: float | None = None


class Credentials:
    """The Authorization header, renewed before it expires and when the server refuses it.

    Args:
        grant: What to start with.
        obtain: Gets new credentials; raises `ConfigError` when it cannot. None: they never change.
        clock: Monotonic seconds.

    Attributes:
        authorization: Value of the header, or None.
        version: Counts the renewals, so that a caller knows whether it has seen this one.
        due: Moment of `clock` from which on `renew` should be called.
    """

    def __init__(
        self,
        grant: Grant | None = None,
        obtain: Callable[[], Awaitable[Grant]] | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.authorization: str | None = None
        self.version = -1
        self.due = math.inf
        self.clock = clock
        self._obtain = obtain
        self._last_renewal = -math.inf
        self._lock = asyncio.Lock()
        self._accept(grant or Grant())

    async def renew(self, seen: int) -> bool:
        """Get new credentials, unless somebody just did.

        A failure keeps the present ones: they may still be good, and the server will say so if they are not.

        Args:
            seen: The `version` found wanting.

        Returns:
            Whether there are newer credentials than `seen` now.
        """
        async with self._lock:
            if self.version != seen:
                return True
            now = self.clock()
            if self._obtain is None or now < self._last_renewal + _RENEW_PAUSE:
                self.due = max(self.due, now + _RENEW_PAUSE)
                return False
            self._last_renewal = now
            try:
                grant = await self._obtain()
            except ConfigError as error:
                self.due = self.clock() + _RENEW_PAUSE
                _log.warning("credentials.renewal_failed", error=str(error))
                return False
            self._accept(grant)
            return True

    def _accept(self, grant: Grant) -> None:
        self.authorization = grant.authorization
        self.due = math.inf if grant.lifetime is None else self.clock() + grant.lifetime
        self.version += 1


@dataclass(frozen=True, slots=True)
class Connection:
    """Everything a `Transport` needs to know.

    Attributes:
        server: Base URL without a slash at the end: `https://10.96.0.1:443`; may have a path.
        namespace: Namespace of the kubeconfig context, or of the pod.
        tls: TLS settings, client certificate included; None for `http://`.
        server_hostname: Name to expect in the server's certificate, when not the host of `server`.
        proxy: URL of an HTTP proxy.
        credentials: The Authorization header.
    """

    server: str
    namespace: str = "default"
    tls: ssl.SSLContext | None = None
    server_hostname: str | None = None
    proxy: str | None = None
    credentials: Credentials = field(default_factory=Credentials)

"""Find the API server: a kubeconfig, or the ServiceAccount of the pod. The only module that imports `kubernetes`.

The package reads kubeconfigs (merging, relative paths, inline data, exec plugins, OIDC) and ServiceAccounts. What it
finds becomes a `Connection`; no client of it is ever made. It is imported on first use: it costs up to a second and
20 MB, which `--help`, tests and the construct worker need not pay.

Order, as in controller-runtime: the path given, `KUBECONFIG`, the ServiceAccount of the pod, `~/.kube/config`.
"""

import asyncio
import contextlib
import ipaddress
import logging
import os
import ssl
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from msjob_controller.kube.connection import Connection, Credentials, Grant
from msjob_controller.kube.errors import ConfigError

if TYPE_CHECKING:
    from kubernetes.aio.client import Configuration

SERVICE_ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""Where the kubelet mounts token, CA certificate and namespace."""
_REREAD: Final = 60.0
"""Seconds after which a token file is read again; the kubelet replaces a token when 80 % of its life is over."""
_PLUGIN_TIMEOUT: Final = 60.0
"""Seconds an exec plugin may take; it may ask its user to log in, so not too few."""
_EARLY: Final = 60.0
"""Seconds before its expiry at which a token is replaced."""
_BROKEN: Final = (AttributeError, KeyError, TypeError, ValueError, OSError)
"""What the package lets through when a file has the wrong shape, besides its own exception."""


async def load(
    kubeconfig: str | None = None,
    context: str | None = None,
    *,
    service_account: Path = SERVICE_ACCOUNT,
) -> Connection:
    """Find the API server and credentials for it.

    Args:
        kubeconfig: Path of a kubeconfig; several as in `KUBECONFIG`. None to look in the usual places.
        context: Context to use; None for the current one. Rules out the ServiceAccount.
        service_account: Folder of the ServiceAccount.

    Returns:
        The connection, its credentials able to renew themselves.

    Raises:
        ConfigError: Nothing was found, or what was found is broken. The message names the file and the fault.
    """
    paths = _find(kubeconfig, context, service_account)
    return _from_pod(service_account) if paths is None else await _from_kubeconfig(paths, context)


def _find(kubeconfig: str | None, context: str | None, service_account: Path) -> str | None:
    """Return the kubeconfig to read; None for the ServiceAccount."""
    if paths := kubeconfig or os.environ.get("KUBECONFIG"):
        return paths
    if context is None and (service_account / "token").exists():
        return None
    home = Path("~/.kube/config").expanduser()
    if home.exists():
        return str(home)
    raise ConfigError(
        f"no way to reach a cluster: no --kubeconfig, no KUBECONFIG, no ServiceAccount in {service_account}, no {home}"
    )


def _from_pod(folder: Path) -> Connection:
    from kubernetes.aio.client import Configuration  # noqa: PLC0415 - see the module docstring
    from kubernetes.aio.config import ConfigException  # noqa: PLC0415
    from kubernetes.aio.config.incluster_config import InClusterConfigLoader  # noqa: PLC0415

    source = f"ServiceAccount in {folder}"

    def read() -> Configuration:
        configuration = Configuration()
        loader = InClusterConfigLoader(str(folder / "token"), str(folder / "ca.crt"))
        try:
            loader.load_and_set(configuration)
        except (ConfigException, OSError, ValueError) as error:
            raise ConfigError(f"{source}: {error}") from error
        return configuration

    async def obtain() -> Grant:
        return Grant(_authorization(read()), _REREAD)

    configuration = read()
    try:
        namespace = (folder / "namespace").read_text().strip()
    except OSError:
        namespace = "default"
    return Connection(
        server=_server(configuration, source),
        namespace=namespace,
        tls=_tls(configuration, source),
        proxy=_proxy(configuration),
        credentials=Credentials(Grant(_authorization(configuration), _REREAD), obtain),
    )


async def _from_kubeconfig(paths: str, context: str | None) -> Connection:
    source = f"kubeconfig {paths}"
    reader = _Reader(paths, context)
    configuration, kubeconfig = await reader.read()
    server = _server(configuration, source)
    tls = _tls(configuration, source) if server.startswith("https") else None

    async def obtain() -> Grant:
        # Read again as a whole: tokens, token files, certificates and the user's choice of plugin may all be new.
        renewed, reread = await reader.read()
        if tls is not None and renewed.cert_file:
            _load_client_certificate(tls, renewed, source)
        return Grant(_authorization(renewed), reread.lifetime())

    return Connection(
        server=server,
        namespace=kubeconfig.namespace,
        tls=tls,
        server_hostname=configuration.tls_server_name,
        proxy=_proxy(configuration),
        credentials=Credentials(Grant(_authorization(configuration), kubeconfig.lifetime()), obtain),
    )


class _Reader:
    """Reads a kubeconfig with a limit of time.

    The package offers no way to end a plugin that hangs. It is left to itself, and as long as it runs no other one is
    started.
    """

    def __init__(self, paths: str, context: str | None) -> None:
        self._paths = paths
        self._context = context
        self._running: asyncio.Task[tuple[Configuration, _Kubeconfig]] | None = None

    async def read(self) -> "tuple[Configuration, _Kubeconfig]":
        """Read once.

        Raises:
            ConfigError: It is broken, or took too long.
        """
        running = self._running or asyncio.create_task(_read(self._paths, self._context))
        self._running = running
        if not (await asyncio.wait((running,), timeout=_PLUGIN_TIMEOUT))[0]:
            raise ConfigError(
                f"kubeconfig {self._paths}: the credentials did not come within {_PLUGIN_TIMEOUT:g} s;"
                " does the exec plugin wait for somebody?"
            )
        self._running = None
        return running.result()


async def _read(paths: str, context: str | None) -> "tuple[Configuration, _Kubeconfig]":
    from kubernetes.aio.client import Configuration  # noqa: PLC0415 - see the module docstring
    from kubernetes.aio.config import ConfigException  # noqa: PLC0415
    from yaml import YAMLError  # noqa: PLC0415 - parsing is all that needs it

    configuration = Configuration()
    try:
        with _complaints() as complaints:
            kubeconfig = _Kubeconfig(paths, context)
            await kubeconfig.loader.load_and_set(configuration)
    except (ConfigException, YAMLError) as error:
        raise ConfigError(f"kubeconfig {paths}: {error}") from error
    except _BROKEN as error:
        raise ConfigError(f"kubeconfig {paths}: not well-formed: {type(error).__name__}: {error}") from error
    if kubeconfig.uses("exec") and not _authorization(configuration) and not configuration.cert_file:
        # The package logs the failure of a plugin and goes on without credentials.
        detail = "; ".join(complaints) or "it returned none"
        raise ConfigError(
            f"kubeconfig {paths}: the exec plugin of user {kubeconfig.user_name} gave no credentials: {detail}"
        )
    return configuration, kubeconfig


class _Kubeconfig:
    """A merged kubeconfig and what the context in use says."""

    def __init__(self, paths: str, context: str | None) -> None:
        from kubernetes.aio.config.kube_config import KubeConfigLoader, KubeConfigMerger  # noqa: PLC0415

        self._paths = paths
        self._merger: KubeConfigMerger = KubeConfigMerger(paths)
        if self._merger.config is None:
            raise ConfigError(f"kubeconfig {paths}: no such file")
        self.loader: KubeConfigLoader = KubeConfigLoader(
            config_dict=self._merger.config,
            active_context=context,
            config_base_path=None,
            config_persister=self._persist,
        )
        chosen = self.loader.current_context["context"]
        self.namespace: str = chosen.get("namespace") or "default"
        self.user_name: str | None = chosen.get("user")
        self._user: dict[str, Any] = self._find_user()

    def uses(self, field: str) -> bool:
        """Whether the user's entry has a field such as `exec`."""
        return field in self._user

    def lifetime(self) -> float | None:
        """Return after how many seconds to read again; None for not before the server refuses."""
        expiry: datetime | None = getattr(self.loader, "exec_plugin_expiry", None)
        if expiry is not None:
            remaining = (expiry - datetime.now(UTC)).total_seconds()
            return max(1.0, remaining - _EARLY, remaining / 2)
        return _REREAD if self.uses("tokenFile") else None

    def _find_user(self) -> dict[str, Any]:
        users = self._merger.config["users"]
        entry = users.get_with_name(self.user_name, safe=True) if self.user_name else None
        user: dict[str, Any] = entry["user"].value if entry is not None else {}
        cluster = self._merger.config["clusters"].get_with_name(self.loader.current_context["context"]["cluster"])
        if not user and cluster["cluster"]["server"].startswith("https"):
            raise ConfigError(f"kubeconfig {self._paths}: the context names no known user (user: {self.user_name})")
        for field in ("as", "as-uid", "as-groups", "as-user-extra"):
            if field in user:
                # Ignoring it would act with more rights than asked for.
                raise ConfigError(f"kubeconfig {self._paths}: impersonation ({field}) is not supported")
        return user

    def _persist(self, _: object) -> None:
        # An OIDC provider may allow a refresh token only once: keep the new one, as kubectl does.
        with contextlib.suppress(OSError):
            self._merger.save_changes()


def _server(configuration: "Configuration", source: str) -> str:
    server = str(configuration.host)
    parts = urlsplit(server)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ConfigError(f"{source}: the cluster's server is no http(s) URL: {server!r}")
    return server.rstrip("/")


def _authorization(configuration: "Configuration") -> str | None:
    token = configuration.api_key.get("BearerToken")
    return None if token is None else str(token).strip()


def _tls(configuration: "Configuration", source: str) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=configuration.ssl_ca_cert)
    except OSError as error:
        raise ConfigError(f"{source}: certificate authority {configuration.ssl_ca_cert}: {error}") from error
    # Python 3.13 is stricter than Go: it refuses the CA certificates of many clusters, which lack a key identifier.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if not configuration.verify_ssl:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if configuration.cert_file:
        _load_client_certificate(context, configuration, source)
    return context


def _load_client_certificate(context: ssl.SSLContext, configuration: "Configuration", source: str) -> None:
    try:
        context.load_cert_chain(str(configuration.cert_file), configuration.key_file)
    except OSError as error:
        raise ConfigError(f"{source}: client certificate {configuration.cert_file}: {error}") from error


def _proxy(configuration: "Configuration") -> str | None:
    """Decide once: aiohttp's own look at the environment costs a thread switch a request."""
    server = urlsplit(str(configuration.host))
    proxy = configuration.proxy
    if not proxy and not _bypassed(server.hostname or "", server.netloc.rpartition("@")[2]):
        proxy = urllib.request.getproxies().get(server.scheme)
    if not proxy:
        return None
    if urlsplit(proxy).scheme not in {"http", "https"}:
        raise ConfigError(f"the proxy {proxy} is no http(s) URL; other kinds are not supported")
    return str(proxy)


def _bypassed(hostname: str, netloc: str) -> bool:
    """Whether NO_PROXY names the server. Go, and so every other client, understands networks there; urllib does not."""
    if urllib.request.proxy_bypass(netloc):
        return True
    try:
        address = ipaddress.ip_address(hostname)
    except ValueError:
        return False
    for entry in (os.environ.get("no_proxy") or os.environ.get("NO_PROXY") or "").split(","):
        with contextlib.suppress(ValueError):
            if address in ipaddress.ip_network(entry.strip(), strict=False):
                return True
    return False


class _Collector(logging.Handler):
    """Keeps the messages of the package's logger."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


@contextlib.contextmanager
def _complaints() -> Iterator[list[str]]:
    logger = logging.getLogger("kubernetes.aio.config.kube_config")
    handler = _Collector()
    propagate = logger.propagate
    logger.addHandler(handler)
    logger.propagate = False
    try:
        yield handler.messages
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagate

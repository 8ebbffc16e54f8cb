"""Find the API server: a kubeconfig, or the ServiceAccount of the pod. The only module that imports `kubernetes`.

The package reads kubeconfigs (merging, relative paths, inline data, exec plugins, OIDC) and ServiceAccounts. What it
finds becomes a `Connection`; no client of it is ever made. It is imported on first use: it costs up to a second and
20 MB, which `--help`, tests and the construct worker need not pay.

Order, as in controller-runtime: the path given, `KUBECONFIG`, the ServiceAccount of the pod, `~/.kube/config`.
"""

import ast
import asyncio
import contextlib
import ipaddress
import logging
import os
import re
import ssl
import urllib.request
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from msjob_controller.kube.connection import Connection, Credentials, Grant
from msjob_controller.kube.errors import ConfigError
from msjob_controller.kube.kubeconfig import select

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
_ERRNO: Final = re.compile(r"\[Errno \d+\] ")
_BYTES: Final = re.compile(r"""\bb(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")
"""Output of a plugin as the package tells it."""


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
        return Grant(_authorization(read(), source), _REREAD)

    configuration = read()
    try:
        namespace = (folder / "namespace").read_text().strip()
    except OSError:
        namespace = "default"
    return Connection(
        server=_server(configuration, source),
        namespace=namespace,
        tls=_tls(configuration, lambda said: ConfigError(f"{source}: ca.crt {said}")),
        proxy=_proxy(configuration, source),
        credentials=Credentials(Grant(_authorization(configuration, source), _REREAD), obtain),
    )


async def _from_kubeconfig(paths: str, context: str | None) -> Connection:
    source = f"kubeconfig {paths}"
    reader = _Reader(paths, context)
    configuration, kubeconfig = await reader.read()
    server = _server(configuration, source)
    tls = None
    if server.startswith("https"):
        tls = _tls(configuration, kubeconfig.authority_fault)
        if configuration.cert_file:
            _load_client_certificate(tls, configuration, kubeconfig.user_fault)

    async def obtain() -> Grant:
        # Read again as a whole: tokens, token files, certificates and the user's choice of plugin may all be new.
        renewed, reread = await reader.read()
        if tls is not None and renewed.cert_file:
            _load_client_certificate(tls, renewed, reread.user_fault)
        return Grant(_authorization(renewed, source), reread.lifetime())

    return Connection(
        server=server,
        namespace=kubeconfig.namespace,
        tls=tls,
        server_hostname=configuration.tls_server_name,
        proxy=_proxy(configuration, source),
        credentials=Credentials(Grant(_authorization(configuration, source), kubeconfig.lifetime()), obtain),
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

    configuration = Configuration()
    try:
        with _complaints() as complaints:
            kubeconfig = _Kubeconfig(paths, context)
            await kubeconfig.loader.load_and_set(configuration)
    except ConfigError:
        raise
    except Exception as error:
        # Ways to log in that `select` does not look into, such as OIDC: the package lets through whatever goes wrong.
        told = isinstance(error, (ConfigException, OSError, ValueError))
        said = _plain(str(error)) if told else "something in its entry has an unknown form"
        raise ConfigError(f"kubeconfig {paths}: the user cannot log in: {said}") from error
    if kubeconfig.uses("exec") and not configuration.api_key and not configuration.cert_file:
        # The package logs the failure of a plugin and goes on without credentials.
        detail = "; ".join(map(_plain, complaints)) or "it returned none"
        raise ConfigError(
            f"kubeconfig {paths}: the exec plugin of user {kubeconfig.user_name} gave no credentials: {detail}"
        )
    return configuration, kubeconfig


class _Kubeconfig:
    """A merged kubeconfig and what the context in use says."""

    def __init__(self, paths: str, context: str | None) -> None:
        from kubernetes.aio.config.kube_config import KubeConfigLoader, KubeConfigMerger  # noqa: PLC0415

        selected = select(paths, context)
        self._paths = paths
        self._merger: KubeConfigMerger = KubeConfigMerger(paths)
        self.loader: KubeConfigLoader = KubeConfigLoader(
            config_dict=self._merger.config,
            active_context=selected.context,
            config_base_path=None,
            config_persister=self._persist,
        )
        chosen = self.loader.current_context["context"]
        self.namespace: str = chosen.get("namespace") or "default"
        self.user_name: str | None = chosen.get("user")
        self._cluster = selected.cluster
        self._user = selected.user

    def authority_fault(self, said: str) -> ConfigError:
        """An error about the certificate authority."""
        return self._cluster.fault("certificate-authority", said)

    def user_fault(self, field: str, said: str) -> ConfigError:
        """An error about the client certificate or its key."""
        if self._user is None or self.uses("exec"):
            return ConfigError(f"kubeconfig {self._paths}: what the exec plugin gave as {field} {said}")
        return self._user.fault(field, said)

    def uses(self, field: str) -> bool:
        """Whether the user's entry has a field such as `exec`."""
        return self._user is not None and field in self._user.value

    def lifetime(self) -> float | None:
        """Return after how many seconds to read again; None for not before the server refuses."""
        expiry: datetime | None = getattr(self.loader, "exec_plugin_expiry", None)
        if expiry is not None:
            remaining = (expiry - datetime.now(UTC)).total_seconds()
            return max(1.0, remaining - _EARLY, remaining / 2)
        return _REREAD if self.uses("tokenFile") else None

    def _persist(self, _: object) -> None:
        # An OIDC provider may allow a refresh token only once: keep the new one, as kubectl does.
        with contextlib.suppress(OSError):
            self._merger.save_changes()


def _server(configuration: "Configuration", source: str) -> str:
    server = str(configuration.host)
    try:
        parts = urlsplit(server)
        usable = parts.scheme in {"http", "https"} and parts.hostname and (parts.port is None or parts.port)
    except ValueError:
        usable = False
    if not usable:
        raise ConfigError(f"{source}: the cluster's server is no http(s) URL: {server!r}")
    return server.rstrip("/")


def _authorization(configuration: "Configuration", source: str) -> str | None:
    token = configuration.api_key.get("BearerToken")
    authorization = None if token is None else str(token).strip()
    if authorization is not None and not (authorization.isascii() and authorization.isprintable()):
        raise ConfigError(f"{source}: the token holds what no HTTP header may: line breaks or other than ASCII")
    return authorization


def _tls(configuration: "Configuration", fault: Callable[[str], ConfigError]) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=configuration.ssl_ca_cert)
    except OSError as error:
        raise fault(_without("certificate", error)) from error
    # Python 3.13 is stricter than Go: it refuses the CA certificates of many clusters, which lack a key identifier.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if not configuration.verify_ssl:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _load_client_certificate(
    context: ssl.SSLContext, configuration: "Configuration", fault: Callable[[str, str], ConfigError]
) -> None:
    file = str(configuration.cert_file)
    try:
        # What OpenSSL says of a pair does not tell which of the two is at fault.
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(file)
    except OSError as error:
        raise fault("client-certificate", _without("certificate", error)) from error
    asked: list[None] = []

    def passphrase() -> str:
        asked.append(None)
        return ""

    try:
        context.load_cert_chain(file, configuration.key_file, passphrase)
    except OSError as error:
        said = _without("private key", error)
        if asked:
            said = "is encrypted, and the operator cannot ask for its passphrase"
        elif getattr(error, "reason", None) == "KEY_VALUES_MISMATCH":
            said = "is not the key of the client certificate"
        raise fault("client-key", said) from error


def _without(what: str, error: OSError) -> str:
    """What a file that OpenSSL could not use lacks."""
    return f"holds no {what} in PEM form" if isinstance(error, ssl.SSLError) else f"cannot be read: {error.strerror}"


def _plain(text: str) -> str:
    """What the package says of a failure, without the marks of Python."""

    def decoded(found: re.Match[str]) -> str:
        output: bytes = ast.literal_eval(found[0])
        return output.decode(errors="replace")

    return _BYTES.sub(decoded, _ERRNO.sub("", text))


def _proxy(configuration: "Configuration", source: str) -> str | None:
    """Decide once: aiohttp's own look at the environment costs a thread switch a request."""
    server = urlsplit(str(configuration.host))
    proxy = configuration.proxy
    if not proxy and not _bypassed(server.hostname or "", server.netloc.rpartition("@")[2]):
        proxy = urllib.request.getproxies().get(server.scheme)
    if not proxy:
        return None
    if urlsplit(proxy).scheme not in {"http", "https"}:
        # Not the URL: it may hold a password.
        kind = f"of kind {urlsplit(proxy).scheme}" if "://" in proxy else "no URL"
        where = "proxy-url of the cluster" if configuration.proxy else f"{server.scheme.upper()}_PROXY"
        raise ConfigError(f"{source}: {where}: the proxy is {kind}, and only http and https are supported")
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

"""What stands in a kubeconfig, judged before anything is made of it.

The `kubernetes` package takes a kubeconfig as it comes, and what is wrong in one comes out as whatever Python says of
it. So the files are read here first, safe on any input, and every field that the context in use leads to is looked at:
each fault is told with file, line and field. A password, a token or a key is never told.
"""

import base64
import binascii
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn

from msjob.loading import Document, LoadError, read
from msjob_controller.kube.errors import ConfigError

MAX_BYTES: Final = 1 << 20
"""Largest kubeconfig. One with a hundred clusters and all certificates inline has a quarter of that."""

_LISTS: Final = {"clusters": "cluster", "contexts": "context", "users": "user"}
"""The lists of a kubeconfig, and the field of their entries that holds what is named."""
_CLUSTER_TEXTS: Final = (
    "certificate-authority",
    "certificate-authority-data",
    "proxy-url",
    "server",
    "tls-server-name",
)
_USER_TEXTS: Final = (
    "client-certificate",
    "client-certificate-data",
    "client-key",
    "client-key-data",
    "password",
    "token",
    "tokenFile",
    "username",
)
_CLUSTER_FILES: Final = ("certificate-authority",)
_USER_FILES: Final = ("client-certificate", "client-key", "tokenFile")
_SHADOWED: Final = {
    "certificate-authority": "certificate-authority-data",
    "client-certificate": "client-certificate-data",
    "client-key": "client-key-data",
    "tokenFile": "token",
}
"""Files, and the field that is taken instead where it is there."""
_IMPERSONATION: Final = ("as", "as-uid", "as-groups", "as-user-extra")
_SHOWN: Final = 10
"""Names of contexts that a message lists."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of one of the lists.

    Attributes:
        document: the file that it is in.
        path: of what it names, from the root of the file: `("users", 0, "user")`.
        value: that, empty if it is missing.
    """

    document: Document
    path: tuple[str | int, ...]
    value: Mapping[str, Any]

    def fault(self, field: str, message: str) -> ConfigError:
        """An error about a field.

        Args:
            field: its name; that of a file stands for the field with its content too, if there is one.
            message: what is wrong with it.
        """
        if self.value.get(f"{field}-data"):
            field = f"{field}-data"
        return _error(self.document, (*self.path, *field.split(".")), message)

    def fail(self, field: str, message: str) -> NoReturn:
        """Refuse a field.

        Raises:
            ConfigError: always.
        """
        raise _error(self.document, (*self.path, *field.split(".")), message)


@dataclass(frozen=True, slots=True)
class Selected:
    """What a context leads to.

    Attributes:
        context: its name.
        cluster: how to reach the API server.
        user: who to be; None where the context names nobody, or somebody who is not there.
    """

    context: str
    cluster: Entry
    user: Entry | None


def select(paths: str, context: str | None) -> Selected:
    """Read a kubeconfig and judge what the context in use leads to.

    Args:
        paths: of the files, separated as in `KUBECONFIG`. Files that are missing are passed over, as by kubectl.
        context: to use; None for the current one, which is that of the first file that names one.

    Returns:
        The context, with all its fields of sound types and all its files there.

    Raises:
        ConfigError: there is no file, one cannot be read, or something in it cannot be used.
    """
    documents = [_read(path) for path in _files(paths)]
    if not documents:
        raise ConfigError(f"kubeconfig {paths}: no such file")
    entries = {kind: _entries(documents, kind) for kind in _LISTS}
    name = context or _current(documents)
    if name is None:
        raise _error(
            documents[0], ("current-context",), "names no context: set one with kubectl config use-context NAME"
        )
    chosen = entries["contexts"].get(name)
    if chosen is None:
        raise ConfigError(f"kubeconfig {paths}: there is no context {name}; it has {_names(entries['contexts'])}")
    _check_texts(chosen, ("cluster", "user", "namespace"))
    cluster = _cluster(chosen, entries["clusters"])
    return Selected(name, cluster, _user(chosen, cluster, entries["users"]))


def _files(paths: str) -> Iterator[Path]:
    for path in paths.split(os.pathsep):
        file = Path(path).expanduser()
        if not path or not file.exists():
            continue
        if file.is_dir():
            raise ConfigError(f"kubeconfig {file}: is a folder, not a file")
        if not file.is_file():
            # It is read again whenever credentials have to be renewed.
            raise ConfigError(f"kubeconfig {file}: is no regular file, and so cannot be read more than once")
        yield file


def _read(file: Path) -> Document:
    try:
        with file.open("rb") as stream:
            source = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"kubeconfig {file}: cannot be read: {error.strerror}") from error
    if len(source) > MAX_BYTES:
        raise ConfigError(f"kubeconfig {file}: is larger than {MAX_BYTES >> 20} MiB, which no kubeconfig is")
    try:
        first, *others = read(source, str(file), "a kubeconfig")
    except LoadError as error:
        raise ConfigError(f"kubeconfig {error}") from error
    if others:
        raise _error(others[0], (), "a second document: a kubeconfig has one")
    return first


def _error(document: Document, path: tuple[str | int, ...], message: str) -> ConfigError:
    field = ""
    for part in path:
        field += f"[{part}]" if isinstance(part, int) else f".{part}" if field else part
    return ConfigError(f"kubeconfig {document.error(path, f'{field}: {message}' if field else message)}")


def _entries(documents: list[Document], kind: str) -> dict[str, Entry]:
    """The entries of a list by name. Of files that name the same, the first counts, as for kubectl."""
    found: dict[str, Entry] = {}
    for document in documents:
        names: set[str] = set()
        listed = document.object.get(kind) or []
        if not isinstance(listed, list):
            raise _error(document, (kind,), "must be a list")
        for index, item in enumerate(listed):
            name = item.get("name") if isinstance(item, dict) else None
            if not isinstance(item, dict) or not isinstance(name, str):
                raise _error(document, (kind, index), "must be a mapping with a name")
            if name in names:
                raise _error(document, (kind, index, "name"), f"{name} is there twice")
            names.add(name)
            value = item.get(_LISTS[kind]) or {}
            if not isinstance(value, dict):
                raise _error(document, (kind, index, _LISTS[kind]), "must be a mapping")
            found.setdefault(name, Entry(document, (kind, index, _LISTS[kind]), value))
    return found


def _current(documents: list[Document]) -> str | None:
    for document in documents:
        name = document.object.get("current-context")
        if name and not isinstance(name, str):
            raise _error(document, ("current-context",), "must be text")
        if name:
            return name
    return None


def _cluster(context: Entry, clusters: Mapping[str, Entry]) -> Entry:
    name = context.value.get("cluster")
    cluster = clusters.get(name) if name else None
    if cluster is None:
        context.fail("cluster", f"there is no cluster {name}" if name else "is missing")
    _check_texts(cluster, _CLUSTER_TEXTS)
    if not isinstance(cluster.value.get("insecure-skip-tls-verify", False), bool):
        cluster.fail("insecure-skip-tls-verify", "must be true or false")
    if not cluster.value.get("server"):
        cluster.fail("server", "is missing: the URL of the API server")
    _check_data(cluster, "certificate-authority-data")
    _check_files(cluster, _CLUSTER_FILES)
    return cluster


def _user(context: Entry, cluster: Entry, users: Mapping[str, Entry]) -> Entry | None:
    name = context.value.get("user")
    user = users.get(name) if name else None
    if (user is None or not user.value) and cluster.value["server"].startswith("https"):
        context.fail("user", f"names no known user (user: {name})")
    if user is None:
        return None
    for field in _IMPERSONATION:
        if field in user.value:
            # Ignoring it would act with more rights than asked for.
            user.fail(field, f"impersonation ({field}) is not supported")
    _check_texts(user, _USER_TEXTS)
    for field in ("client-certificate-data", "client-key-data"):
        _check_data(user, field)
    _check_files(user, _USER_FILES)
    for certificate, key in (("client-certificate", "client-key"), ("client-key", "client-certificate")):
        given = any(user.value.get(name) for name in (certificate, f"{certificate}-data"))
        if given and not any(user.value.get(name) for name in (key, f"{key}-data")):
            user.fail(key, f"is missing, and {certificate} is of no use without it")
    if "exec" in user.value:
        _check_exec(user)
    if "auth-provider" in user.value:
        _check_mapping(user, "auth-provider", ("name",))
    return user


def _check_exec(user: Entry) -> None:
    _check_mapping(user, "exec", ("apiVersion", "command"))
    plugin = user.value["exec"]
    arguments = plugin.get("args") or []
    if not (isinstance(arguments, list) and all(isinstance(item, str) for item in arguments)):
        user.fail("exec.args", "must be a list of texts: write them in quotes")
    variables = plugin.get("env") or []
    if not (isinstance(variables, list) and all(_is_variable(item) for item in variables)):
        user.fail("exec.env", "must be a list of mappings with name and value, both text: write them in quotes")


def _is_variable(item: object) -> bool:
    return isinstance(item, dict) and all(isinstance(item.get(key), str) for key in ("name", "value"))


def _check_mapping(entry: Entry, field: str, texts: tuple[str, ...]) -> None:
    value = entry.value[field]
    if not isinstance(value, dict):
        entry.fail(field, "must be a mapping")
    for key in texts:
        if not (isinstance(value.get(key), str) and value[key]):
            entry.fail(f"{field}.{key}", "is missing, or no text")


def _check_texts(entry: Entry, fields: tuple[str, ...]) -> None:
    for field in fields:
        if not isinstance(entry.value.get(field, ""), str | None):
            entry.fail(field, "must be text: write it in quotes")


def _check_data(entry: Entry, field: str) -> None:
    data = "".join((entry.value.get(field) or "").split())
    try:
        base64.b64decode(data.encode("ascii"), validate=True)
    except (UnicodeEncodeError, binascii.Error):
        entry.fail(field, "is not base64; a file in PEM form goes into the field without -data")


def _check_files(entry: Entry, fields: tuple[str, ...]) -> None:
    for field in fields:
        name = entry.value.get(field)
        if not name or entry.value.get(_SHADOWED[field]):
            continue
        file = Path(entry.document.file).parent / name
        try:
            with file.open("rb"):
                pass
        except OSError as error:
            entry.fail(field, f"{file} cannot be read: {error.strerror}")


def _names(contexts: Mapping[str, Entry]) -> str:
    shown = ", ".join([*contexts][:_SHOWN])
    return f"{shown} and {len(contexts) - _SHOWN} more" if len(contexts) > _SHOWN else shown or "none"

"""A small synchronous client of the API server, on the standard library alone.

It shares no code with the operator's client, so that the tests are an independent witness of what the operator did.
Objects are plain dictionaries. A resource is named by its API version and plural: ``v1/pods``, ``apps/v1/deployments``.
"""

import http.client
import json
import socket
import ssl
import threading
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeVar
from urllib.parse import quote, urlencode, urlsplit

from support.testbed.errors import NotFoundError, UnreachableError, WaitTimeoutError, api_error
from support.testbed.waiting import wait_for
from support.testbed.watch import Watch, as_object

Object = dict[str, Any]
"""An object of Kubernetes as JSON."""

PODS = "v1/pods"
EVENTS = "v1/events"
MSJOBS = "mindspore.gitee.com/v1/msjobs"

Objects = list[Object]

_CLOSED = (ConnectionError, http.client.RemoteDisconnected, ssl.SSLEOFError)
"""How a connection that the API server has closed meanwhile shows."""

T = TypeVar("T")
Query = str | int | bool | None

_PATCH_TYPES = {
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}


class Client:
    """Talks to one API server as one user; may be shared by threads.

    Args:
        server: The address, such as ``https://127.0.0.1:6443``.
        ca_file: The certificate to trust.
        token: The bearer token of the user.
        timeout: Seconds that one answer may take.
    """

    def __init__(self, server: str, *, ca_file: Path, token: str, timeout: float = 30) -> None:
        self.server = server
        self.ca_file = ca_file
        self.token = token
        self._timeout = timeout
        self._idle: list[http.client.HTTPConnection] = []
        self._lock = threading.Lock()

    # -- objects ---------------------------------------------------------------------------------------------------

    def get(self, resource: str, name: str, namespace: str | None = None, *, subresource: str | None = None) -> Object:
        """Get one object."""
        return self._object("GET", path_of(resource, namespace, name, subresource))

    def list(
        self, resource: str, namespace: str | None = None, *, labels: str | None = None, fields: str | None = None
    ) -> Objects:
        """List objects, of all namespaces when none is given, ordered by namespace and name.

        Args:
            resource: Such as ``v1/pods``.
            namespace: The namespace.
            labels: A label selector, such as ``app=x,tier!=y``.
            fields: A field selector, such as ``spec.nodeName=a``.
        """
        path = path_of(resource, namespace)
        items: Objects = self._object("GET", path, query={"labelSelector": labels, "fieldSelector": fields})["items"]
        return items

    def create(
        self,
        resource: str,
        body: Object,
        namespace: str | None = None,
        *,
        name: str | None = None,
        subresource: str | None = None,
        **query: Query,
    ) -> Object:
        """Create an object; with ``name`` and ``subresource`` one like ``pods/binding``."""
        namespace = namespace or body.get("metadata", {}).get("namespace")
        return self._object("POST", path_of(resource, namespace, name, subresource), body, query=query)

    def replace(
        self,
        resource: str,
        body: Object,
        namespace: str | None = None,
        *,
        subresource: str | None = None,
        **query: Query,
    ) -> Object:
        """Replace an object; it must carry the resource version that was read, or none to overwrite."""
        metadata = body["metadata"]
        path = path_of(resource, namespace or metadata.get("namespace"), metadata["name"], subresource)
        return self._object("PUT", path, body, query=query)

    def patch(
        self,
        resource: str,
        name: str,
        patch: Object | Objects,
        namespace: str | None = None,
        *,
        kind: Literal["merge", "json", "strategic", "apply"] = "merge",
        subresource: str | None = None,
        **query: Query,
    ) -> Object:
        """Patch an object.

        Args:
            resource: Such as ``v1/pods``.
            name: The object.
            patch: The patch; a list for ``json``, else an object.
            namespace: The namespace.
            kind: The kind of patch; ``apply`` is server-side apply.
            subresource: Such as ``status``.
            query: ``fieldManager`` and ``force`` for server-side apply, ``dryRun`` and the like.
        """
        if kind == "apply":
            query.setdefault("fieldManager", "test")
        path = path_of(resource, namespace, name, subresource)
        return self._object("PATCH", path, patch, query=query, content_type=_PATCH_TYPES[kind])

    def delete(
        self,
        resource: str,
        name: str,
        namespace: str | None = None,
        *,
        grace: int | None = None,
        propagation: Literal["Background", "Foreground", "Orphan"] | None = None,
        uid: str | None = None,
    ) -> Object:
        """Delete an object.

        Args:
            resource: Such as ``v1/pods``.
            name: The object.
            namespace: The namespace.
            grace: Grace period in seconds; 0 removes a pod at once. The object's own by default.
            propagation: What happens to objects that it owns.
            uid: Delete it only when it is that very object.
        """
        options: Object = {"apiVersion": "v1", "kind": "DeleteOptions"}
        if grace is not None:
            options["gracePeriodSeconds"] = grace
        if propagation is not None:
            options["propagationPolicy"] = propagation
        if uid is not None:
            options["preconditions"] = {"uid": uid}
        return self._object("DELETE", path_of(resource, namespace, name), options)

    def exists(self, resource: str, name: str, namespace: str | None = None) -> bool:
        """Tell whether there is such an object."""
        try:
            self.get(resource, name, namespace)
        except NotFoundError:
            return False
        return True

    def apply(self, manifest: Object, *, field_manager: str = "test", force: bool = False) -> Object:
        """Apply a manifest of any kind by server-side apply; its plural is asked of the API server."""
        version, kind = manifest["apiVersion"], manifest["kind"]
        known = self._object("GET", f"/api/{version}" if version == "v1" else f"/apis/{version}")["resources"]
        found = [entry for entry in known if entry["kind"] == kind and "/" not in entry["name"]]
        if not found:
            raise NotFoundError(404, {"reason": "NotFound", "message": f"no kind {kind} in {version}"}, "apply")
        metadata = manifest["metadata"]
        namespace = metadata.get("namespace", "default") if found[0]["namespaced"] else None
        resource = f"{version}/{found[0]['name']}"
        name = metadata["name"]
        return self.patch(resource, name, manifest, namespace, kind="apply", fieldManager=field_manager, force=force)

    # -- shorthands ------------------------------------------------------------------------------------------------

    def pods(self, namespace: str, labels: str | None = None) -> Objects:
        """List the pods of a namespace."""
        return self.list(PODS, namespace, labels=labels)

    def events(self, namespace: str, *, about: str | None = None, reason: str | None = None) -> Objects:
        """List the events of a namespace, oldest first.

        Args:
            namespace: The namespace.
            about: Only those about the object of this name.
            reason: Only those with this reason.
        """
        wanted = [
            event
            for event in self.list(EVENTS, namespace)
            if about in (None, event["involvedObject"].get("name")) and reason in (None, event.get("reason"))
        ]
        return sorted(wanted, key=lambda event: int(event["metadata"]["resourceVersion"]))

    # -- waiting ---------------------------------------------------------------------------------------------------

    def wait_for(self, predicate: Callable[[], T], timeout: float = 10, *, what: str = "") -> T:
        """Wait until a predicate gives something true, as ``waiting.wait_for`` does."""
        return wait_for(predicate, timeout, what=what)

    def wait_until(
        self,
        resource: str,
        name: str,
        namespace: str | None,
        condition: Callable[[Object], Any],
        timeout: float = 10,
        *,
        what: str = "",
    ) -> Object:
        """Wait until an object exists and a condition holds for it.

        Returns:
            The object as it was then.

        Raises:
            WaitTimeoutError: It did not come to that; with the object as it was last.
        """
        last: Objects = []

        def look() -> Object | None:
            last[:] = [self.get(resource, name, namespace)]
            return last[0] if condition(last[0]) else None

        try:
            return wait_for(look, timeout) or {}
        except WaitTimeoutError:
            seen = json.dumps(without_managed_fields(last[0]), indent=1) if last else "no such object"
            raise WaitTimeoutError(
                f"waited {timeout:g} s for {what or name} ({resource} {name}); last: {seen}"
            ) from None

    def wait_gone(self, resource: str, name: str, namespace: str | None = None, timeout: float = 10) -> None:
        """Wait until there is no such object."""
        wait_for(lambda: not self.exists(resource, name, namespace), timeout, what=f"{resource} {name} to be gone")

    def watch(
        self,
        resource: str,
        namespace: str | None = None,
        *,
        labels: str | None = None,
        fields: str | None = None,
        resource_version: str | None = None,
    ) -> Watch:
        """Watch objects; iterate over the result, and close it, from any thread, to end that."""
        query = _query(
            {"labelSelector": labels, "fieldSelector": fields, "resourceVersion": resource_version, "watch": True}
        )
        connection = self._connect(None)
        return Watch(connection, path_of(resource, namespace) + query, self._headers())

    # -- requests --------------------------------------------------------------------------------------------------

    def request(
        self,
        method: str,
        path: str,
        body: Object | Objects | None = None,
        *,
        query: Mapping[str, Query] | None = None,
        content_type: str = "application/json",
    ) -> bytes:
        """Send any request.

        Args:
            method: The HTTP method.
            path: The path, such as ``/readyz``.
            body: What to send, as JSON.
            query: Query parameters; those that are None are left out.
            content_type: The content type of the body.

        Returns:
            The body of the answer.

        Raises:
            ApiError: The API server refused; a subclass by status code.
            UnreachableError: No answer came.
        """
        data = None if body is None else json.dumps(body).encode()
        headers = self._headers(content_type if data is not None else None)
        target = path + _query(query or {})
        status, answer = self._exchange(method, target, data, headers)
        if status >= 400:
            raise api_error(status, as_object(answer), f"{method} {path}")
        return answer

    def close(self) -> None:
        """Close the connections that are kept open."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _object(
        self,
        method: str,
        path: str,
        body: Object | Objects | None = None,
        *,
        query: Mapping[str, Query] | None = None,
        content_type: str = "application/json",
    ) -> Object:
        answer: Object = json.loads(self.request(method, path, body, query=query, content_type=content_type))
        return answer

    def _exchange(self, method: str, target: str, data: bytes | None, headers: Mapping[str, str]) -> tuple[int, bytes]:
        """Send a request over a kept connection, or over a new one when the API server has closed that meanwhile."""
        while True:
            with self._lock:
                kept = self._idle.pop() if self._idle else None
            connection = kept or self._connect(self._timeout)
            try:
                connection.request(method, target, body=data, headers=dict(headers))
                response = connection.getresponse()
                answer = response.read()
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                if kept is not None and isinstance(error, _CLOSED):
                    continue
                raise UnreachableError(f"{method} {self.server}{target}: {error!r}") from error
            except BaseException:
                connection.close()
                raise
            with self._lock:
                self._idle.append(connection)
            return response.status, answer

    def _connect(self, timeout: float | None) -> http.client.HTTPConnection:
        address = urlsplit(self.server)
        return http.client.HTTPSConnection(address.hostname or "", address.port, timeout=timeout, context=self._context)

    @cached_property
    def _context(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.ca_file))

    def _headers(self, content_type: str | None = None) -> dict[str, str]:
        headers = {
            "Authorization": f"Bearer {self.token}",
            "Accept": "application/json",
            "User-Agent": "ms-operator-test",
        }
        if content_type is not None:
            headers["Content-Type"] = content_type
        return headers


class ProxiedClient(Client):
    """Talks to an API server as whoever ``kubectl proxy`` is.

    Args:
        path: The Unix socket that ``kubectl proxy --unix-socket`` listens at.
        timeout: Seconds that one answer may take.
    """

    def __init__(self, path: Path, *, timeout: float = 30) -> None:
        super().__init__(f"unix://{path}", ca_file=Path(), token="", timeout=timeout)
        self._path = path

    def _connect(self, timeout: float | None) -> http.client.HTTPConnection:
        return _UnixConnection(self._path, timeout)

    def _headers(self, content_type: str | None = None) -> dict[str, str]:
        return {name: value for name, value in super()._headers(content_type).items() if name != "Authorization"}


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path, timeout: float | None) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


def path_of(
    resource: str, namespace: str | None = None, name: str | None = None, subresource: str | None = None
) -> str:
    """Give the path of a resource or object.

    >>> path_of("apps/v1/deployments", "a", "b", "scale")
    '/apis/apps/v1/namespaces/a/deployments/b/scale'
    """
    version, _, plural = resource.rpartition("/")
    parts = ["apis" if "/" in version else "api", version]
    if namespace is not None:
        parts += ["namespaces", quote(namespace, safe="")]
    parts.append(plural)
    parts += [quote(part, safe="") for part in (name, subresource) if part is not None]
    return "/" + "/".join(parts)


def without_managed_fields(item: Object) -> Object:
    """Give an object without the field owners, which nobody wants to read."""
    metadata = {key: value for key, value in item.get("metadata", {}).items() if key != "managedFields"}
    return {**item, "metadata": metadata}


def _query(query: Mapping[str, Query]) -> str:
    given = {
        key: str(value).lower() if isinstance(value, bool) else value
        for key, value in query.items()
        if value is not None
    }
    return f"?{urlencode(given)}" if given else ""

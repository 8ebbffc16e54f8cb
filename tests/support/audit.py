"""The audit log of the API server: who did what."""

from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter

from support.jobs import Json
from support.operator import USER
from support.testbed.controlplane import ControlPlane

_WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})


@dataclass(frozen=True, slots=True)
class Request:
    """One answered request.

    Attributes:
        at: when it came in, in RFC 3339 with microseconds.
        verb: such as `create`.
        resource: with the subresource, such as `msjobs/status`.
        group: API group, empty for the core.
        namespace: empty for one that names none.
        name: of the object, empty where the request names none.
        code: status code of the answer.
        decision: what RBAC decided: `allow` or `forbid`.
        credential: of the caller, by which two of the same account are told apart.
        pod: the pod whose token the caller has; empty for other tokens.
    """

    at: str
    verb: str
    resource: str
    group: str
    namespace: str
    name: str
    code: int
    decision: str
    credential: str
    pod: str

    @property
    def wrote(self) -> bool:
        """Whether it changed, or may have changed, something."""
        return self.verb in _WRITES and self.code < 300


def requests(control_plane: ControlPlane, user: str = USER, namespace: str | None = None) -> list[Request]:
    """What a user asked of the API server, in the order in which it came in.

    Args:
        control_plane: whose log to read.
        user: by default the operator.
        namespace: only requests about this namespace.
    """
    found = (_read(event) for event in control_plane.audit_events(user))
    return sorted((request for request in found if namespace in (None, request.namespace)), key=attrgetter("at"))


def writes(control_plane: ControlPlane, namespace: str, *, events: bool = False) -> list[Request]:
    """What the operator wrote in a namespace; events only if asked for."""
    found = requests(control_plane, namespace=namespace)
    return [request for request in found if request.wrote and (events or request.resource != "events")]


def denied(found: Iterable[Request], starts: Iterable[tuple[str, str]]) -> list[Request]:
    """Requests that RBAC refused, but for those to an API server that was just starting.

    Args:
        found: requests.
        starts: begin and end of each start, in RFC 3339.
    """
    windows = tuple(starts)
    refused = [request for request in found if request.decision == "forbid"]
    return [item for item in refused if not any(begin <= item.at <= end for begin, end in windows)]


def verbs(found: Iterable[Request]) -> set[tuple[str, str, str]]:
    """Group, resource and verb of requests."""
    return {(request.group, request.resource, request.verb) for request in found}


def _read(event: Json) -> Request:
    reference = event.get("objectRef") or {}
    sub = reference.get("subresource")
    extra = event["user"].get("extra") or {}
    return Request(
        at=event["requestReceivedTimestamp"],
        verb=event["verb"],
        resource=reference.get("resource", "") + (f"/{sub}" if sub else ""),
        group=reference.get("apiGroup", ""),
        namespace=reference.get("namespace", ""),
        name=reference.get("name", ""),
        code=(event.get("responseStatus") or {}).get("code", 0),
        decision=(event.get("annotations") or {}).get("authorization.k8s.io/decision", ""),
        credential=next(iter(extra.get("authentication.kubernetes.io/credential-id", [])), ""),
        pod=next(iter(extra.get("authentication.kubernetes.io/pod-name", [])), ""),
    )

"""Paths of resources, there and back."""

import pytest

from msjob_controller.kube.paths import resource_of, resource_path


@pytest.mark.parametrize(
    ("path", "expected", "label"),
    [
        (resource_path("v1", "pods"), "/api/v1/pods", "pods"),
        (resource_path("v1", "pods", "ns"), "/api/v1/namespaces/ns/pods", "pods"),
        (resource_path("v1", "pods", "ns", "a"), "/api/v1/namespaces/ns/pods/a", "pods"),
        (resource_path("v1", "pods", "ns", "a", "status"), "/api/v1/namespaces/ns/pods/a/status", "pods/status"),
        (resource_path("v1", "namespaces", None, "ns"), "/api/v1/namespaces/ns", "namespaces"),
        (resource_path("v1", "nodes", None, "n1"), "/api/v1/nodes/n1", "nodes"),
        (
            resource_path("mindspore.gitee.com/v1", "msjobs", "ns", "j", "status"),
            "/apis/mindspore.gitee.com/v1/namespaces/ns/msjobs/j/status",
            "msjobs/status",
        ),
        ("/version", "/version", "/version"),
        ("/apis", "/apis", "/apis"),
    ],
)
def test_path_and_its_label(path: str, expected: str, label: str) -> None:
    """A path is spelled as the API server expects; its label for metrics holds no name."""
    assert path == expected
    assert resource_of(path) == label


def test_names_cannot_leave_their_segment() -> None:
    """A name from a flag or a file never addresses another resource."""
    assert resource_path("v1", "pods", "../x", "a?b") == "/api/v1/namespaces/..%2Fx/pods/a%3Fb"

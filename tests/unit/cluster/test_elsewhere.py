"""What a user says of a cluster of their own, and what the report says of it then."""

import pytest

from support.cluster.e2e import report
from support.cluster.elsewhere import read
from support.testbed.errors import HarnessError

BOTH = {"MSJOB_E2E": "1", "OPERATOR_IMAGE": "a/operator:1", "TRAINING_IMAGE": "a/training:1", "HOME": "/home/me"}


def test_a_cluster_of_the_tests_own() -> None:
    """Without `make test-e2e` nothing of the user's cluster is touched, whatever else is set."""
    assert read({**BOTH, "MSJOB_E2E": ""}) is None
    assert read({"KUBECONFIG": "/a", "OPERATOR_IMAGE": "b"}) is None


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ({"OPERATOR_IMAGE": ""}, "OPERATOR_IMAGE must"),
        ({"TRAINING_IMAGE": ""}, "TRAINING_IMAGE must"),
        ({"OPERATOR_IMAGE": "", "TRAINING_IMAGE": ""}, "OPERATOR_IMAGE and TRAINING_IMAGE must"),
        ({"INSTALLED": "1", "TRAINING_IMAGE": ""}, "TRAINING_IMAGE must"),
    ],
)
def test_images_that_are_not_named(given: dict[str, str], missing: str) -> None:
    """What is missing is named, and what to do."""
    with pytest.raises(HarnessError, match=f"^{missing} name an image.*\nWhat to do: make test-e2e"):
        read({**BOTH, **given})


def test_what_is_given() -> None:
    """Images by name, the usual kubeconfig and kubectl, and others where they are named."""
    usual = read(BOTH)
    assert usual is not None
    assert usual.images == {"operator": "a/operator:1", "training": "a/training:1"}
    assert (usual.installed, usual.kubeconfig, usual.kubectl) == (False, "/home/me/.kube/config", ("kubectl",))

    own = read(
        {
            **BOTH,
            "OPERATOR_IMAGE": "",
            "INSTALLED": "1",
            "TRAINING_PS_IMAGE": "a/ps:1",
            "KUBECONFIG": "/a:/b",
            "KUBECTL": "oc --context='my cluster'",
        }
    )
    assert own is not None
    assert own.images == {"training": "a/training:1", "training-ps": "a/ps:1"}
    assert (own.installed, own.kubeconfig, own.kubectl) == (True, "/a:/b", ("oc", "--context=my cluster"))


def test_rows_that_are_not_possible() -> None:
    """They are in the table with their reason, and counted apart: a cluster is not certified for what was not tried."""
    rows = [
        {"matrix": "failure", "case": case, "outcome": outcome, "happened": [told], "seconds": {}, "took": 1.0}
        for case, outcome, told in (
            ("kill -9", "not possible here", "it needs the node"),
            ("a Worker raises", "passed", "restarted"),
            ("drain", "failed", "no second node"),
        )
    ]

    page, summary = report({"facts": {"Kubernetes": "v1.34.1"}, "rows": rows}, "abc", "2026-12-01")

    assert summary == "3 rows: 1 passed, 1 failed, 1 not possible here"
    assert "| kill -9 | not possible here | it needs the node |" in page
    assert "| rows | 1 passed, 1 failed, 1 not possible here |" in page
    assert "| Kubernetes | v1.34.1 |" in page

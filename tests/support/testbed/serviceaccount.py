"""Act as a ServiceAccount: what runs with its token has that account's rights and no others."""

from pathlib import Path
from typing import Literal

from msjob.api import meta
from support.testbed.client import Client
from support.testbed.kubeconfig import write_kubeconfig
from support.testbed.waiting import wait_for

_RBAC = "rbac.authorization.k8s.io"


def mint_token(client: Client, namespace: str, name: str, *, seconds: int = 3600) -> str:
    """Get a token for a ServiceAccount from the TokenRequest API.

    Args:
        client: A client that may create tokens.
        namespace: The namespace of the ServiceAccount.
        name: The ServiceAccount, which must exist.
        seconds: How long the token is valid; 600 at least.
    """
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": seconds}}
    answer = client.create("v1/serviceaccounts", body, namespace, name=name, subresource="token")
    return str(answer["status"]["token"])


def service_account_client(client: Client, namespace: str, name: str) -> Client:
    """Give a client that acts as a ServiceAccount; the caller closes it."""
    return Client(client.server, ca_file=client.ca_file, token=mint_token(client, namespace, name))


def service_account_kubeconfig(client: Client, namespace: str, name: str, path: Path, *, seconds: int = 3600) -> Path:
    """Write a kubeconfig that acts as a ServiceAccount.

    Args:
        client: A client that may create tokens.
        namespace: The namespace of the ServiceAccount, also that of commands that name none.
        name: The ServiceAccount.
        path: The file.
        seconds: How long its token is valid; 600 at least.

    Returns:
        The path.
    """
    token = mint_token(client, namespace, name, seconds=seconds)
    return write_kubeconfig(path, server=client.server, ca_file=client.ca_file, token=token, namespace=namespace)


def bound_account(
    client: Client,
    namespace: str,
    name: str,
    role: str,
    *,
    may: str,
    kind: Literal["ClusterRole", "Role"] = "ClusterRole",
) -> None:
    """Make a ServiceAccount that has the rights of a role in its namespace, and no others.

    It waits until the API server knows: it takes note of bindings, and of what an installation adds to a role of the
    cluster, by watches of its own.

    Args:
        client: A client that may do all.
        namespace: The namespace of the ServiceAccount.
        name: The ServiceAccount, made here.
        role: The role.
        may: A verb that the role allows for MSJobs, the last one to be known.
        kind: Of the role.
    """
    client.create("v1/serviceaccounts", {"metadata": {"name": name}}, namespace)
    binding = {
        "metadata": {"name": name},
        "roleRef": {"apiGroup": _RBAC, "kind": kind, "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": namespace}],
    }
    client.create(f"{_RBAC}/v1/rolebindings", binding, namespace)
    question = {
        "spec": {
            "user": f"system:serviceaccount:{namespace}:{name}",
            "resourceAttributes": {
                "namespace": namespace,
                "verb": may,
                "group": meta.GROUP,
                "resource": meta.PLURAL,
            },
        }
    }

    def allowed() -> bool:
        answer = client.create("authorization.k8s.io/v1/subjectaccessreviews", question)
        return bool(answer["status"]["allowed"])

    wait_for(allowed, 20, what=f"{name} to have the rights of {role}")

"""Act as a ServiceAccount: what runs with its token has that account's rights and no others."""

from pathlib import Path

from support.testbed.client import Client
from support.testbed.kubeconfig import write_kubeconfig


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

"""Write kubeconfig files."""

import base64
import json
import os
from pathlib import Path


def write_kubeconfig(
    path: Path, *, server: str, ca_file: Path, token: str, namespace: str = "default", server_name: str | None = None
) -> Path:
    """Write a kubeconfig for one user; only this user of the machine can read it.

    Args:
        path: The file.
        server: The address of the API server.
        ca_file: The certificate to trust; its content goes into the file.
        token: The bearer token.
        namespace: The namespace of commands that name none.
        server_name: The name that the certificate must have, where that is not the one in the address.

    Returns:
        The path.
    """
    name = "testbed"
    cluster = {"server": server, "certificate-authority-data": base64.b64encode(ca_file.read_bytes()).decode()}
    if server_name is not None:
        cluster["tls-server-name"] = server_name
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "clusters": [{"name": name, "cluster": cluster}],
        "users": [{"name": name, "user": {"token": token}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name, "namespace": namespace}}],
    }
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump(config, file, indent=1)  # JSON is YAML
    return path

"""From a Pod to its container, as a kubelet does it, for what the Pod of the operator has."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from support.image.container import give
from support.image.oci import Json, Mount
from support.testbed.client import Client

_UNITS = {"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}


def container_of(pod: Json) -> Json:
    """The only container of a Pod."""
    (container,) = pod["spec"]["containers"]
    found: Json = container
    return found


def user_of(pod: Json) -> tuple[int, int]:
    """Numeric ids of the user and group that a Pod asks for."""
    context = pod["spec"]["securityContext"]
    return context["runAsUser"], context["runAsGroup"]


def environment_of(pod: Json, image: Mapping[str, str], service: Mapping[str, str]) -> dict[str, str]:
    """The environment of its container.

    Args:
        pod: the Pod.
        image: what the image asks for, which the Pod may override.
        service: where the API server is, which the kubelet adds.
    """
    own = {item["name"]: item["value"] if "value" in item else _field(pod, item) for item in container_of(pod)["env"]}
    return {**image, **service, **own}


def mounts_of(pod: Json, folder: Path, client: Client) -> list[Mount]:
    """The volumes of its container, made in a folder.

    Args:
        pod: the Pod.
        folder: for the files of volumes that have some.
        client: gives what is in them.
    """
    volumes = {volume["name"]: volume for volume in pod["spec"]["volumes"]}
    mounts = []
    for mount in container_of(pod)["volumeMounts"]:
        volume = volumes[mount["name"]]
        path, read_only = mount["mountPath"], mount.get("readOnly", False)
        if "emptyDir" in volume:
            mounts.append(Mount(path, size=volume["emptyDir"]["sizeLimit"], read_only=read_only))
        else:
            files = _projected(pod, volume["projected"]["sources"], client)
            mounts.append(Mount(path, give(folder / mount["name"], user_of(pod), files), read_only=read_only))
    return mounts


def memory_of(pod: Json) -> int:
    """Bytes of memory that its container may use."""
    limit = str(container_of(pod)["resources"]["limits"]["memory"])
    return int(limit[:-2]) * _UNITS[limit[-2:]]


def _projected(pod: Json, sources: list[Json], client: Client) -> dict[str, str]:
    """The files of a projected volume; a source of a kind that the operator's Pod has not is a KeyError."""
    namespace = pod["metadata"]["namespace"]
    files: dict[str, str] = {}
    for source in sources:
        if "serviceAccountToken" in source:
            files[source["serviceAccountToken"]["path"]] = _token(pod, source["serviceAccountToken"], client)
        elif "configMap" in source:
            data = client.get("v1/configmaps", source["configMap"]["name"], namespace)["data"]
            files.update({item["path"]: data[item["key"]] for item in source["configMap"]["items"]})
        else:
            files.update({item["path"]: _field(pod, item) for item in source["downwardAPI"]["items"]})
    return files


def _token(pod: Json, source: Json, client: Client) -> str:
    """A token that is bound to the Pod: it ends with it."""
    metadata = pod["metadata"]
    body = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {
            "expirationSeconds": source["expirationSeconds"],
            "boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": metadata["name"], "uid": metadata["uid"]},
        },
    }
    account = pod["spec"]["serviceAccountName"]
    answer = client.create("v1/serviceaccounts", body, metadata["namespace"], name=account, subresource="token")
    return str(answer["status"]["token"])


def _field(pod: Json, item: Json) -> str:
    """The value of a field of the Pod that a variable or file names."""
    reference = item.get("valueFrom", item)["fieldRef"]
    value: Any = pod
    for name in reference["fieldPath"].split("."):
        value = value[name]
    return str(value)

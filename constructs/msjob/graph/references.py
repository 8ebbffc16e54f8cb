"""What a pod needs to be there under a name: claims, ConfigMaps and Secrets."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

CLAIM: Final = "PersistentVolumeClaim"
CONFIG_MAP: Final = "ConfigMap"
SECRET: Final = "Secret"  # noqa: S105 - a kind, and no password

_BY_KEY: Final = {
    "persistentVolumeClaim": (CLAIM, "claimName"),
    "configMap": (CONFIG_MAP, "name"),
    "configMapRef": (CONFIG_MAP, "name"),
    "configMapKeyRef": (CONFIG_MAP, "name"),
    "secret": (SECRET, "name"),
    "secretRef": (SECRET, "name"),
    "secretKeyRef": (SECRET, "name"),
    "nodePublishSecretRef": (SECRET, "name"),
    "imagePullSecrets": (SECRET, "name"),
}
"""Fields of a pod that hold a reference or a list of them, at whatever depth, with the field of the name in it.

Of core/v1 as of Kubernetes 1.36. No other field of a pod has one of these names.
"""
_SECRET_NAME: Final = "secretName"  # noqa: S105 - likewise
"""The field of the name in volumes of the types `secret` and `azureFile`."""


def references(spec: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The objects that a pod names, of its own namespace.

    Args:
        spec: of a pod.

    Returns:
        Kind and name of each, once, claims first, then by kind and name. Claims that Kubernetes makes for a pod
        (`ephemeral`) are none.
    """
    kinds = [CLAIM, CONFIG_MAP, SECRET]
    return sorted(set(_found(spec)), key=lambda item: (kinds.index(item[0]), item[1]))


def _found(value: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - JSON of any shape
    if isinstance(value, list):
        for item in value:
            yield from _found(item)
    if not isinstance(value, dict):
        return
    if isinstance(value.get(_SECRET_NAME), str):
        yield SECRET, value[_SECRET_NAME]
    for key, inner in value.items():
        if key in _BY_KEY:
            kind, field = _BY_KEY[key]
            for item in inner if isinstance(inner, list) else [inner]:
                if isinstance(item, dict) and isinstance(item.get(field), str) and item[field]:
                    yield kind, item[field]
        yield from _found(inner)

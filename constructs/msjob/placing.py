"""How a manifest written in plain Python becomes an API object in a construct tree."""

from collections.abc import Mapping
from typing import Any

from msjob.cdk import ApiObject, ApiObjectMetadata, Construct, JsonPatch

_TYPED_METADATA = ("name", "namespace", "labels", "annotations")


def place(scope: Construct, id: str, manifest: Mapping[str, Any]) -> ApiObject:  # noqa: A002 - cdk8s names it so
    """Add a manifest to the tree.

    Name, namespace, labels and annotations go through cdk8s, so a chart's own labels and namespace join them; all else
    is added as it stands, one patch a key, which is the cheapest way through jsii.

    Args:
        scope: parent construct.
        id: construct id, unique in its scope.
        manifest: the object, with `apiVersion`, `kind` and `metadata.name`.

    Returns:
        The API object.
    """
    metadata = manifest["metadata"]
    typed = {key: metadata[key] for key in _TYPED_METADATA if key in metadata}
    api_object = ApiObject(
        scope,
        id,
        api_version=manifest["apiVersion"],
        kind=manifest["kind"],
        metadata=ApiObjectMetadata(**typed),
    )
    patches = [JsonPatch.add(f"/metadata/{key}", value) for key, value in metadata.items() if key not in typed]
    patches += [
        JsonPatch.add(f"/{key}", value)
        for key, value in manifest.items()
        if key not in ("apiVersion", "kind", "metadata")
    ]
    if patches:
        api_object.add_json_patch(*patches)
    return api_object

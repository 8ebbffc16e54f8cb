"""Object metadata: its schema, and the syntax of labels and annotations.

A CRD cannot state metadata, the API server brings its own rules (k8s.io/apimachinery, `ValidateObjectMeta`). They are
needed here so that `msjob validate` finds offline what the API server would refuse. Labels of a pod template are held
to the same
rules: the API server stores any, but then no pod of the job can be created.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from msjob.api import meta
from msjob.api.problem import Problem

Path = tuple[str | int, ...]

_STRING: Final = {"type": "string"}
_STRINGS: Final = {"type": "object", "additionalProperties": _STRING}
_TIME: Final = {"type": "string", "format": "date-time"}
_INT64: Final = {"type": "integer", "format": "int64"}
_BOOLEAN: Final = {"type": "boolean"}

SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "annotations": _STRINGS,
        "creationTimestamp": _TIME,
        "deletionGracePeriodSeconds": _INT64,
        "deletionTimestamp": _TIME,
        "finalizers": {"type": "array", "items": _STRING},
        "generateName": _STRING,
        "generation": _INT64,
        "labels": _STRINGS,
        "managedFields": {"type": "array", "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
        "name": _STRING,
        "namespace": _STRING,
        "ownerReferences": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "apiVersion": _STRING,
                    "blockOwnerDeletion": _BOOLEAN,
                    "controller": _BOOLEAN,
                    "kind": _STRING,
                    "name": _STRING,
                    "uid": _STRING,
                },
                "required": ["apiVersion", "kind", "name", "uid"],
            },
        },
        "resourceVersion": _STRING,
        "selfLink": _STRING,
        "uid": _STRING,
    },
}
"""ObjectMeta (k8s.io/apimachinery/pkg/apis/meta/v1) in the dialect of CRD schemas."""

MAX_ANNOTATIONS: Final = 256 * 1024
"""Bytes that all keys and values of the annotations of an object may have together."""

_MAX_PREFIX: Final = 253
_LABEL_VALUE = re.compile(r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)?")
_KEY_NAME = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?")
_SUBDOMAIN = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*")
_NAMESPACE = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?")


def check(metadata: Mapping[str, Any], path: Path = ("metadata",)) -> Iterator[Problem]:
    """Check namespace, labels and annotations.

    Args:
        metadata: of an object or of a pod template, of sound types (`SCHEMA`).
        path: where it stands.

    Yields:
        What the API server would refuse.
    """
    namespace = metadata.get("namespace") or ""
    if namespace and not (_NAMESPACE.fullmatch(namespace) and len(namespace) <= meta.MAX_NAME):
        yield _problem(
            (*path, "namespace"),
            f"is no namespace name: use at most {meta.MAX_NAME} lower-case letters, digits and '-', with a letter or "
            "digit at both ends",
        )
    labels = metadata.get("labels") or {}
    for key, value in labels.items():
        yield from _check_key((*path, "labels", key), key)
        if not (_LABEL_VALUE.fullmatch(value) and len(value) <= meta.MAX_NAME):
            yield _problem(
                (*path, "labels", key),
                f"is no label value: use at most {meta.MAX_NAME} letters, digits, '-', '_' and '.', with a letter or "
                "digit at both ends; other text belongs into an annotation",
            )
    annotations = metadata.get("annotations") or {}
    for key in annotations:
        yield from _check_key((*path, "annotations", key), key.lower())
    if sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items()) > MAX_ANNOTATIONS:
        yield _problem((*path, "annotations"), f"keys and values have more than {MAX_ANNOTATIONS} bytes together")


def _check_key(path: Path, key: str) -> Iterator[Problem]:
    prefix, slash, name = key.rpartition("/")
    fits = _KEY_NAME.fullmatch(name) and len(name) <= meta.MAX_NAME
    if not fits or (slash and not (_SUBDOMAIN.fullmatch(prefix) and len(prefix) <= _MAX_PREFIX)):
        yield _problem(
            path,
            f"is no label or annotation key: use at most {meta.MAX_NAME} letters, digits, '-', '_' and '.', with a "
            "letter or digit at both ends, after an optional lower-case domain and '/'",
        )


def _problem(path: Path, message: str) -> Problem:
    return Problem(path, message, "metadata")

"""Plain JSON: what a manifest is made of once nothing depends on how it was written down."""

from typing import Any


def plain(value: Any) -> Any:  # noqa: ANN401 - JSON of any shape
    """Copy a JSON value, in the form in which the API server keeps it.

    A field set to null is a field left out (the API server prunes them, cdk8s drops them), and a whole float is an
    integer (JavaScript, and so cdk8s, knows no difference).

    Args:
        value: JSON of any shape.

    Returns:
        A copy that shares nothing changeable with the value.
    """
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value

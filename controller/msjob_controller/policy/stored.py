"""The stored status of a job, as far as it can be read."""

import json
from typing import Any

from pydantic import ValidationError

from msjob.api.status import MSJobStatus

Status = dict[str, Any]


def readable(stored: object) -> Status:
    """Leave out of a stored status what is none of its fields' values.

    The schema lets nobody write such a thing, but a status may be older than the schema. What is left out is made anew
    as if it had never been there, and so it is set right with the next write.

    Args:
        stored: `status` of an MSJob, of whatever type.
    """
    if not isinstance(stored, dict) or _fits(stored):
        return stored if isinstance(stored, dict) else {}
    kept = {key: value for key, value in stored.items() if _fits({key: value})}
    listed = stored.get("conditions")
    if "conditions" not in kept and isinstance(listed, list):
        kept["conditions"] = [item for item in listed if _fits({"conditions": [item]})]
    return kept


def _fits(status: Status) -> bool:
    try:
        MSJobStatus.model_validate_json(json.dumps(status), strict=True)
    except ValidationError:
        return False
    return True

"""Command lines with msrun, which returns at once unless it is told to wait for the processes that it starts."""

import re
from collections.abc import Mapping
from typing import Any, Final

_PROGRAM: Final = re.compile(r"(?<![\w.-])msrun(?![\w./-])")
_JOIN: Final = re.compile(r"--join(?:=|\s+)[\"']?(\w+)")


def returns_at_once(container: Mapping[str, Any]) -> bool:
    """Whether a container runs msrun without `--join=True`, as far as its command line shows.

    What a script does that the command line only names cannot be seen here.

    Args:
        container: of a pod template.
    """
    line = " ".join([*(container.get("command") or []), *(container.get("args") or [])])
    if not _PROGRAM.search(line):
        return False
    given = _JOIN.findall(line)
    return not given or given[-1].lower() not in ("true", "1")

"""A plugin of pytest: with ``--collect-only`` it prints the rows that there are, one JSON list a line."""

import json
import sys

import pytest


def pytest_collection_finish(session: pytest.Session) -> None:
    """Print matrix and case of each row."""
    for item in session.items:
        marker = item.get_closest_marker("row")
        if marker is not None:
            sys.stdout.write(f"row {json.dumps(marker.args)}\n")

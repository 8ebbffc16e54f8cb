"""Snapshots of manifests: one YAML file a case, beside its test module in `__snapshots__/`."""

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from msjob.printer import to_yaml


class ManifestExtension(SingleFileSnapshotExtension):
    """Stores a list of manifests as the YAML stream that the project prints everywhere."""

    file_extension = "k8s.yaml"
    _write_mode = WriteMode.TEXT

    def serialize(self, data: Any, **_options: Any) -> str:
        """Print manifests.

        Args:
            data: list of objects.
            _options: of syrupy; none applies.
        """
        return to_yaml(data)


@pytest.fixture
def snapshot(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """Compare a list of manifests with the stored YAML file: `assert objects == snapshot`."""
    return snapshot.use_extension(ManifestExtension)

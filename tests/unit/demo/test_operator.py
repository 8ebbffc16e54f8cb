"""The operator of the demo is that of dist/."""

from pathlib import Path

import pytest
import yaml

from demo.operator import Installed
from support.programs import ROOT


def test_it_runs_as_the_deployment_says() -> None:
    """Namespace, account, program and flags are those of the Deployment."""
    installed = Installed.read(ROOT / "dist")

    accounts = [
        (item["metadata"]["namespace"], item["metadata"]["name"])
        for item in yaml.safe_load_all((ROOT / "dist" / "0002-rbac.yaml").read_text())
        if item and item["kind"] == "ServiceAccount"
    ]
    assert [(installed.namespace, installed.account)] == accounts
    assert installed.command[:2] == ["ms-operator", "--leader-elect"]


def test_a_folder_without_it(tmp_path: Path) -> None:
    """Without a Deployment the error says what to run."""
    with pytest.raises(ValueError, match="holds no Deployment of the operator: run make synth"):
        Installed.read(tmp_path)

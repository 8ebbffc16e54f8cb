#!/bin/sh
# Installs the built wheel and its locked dependencies into a new environment outside the checkout, and uses it there.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
uv=$root/.venv/bin/uv
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cd "$work"
"$uv" venv --quiet --python "$root/.venv/bin/python" env
"$uv" pip install --quiet --python env --require-hashes -r "$root/requirements/runtime.txt" -r "$root/requirements/node.txt"
"$uv" pip install --quiet --python env --no-deps "$root"/build/wheel/*.whl

# Where the wheel puts its files, no folder named constructs may lie beside the library of that name.
env/bin/python - <<'PYTHON'
import sys
from pathlib import Path

import msjob.cdk  # before constructs: it settles which Node.js runs, and with which banners

import constructs
import msjob_cli
import msjob_client
import msjob_controller

for package in (constructs, msjob, msjob_cli, msjob_client, msjob_controller):
    home = Path(package.__file__)
    assert home.is_relative_to(sys.prefix), f"{package.__name__} comes from {home}, not from the new environment"
assert msjob.cdk.Construct is constructs.Construct
for package in (msjob, msjob_cli, msjob_client, msjob_controller):
    assert Path(package.__file__).with_name("py.typed").is_file(), f"{package.__name__} has no py.typed"
PYTHON
env/bin/msjob --help >/dev/null
env/bin/msjob get --help >/dev/null
env/bin/kubectl-msjob completion bash >/dev/null
env/bin/kubectl_complete-msjob '' >/dev/null
for command in validate render; do
    env/bin/msjob "$command" -f "$root/samples/ms_wide_deep_dataparallel.yaml" >/dev/null
done
env/bin/ms-operator --help >/dev/null

"""The program that `cdk8s synth` runs, named in `cdk8s.yaml`. It writes the same files as `msjob synth`."""

import os
import sys
from pathlib import Path

from msjob.node import NodeNotFoundError


def main() -> int:
    """Write the installation with its defaults to where the `cdk8s` command wants it.

    `CDK8S_OUTDIR` names that folder, `dist` if it is unset. Samples are taken from `samples` in the working folder, if
    there is such a folder.

    Returns:
        Exit code: 0, or 1 with a message on standard error.
    """
    out = Path(os.environ.get("CDK8S_OUTDIR") or "dist")
    samples = Path("samples")
    try:
        # Only here, because importing it starts Node.js.
        from msjob.settings import InstallSettings  # noqa: PLC0415
        from msjob.synth import SynthError, synth  # noqa: PLC0415
    except NodeNotFoundError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    try:
        synth(out, InstallSettings(), samples if samples.is_dir() else None)
    except SynthError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

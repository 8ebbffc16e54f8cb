"""`msjob synth`."""

from pathlib import Path
from typing import Final, get_args

import click

from msjob.settings import (
    DEFAULT_NAMESPACE,
    InstallSettings,
    InvalidSettingsError,
    PullPolicy,
    Resources,
    default_image,
)
from msjob_cli import terminal
from msjob_cli.debug import debug
from msjob_cli.exits import ExitCode, Failure
from msjob_cli.node import starting_node

_OUTPUT: Final = "dist"
_SAMPLES: Final = "samples"
_RESOURCES: Final = Resources()

_OPTIONS: Final = {"extra_flags": "--operator-flag"}
"""Options that are not named as the setting they set."""


@click.command()
@click.option(
    "--image",
    metavar="IMAGE",
    default=default_image(),
    show_default=True,
    help="Image of the operator.",
)
@click.option(
    "--namespace",
    metavar="NAMESPACE",
    default=DEFAULT_NAMESPACE,
    show_default=True,
    help="Where the operator runs.",
)
@click.option(
    "--replicas",
    metavar="N",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="Pods of the operator: one leads, the others stand by; 0 stops it.",
)
@click.option(
    "--operator-flag",
    "extra_flags",
    metavar="FLAG",
    multiple=True,
    help="A flag for ms-operator, as --operator-flag=--workers=8. May be given several times.",
)
@click.option(
    "--image-pull-policy",
    type=click.Choice(get_args(PullPolicy)),
    default="IfNotPresent",
    show_default=True,
    help="When a node pulls the image.",
)
@click.option(
    "--cpu-request", metavar="QUANTITY", default=_RESOURCES.cpu_request, show_default=True, help="Reserved CPU."
)
@click.option("--cpu-limit", metavar="QUANTITY", default=_RESOURCES.cpu_limit, help="Most CPU.  [default: no limit]")
@click.option(
    "--memory-request",
    metavar="QUANTITY",
    default=_RESOURCES.memory_request,
    show_default=True,
    help="Reserved memory.",
)
@click.option(
    "--memory-limit",
    metavar="QUANTITY",
    default=_RESOURCES.memory_limit,
    show_default=True,
    help="Most memory.",
)
@click.option(
    "--output",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    default=Path(_OUTPUT),
    show_default=True,
    help="Folder to replace. It may only hold what msjob synth wrote.",
)
@click.option(
    "--samples",
    metavar="FOLDER",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help=f"MSJobs (*.yaml) to render below examples/.  [default: {_SAMPLES}, if there is such a folder]",
)
@debug
def command(  # noqa: PLR0913 - one for each option
    *,
    image: str,
    namespace: str,
    replicas: int,
    extra_flags: tuple[str, ...],
    image_pull_policy: PullPolicy,
    cpu_request: str,
    cpu_limit: str | None,
    memory_request: str,
    memory_limit: str,
    output: Path,
    samples: Path | None,
) -> int:
    """Write the manifests of the installation to a folder.

    The files apply in the order of their names: kubectl apply -f FOLDER. They are checked before they take the place of
    what is there; when something fails, the folder stays as it was. The same settings give the same bytes on every
    machine. Prints what it wrote and removed. Needs Node.js 22 or newer, but no cluster.

    Exit codes: 0 the folder is up to date, 2 wrong usage, 3 no manifests could be made.
    """
    try:
        settings = InstallSettings(
            image=image,
            namespace=namespace,
            replicas=replicas,
            extra_flags=extra_flags,
            image_pull_policy=image_pull_policy,
            resources=Resources(cpu_request, cpu_limit, memory_request, memory_limit),
        )
    except InvalidSettingsError as error:
        told = (f"{_option(problem.path)}: {problem.message}" for problem in error.problems)
        raise click.UsageError("; ".join(told)) from None
    if samples is None and Path(_SAMPLES).is_dir():
        samples = Path(_SAMPLES)
    before = _contents(output)
    _synth(output, settings, samples)
    _tell(output, before, _contents(output))
    return ExitCode.GOOD


def _synth(output: Path, settings: InstallSettings, samples: Path | None) -> None:
    with starting_node():
        from msjob.synth import SynthError, synth  # noqa: PLC0415 - starts Node.js
    try:
        synth(output, settings, samples)
    except SynthError as error:
        raise Failure(str(error)) from None


def _contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in sorted(folder.rglob("*.yaml")) if path.is_file()}


def _tell(folder: Path, before: dict[Path, bytes], after: dict[Path, bytes]) -> None:
    lines = [f"wrote {path}" for path, content in after.items() if before.get(path) != content]
    lines += [f"removed {path}" for path in before if path not in after]
    for line in lines or [f"{folder}: unchanged"]:
        terminal.result(f"{terminal.printable(line)}\n")


def _option(path: tuple[str | int, ...]) -> str:
    name = str(path[0]).removeprefix("resources.")
    return _OPTIONS.get(name, f"--{name.replace('_', '-')}")

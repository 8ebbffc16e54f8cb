"""Build the operator's image, or push it: ``make docker-build`` and ``make docker-push``.

What to do stands in variables of the environment, which the Makefile hands on as text: ``IMG``, ``BUILDER``,
``BUILDER_ARGS``, ``PYTHON_IMAGE``, ``SOURCE``, ``DEST``. docs/image.md tells what they mean.

The package index and the certificates that pip uses on this machine are given to the build as secrets, so that it works
behind a mirror or proxy and nothing of it is in the image.
"""

import ast
import contextlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from msjob.settings import InstallSettings, InvalidSettingsError

ROOT = Path(__file__).resolve().parent.parent
BUILDERS = ("docker", "podman", "buildah")
"""In the order in which they are looked for."""

CONTEXT = ("Dockerfile", ".dockerignore", "LICENSE", "README.md", "pyproject.toml")
CONTEXT_FOLDERS = ("client", "constructs", "controller", "requirements", "tools/rootfs.py")
"""What an image is made of: a change in it that is not committed is told in the label of the revision."""

PIP_SETTINGS = ("index-url", "extra-index-url", "trusted-host", "proxy", "timeout", "retries")
"""Settings of pip that say how to reach an index; others, such as folders of this machine, mean nothing in a build."""

CERTIFICATES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
"""Variables by which the programs of a machine are told of its certificates, where pip is not told itself."""


class ImageError(Exception):
    """The image cannot be built or pushed; the message says why and what to do."""


def choose_builder(asked: str) -> str:
    """Give the program to build with.

    Args:
        asked: its name, or its path; empty for the first one that is there.

    Raises:
        ImageError: it is not there, or none is.
    """
    if asked:
        if Path(asked).name not in BUILDERS:
            raise ImageError(f"BUILDER={asked} is none of {', '.join(BUILDERS)}")
        if shutil.which(asked) is None:
            raise ImageError(
                f"BUILDER={asked} is not on PATH: install it, or name another one of {', '.join(BUILDERS)}"
            )
        return asked
    found = next(filter(shutil.which, BUILDERS), None)
    if found is None:
        raise ImageError(
            f"none of {', '.join(BUILDERS)} is on PATH: install one, such as the package buildah of Debian, Ubuntu and "
            "Fedora, which needs no daemon"
        )
    return found


def choose_image(asked: str) -> str:
    """Give the image's name: the one asked for, else the one that ``dist/`` names.

    Raises:
        ImageError: it is no image reference.
    """
    try:
        return InstallSettings(image=asked).image if asked else InstallSettings().image
    except InvalidSettingsError as error:
        raise ImageError(f"IMG: {error.problems[0].message}") from error


def choose_moment(asked: str, commit: int) -> int:
    """Give the time of the image, in seconds since 1970.

    Args:
        asked: ``SOURCE_DATE_EPOCH`` (https://reproducible-builds.org/specs/source-date-epoch/); empty for that of the
            commit.
        commit: when the sources were made.

    Raises:
        ImageError: it is no such number.
    """
    if not asked:
        return commit
    if not re.fullmatch(r"[0-9]{1,11}", asked):
        raise ImageError(f"SOURCE_DATE_EPOCH={asked} is no number of seconds since 1970")
    return int(asked)


def build_arguments(*, version: str, revision: str, seconds: int, python_image: str, source: str) -> dict[str, str]:
    """Give the ARGs of the Dockerfile.

    Args:
        version: of the project.
        revision: of the sources.
        seconds: when they were made, since 1970; all times in the image are that one.
        python_image: the base image, empty for that of the Dockerfile.
        source: where the sources are to be had, empty for none.
    """
    arguments = {
        "PYTHON_IMAGE": python_image,
        "VERSION": version,
        "REVISION": revision,
        "CREATED": datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "SOURCE": source,
        "SOURCE_DATE_EPOCH": str(seconds),
    }
    return {name: value for name, value in arguments.items() if value}


def build_command(
    builder: str, image: str, arguments: Mapping[str, str], secrets: Mapping[str, Path], more: Sequence[str]
) -> list[str]:
    """Give the command that builds the image.

    Args:
        builder: the program.
        image: its name.
        arguments: ARGs of the Dockerfile.
        secrets: files for the build, by id.
        more: arguments of the user's own.
    """
    # Docker's builder takes SOURCE_DATE_EPOCH from the arguments, the others have a flag for it.
    moment = [] if Path(builder).name == "docker" else ["--timestamp", arguments["SOURCE_DATE_EPOCH"]]
    return [
        *(builder, "build", "--tag", image),
        *(f"--build-arg={name}={value}" for name, value in arguments.items()),
        *(f"--secret=id={name},src={path}" for name, path in secrets.items()),
        *moment,
        *more,
        str(ROOT),
    ]


def push_command(builder: str, image: str, destination: str, more: Sequence[str]) -> list[str]:
    """Give the command that pushes the image.

    Args:
        builder: the program.
        image: its name.
        destination: where to, such as ``oci-archive:image.tar``; empty for the registry of its name.
        more: arguments of the user's own.

    Raises:
        ImageError: docker is to push to elsewhere.
    """
    if destination and Path(builder).name == "docker":
        raise ImageError(
            f"DEST={destination}: docker pushes to the registry of IMG alone; use BUILDER=podman or buildah"
        )
    return [builder, "push", *more, image, *filter(None, [destination])]


def pip_settings(listed: str, environ: Mapping[str, str]) -> tuple[str, Path | None]:
    """Give what pip on this machine knows about its index, and its certificates.

    Args:
        listed: what ``pip config list`` prints.
        environ: the environment.

    Returns:
        A configuration of pip for the build, in which certificates are the secret ``ca``; and the file of these.
    """
    # Later lines count more, as the environment comes last.
    lines = re.findall(r"^(?:global|install|:env:)\.([a-z-]+)=(.+)$", listed, re.MULTILINE)
    settings = {name: str(ast.literal_eval(value)) for name, value in lines}
    candidates = (settings.get("cert", ""), *(environ.get(name, "") for name in CERTIFICATES))
    certificates = next((Path(path) for path in candidates if path and Path(path).is_file()), None)
    kept = {name: settings[name] for name in PIP_SETTINGS if name in settings}
    if certificates is not None:
        kept["cert"] = "/run/secrets/ca"
    indented = {name: value.replace("\n", "\n    ") for name, value in kept.items()}
    return "".join(["[global]\n", *(f"{name} = {value}\n" for name, value in indented.items())]), certificates


@contextlib.contextmanager
def secrets(environ: Mapping[str, str]) -> Iterator[dict[str, Path]]:
    """Make the secrets of a build; their files are gone afterwards."""
    listed = _output(sys.executable, "-m", "pip", "config", "list")
    text, certificates = pip_settings(listed, environ)
    with tempfile.TemporaryDirectory(prefix="ms-operator-build-") as folder:
        pip = Path(folder, "pip")
        pip.write_text(text)
        yield {"pip": pip} | ({"ca": certificates} if certificates else {})


def revision(paths: Iterable[str] = (*CONTEXT, *CONTEXT_FOLDERS)) -> tuple[str, int]:
    """Give the commit of the sources and its time; ``unknown`` and 0 where they are not in Git."""
    commit, _, seconds = _output("git", "-C", ROOT, "show", "--no-patch", "--format=%H %ct").strip().partition(" ")
    if not seconds:
        return "unknown", 0
    changed = _output("git", "-C", ROOT, "status", "--porcelain", "--", *paths)
    return commit + ("-dirty" if changed else ""), int(seconds)


def build(environ: Mapping[str, str]) -> None:
    """Build the image.

    Raises:
        ImageError: it cannot be built.
    """
    builder, image = choose_builder(environ.get("BUILDER", "")), choose_image(environ.get("IMG", ""))
    commit, seconds = revision()
    arguments = build_arguments(
        version=tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"],
        revision=commit,
        seconds=choose_moment(environ.get("SOURCE_DATE_EPOCH", ""), seconds),
        python_image=environ.get("PYTHON_IMAGE", ""),
        source=environ.get("SOURCE", ""),
    )
    print(f"image: building {image} with {builder}", flush=True)
    with secrets(environ) as files:
        _run(build_command(builder, image, arguments, files, _words(environ)))
    print(f"image: built {image}", flush=True)


def push(environ: Mapping[str, str]) -> None:
    """Push the image.

    Raises:
        ImageError: it cannot be pushed.
    """
    builder, image = choose_builder(environ.get("BUILDER", "")), choose_image(environ.get("IMG", ""))
    _run(push_command(builder, image, environ.get("DEST", ""), _words(environ)))


def _words(environ: Mapping[str, str]) -> list[str]:
    try:
        return shlex.split(environ.get("BUILDER_ARGS", ""))
    except ValueError as error:
        raise ImageError(f"BUILDER_ARGS={environ['BUILDER_ARGS']}: {error}") from error


def _run(command: list[str]) -> None:
    environ = {"BUILDAH_FORMAT": "oci", "DOCKER_BUILDKIT": "1", **os.environ}
    try:
        code = subprocess.run(command, check=False, env=environ, stdin=subprocess.DEVNULL).returncode
    except OSError as error:
        raise ImageError(f"{command[0]} cannot be started: {error}") from error
    if code:
        raise ImageError(
            f"{command[0]} {command[1]} ended with exit code {code}; what it printed says why. BUILDER= names another "
            "program, PYTHON_IMAGE= another base image: docs/image.md"
        )


def _output(*command: str | Path) -> str:
    try:
        return subprocess.run(command, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout
    except OSError:
        return ""


def main() -> None:
    """Build or push, as the first argument says; ends with one line on standard error when that fails."""
    task = {"build": build, "push": push}[sys.argv[1]]
    try:
        task(os.environ)
    except ImageError as error:
        sys.exit(f"image: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()

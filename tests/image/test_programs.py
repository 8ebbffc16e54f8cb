"""The programs of the image, each in a container: the image's user, a read-only root, no privilege, no network."""

import sys

import pytest

from support.image.container import Run
from support.image.oci import Mount
from support.programs import ROOT, run_program

SAMPLE = "ms_wide_deep_dataparallel.yaml"


@pytest.mark.parametrize("program", ["ms-operator", "msjob"])
def test_version(run: Run, program: str) -> None:
    """Both programs tell the version that they tell outside."""
    outside = run_program(ROOT / ".venv" / "bin" / program, "--version")

    inside = run("--version", entrypoint=program)

    assert (inside.wait(), inside.text()) == (0, outside.stdout)


def test_render(run: Run) -> None:
    """The image renders a job, for which it needs its Node, byte for byte as this checkout does."""
    outside = run_program(sys.executable, "-m", "msjob", "render", "-f", f"samples/{SAMPLE}")
    assert outside.returncode == 0, outside.stderr

    inside = run(
        *("render", "-f", f"/samples/{SAMPLE}"),
        entrypoint="msjob",
        mounts=(Mount("/samples", ROOT / "samples", read_only=True),),
    )

    assert inside.wait() == 0, inside.text()
    assert inside.text() == outside.stdout


def test_site_construct(run: Run) -> None:
    """A site's module, put into /opt/site, renders jobs with the Python and the libraries of the image."""
    inside = run(
        *("render", "-f", f"/samples/{SAMPLE}", "--job-construct", "support.site_constructs:SiteWorkload"),
        entrypoint="msjob",
        mounts=(
            Mount("/samples", ROOT / "samples", read_only=True),
            Mount("/opt/site", ROOT / "tests", read_only=True),
        ),
        PYTHONPATH="/opt/site",
    )

    assert inside.wait() == 0, inside.text()
    assert "kind: ConfigMap" in inside.text()


PROBE = """
import errno, os, ssl
for folder in ("/", "/opt/ms-operator", "/usr/lib", "/etc", "/run"):
    try:
        open(os.path.join(folder, "x"), "w")
    except OSError as error:
        assert error.errno in (errno.EROFS, errno.EACCES), error
        print(folder, errno.errorcode[error.errno])
status = {name: value.split() for name, _, value in (line.partition(":") for line in open("/proc/self/status"))}
print(*(status[name][0] for name in ("Uid", "Gid", "CapEff", "CapBnd", "NoNewPrivs", "Seccomp")))
print([line.split()[5].split(",")[0] for line in open("/proc/self/mountinfo") if line.split()[4] == "/"])
print(os.path.expanduser("~"), os.path.exists(os.path.expanduser("~")))
print(ssl.create_default_context().cert_store_stats()["x509_ca"] > 50)
"""


def test_it_is_confined(run: Run) -> None:
    """What these tests claim of the container is so: user, read-only root, no capability, no home folder.

    The system's certificates are there for API servers with a public one.
    """
    container = run("-c", PROBE, entrypoint="python")

    assert container.wait() == 0, container.text()
    *refused, status, root, home, certificates = container.text().splitlines()
    assert {line.split()[1] for line in refused} == {"EROFS"}
    assert status == "65532 65532 0000000000000000 0000000000000000 1 2"
    assert (root, home, certificates) == ("['ro']", "/nonexistent False", "True")

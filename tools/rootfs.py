"""Make the file system of the operator's image: a Python environment, and of the system it lies on what it needs.

The Dockerfile runs this in its build stage, with the Python of the base image, as root. What comes out has no shell,
no package manager and no setuid file, because only three things go in: the environment itself, the interpreter with
its standard library, and the shared libraries that these are linked to. Scanners find which Debian packages the files
are of in ``/var/lib/dpkg/status.d``, where images without a package manager have it.

It uses the standard library alone.
"""

import argparse
import compileall
import fnmatch
import os
import py_compile
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path

USER_ID = 65532
"""The user that the Deployment runs the operator as (`msjob.operator`); `/etc/passwd` names it ``nonroot``."""

SYSTEM_FILES = (
    "/etc/debian_version",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/os-release",
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/ssl/openssl.cnf",
    "/usr/lib/ssl/cert.pem",
    "/usr/lib/ssl/openssl.cnf",
)
"""Taken where the base image has them: what the loader, scanners and OpenSSL look at. The certificates are those that
an API server with a public one is checked against."""

PROGRAMS = ("ms-operator", "msjob", "node", "python", "python3")
"""Of the environment; others came with packages."""

LEFT_OUT = (
    # of the standard library: tests, the editor, Tk, what installs packages, and what is linked to more libraries
    *("test", "idlelib", "pydoc_data", "tkinter", "turtle.py", "turtledemo", "lib-dynload/_tkinter.*"),
    *("config-*", "distutils", "ensurepip", "lib2to3", "venv", "EXTERNALLY-MANAGED", "sitecustomize.py"),
    *("dist-packages", "site-packages", "lib-dynload/*_test*", "lib-dynload/_xx*", "lib-dynload/xx*"),
    *("crypt.py", "curses", "dbm", "nntplib.py", "sqlite3", "lib-dynload/_crypt.*", "lib-dynload/_curses*"),
    *("lib-dynload/_*dbm.*", "lib-dynload/_sqlite3.*", "lib-dynload/nis.*", "lib-dynload/ossaudiodev.*"),
    "lib-dynload/readline.*",
)
"""Of the standard library, relative to its folder."""

LEFT_OUT_OF_PACKAGES = (
    # 75 MB of generated code that is loaded on first use, and the operator uses none: it takes the package for
    # credentials alone (msjob_controller.kube.config).
    *("kubernetes/client/api/*_api.py", "kubernetes/client/models/[a-z]*.py"),
    *("kubernetes/aio/client/api/*_api.py", "kubernetes/aio/client/models/[a-z]*.py"),
    *("*/test", "*/tests", "*.c", "*.h", "*.pyx", "*.pxd", "*.pyi"),
    *("pip", "pip-*", "setuptools", "setuptools-*", "*.dist-info/direct_url.json"),
)
"""Of what is installed, relative to ``site-packages``."""


class RootFs:
    """A file system that grows by parts of the one it is made on.

    Args:
        root: its folder, made here.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True)

    def place(self, path: Path) -> Path:
        """Where a path of this system is, or will be, in the new one."""
        return self.root / path.relative_to("/")

    def take(self, path: Path, left_out: Iterable[str] = (), base: Path | None = None) -> None:
        """Copy a file, or a folder with all in it; links on the way and at its end stay links, and lead somewhere.

        Args:
            path: absolute; nothing happens where it does not exist.
            left_out: patterns of what not to copy, in which ``*`` stands for slashes, too. ``__pycache__`` never is.
            base: what the patterns are relative to, by default the path.
        """
        if not path.exists():
            return
        path = self._folder(path.parent) / path.name
        base = base or path
        if path.is_symlink():
            self._link(path)
            self.take(Path(os.path.normpath(path.parent / path.readlink())), left_out)
        elif path.is_dir():
            self._folder(path)
            for item in sorted(path.iterdir()):
                name = str(item.relative_to(base))
                if item.name != "__pycache__" and not any(fnmatch.fnmatchcase(name, pattern) for pattern in left_out):
                    self.take(item, left_out, base)
        elif not self.place(path).exists():
            shutil.copy2(path, self.place(path))
            self.place(path).chmod(path.stat().st_mode & 0o755)

    def write(self, path: str, text: str) -> None:
        """Write a file of the new system's own."""
        target = self.place(Path(path))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def files(self) -> Iterator[Path]:
        """All that are no folders and no links, as paths of the new system."""
        for folder, _, names in os.walk(self.root):
            for name in names:
                path = Path(folder, name)
                if not path.is_symlink():
                    yield "/" / path.relative_to(self.root)

    def _folder(self, path: Path) -> Path:
        """Make a folder and those above it, links among them as links, and give where it really is."""
        if path == Path("/"):
            return path
        path = self._folder(path.parent) / path.name
        if path.is_symlink():
            self._link(path)
            return self._folder(Path(os.path.normpath(path.parent / path.readlink())))
        self.place(path).mkdir(exist_ok=True)
        return path

    def _link(self, path: Path) -> None:
        if not self.place(path).is_symlink():
            self.place(path).symlink_to(path.readlink())


def take_libraries(root: RootFs) -> None:
    """Take the shared libraries that programs and extension modules are linked to, and theirs, and index them."""
    wanted: set[str] = set()
    for path in root.files():
        with root.place(path).open("rb") as file:
            if file.read(4) != b"\x7fELF":
                continue
        linked = _output("ldd", path)
        if "not found" in linked:
            sys.exit(f"rootfs: {path} is linked to what the base image has not:\n{linked}")
        wanted.update(re.findall(r"(?:=> |^\t)(/\S+) \(0x", linked, re.MULTILINE))
    for library in sorted(wanted):
        root.take(Path(library))
    subprocess.run([shutil.which("ldconfig") or "/sbin/ldconfig", "-r", root.root], check=True)
    shutil.rmtree(root.place(Path("/var/cache")), ignore_errors=True)  # ldconfig's own notes


def tell_packages(root: RootFs) -> list[str]:
    """Tell which Debian packages the files are of, with their licences, and give their names."""
    if shutil.which("dpkg") is None:
        return []
    # A file may be recorded under the name that its folder had before /lib moved to /usr/lib.
    spellings = [name for path in map(str, root.files()) for name in (path, path.removeprefix("/usr"))]
    owners = {
        owner.strip()
        for line in _output("dpkg", "--search", *spellings).splitlines()
        if not line.startswith("diversion ")
        for owner in line.partition(": /")[0].split(",")
    }
    names = sorted({owner.partition(":")[0] for owner in owners})
    for owner in sorted(owners):
        name = owner.partition(":")[0]
        root.write(f"/var/lib/dpkg/status.d/{name}", _output("dpkg", "--status", owner))
        root.take(Path("/usr/share/doc", name, "copyright"))
    return names


def compile_python(root: RootFs, folder: Path) -> None:
    """Compile a folder, so that the read-only image starts fast; the bytecode never asks whether its source changed."""
    done = compileall.compile_dir(
        root.place(folder),
        quiet=1,
        workers=0,
        stripdir=str(root.root),
        prependdir="/",
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
    )
    if not done:
        sys.exit(f"rootfs: {folder} does not compile")


def _output(*command: str | Path) -> str:
    return subprocess.run(command, check=False, capture_output=True, text=True).stdout


def main() -> None:
    """Make the file system."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("environment", type=Path, help="a virtual environment of this Python")
    parser.add_argument("root", type=Path, help="the folder to make")
    arguments = parser.parse_args()

    root = RootFs(arguments.root)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = arguments.environment / "lib" / version / "site-packages"
    library = Path(sysconfig.get_path("stdlib"))
    for program in PROGRAMS:
        root.take(arguments.environment / "bin" / program)
    root.take(arguments.environment / "pyvenv.cfg")
    root.take(arguments.environment / "share")
    root.take(packages, LEFT_OUT_OF_PACKAGES)
    root.take(Path(sysconfig.get_path("platstdlib")), LEFT_OUT)
    root.take(library, LEFT_OUT)
    for path in SYSTEM_FILES:
        root.take(Path(path))
    take_libraries(root)
    told = tell_packages(root)
    for folder in {library, packages}:
        compile_python(root, folder)

    root.write("/etc/passwd", f"root:x:0:0:root:/:/none\nnonroot:x:{USER_ID}:{USER_ID}:nonroot:/nonexistent:/none\n")
    root.write("/etc/group", f"root:x:0:\nnonroot:x:{USER_ID}:\n")
    root.write("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n")
    # The kubelet mounts the ServiceAccount below /var/run.
    root.place(Path("/run")).mkdir()
    root.place(Path("/var/run")).symlink_to("/run")
    scratch = root.place(Path("/tmp"))  # noqa: S108 - a folder of the image
    scratch.mkdir()
    scratch.chmod(0o1777)
    # The same input gives the same image, so no file tells when it was made.
    moment = int(os.environ.get("SOURCE_DATE_EPOCH") or 0)
    for folder, folders, names in os.walk(root.root):
        for name in (*folders, *names, "."):
            os.utime(Path(folder, name), (moment, moment), follow_symlinks=False)
    size = sum(root.place(path).stat().st_size for path in root.files())
    print(f"rootfs: {size / 1e6:.0f} MB; of Debian: {', '.join(told) or 'unknown'}")


if __name__ == "__main__":
    main()

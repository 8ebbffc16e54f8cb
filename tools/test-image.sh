#!/bin/sh
# Runs tests/image: the operator's image is built and run as a container. Arguments go to pytest.
# With MSJOB_IMAGE_TESTS=tests/training_image, the image that trains (samples/training).
#
# It installs what it needs of Debian's packages, and leaves nothing behind: all files are in a folder that is removed
# in the end, and mounts and processes are in namespaces that end with this script, however that ends.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
storage=/var/lib/containers

if [ "$(id -u)" != 0 ]; then
    echo "test-image: it mounts file systems and runs containers, so it needs root; run: sudo make test-image" >&2
    exit 1
fi

missing=
for program in buildah mmdebstrap runc; do
    command -v "$program" >/dev/null || missing="$missing $program"
done
if [ -n "$missing" ]; then
    if ! command -v apt-get >/dev/null; then
        echo "test-image: these are missing, and there is no apt-get to install them with:$missing" >&2
        exit 1
    fi
    echo "test-image: installing$missing"
    export DEBIAN_FRONTEND=noninteractive
    apt-get -qq -o DPkg::Lock::Timeout=300 update
    # shellcheck disable=SC2086 # each is a package
    apt-get -qq -o DPkg::Lock::Timeout=300 install --yes --no-install-recommends $missing >/dev/null
fi

work=$(mktemp -d /tmp/ms-operator-image.XXXXXX)
made=
[ -e "$storage" ] || made=$storage

# Removes all files once nobody holds the other end of the pipe: this script, and what it runs, have ended.
mkfifo "$work/alive"
(
    trap '' INT TERM HUP
    cat <"$work/alive"
    for _ in 1 2 3 4 5; do
        rm -rf "$work" 2>/dev/null && break
        sleep 1 # the kernel is still ending processes
    done
    [ -z "$made" ] || rmdir "$made" 2>/dev/null || true
) &
guard=$!
exec 9>"$work/alive"

clean() {
    exec 9>&-
    wait "$guard" || true
}
trap clean EXIT

# buildah keeps notes on layers in the machine's storage, even when it works in another one: here they go to memory.
mkdir -p "$storage"
MSJOB_IMAGE_WORK=$work setpriv --pdeathsig KILL \
    unshare --mount --pid --fork --kill-child --mount-proc \
    sh -c 'mount -t tmpfs tmpfs "$0" && exec "$@"' "$storage" \
    "$root/.venv/bin/pytest" "$root/${MSJOB_IMAGE_TESTS:-tests/image}" "$@" &
child=$!
trap 'kill -s KILL "$child"; wait "$child" || true; exit 130' INT TERM HUP
wait "$child"

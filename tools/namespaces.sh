# shellcheck shell=sh
# For scripts of this folder to source, which work as root in mounts and processes of their own.

# Ends the script unless root runs it.
#   require_root SCRIPT WHY
require_root() {
    [ "$(id -u)" = 0 ] || {
        echo "$1: $2" >&2
        exit 1
    }
}

# Installs those programs that are missing; each is in a package of Debian's of the same name, or as in `ip:iproute2`.
#   require_programs SCRIPT PROGRAM[:PACKAGE]...
require_programs() {
    script=$1
    shift
    missing=
    for program; do
        command -v "${program%%:*}" >/dev/null || missing="$missing ${program#*:}"
    done
    # shellcheck disable=SC2086 # each is a package
    [ -z "$missing" ] || install_packages "$script" $missing
}

# Installs packages of Debian's.
#   install_packages SCRIPT PACKAGE...
install_packages() {
    script=$1
    shift
    if ! command -v apt-get >/dev/null; then
        echo "$script: these are missing, and there is no apt-get to install them with: $*" >&2
        exit 1
    fi
    echo "$script: installing $*" >&2
    export DEBIAN_FRONTEND=noninteractive
    apt-get -qq -o DPkg::Lock::Timeout=300 update >&2
    apt-get -qq -o DPkg::Lock::Timeout=300 install --yes --no-install-recommends "$@" >/dev/null
}

# Calls a function once this script, and what it runs, have ended, however that is: again and again until it succeeds, since
# the kernel may still be ending processes. To be called before anything is started.
#   afterwards FOLDER FUNCTION       FOLDER takes a pipe
afterwards() {
    mkfifo "$1/alive"
    # It comes to its end once nobody holds the other end of the pipe.
    (
        trap '' INT TERM HUP
        cat <"$1/alive"
        for _ in 1 2 3 4 5 6 7 8 9 10; do
            "$2" && break
            sleep 1
        done
    ) &
    guard=$!
    exec 9>"$1/alive"
    trap 'exec 9>&-; wait "$guard" || true' EXIT
}

# Runs a command in namespaces of its own, of mounts, processes and what else is named, and ends as it ends.
#   isolated FLAGS COMMAND...       FLAGS of unshare, such as --net; may be empty
isolated() {
    flags=$1
    shift
    # shellcheck disable=SC2086 # each is a flag
    setpriv --pdeathsig KILL unshare $flags --mount --pid --fork --kill-child --mount-proc "$@" &
    child=$!
    trap 'kill -s KILL "$child"; wait "$child" || true; exit 130' INT TERM HUP
    wait "$child"
}

# Runs a command that builds images with buildah, and ends as it ends. All files are in a folder that is removed in the
# end (MSJOB_IMAGE_WORK), and mounts and processes are in namespaces that end with this script, however that ends.
#   with_storage COMMAND...
with_storage() {
    storage=/var/lib/containers
    work=$(mktemp -d /tmp/ms-operator-image.XXXXXX)
    made=
    [ -e "$storage" ] || made=$storage

    afterwards "$work" remove_storage

    # buildah keeps notes on layers in the machine's storage, even when it works in another one: here they go to memory.
    mkdir -p "$storage"
    export MSJOB_IMAGE_WORK="$work"
    # shellcheck disable=SC2016 # the inner shell expands it
    isolated '' sh -c 'mount -t tmpfs tmpfs "$0" && exec "$@"' "$storage" "$@"
}

remove_storage() {
    [ -z "$made" ] || rmdir "$made" 2>/dev/null || true
    rm -rf "$work" 2>/dev/null
}

#!/bin/sh
# Runs a command in namespaces of its own (network, mounts, processes), in which a real cluster can be started:
#   sh tools/cluster.sh COMMAND [ARGUMENT...]
#
# It installs what it needs of Debian's packages, and leaves nothing behind: processes, mounts and networks end with the
# namespaces, however this script ends, and then its files and control groups are removed.
set -eu

packages='containerd:containerd runc:runc conntrack:conntrack iptables:iptables ip:iproute2'
cni=/usr/lib/cni/bridge # of containernetworking-plugins
group=ms-operator-cluster # as support/cluster/places.py has it

if [ "$(id -u)" != 0 ] || [ "$(uname)" != Linux ]; then
    echo "cluster: it runs a kubelet and containers, so it needs Linux and root" >&2
    exit 1
fi

missing=
for item in $packages; do
    command -v "${item%%:*}" >/dev/null || missing="$missing ${item#*:}"
done
[ -e "$cni" ] || missing="$missing containernetworking-plugins"
if [ -n "$missing" ]; then
    if ! command -v apt-get >/dev/null; then
        echo "cluster: these are missing, and there is no apt-get to install them with:$missing" >&2
        exit 1
    fi
    echo "cluster: installing$missing" >&2
    export DEBIAN_FRONTEND=noninteractive
    apt-get -qq -o DPkg::Lock::Timeout=300 update
    # shellcheck disable=SC2086 # each is a package
    apt-get -qq -o DPkg::Lock::Timeout=300 install --yes --no-install-recommends $missing >/dev/null
fi

# Folders whose names kubelet, containerd and CNI have built in: inside, they are in memory.
builtin='/var/lib/kubelet /var/lib/cni /var/log/containers'
made=
for folder in $builtin; do
    [ -d "$folder" ] || { mkdir "$folder" && made="$made $folder"; }
done

work=$(mktemp -d /tmp/ms-cluster.XXXXXX)

# Removes files and control groups once nobody holds the other end of the pipe: this script, and what it runs, have ended.
mkfifo "$work/alive"
(
    trap '' INT TERM HUP
    cat <"$work/alive"
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        for folder in /sys/fs/cgroup/"$group" /sys/fs/cgroup/*/"$group"; do
            [ ! -d "$folder" ] || find "$folder" -depth -type d -exec rmdir {} + 2>/dev/null || true
        done
        rm -rf "$work" 2>/dev/null && break
        sleep 1 # the kernel is still ending processes
    done
    # shellcheck disable=SC2086 # each is a folder
    [ -z "$made" ] || rmdir $made 2>/dev/null || true
) &
guard=$!
exec 9>"$work/alive"

clean() {
    exec 9>&-
    wait "$guard" || true
}
trap clean EXIT

MSJOB_CLUSTER_WORK=$work TMPDIR=$work setpriv --pdeathsig KILL \
    unshare --net --mount --pid --fork --kill-child --mount-proc sh -c '
        mount --make-rshared /
        for folder in /run '"$builtin"'; do
            mount -t tmpfs tmpfs "$folder"
        done
        exec "$@"' cluster "$@" &
child=$!
trap 'kill -s KILL "$child"; wait "$child" || true; exit 130' INT TERM HUP
wait "$child"

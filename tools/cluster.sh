#!/bin/sh
# Runs a command in namespaces of its own (network, mounts, processes), in which a real cluster can be started:
#   sh tools/cluster.sh COMMAND [ARGUMENT...]
#
# It installs what it needs of Debian's packages, and leaves nothing behind: processes, mounts and networks end with the
# namespaces, however this script ends, and then its files and control groups are removed.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
. "$root/tools/namespaces.sh"

programs='containerd runc conntrack iptables ip:iproute2'
cni=/usr/lib/cni/bridge # of containernetworking-plugins

[ "$(uname)" = Linux ] || { echo "cluster: it runs a kubelet and containers, so it needs Linux" >&2 && exit 1; }
require_root cluster 'it runs a kubelet and containers, so it needs root; run it with sudo'
# shellcheck disable=SC2086 # each is a program, with the package it is in
require_programs cluster $programs
[ -e "$cni" ] || install_packages cluster containernetworking-plugins

# Folders whose names kubelet, containerd and CNI have built in: inside, they are in memory.
builtin='/var/lib/kubelet /var/lib/cni /var/log/containers'
made=
for folder in $builtin; do
    [ -d "$folder" ] || { mkdir "$folder" && made="$made $folder"; }
done

work=$(mktemp -d /tmp/ms-cluster.XXXXXX)
group=${work##*/} # of all containers, as support/cluster/places.py has it

remove() {
    for folder in /sys/fs/cgroup/"$group" /sys/fs/cgroup/*/"$group"; do
        [ ! -d "$folder" ] || find "$folder" -depth -type d -exec rmdir {} + 2>/dev/null || true
    done
    # shellcheck disable=SC2086 # each is a folder
    [ -z "$made" ] || rmdir $made 2>/dev/null || true
    rm -rf "$work" 2>/dev/null
}
afterwards "$work" remove

export MSJOB_CLUSTER_WORK="$work" TMPDIR="$work"
isolated --net sh -c '
    mount --make-rshared /
    for folder in /run '"$builtin"'; do
        mount -t tmpfs tmpfs "$folder"
    done
    exec "$@"' cluster "$@"

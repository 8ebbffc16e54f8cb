#!/bin/sh
# Builds the images of the cluster tier that are not there yet, into the cache (tests/support/cluster/images.py):
#   sh tools/cluster-images.sh core|all
#
# It installs what it needs of Debian's packages, and leaves nothing else behind (namespaces.sh).
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
. "$root/tools/namespaces.sh"

export PYTHONPATH="$root/tests:$root/tools"
lacking=$("$root/.venv/bin/python" -m support.cluster.build_images --missing "$@")
[ -n "$lacking" ] || exit 0

require_root cluster-images 'it mounts file systems, so it needs root; run it with sudo'
require_programs cluster-images buildah mmdebstrap
with_storage "$root/.venv/bin/python" -m support.cluster.build_images "$@"

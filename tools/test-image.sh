#!/bin/sh
# Runs tests/image: the operator's image is built and run as a container. Arguments go to pytest.
# With MSJOB_IMAGE_TESTS=tests/training_image, the image that trains (samples/training).
#
# It installs what it needs of Debian's packages, and leaves nothing else behind (namespaces.sh).
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
. "$root/tools/namespaces.sh"

require_root test-image 'it mounts file systems and runs containers, so it needs root; run: sudo make test-image'
require_programs test-image buildah mmdebstrap runc
with_storage "$root/.venv/bin/pytest" "$root/${MSJOB_IMAGE_TESTS:-tests/image}" "$@"

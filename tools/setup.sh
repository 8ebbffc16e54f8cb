#!/bin/sh
# Finds a Python 3.11 or newer and lets it run tools/setup.py, which makes .venv.
# A .venv that works is kept; where one has to be made, PYTHON=<program> decides alone when it is set.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
usable='import sys; sys.exit(0 if sys.version_info >= (3, 11) else 3)'
complete='import ensurepip, venv'

if "$root/.venv/bin/python" -c "$usable" 2>/dev/null; then
    exec "$root/.venv/bin/python" "$root/tools/setup.py"
fi

lacking=
for name in ${PYTHON:-python3 python3.13 python3.12 python3.11 python3.14 python}; do
    program=$(command -v -- "$name") || continue
    "$program" -c "$usable" 2>/dev/null || continue
    if "$program" -c "$complete" 2>/dev/null; then
        exec "$program" "$root/tools/setup.py"
    fi
    lacking=${lacking:-$program}
done

if [ -n "$lacking" ]; then
    echo "setup: $lacking lacks its modules venv or ensurepip; install them (on Debian and Ubuntu the package python3-venv)" >&2
else
    echo "setup: no ${PYTHON:-Python} of version 3.11 or newer was found; install one, or name it with PYTHON=<program>" >&2
fi
exit 1

#!/bin/sh
# Writes requirements/*.txt from pyproject.toml and requirements/*.in: every package of every platform, with hashes.
# samples/training/requirements.txt likewise, from its own .in: what is in the image that trains.
#   lock.sh             keep the versions that still fit
#   lock.sh --upgrade   take the newest versions
#   lock.sh --check     write nothing; fail where the files differ from what would be written, or record an address
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
uv=$root/.venv/bin/uv
upgrade=
work=$root
training=samples/training

compile() {
    "$uv" pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-emit-find-links \
        --custom-compile-command 'make lock' --python-version 3.11 $upgrade "$@"
}

case ${1-} in
'') ;;
--upgrade) upgrade=--upgrade ;;
--check)
    if grep -nE '://|^ *(-i|--[a-z-]*(index|find-links|host)[a-z-]*)' "$root"/requirements/* "$root/$training"/requirements.*; then
        echo "lock: the lines above record an address; run make lock" >&2
        exit 1
    fi
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    cp -R "$root/requirements" "$root/pyproject.toml" "$work"
    mkdir -p "$work/$training"
    cp "$root/$training"/requirements.* "$work/$training"
    ;;
*)
    echo "lock: unknown argument $1" >&2
    exit 2
    ;;
esac

cd "$work"
# The tools are locked to the versions that run in production, so that one environment serves both.
compile pyproject.toml --output-file requirements/runtime.txt
compile pyproject.toml --group dev --constraints requirements/runtime.txt --output-file requirements/dev.txt
for source in requirements/*.in "$training/requirements.in"; do
    compile "$source" --output-file "${source%.in}.txt"
done

if [ "${1-}" = --check ]; then
    { diff -ru "$root/requirements" requirements &&
        diff -u "$root/$training/requirements.txt" "$training/requirements.txt"; } || {
        echo "lock: the lock files do not agree with pyproject.toml and the .in files; run make lock" >&2
        exit 1
    }
fi

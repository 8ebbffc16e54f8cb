#!/bin/sh
# Writes requirements/*.txt from pyproject.toml and requirements/*.in: every package of every platform, with hashes.
# requirements.txt of the images that train likewise, each from its own .in.
#   lock.sh             keep the versions that still fit
#   lock.sh --upgrade   take the newest versions
#   lock.sh --check     write nothing; fail where the files differ from what would be written, or record an address
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
uv=$root/.venv/bin/uv
upgrade=
work=$root
stale=
trainings='samples/training tests/cluster/images/ps'

compile() {
    "$uv" pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-emit-find-links \
        --custom-compile-command 'make lock' --python-version 3.11 $upgrade "$@"
}

case ${1-} in
'') ;;
--upgrade) upgrade=--upgrade ;;
--check)
    cd "$root"
    for folder in requirements $trainings; do
        if grep -nE '://|^ *(-i|--[a-z-]*(index|find-links|host)[a-z-]*)' "$folder"/*.in "$folder"/*.txt; then
            echo "lock: the lines above record an address; run make lock" >&2
            exit 1
        fi
    done
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    cp pyproject.toml "$work"
    for folder in requirements $trainings; do
        mkdir -p "$work/$folder"
        cp "$folder"/*.in "$folder"/*.txt "$work/$folder"
    done
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
for folder in requirements $trainings; do
    for source in "$folder"/*.in; do
        compile "$source" --output-file "${source%.in}.txt"
    done
done

if [ "${1-}" = --check ]; then
    for folder in requirements $trainings; do
        for file in "$folder"/*.txt; do
            diff -u "$root/$file" "$file" || stale=$file
        done
    done
    [ -z "$stale" ] || {
        echo "lock: the lock files do not agree with pyproject.toml and the .in files; run make lock" >&2
        exit 1
    }
fi

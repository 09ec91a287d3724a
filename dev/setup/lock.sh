#!/usr/bin/env bash
# Write requirements-build.lock and requirements-dev.lock: every package at one version, with the hashes of its files.
#
#     dev/setup/lock.sh               keep what is pinned, add and drop what pyproject.toml asks for
#     dev/setup/lock.sh --upgrade     take the newest of everything
#
# No registry's address is written: whoever installs brings their own.
set -euo pipefail
cd "$(dirname "$0")/../.."

tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
"${PYTHON:-python3.11}" -m venv "$tools"
"$tools/bin/python" -m pip install --quiet --disable-pip-version-check pip-tools==7.6.2

compile() {
    CUSTOM_COMPILE_COMMAND="make lock" "$tools/bin/pip-compile" --quiet --generate-hashes --strip-extras \
        --allow-unsafe --no-annotate --no-emit-index-url --no-emit-trusted-host --no-emit-find-links "$@"
}

compile "$@" --extra dev --extra spark --extra service --extra demo --output-file requirements-dev.lock pyproject.toml
# Packages that are in both must be the same ones, as both go into one environment.
compile "$@" --constraint requirements-dev.lock --output-file requirements-build.lock dev/setup/build.in

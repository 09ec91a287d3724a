#!/usr/bin/env bash
# Print the path of the first Python that hbstore supports, 3.11 to 3.14, or exit with 1.
#
#     dev/setup/python.sh                     python3.11, for which the locks are made, a newer one, or python3
#     dev/setup/python.sh .venv/bin/python    this one, if it is supported
set -euo pipefail

(($#)) || set -- python3.11 python3.12 python3.13 python3.14 python3
for name in "$@"; do
    if "$name" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null; then
        command -v "$name"
        exit
    fi
done
exit 1

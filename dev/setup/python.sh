#!/usr/bin/env bash
# Print the path of a Python that hbstore runs on: python3.11, which the lock is made for, or a newer python3.
set -euo pipefail

for name in python3.11 python3; do
    if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        command -v "$name"
        exit
    fi
done
exit 1

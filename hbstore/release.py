"""Which hbstore this is: its version, and the commit that it was built from."""

from __future__ import annotations

import platform
import sqlite3
import subprocess
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

VERSION: Final = "0.1.0"
_FILE: Final = "commit.txt"
"""What dev/setup/commit_hook.py puts into wheels and source archives."""

_DIGITS: Final = 12


@cache
def commit() -> str | None:
    """The first digits of the commit's hash; None: neither a built package nor a checkout with git says it.

    A checkout whose files differ from its commit has ``+`` behind it.
    """
    built = files("hbstore") / _FILE
    if built.is_file():
        return built.read_text(encoding="ascii").strip() or None
    checkout = Path(__file__).parents[1]
    return commit_of(checkout) if (checkout / ".git").exists() else None


def commit_of(checkout: Path) -> str | None:
    """The commit of a checkout, as git says it."""
    described = ["git", "-C", str(checkout), "describe", "--always", "--exclude=*", f"--abbrev={_DIGITS}", "--dirty=+"]
    try:
        done = subprocess.run(described, capture_output=True, text=True, check=True)  # noqa: S603
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def versions() -> dict[str, str | None]:
    """The versions of hbstore and of what it always runs on; None: it is not known.

    >>> list(versions())
    ['hbstore', 'commit', 'python', 'sqlite']
    """
    return {
        "hbstore": VERSION,
        "commit": commit(),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
    }


def version_text() -> str:
    """Version and commit for people: ``0.1.0 (1a2b3c4d5e6f)``."""
    known = commit()
    return f"{VERSION} ({known})" if known else VERSION

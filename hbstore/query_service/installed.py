"""What queries run on, as it is installed here: Java and PySpark. No process is started to find it out."""

from __future__ import annotations

import os
import re
import shutil
from importlib import metadata
from pathlib import Path
from typing import Final

_VERSION: Final = re.compile(r'^JAVA_VERSION="([^"]*)"', re.MULTILINE)


def java_program() -> Path | None:
    """The program ``java`` that Spark would start: that of JAVA_HOME, or the first of PATH; None: there is none."""
    home = os.environ.get("JAVA_HOME")
    path = shutil.which("java", path=f"{home}/bin") if home else shutil.which("java")
    return None if path is None else Path(path)


def java_version() -> str | None:
    """Which Java `java_program` is, by the file ``release`` in its home; None where that does not say it."""
    program = java_program()
    if program is None:
        return None
    try:
        text = (program.resolve().parents[1] / "release").read_text(encoding="utf-8", errors="replace")
    except (OSError, IndexError):
        return None
    stated = _VERSION.search(text)
    return None if stated is None else stated[1]


def spark_version() -> str | None:
    """Which PySpark is installed; None: none is."""
    try:
        return metadata.version("pyspark")
    except metadata.PackageNotFoundError:
        return None

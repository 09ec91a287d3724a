"""What Spark runs on, as it is installed here: PySpark and Java. No process is started to find it out."""

from __future__ import annotations

import os
import re
import shutil
from importlib import metadata
from pathlib import Path
from typing import Final

from hbstore.errors import MissingPackage
from hbstore.extras import check_extra

_VERSION: Final = re.compile(r'^JAVA_VERSION="(\d[^"]*)"', re.MULTILINE)
_OLDEST: Final = 17
"""The first Java that PySpark 4 runs on."""

_HINT: Final = (
    "Install a JDK 17 (Debian, Ubuntu: apt-get install openjdk-17-jre-headless; macOS: brew install openjdk@17), and"
    " try again; JAVA_HOME names it where another one is first in PATH"
)


def check_spark(feature: str, *, extra: str = "spark") -> None:
    """See that PySpark is installed, and a Java for it, before Spark is started.

    Args:
        feature: what needs it: ``the server's Spark``.
        extra: the one that the hint names, which brings PySpark: ``service`` for servers, as all of them is missing
            where they have no PySpark.

    Raises:
        MissingPackage: PySpark or Java is not installed, or too old.
    """
    check_extra("spark", feature, install=extra)
    if java_program() is None:
        home = os.environ.get("JAVA_HOME")
        where = {"JAVA_HOME": home} if home else {"path": os.environ.get("PATH", "")}
        raise MissingPackage(f"{feature} needs Java, which is not installed", **where, hint=_HINT)
    version = java_version()
    if version is not None and int(version.partition(".")[0]) < _OLDEST:
        raise MissingPackage(
            f"the Java that is installed is too old for {feature}",
            installed=version,
            needed=f"{_OLDEST} or later",
            hint=_HINT,
        )


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

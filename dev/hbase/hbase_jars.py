"""The jars of HBase and its Thrift gateway: copied by maven once, into target/."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
from maven_jars import Missing, maven_jars

HERE = Path(__file__).resolve().parent

JAVA_MIN = 17
JARS_MIN = 100
"""Fewer than this is not a class path of HBase."""


def java() -> str:
    """The path of a Java that is new enough.

    Raises:
        Missing: there is none.
    """
    found = shutil.which("java")
    version = 0
    if found:
        shown = subprocess.run([found, "-version"], capture_output=True, text=True, check=False).stderr  # noqa: S603
        number = re.search(r'version "(?:1\.)?(\d+)', shown)
        version = int(number[1]) if number else 0
    if not found or version < JAVA_MIN:
        raise Missing(
            f"HBase needs Java {JAVA_MIN}: "
            + (f"{found} is version {version}" if found else "there is no `java` on the PATH")
            + ". Install openjdk-17-jre-headless (Debian, Ubuntu), java-17-openjdk-headless (Fedora) or openjdk@17"
            " (Homebrew), or use Docker: `docker compose up -d`"
        )
    return found


def jars() -> Path:
    """The folder of jars, filled by maven when it is not there yet.

    Raises:
        Missing: there is no maven, or it could not get the jars.
    """
    return maven_jars(
        HERE / "pom.xml",
        what="the jars of HBase (110 MB, a minute)",
        expected="*.jar",
        at_least=JARS_MIN,
        hint="Install maven (Debian, Ubuntu, Fedora, Homebrew: the package is called maven), or use Docker:"
        " `docker compose up -d`",
    )

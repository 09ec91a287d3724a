"""The jars of HBase and its Thrift gateway: copied by maven once, into target/."""

from __future__ import annotations

import fcntl
import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGET = HERE / "target"
JAVA_MIN = 17
JARS_MIN = 100
"""Fewer than this is not a class path of HBase."""


class Missing(RuntimeError):
    """A program that has to be installed first; the text says which and how."""


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
    """The folder of jars, filled by maven when it is not there yet (110 MB, a minute).

    Two processes at once do not disturb each other, and a copy that was cut off leaves no half a folder.

    Raises:
        Missing: there is no maven, or it could not get the jars.
    """
    folder = TARGET / f"jars-{hashlib.sha256((HERE / 'pom.xml').read_bytes()).hexdigest()[:8]}"
    if folder.is_dir():
        return folder
    maven = shutil.which("mvn")
    if not maven:
        raise Missing(
            "the jars of HBase are not here yet and there is no `mvn` on the PATH to get them. Install maven"
            " (Debian, Ubuntu, Fedora, Homebrew: the package is called maven), or use Docker: `docker compose up -d`"
        )
    TARGET.mkdir(parents=True, exist_ok=True)
    with (TARGET / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            _copy(maven, folder)
    return folder


def _copy(maven: str, folder: Path) -> None:
    print("copying the jars of HBase with maven (110 MB, once) …", file=sys.stderr, flush=True)
    fresh = Path(tempfile.mkdtemp(prefix="jars-", dir=TARGET))
    try:
        goal = ["dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={fresh}"]
        command = [maven, "-B", "-q", "-f", str(HERE / "pom.xml"), *goal]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode or len(list(fresh.glob("*.jar"))) < JARS_MIN:
            raise Missing(f"maven could not copy the jars of HBase:\n{done.stdout}{done.stderr}")
        fresh.chmod(0o755)
        fresh.rename(folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)

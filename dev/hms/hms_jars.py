"""The jars of a Hive Metastore: pyspark's own, and PostgreSQL's driver, copied by maven once into target/."""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGET = HERE / "target"


class Missing(RuntimeError):
    """A program that has to be installed first; the text says which and how."""


def java() -> str:
    """The path of `java`.

    Raises:
        Missing: there is none.
    """
    found = shutil.which("java")
    if not found:
        raise Missing("the Hive Metastore needs Java 17: there is no `java` on the PATH")
    return found


def spark_jars() -> Path:
    """The folder of pyspark's jars, which hold the Hive Metastore 2.3.10.

    Raises:
        Missing: pyspark is not installed, or has no Hive.
    """
    found = importlib.util.find_spec("pyspark")
    folder = Path(found.origin).parent / "jars" if found and found.origin else None
    if folder is None or not list(folder.glob("hive-metastore-*.jar")):
        raise Missing(f"there is no pyspark with Hive's jars for {sys.executable}: install pyspark")
    return folder


def metastore_version() -> str:
    """The Hive Metastore's version, as its jar says."""
    (jar,) = spark_jars().glob("hive-metastore-*.jar")
    return jar.stem.rpartition("-")[2]


def postgresql_driver() -> Path:
    """The folder of PostgreSQL's JDBC driver, filled by maven when it is not there yet (1 MB).

    Raises:
        Missing: there is no maven, or it could not get the jar.
    """
    folder = TARGET / f"jars-{hashlib.sha256((HERE / 'pom.xml').read_bytes()).hexdigest()[:8]}"
    if folder.is_dir():
        return folder
    maven = shutil.which("mvn")
    if not maven:
        raise Missing("PostgreSQL's JDBC driver is not here yet and there is no `mvn` on the PATH to get it")
    TARGET.mkdir(parents=True, exist_ok=True)
    with (TARGET / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            _copy(maven, folder)
    return folder


def _copy(maven: str, folder: Path) -> None:
    fresh = Path(tempfile.mkdtemp(prefix="jars-", dir=TARGET))
    try:
        goal = ["dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={fresh}"]
        command = [maven, "-B", "-q", "-f", str(HERE / "pom.xml"), *goal]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode or not list(fresh.glob("postgresql-*.jar")):
            raise Missing(f"maven could not copy PostgreSQL's driver:\n{done.stdout}{done.stderr}")
        fresh.chmod(0o755)
        fresh.rename(folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)

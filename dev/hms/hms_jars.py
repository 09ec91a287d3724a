"""The jars of a Hive Metastore: pyspark's own, and PostgreSQL's driver, copied by maven once into target/."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
from maven_jars import Missing, maven_jars

HERE = Path(__file__).resolve().parent


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
    """The folder of PostgreSQL's JDBC driver, filled by maven when it is not there yet.

    Raises:
        Missing: there is no maven, or it could not get the jar.
    """
    return maven_jars(
        HERE / "pom.xml",
        what="the jars of PostgreSQL's JDBC driver (1 MB)",
        expected="postgresql-*.jar",
        at_least=1,
        hint="Install maven, or use Derby",
    )

"""The jars of Hive's query planner, each with most of what it needs inside, and of HiveServer2."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
from maven_jars import Missing, maven_jars

HERE = Path(__file__).resolve().parent
RELEASES = {"2.3": "2.3.10", "3.1": "3.1.3", "4.0": "4.0.1", "4.1": "4.1.0"}
"""The version of each release."""
_OF_SPARK = """
hadoop-client-api hadoop-client-runtime commons-lang commons-logging commons-cli commons-codec commons-io
commons-collections guava jcl-over-slf4j slf4j-api log4j-api log4j-core log4j-1.2-api log4j-slf4j2-impl stax-api
libthrift libfb303 antlr-runtime commons-math3 commons-lang3 javax.servlet-api
"""
"""What it needs of pyspark's jars: Hadoop's client, and what logs."""


def spark_jars() -> Path:
    """The folder of pyspark's jars.

    Raises:
        Missing: pyspark is not installed.
    """
    found = importlib.util.find_spec("pyspark")
    if not found or not found.origin:
        raise Missing(f"there is no pyspark for {sys.executable}: install pyspark")
    return Path(found.origin).parent / "jars"


def class_path(release: str) -> list[str]:
    """What a JVM needs on its class path for the expressions of a release, 2.3, 3.1, 4.0 or 4.1.

    Raises:
        Missing: pyspark is not installed, or maven could not get the jar.
    """
    spark = spark_jars()
    folder = _planner_jars(release)
    others = [str(jar) for name in _OF_SPARK.split() for jar in sorted(spark.glob(f"{name}[-_][0-9]*.jar"))]
    return [*(str(jar) for jar in folder.glob("*.jar")), *others]


def planner(release: str) -> Path:
    """The jar of a release's planner.

    Raises:
        Missing: maven could not get it.
    """
    (jar,) = _planner_jars(release).glob("hive-exec-*.jar")
    return jar


def _planner_jars(release: str) -> Path:
    size = {"2.3": 44, "3.1": 40, "4.0": 80, "4.1": 89}[release]
    return maven_jars(
        HERE / f"pom-{release}.xml",
        what=f"Hive {RELEASES[release]}'s planner ({size} MB)",
        expected="hive-exec-*.jar",
        at_least=1,
        hint="Install maven",
    )


def server_jars() -> Path:
    """The folder of what HiveServer2 4.0 needs beside the class paths of its planner and of its metastore.

    Raises:
        Missing: maven could not get the jars.
    """
    return maven_jars(
        HERE / "pom-server-4.0.xml",
        what="HiveServer2 4.0.1 (15 MB)",
        expected="hive-service-[0-9]*.jar",
        at_least=1,
        hint="Install maven",
    )

"""The jars of Hive's JDBC drivers: pyspark's own of 2.3, and those of 3.1 and 4.0, each in one jar."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
from maven_jars import Missing, maven_jars

HERE = Path(__file__).resolve().parent
RELEASES = {"2.3": "2.3.10", "3.1": "3.1.3", "4.0": "4.0.1"}
"""The driver of each release."""
# Driver 2.3 reads pages of rows by classes of Hive's server, which Spark's Thrift server has.
_DRIVER_2_3 = """
hive-jdbc hive-service-rpc spark-hive-thriftserver hive-common hive-serde hive-storage-api libthrift httpclient httpcore
commons-codec commons-lang3 guava jcl-over-slf4j slf4j-api spark-common-utils-java log4j-api
"""
_BEELINE = """
hive-beeline hive-shims hive-shims-common hive-exec commons-cli commons-io commons-lang jline super-csv
hadoop-client-api hadoop-client-runtime log4j-core log4j-slf4j2-impl log4j-1.2-api spark-common-utils scala-library
"""


def spark_jars() -> Path:
    """The folder of pyspark's jars.

    Raises:
        Missing: pyspark is not installed, or has no Hive.
    """
    found = importlib.util.find_spec("pyspark")
    folder = Path(found.origin).parent / "jars" if found and found.origin else None
    if folder is None or not list(folder.glob("hive-jdbc-*.jar")):
        raise Missing(f"there is no pyspark with Hive's jars for {sys.executable}: install pyspark")
    return folder


def class_path(release: str) -> list[str]:
    """What a JVM needs on its class path for a driver, of release 2.3, 3.1 or 4.0.

    Raises:
        Missing: pyspark is not installed, or maven could not get the jar.
    """
    if release == "2.3":
        return _of_spark(_DRIVER_2_3)
    size = {"3.1": 73, "4.0": 44}[release]
    folder = maven_jars(
        HERE / f"pom-{release}.xml",
        what=f"Hive's JDBC driver {RELEASES[release]} ({size} MB)",
        expected="hive-jdbc-*-standalone.jar",
        at_least=1,
        hint="Install maven, or use the driver 2.3",
    )
    return [str(jar) for jar in folder.glob("*.jar")]


def beeline_class_path() -> list[str]:
    """What beeline 2.3 needs, with its driver.

    Raises:
        Missing: pyspark is not installed.
    """
    return _of_spark(_DRIVER_2_3 + _BEELINE)


def _of_spark(names: str) -> list[str]:
    """The jars of these names, whatever their versions are."""
    folder = spark_jars()
    return [str(jar) for name in names.split() for jar in sorted(folder.glob(f"{name}[-_][0-9]*.jar"))]

"""The jars of a Hive Metastore: pyspark's own of 2.3, or those of 4.0, PostgreSQL's driver."""

from __future__ import annotations

import importlib.util
import shutil
import sys
import tarfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
from maven_jars import Missing, maven_jars

HERE = Path(__file__).resolve().parent
CLIENTS = {"3.1": "3.1.3", "4.0": "4.0.1", "4.1": "4.1.0"}
"""The Java client of each release."""
_CLIENT_SIZES = {"3.1": 23, "4.1": 65}


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


def class_path(release: str) -> list[str]:
    """What the JVM of a Hive Metastore of a release, 2.3 or 4.0, has on its class path.

    Raises:
        Missing: pyspark is not installed, or maven could not get the jars.
    """
    if release == "2.3":
        return [f"{spark_jars()}/*"]
    return [f"{four_jars()}/*", *_of_spark()]


def four_jars() -> Path:
    """The folder of the jars of a Hive Metastore 4.0, filled by maven when it is not there yet.

    Raises:
        Missing: there is no maven, or it could not get the jars.
    """
    return maven_jars(
        HERE / "pom-4.0.xml",
        what="the jars of a Hive Metastore 4.0 (75 MB)",
        expected="hive-standalone-metastore-server-*.jar",
        at_least=1,
        hint="Install maven, or use the Hive Metastore 2.3",
    )


def postgresql_schema(release: str) -> str:
    """Hive's SQL for the database of a release on PostgreSQL; empty for 2.3, which makes its tables itself.

    A Hive Metastore 4 does not make the tables of locks and transactions.

    Raises:
        Missing: there is no maven, or it could not get the distribution.
    """
    if release == "2.3":
        return ""
    folder = maven_jars(
        HERE / "pom-4.0-scripts.xml",
        what="the distribution of a Hive Metastore 4.0 (79 MB)",
        expected="*-bin.tar.gz",
        at_least=1,
        hint="Install maven, or use Derby",
    )
    (archive,) = folder.glob("*-bin.tar.gz")
    with tarfile.open(archive) as members:
        (name,) = (one for one in members.getnames() if one.endswith("/hive-schema-4.0.0.postgres.sql"))
        script = members.extractfile(name)
        assert script is not None
        return script.read().decode()


def client_class_path(release: str) -> list[str]:
    """What a JVM has on its class path for the Java client of a release, 3.1, 4.0 or 4.1.

    Raises:
        Missing: pyspark is not installed, or maven could not get the jars.
    """
    if release == "4.0":
        return class_path(release)
    folder = maven_jars(
        HERE / f"pom-client-{release}.xml",
        what=f"the jars of Hive's client {CLIENTS[release]} ({_CLIENT_SIZES[release]} MB)",
        expected="hive-standalone-metastore-*.jar",
        at_least=1,
        hint="Install maven, or use the client 2.3",
    )
    return [f"{folder}/*", *_of_spark()]


def iceberg_jars() -> Path:
    """The folder of the jars of Iceberg's catalog on a Hive Metastore, which needs a client of Hive beside.

    Raises:
        Missing: there is no maven, or it could not get the jars.
    """
    return maven_jars(
        HERE / "pom-iceberg.xml",
        what="the jars of Iceberg (14 MB)",
        expected="iceberg-hive-metastore-*.jar",
        at_least=1,
        hint="Install maven",
    )


def _of_spark() -> list[str]:
    """What clients and metastores need of pyspark's jars; not all of them: they hold the same classes of Hive 2.3."""
    wanted = ("hadoop-client-api", "hadoop-client-runtime", "jcl-over-slf4j", "commons-cli", "gson")
    return [str(jar) for name in wanted for jar in spark_jars().glob(f"{name}-*.jar")]


def metastore_version(release: str = "2.3") -> str:
    """The Hive Metastore's version, as its jar says."""
    if release == "2.3":
        (jar,) = spark_jars().glob("hive-metastore-*.jar")
    else:
        (jar,) = four_jars().glob("hive-standalone-metastore-server-*.jar")
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

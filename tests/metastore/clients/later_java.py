"""Java clients of Hive 3.1, 4.0 and 4.1 in JVMs of their own, and a real Hive Metastore 4.0 to compare with."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from py4j import java_gateway, protocol
from py4j.java_gateway import GatewayParameters, JavaGateway

from tests.hive_expressions.hive import hive_jars
from tests.metastore.clients.java import Java
from tests.quick_java import OPTIONS, quick_java

DEV_HMS = Path(__file__).parents[3] / "dev" / "hms"
RELEASES = ("3.1", "4.0", "4.1")


def dev_hms(name):
    """A module of dev/hms, which is no package's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(DEV_HMS)
        return importlib.import_module(name)


@contextmanager
def client_machine(release, folder, *, iceberg=False):
    """A JVM with the client of a release, which ends with the block; what it says is in a file of a folder.

    Args:
        release: one of `RELEASES`.
        folder: where its log goes.
        iceberg: whether it has Iceberg's catalog as well.
    """
    java_gateway.get_return_value = protocol.get_return_value  # a Spark that ran before has left its own
    jars = dev_hms("hms_jars")
    (py4j,) = jars.spark_jars().glob("py4j-*.jar")
    path = jars.client_class_path(release)
    if iceberg:
        # Iceberg names settings by constants of HiveConf that Hive 4 renamed: this class alone is of Hive 3.1.
        path = [f"{jars.iceberg_jars()}/*", *path, str(hive_jars().planner("3.1"))]
    opened = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in ("java.lang", "java.net", "java.util")]
    command = [
        "java",
        *OPTIONS.split(),
        *opened,
        "-Xmx512m",
        "-Djava.net.preferIPv4Stack=true",
        "-cp",
        ":".join([*path, str(py4j)]),
    ]
    with (
        (folder / f"client-{release}.log").open("wb") as log,
        subprocess.Popen(
            [*command, "py4j.GatewayServer", "--die-on-broken-pipe", "0"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
        ) as java,
    ):
        try:
            port = int(java.stdout.readline())
            # Objects are not given back one by one: some are forgotten here only when the JVM has ended.
            parameters = GatewayParameters(port=port, auto_convert=True, enable_memory_management=False)
            gateway = JavaGateway(gateway_parameters=parameters)
            yield Java(gateway, "org.apache.hadoop.hive.metastore.conf.MetastoreConf.newMetastoreConf")
            gateway.close()
        finally:
            java.stdin.close()  # which it takes for its end
            java.wait()


@contextmanager
def hive_metastore_4(settings=(), beside=()):
    """A real Hive Metastore 4.0 that ends with the block: its URI, its warehouse, and what its database is.

    Args:
        settings: more of Hive's, as pairs.
        beside: jars beside its own.
    """
    folder = Path(tempfile.mkdtemp(prefix="hbstore-hms-"))
    folder.chmod(0o711)  # PostgreSQL runs as another user
    settings = {
        **dict(settings),
        "metastore.metadata.transformer.class": " ",  # managed tables are not made external ones
        "metastore.warehouse.external.dir": f"file:{folder}/warehouse",
    }
    made = dev_hms("dev_hms").DevHms(
        folder, heap="700m", guarded=True, release="4.0", settings=settings, jars=[Path(jar) for jar in beside]
    )
    try:
        with quick_java():
            made.start()
        yield f"thrift://127.0.0.1:{made.port}", folder / "warehouse", made.database
    finally:
        made.remove()
        shutil.rmtree(folder, ignore_errors=True)

"""HiveServer2 4.0.1 as a process over a metastore, and a session that tells what becomes of statements."""

from __future__ import annotations

import os
import re
import socket
import subprocess
from contextlib import contextmanager

from py4j.protocol import Py4JJavaError

from tests.hive_expressions.hive import OPEN, hive_jars
from tests.hiveserver2.clients.jdbc import rows
from tests.metastore.clients.later_java import DEV_HMS, dev_hms
from tests.pauses import until
from tests.quick_java import OPTIONS

HOST = "127.0.0.1"
SHOWN = 4000
CLOCK = re.compile(r"\w{3} \w{3} \d\d \d\d:\d\d:\d\d \w+ \d{4}")
"""A time as Hive shows it."""
SECONDS = re.compile(r"(?<!\d)1[78]\d{8}(\d{3})?(?!\d)")
"""A time as a parameter has it, or that of a file."""

BROKEN = "Error running query"
"""What HiveServer2 says where a class is missing, or it has an error of its own."""

WORDING = re.compile(r"(AlreadyExistsException\(message:).*", re.DOTALL)
"""What a metastore says about it in its own words."""


@contextmanager
def hive_server(uri, warehouse, folder):
    """HiveServer2 over a metastore; its port. It ends with the block.

    It runs what it cannot read by itself as MapReduce in its own process, which needs no further jars.
    """
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port = probe.getsockname()[1]
    settings = {
        "hive.metastore.uris": uri,
        "hive.metastore.warehouse.dir": warehouse,
        "hive.metastore.warehouse.external.dir": warehouse,
        "hive.server2.thrift.port": port,
        "hive.server2.thrift.bind.host": HOST,
        "hive.server2.webui.port": 0,
        "hive.notification.event.poll.interval": "0s",  # which the metastore to compare with has no table for
        "hive.server2.enable.doAs": "false",
        "hive.server2.logging.operation.enabled": "false",
        "hive.server2.tez.initialize.default.sessions": "false",
        "hive.execution.engine": "mr",
        "hive.exec.dynamic.partition.mode": "nonstrict",
        "hive.exec.drop.ignorenonexistent": "false",
        "hive.exec.scratchdir": folder / "scratch",
        "hive.exec.local.scratchdir": folder / "local",
        "hive.async.log.enabled": "false",
        "hive.log4j.file": DEV_HMS / "hive-log4j2.properties",
    }
    planner, *others = hive_jars().class_path("4.0")
    # The planner's parser comes before the metastore's, and the metastore's jars before later ones of pyspark.
    path = [f"{hive_jars().server_jars()}/*", planner, f"{dev_hms('hms_jars').four_jars()}/*", *others]
    confs = [text for name, value in settings.items() for text in ("--hiveconf", f"{name}={value}")]
    command = ["java", *OPTIONS.split(), "-Xmx900m", *OPEN, "-cp", os.pathsep.join(path)]
    log = folder / "hive-server.log"
    with (
        log.open("wb") as said,
        subprocess.Popen(
            [*command, "org.apache.hive.service.server.HiveServer2", *confs], stdout=said, stderr=said, cwd=folder
        ) as java,
    ):
        try:
            until(lambda: _listens(port) or java.poll() is not None, 120)
            assert java.poll() is None, log.read_text(errors="replace")[-SHOWN:]
            yield port
        finally:
            java.kill()


def _listens(port):
    try:
        socket.create_connection((HOST, port), timeout=60).close()
    except OSError:
        return False
    return True


class Session:
    """A session of HiveServer2 through Hive's JDBC driver.

    Args:
        driver: a JVM with the driver.
        port: the server's.
        folders: those of the run, which outcomes name alike for all runs.
    """

    def __init__(self, driver, port, folders):
        self._connection = driver.connect(f"jdbc:hive2://{HOST}:{port}/default", "root")
        self._folders = folders

    def run(self, statement):
        """The rows of a statement, or what it failed with, without what no two runs agree on."""
        opened = self._connection.createStatement()
        try:
            if not opened.execute(statement):
                return []
            return [[self._plain(value) for value in row] for row in rows(opened.getResultSet())]
        except Py4JJavaError as error:
            message = error.java_exception.getMessage()
            assert message != BROKEN, f"{statement}: see the log of HiveServer2"
            return "FAILED: " + WORDING.sub(r"\1", self._plain(message))
        finally:
            opened.close()

    def close(self):
        """End the session."""
        self._connection.close()

    def _plain(self, value):
        if not isinstance(value, str):
            return value
        for folder in self._folders:
            value = value.replace(f"file://{folder}", "ROOT").replace(f"file:{folder}", "ROOT").replace(folder, "ROOT")
        return SECONDS.sub("SECONDS", CLOCK.sub("TIME", value)).strip()

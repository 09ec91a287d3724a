"""A JVM with one of Hive's JDBC drivers, driven through py4j: each call of a test is a call of java.sql."""

from __future__ import annotations

import importlib
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import pytest
from py4j import java_gateway, protocol
from py4j.java_gateway import GatewayParameters, JavaGateway
from py4j.protocol import Py4JJavaError

from tests.quick_java import OPTIONS

DEV_JDBC = Path(__file__).parents[3] / "dev" / "jdbc"
RELEASES = ("2.3", "3.1", "4.0")
TRANSPORTS = {"sasl": "", "nosasl": ";auth=noSasl", "http": ";transportMode=http;httpPath=cliservice"}
"""What a URL says for each."""


def jdbc_jars():
    """The module dev/jdbc/jdbc_jars.py, which is no package's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(DEV_JDBC)
        return importlib.import_module("jdbc_jars")


@dataclass(frozen=True, slots=True)
class SqlError:
    """What a statement threw."""

    kind: str
    state: str | None
    code: int
    message: str


class Driver:
    """A JVM with a driver of a release.

    Attributes:
        release: of the driver.
        jvm: py4j's view of the JVM.
    """

    def __init__(self, release, gateway):
        self.release = release
        self.jvm = gateway.jvm
        self._gateway = gateway
        self.named("org.apache.hive.jdbc.HiveDriver")

    def named(self, name):
        """A class as an object of java.lang.Class."""
        return self.jvm.java.lang.Class.forName(name)

    def connect(self, url, user="ann"):
        """A connection."""
        return self.jvm.java.sql.DriverManager.getConnection(url, user, "")

    def texts(self, *values):
        """An array of Java's strings."""
        made = self._gateway.new_array(self.jvm.java.lang.String, len(values))
        for at, value in enumerate(values):
            made[at] = value
        return made


@contextmanager
def driver(release, folder):
    """A JVM that ends with the block; what it says is in a file of a folder."""
    jars = jdbc_jars()
    (py4j,) = jars.spark_jars().glob("py4j-*.jar")
    path = ":".join([*jars.class_path(release), str(py4j)])
    command = ["java", *OPTIONS.split(), "-Xmx512m", "-cp", path, "py4j.GatewayServer", "--die-on-broken-pipe", "0"]
    with (
        (folder / f"driver-{release}.log").open("wb") as log,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log) as java,
    ):
        try:
            port = int(java.stdout.readline())
            java_gateway.get_return_value = protocol.get_return_value  # a Spark that ran before has left its own
            gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port, auto_convert=True))
            yield Driver(release, gateway)
            gateway.close()
        finally:
            java.stdin.close()  # which it takes for its end
            java.wait()


def throws(call, *arguments):
    """The SQLException of a call that has to fail."""
    with pytest.raises(Py4JJavaError) as caught:
        call(*arguments)
    return error_of(caught.value)


def error_of(raised):
    """A SQLException as its parts."""
    error = raised.java_exception
    return SqlError(
        error.getClass().getSimpleName(), error.getSQLState(), error.getErrorCode(), error.getMessage() or ""
    )


def plain(value):
    """A value of a result: numbers, texts and bytes as they are, others as `class: text`."""
    if value is None or isinstance(value, bool | int | float | str | bytes | Decimal):
        return value
    if isinstance(value, bytearray):
        return bytes(value)
    if hasattr(value, "getClass"):
        return f"{value.getClass().getSimpleName()}: {value.toString()}"
    return str(value)


def rows(result):
    """All rows that are left, by getObject."""
    count = result.getMetaData().getColumnCount()
    all_ = []
    while result.next():
        all_.append(tuple(plain(result.getObject(at)) for at in range(1, count + 1)))
    return all_


def columns(result):
    """The names and types of the columns."""
    told = result.getMetaData()
    return [(told.getColumnLabel(at), told.getColumnTypeName(at)) for at in range(1, told.getColumnCount() + 1)]


@contextmanager
def statement(connection):
    """A statement that is closed at the end of the block."""
    opened = connection.createStatement()
    try:
        yield opened
    finally:
        opened.close()


def ask(connection, text):
    """The rows of a statement."""
    with statement(connection) as one:
        return rows(one.executeQuery(text))


def run(connection, text):
    """Whether a statement has rows, and how many rows it changed."""
    with statement(connection) as one:
        return one.execute(text), one.getUpdateCount()

"""Hive 2.3's own Java client in a JVM of this session, driven through pyspark's gateway.

The JVM can hold Hive's own metastore as well, over a database in memory, for comparing what both answer.
"""

from __future__ import annotations

import json
import socket
from contextlib import contextmanager

from py4j import java_gateway, protocol
from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JJavaError
from pyspark import SparkConf
from pyspark.java_gateway import launch_gateway

from tests.quick_java import OPTIONS

HOST = "127.0.0.1"
API = "org.apache.hadoop.hive.metastore.api"
DATABASE = {
    "javax.jdo.option.ConnectionURL": "jdbc:derby:memory:reference;create=true",
    "javax.jdo.option.ConnectionDriverName": "org.apache.derby.jdbc.EmbeddedDriver",
    "datanucleus.connectionPoolingType": "HikariCP",  # the pool that is among the jars
    "datanucleus.schema.autoCreateAll": "true",
    "hive.metastore.schema.verification": "false",
}

KINDS = (
    "org.apache.thrift.TBase",
    "java.util.Map",
    "java.util.Collection",
    "org.apache.hadoop.hive.metastore.partition.spec.PartitionSpecProxy",
)
"""Classes whose objects become more than their text."""


class Java:
    """A JVM with Hive's classes.

    Args:
        gateway: py4j's.
        configuration: what makes a new configuration of Hive's, a class or a static method.

    Attributes:
        jvm: the gateway's view of it: ``java.jvm.java.lang.Math.abs(-1)``.
    """

    def __init__(self, gateway, configuration="org.apache.hadoop.hive.conf.HiveConf"):
        self.jvm = gateway.jvm
        self._gateway = gateway
        self._configuration = configuration
        self._kinds = {}
        self._json = self.named("org.apache.thrift.protocol.TSimpleJSONProtocol$Factory")

    def named(self, name):
        """A class or an enumeration's constant by its full name, as ``a.b.Outer$Inner``."""
        found = self.jvm
        for part in name.split("."):
            found = getattr(found, part)
        return found

    def api(self, name):
        """A class of the service, or a constant: ``api("PrincipalType.USER")``."""
        return self.named(f"{API}.{name}")

    def struct(self, name, /, **fields):
        """A struct of the service with these fields set."""
        made = self.api(name)()
        for field, value in fields.items():
            getattr(made, f"set{field[0].upper()}{field[1:]}")(value)
        return made

    def texts(self, *texts):
        """An array of texts."""
        array = self._gateway.new_array(self.jvm.java.lang.String, len(texts))
        for at, text in enumerate(texts):
            array[at] = text
        return array

    def client(self, uri, settings=()):
        """A connection to a metastore; settings are Hive's, as pairs."""
        conf = self.named(self._configuration)()
        for name, value in (("hive.metastore.uris", uri), *settings):
            conf.set(name, value)
        return self.jvm.org.apache.hadoop.hive.metastore.HiveMetaStoreClient(conf)

    def plain(self, value):
        """A result as JSON has it: of a struct the fields that are set, by name."""
        if not isinstance(value, JavaObject):
            return value.decode("latin-1") if isinstance(value, (bytes, bytearray)) else value
        kind = self._kind(value)
        if kind == "org.apache.thrift.TBase":
            # A serializer writes one struct at a time, and conversations run side by side.
            return json.loads(self.jvm.org.apache.thrift.TSerializer(self._json()).toString(value))
        if kind == "java.util.Map":
            return {str(self.plain(key)): self.plain(one) for key, one in value.items()}
        if kind == "java.util.Collection":
            return [self.plain(one) for one in value]
        if kind == "org.apache.hadoop.hive.metastore.partition.spec.PartitionSpecProxy":
            return self.plain(value.toPartitionSpec())
        return value.toString()

    def _kind(self, value):
        """Which of KINDS a Java object is; None: another."""
        name = value.getClass().getName()
        if name not in self._kinds:
            self._kinds[name] = next((kind for kind in KINDS if self.is_a(value, kind)), None)
        return self._kinds[name]

    def is_a(self, value, name):
        """Whether a Java object is of a class."""
        return self.jvm.java.lang.Class.forName(name).isInstance(value)


def exception(error: Py4JJavaError):
    """What was thrown: the class's name without its package."""
    return error.java_exception.getClass().getSimpleName()


@contextmanager
def java_machine(folder):
    """A JVM that ends with the block; its log and Derby's files are in a folder.

    A Spark that ran in this process before has left its own reading of Java's errors, which asks a Spark that runs.
    """
    java_gateway.get_return_value = protocol.get_return_value
    conf = SparkConf(loadDefaults=False)
    conf.set("spark.driver.memory", "512m")
    conf.set(
        "spark.driver.extraJavaOptions",
        f"{OPTIONS} -Djava.net.preferIPv4Stack=true -Dderby.system.home={folder}",
    )
    with (folder / "java.log").open("wb") as log:
        gateway = launch_gateway(conf, {"stdout": log, "stderr": log})
        try:
            gateway.jvm.org.apache.logging.log4j.core.config.Configurator.setRootLevel(
                gateway.jvm.org.apache.logging.log4j.Level.ERROR
            )
            yield Java(gateway)
        finally:
            gateway.shutdown()
            gateway.proc.stdin.close()  # which it takes for its end
            gateway.proc.wait()


def start_reference(java, warehouse):
    """Start Hive's own metastore in the JVM; its URI."""
    system = java.jvm.java.lang.System
    for name, value in DATABASE.items():
        system.setProperty(name, value)  # some of its parts make configurations of their own
    conf = java.jvm.org.apache.hadoop.hive.conf.HiveConf()
    conf.set("hive.metastore.warehouse.dir", f"file:{warehouse}")
    conf.set("hive.metastore.aggregate.stats.cache.enabled", "false")  # it answers what was true before
    java.jvm.org.apache.hadoop.hive.metastore.txn.TxnDbUtil.prepDb(conf)
    bridge = java.jvm.org.apache.hadoop.hive.shims.ShimLoader.getHadoopThriftAuthBridge()
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port = probe.getsockname()[1]
    java.jvm.org.apache.hadoop.hive.metastore.MetaStoreUtils.startMetaStore(port, bridge, conf)
    return f"thrift://{HOST}:{port}"

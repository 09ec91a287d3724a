"""A real HBase of several processes on a real HDFS: ZooKeeper, a master, two region servers, the Thrift gateway."""

from __future__ import annotations

import shutil
import string
import sys
from collections.abc import Callable
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.hbase_server import load_dev_hbase
from tests.hdfs_server import real_hdfs
from tests.pauses import until

START_SECONDS = 120
SESSION = 6_000
"""Milliseconds without a word after which a region server is dead."""

CHANGED = {
    "hbase.cluster.distributed": "true",
    "hbase.master.wait.on.regionservers.mintostart": "2",
    "hbase.master.wait.on.regionservers.maxtostart": "2",
    "hbase.unsafe.stream.capability.enforce": "true",
    "hbase.zookeeper.property.tickTime": str(SESSION // 3),
    "zookeeper.session.timeout": str(SESSION),
    "hbase.client.retries.number": "30",
    "hbase.client.operation.timeout": "60000",
    "dfs.replication": "1",
}
"""What differs from the configuration of dev/hbase."""


@dataclass(frozen=True)
class Cluster:
    """A running cluster.

    Attributes:
        url: of stores in it, without a prefix.
        region_servers: the processes of the region servers by their names.
        start: starts the region server of a name.
    """

    url: str
    region_servers: dict[str, object]
    start: Callable[[str], None]

    def replace(self, name):
        """Kill a region server and start another one in its place."""
        self.region_servers[name].signal(9)
        assert self.region_servers[name].wait(START_SECONDS)
        self.start(name)


@contextmanager
def real_cluster(folder: Path):
    """A cluster in a folder, which ends with the block."""
    dev = load_dev_hbase()
    jars, processes = sys.modules["hbase_jars"], sys.modules["processes"]
    with ExitStack() as stack:
        hdfs = stack.enter_context(real_hdfs(folder / "hdfs"))
        home = folder / "hbase"
        ports = dict(zip((*dev.PORTS, "second_port"), processes.free_ports(5), strict=True))
        _configure(home, ports, f"hdfs://127.0.0.1:{hdfs.rpc}/hbase")
        watchdog = processes.Watchdog()
        stack.callback(watchdog.close)
        java = [jars.java(), "-Xmx512m", *dev._JAVA_OPTIONS, *dev._QUICK_OPTIONS, "-cp", f"{home}/conf:{jars.jars()}/*"]

        def started(name, main, *arguments):
            process = processes.spawned([*java, main, *arguments], home / f"{name}.log", home, ("HBASE_", "HADOOP_"))
            stack.callback(process.wait, 30)
            stack.callback(process.signal, 9)
            watchdog.watch(process.pid)
            return process

        servers = {}

        def region_server(name):
            port = f"-Dhbase.regionserver.port={ports[name]}"
            servers[name] = started(name, "org.apache.hadoop.hbase.regionserver.HRegionServer", port, "start")

        parts = [
            started("zookeeper", "org.apache.hadoop.hbase.zookeeper.HQuorumPeer", "start"),
            started("master", "org.apache.hadoop.hbase.master.HMaster", "start"),
        ]
        region_server("region_port")
        region_server("second_port")
        arguments = ("start", "-p", str(ports["thrift_port"]), "--bind", "127.0.0.1")
        parts.append(started("thrift", "org.apache.hadoop.hbase.thrift.ThriftServer", *arguments))
        until(lambda: dev.answers(ports["thrift_port"]), START_SECONDS)
        assert all(part.alive() for part in (*parts, *servers.values()))
        yield Cluster(f"hbase://127.0.0.1:{ports['thrift_port']}", servers, region_server)


def _configure(home: Path, ports: dict[str, int], root: str) -> None:
    (home / "conf").mkdir(parents=True)
    dev = load_dev_hbase()
    text = string.Template((dev.HERE / "hbase-site.xml").read_text()).substitute(ports, data=home / "data")
    end = "</configuration>"
    for name, value in {**CHANGED, "hbase.rootdir": root}.items():  # what comes last counts
        text = text.replace(end, f"<property><name>{name}</name><value>{value}</value></property>\n{end}")
    (home / "conf" / "hbase-site.xml").write_text(text)
    shutil.copy(dev.HERE / "log4j2.properties", home / "conf")

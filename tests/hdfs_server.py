"""A real HDFS for tests: a NameNode and a DataNode of the Hadoop that is among the jars of dev/hbase. Never a mock."""

from __future__ import annotations

import json
import sys
import urllib.error
import urllib.request
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.hbase_server import load_dev_hbase
from tests.pauses import until
from tests.quick_java import quick_java

STATE = "/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState"
OPEN = [word for name in ("lang", "net") for word in ("--add-opens", f"java.base/java.{name}=ALL-UNNAMED")]
"""What libraries of this age reach into."""

FOLDER = "/results"
NODES = ("namenode.NameNode", "datanode.DataNode")


@dataclass(frozen=True, slots=True)
class Hdfs:
    """Where an HDFS is.

    Attributes:
        rpc: the port of its own protocol.
        http: that of WebHDFS, its REST interface.
    """

    rpc: int
    http: int

    @property
    def url(self) -> str:
        """The folder in it that Spark and the libraries of Python both reach, without Hadoop's native library."""
        return f"webhdfs://127.0.0.1:{self.http}{FOLDER}"

    @property
    def spark_conf(self) -> dict[str, str]:
        """Spark reaches the same files under `url` by the other protocol with this: its jars lack parts of WebHDFS."""
        return {
            "spark.hadoop.fs.webhdfs.impl": "org.apache.hadoop.fs.viewfs.ViewFileSystemOverloadScheme",
            "spark.hadoop.fs.viewfs.overload.scheme.target.hdfs.impl": "org.apache.hadoop.hdfs.DistributedFileSystem",
            f"spark.hadoop.fs.viewfs.mounttable.127.0.0.1.link.{FOLDER}": f"hdfs://127.0.0.1:{self.rpc}{FOLDER}",
        }

    def names(self, path: str) -> set[str]:
        """What is in a folder below that one, as HDFS itself says."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.http}/webhdfs/v1{FOLDER}{path}?op=LISTSTATUS") as reply:
            return {one["pathSuffix"] for one in json.load(reply)["FileStatuses"]["FileStatus"]}


@contextmanager
def real_hdfs(folder: Path):
    """An HDFS in a folder, which ends with the block."""
    load_dev_hbase()  # dev's modules can be imported from then on
    jars, processes = sys.modules["hbase_jars"], sys.modules["processes"]
    rpc, http = processes.free_ports(2)
    _configure(folder, rpc, http)
    java = [jars.java(), *OPEN, "-Xmx256m", "-cp", f"{folder}/conf:{jars.jars()}/*"]
    start = [f"org.apache.hadoop.hdfs.server.{name}" for name in NODES]
    with ExitStack() as stack:
        stack.enter_context(quick_java())
        watchdog = processes.Watchdog()
        stack.callback(watchdog.close)

        def started(*command):
            process = processes.spawned([*java, *command], folder / "log", folder, ("HADOOP_",))
            stack.callback(process.wait, 30)
            stack.callback(process.signal, 9)
            watchdog.watch(process.pid)
            return process

        formatted = started(start[0], "-format", "-nonInteractive")
        assert until(lambda: not formatted.alive())
        running = [started(name) for name in start]
        until(lambda: _has_a_data_node(http) or not all(one.alive() for one in running))
        assert all(one.alive() for one in running), (folder / "log").read_text()[-2000:]
        yield Hdfs(rpc, http)


def _configure(folder: Path, rpc: int, http: int) -> None:
    settings = {
        "fs.defaultFS": f"hdfs://127.0.0.1:{rpc}",
        "dfs.namenode.name.dir": f"file://{folder}/names",
        "dfs.namenode.http-address": f"127.0.0.1:{http}",
        "dfs.datanode.data.dir": f"file://{folder}/data",
        **{f"dfs.datanode.{name}address": "127.0.0.1:0" for name in ("", "http.", "ipc.")},
        "dfs.permissions.enabled": "false",
        "dfs.replication": "1",
    }
    values = "".join(
        f"<property><name>{name}</name><value>{value}</value></property>" for name, value in settings.items()
    )
    for name in ("core-site.xml", "hdfs-site.xml"):
        _write(folder / "conf" / name, f"<configuration>{values}</configuration>")
    for name in ("hdfs", "datanode", "static"):  # pages of their own, which the jars do not have
        _write(folder / "conf" / "webapps" / name / "WEB-INF" / "web.xml", "<web-app/>")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _has_a_data_node(http: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{http}{STATE}") as page:
            states = json.load(page)["beans"]
    except (urllib.error.URLError, ConnectionError):
        return False
    return any(one["NumLiveDataNodes"] for one in states)

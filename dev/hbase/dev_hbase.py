"""A real HBase with its Thrift gateway as two JVMs on this machine, without Docker."""

from __future__ import annotations

import json
import shutil
import signal
import string
import sys
import time
from pathlib import Path

from hbase_jars import HERE, jars, java

sys.path.append(str(HERE.parent))
from processes import NotStarted, Process, Watchdog, first_reply, free, free_ports, spawned

PORTS = ("thrift_port", "zookeeper_port", "master_port", "region_port")
START_SECONDS = 90
STOP_SECONDS = 10

# Java 17 hides what HBase's network library and its security classes reach for.
_OPEN = "java.nio sun.nio.ch java.lang jdk.internal.ref java.lang.reflect java.util java.util.concurrent"
_EXPORTED = (
    "java.base/jdk.internal.misc java.security.jgss/sun.security.krb5 java.base/sun.net.dns java.base/sun.net.util"
)
_JAVA_OPTIONS = (
    "-Djava.net.preferIPv4Stack=true",
    "-Dfile.encoding=UTF-8",
    "-Dorg.apache.hbase.thirdparty.io.netty.tryReflectionSetAccessible=true",
    "-XX:+ExitOnOutOfMemoryError",
    "--add-modules=jdk.unsupported",
    *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPEN.split()),
    *(f"--add-exports={package}=ALL-UNNAMED" for package in _EXPORTED.split()),
)
_QUICK_OPTIONS = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""For a server that lives for minutes: half the CPU time to start, and fewer threads beside it."""


class DevHBase:
    """One HBase: a run folder with its configuration, data, logs and pids, and ports of its own on 127.0.0.1.

    Args:
        folder: the run folder; what is in it is used again, data and ports included.
        thrift_port: the port of the Thrift gateway; None for a free one.
        data: the data folder, where it is not to be in the run folder.
        guarded: whether the JVMs end with this process, even one that is killed.
        quick: whether it is to start quickly, rather than run fast in the long run.
    """

    def __init__(
        self,
        folder: Path,
        *,
        thrift_port: int | None = None,
        data: Path | None = None,
        guarded: bool = False,
        quick: bool = False,
    ) -> None:
        self.folder = folder.resolve()
        self.data = (data or self.folder / "data").resolve()
        self.ports: dict[str, int] = {}
        self.processes: dict[str, Process] = {}
        self._wanted_port = thrift_port
        self._watchdog = Watchdog() if guarded else None
        self._options = (*_JAVA_OPTIONS, *(_QUICK_OPTIONS if quick else ()))
        self._load()

    @property
    def port(self) -> int:
        """The Thrift gateway's port."""
        return self.ports["thrift_port"]

    def url(self, prefix: str = "hbstore") -> str:
        """The store URL of this HBase."""
        return f"hbase://127.0.0.1:{self.port}/{prefix}"

    @property
    def master(self) -> Process:
        """HBase itself: master, region server and ZooKeeper in one JVM."""
        return self.processes["hbase"]

    @property
    def gateway(self) -> Process:
        """The Thrift gateway."""
        return self.processes["thrift"]

    def running(self) -> bool:
        """Whether both JVMs run and `tables()` answers."""
        return len(self.processes) == 2 and all(p.alive() for p in self.processes.values()) and answers(self.port)  # noqa: PLR2004

    def start(self) -> None:
        """Start what does not run, and wait until HBase answers.

        Raises:
            Missing: java or maven has to be installed first.
            NotStarted: it did not come up.
        """
        if self.running():
            return
        class_path = jars()
        (self.folder / "conf").mkdir(parents=True, exist_ok=True)
        (self.folder / "logs").mkdir(exist_ok=True)
        self.data.mkdir(parents=True, exist_ok=True)
        if not any(process.alive() for process in self.processes.values()):
            self._take_ports()
        self._configure()
        self.start_hbase(class_path)
        self.start_gateway(class_path)
        deadline = time.monotonic() + START_SECONDS
        while not answers(self.port):
            gone = [name for name, process in self.processes.items() if not process.alive()]
            if gone or time.monotonic() > deadline:
                why = f"{gone[0]} ended" if gone else f"no answer within {START_SECONDS} seconds"
                text = f"HBase did not start: {why}. Logs in {self.folder / 'logs'}:\n{self._log_tail()}"
                self.kill()
                raise NotStarted(text)
            time.sleep(0.1)

    def start_hbase(self, class_path: Path | None = None) -> None:
        """Start HBase's JVM, if it does not run, without waiting for it."""
        self._spawn("hbase", "org.apache.hadoop.hbase.master.HMaster", ["start"], "768m", class_path or jars())

    def start_gateway(self, class_path: Path | None = None) -> None:
        """Start the gateway's JVM, if it does not run, without waiting for it."""
        arguments = ["start", "-p", str(self.port), "--bind", "127.0.0.1"]
        self._spawn("thrift", "org.apache.hadoop.hbase.thrift.ThriftServer", arguments, "384m", class_path or jars())

    def stop(self, grace: float = STOP_SECONDS) -> None:
        """End both JVMs: SIGTERM, and SIGKILL after a grace."""
        for process in self.processes.values():
            process.signal(signal.SIGTERM)
        for process in self.processes.values():
            process.wait(grace)
        self.kill()

    def kill(self) -> None:
        """End both JVMs at once (SIGKILL)."""
        for name in list(self.processes):
            self.kill_one(name)
        if self._watchdog is not None:
            self._watchdog.close()

    def kill_one(self, name: str) -> None:
        """End one JVM at once: ``hbase`` or ``thrift``."""
        process = self.processes[name]
        process.signal(signal.SIGCONT)
        process.signal(signal.SIGKILL)
        process.wait(STOP_SECONDS)
        if self._watchdog is not None:
            self._watchdog.forget(process.pid)
        del self.processes[name]
        self._save()

    def restart(self) -> None:
        """Kill both JVMs and start them on the same data and ports."""
        self.kill()
        self.start()

    def remove(self) -> None:
        """Stop, and delete the data and the run folder."""
        self.kill()
        shutil.rmtree(self.data, ignore_errors=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _spawn(self, name: str, main: str, arguments: list[str], heap: str, class_path: Path) -> None:
        if name in self.processes and self.processes[name].alive():
            return
        options = [java(), f"-Xmx{heap}", "-Xms128m", *self._options, "-cp", f"{self.folder / 'conf'}:{class_path}/*"]
        log = self.folder / "logs" / f"{name}.log"
        process = spawned([*options, main, *arguments], log, self.folder, ("HBASE_", "HADOOP_"))
        self.processes[name] = process
        if self._watchdog is not None:
            self._watchdog.watch(process.pid)
        self._save()

    def _take_ports(self) -> None:
        taken = [port for port in self.ports.values() if not free(port)]
        wanted = self._wanted_port
        if wanted is not None and not free(wanted):
            raise NotStarted(f"port {wanted} is taken: choose another one with --port")
        if taken or not self.ports or wanted not in (None, self.ports["thrift_port"]):
            self.ports = dict(zip(PORTS, free_ports(len(PORTS)), strict=True))
            if wanted is not None:
                self.ports["thrift_port"] = wanted

    def _configure(self) -> None:
        site = string.Template((HERE / "hbase-site.xml").read_text())
        (self.folder / "conf" / "hbase-site.xml").write_text(site.substitute(self.ports, data=self.data))
        shutil.copy(HERE / "log4j2.properties", self.folder / "conf")

    @property
    def _state(self) -> Path:
        return self.folder / "state.json"

    def _save(self) -> None:
        processes = {name: [process.pid, process.began] for name, process in self.processes.items()}
        text = json.dumps({"data": str(self.data), "ports": self.ports, "processes": processes})
        self._state.write_text(text)

    def _load(self) -> None:
        if self._state.exists():
            state = json.loads(self._state.read_text())
            self.ports = state["ports"]
            self.data = Path(state["data"])
            self.processes = {name: Process(pid, start) for name, (pid, start) in state["processes"].items()}

    def _log_tail(self) -> str:
        tails = []
        for log in sorted((self.folder / "logs").glob("*.log")):
            tails += [f"--- {log.name}", *log.read_text(errors="replace").splitlines()[-15:]]
        return "\n".join(tails)


def answers(port: int, timeout: float = 2, host: str = "127.0.0.1") -> bool:
    """Whether HBase behind the Thrift gateway on this port lists its tables."""
    return first_reply(port, b"getTableNames", host, timeout)

"""A real HBase with its Thrift gateway as two JVMs on this machine, without Docker."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import socket
import string
import struct
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from hbase_jars import HERE, jars, java

PORTS = ("thrift_port", "zookeeper_port", "master_port", "region_port")
START_SECONDS = 90
STOP_SECONDS = 10
_WATCHDOG = """
import os, signal, sys
alive = set()
for line in sys.stdin:
    sign, pid = line[0], int(line[1:])
    alive.add(pid) if sign == "+" else alive.discard(pid)
for pid in alive:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
"""
"""Ends the JVMs when its standard input does, which is when the process that started it is gone, however it went."""

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


class NotStarted(RuntimeError):
    """HBase did not come up; the text ends with the last lines of its logs."""


@dataclass
class Process:
    """One JVM, known by its pid and the time it began, so that a pid used again is not taken for it."""

    pid: int
    began: str
    child: subprocess.Popen[bytes] | None = None

    def alive(self) -> bool:
        """Whether it still runs; a child that ended is reaped."""
        if self.child is not None:
            return self.child.poll() is None
        return bool(self.began) and began(self.pid) == self.began

    def signal(self, number: int) -> None:
        """Send a signal, if it still runs."""
        if self.alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def wait(self, seconds: float) -> bool:
        """Whether it ended within this time."""
        deadline = time.monotonic() + seconds
        while self.alive():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True


class DevHBase:
    """One HBase: a run folder with its configuration, data, logs and pids, and ports of its own on 127.0.0.1.

    Args:
        folder: the run folder; what is in it is used again, data and ports included.
        thrift_port: the port of the Thrift gateway; None for a free one.
        data: the data folder, where it is not to be in the run folder.
        guarded: whether the JVMs end with this process, even one that is killed.
    """

    def __init__(
        self, folder: Path, *, thrift_port: int | None = None, data: Path | None = None, guarded: bool = False
    ) -> None:
        self.folder = folder.resolve()
        self.data = (data or self.folder / "data").resolve()
        self.guarded = guarded
        self.ports: dict[str, int] = {}
        self.processes: dict[str, Process] = {}
        self._wanted_port = thrift_port
        self._watchdog: subprocess.Popen[str] | None = None
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
            assert self._watchdog.stdin is not None
            self._watchdog.stdin.close()
            self._watchdog.wait()
            self._watchdog = None

    def kill_one(self, name: str) -> None:
        """End one JVM at once: ``hbase`` or ``thrift``."""
        process = self.processes[name]
        process.signal(signal.SIGCONT)
        process.signal(signal.SIGKILL)
        process.wait(STOP_SECONDS)
        self._watch("-", process.pid)
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
        options = [java(), f"-Xmx{heap}", "-Xms128m", *_JAVA_OPTIONS, "-cp", f"{self.folder / 'conf'}:{class_path}/*"]
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("HBASE_", "HADOOP_"))}
        with (self.folder / "logs" / f"{name}.log").open("ab") as log:
            child = subprocess.Popen(  # noqa: S603
                [*options, main, *arguments],
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.processes[name] = Process(child.pid, began(child.pid), child)
        self._watch("+", child.pid)
        self._save()

    def _watch(self, sign: str, pid: int) -> None:
        if not self.guarded:
            return
        if self._watchdog is None:
            command = [sys.executable, "-I", "-c", _WATCHDOG]
            self._watchdog = subprocess.Popen(  # noqa: S603
                command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, start_new_session=True
            )
        assert self._watchdog.stdin is not None
        self._watchdog.stdin.write(f"{sign}{pid}\n")
        self._watchdog.stdin.flush()

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


def began(pid: int) -> str:
    """When a process began, in whatever form the system tells; empty if it is gone (or a zombie)."""
    stat = Path(f"/proc/{pid}/stat")
    if Path("/proc/self/stat").exists():
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            return ""
        return "" if fields[0] == "Z" else fields[19]
    shown = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)  # noqa: S603, S607
    return shown.stdout.strip()


def free(port: int) -> bool:
    """Whether nothing listens on this port of 127.0.0.1."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def free_ports(count: int) -> list[int]:
    """Free ports below those that outgoing connections take, so that a restart finds them free again."""
    candidates = random.SystemRandom().sample(range(20_000, 32_000), 400)
    return [port for port in candidates if free(port)][:count]


def answers(port: int, timeout: float = 2, host: str = "127.0.0.1") -> bool:
    """Whether HBase behind the Thrift gateway on this port lists its tables.

    The port opens seconds before HBase is ready, so a connection says nothing; this is the call ``getTableNames`` and
    the first bytes of its reply, in Thrift's binary protocol.
    """
    name = b"getTableNames"
    call = struct.pack(">Ii", 0x80010001, len(name)) + name + struct.pack(">iB", 0, 0)
    success = struct.pack(">Ii", 0x80010002, len(name)) + name + struct.pack(">iBh", 0, 15, 0)
    reply = b""
    try:
        with socket.create_connection((host, port), timeout) as gateway:
            gateway.sendall(call)
            while len(reply) < len(success):
                data = gateway.recv(4096)
                if not data:
                    return False
                reply += data
    except OSError:
        return False
    return reply.startswith(success)

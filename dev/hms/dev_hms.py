"""A real Hive Metastore 2.3 or 4.0 on this machine: one JVM, on a PostgreSQL of its own or on Derby."""

from __future__ import annotations

import json
import secrets
import shutil
import signal
import string
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from xml.sax.saxutils import escape

from hms_jars import HERE, class_path, java, metastore_version, postgresql_driver, postgresql_schema
from postgres import Postgres, binaries, owner

sys.path.append(str(HERE.parent))
from maven_jars import Missing
from processes import NotStarted, Process, Watchdog, first_reply, free_ports, spawned

DATABASES = ("auto", "postgresql", "derby")
RELEASES = ("2.3", "4.0")
MAIN = "org.apache.hadoop.hive.metastore.HiveMetaStore"
START_SECONDS = 120
STOP_SECONDS = 10
# Java 17 hides what Hive reaches for.
_OPEN = """
java.lang java.lang.reflect java.io java.net java.nio java.util java.util.concurrent java.util.concurrent.atomic
sun.nio.ch sun.security.action
"""
_JAVA_OPTIONS = (
    "-Djava.net.preferIPv4Stack=true",
    "-Dfile.encoding=UTF-8",
    *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPEN.split()),
)


class DevHms:
    """One Hive Metastore: a run folder with its configuration, database, warehouse, logs and pids, and its own ports.

    Args:
        folder: the run folder; what is in it is used again. PostgreSQL runs as another user than root, who has to be
            able to reach it.
        database: "postgresql", "derby", or "auto": PostgreSQL where its programs are on this machine.
        heap: the JVM's heap.
        guarded: whether all processes end with this one, even one that is killed.
        release: 2.3, which is among pyspark's jars, or 4.0.
        settings: of Hive, beside those of `hive-site.xml`.
        jars: further ones; a Hive Metastore 4.0 has no classes of Hive's expressions.
    """

    def __init__(
        self,
        folder: Path,
        *,
        database: str = "auto",
        heap: str = "1g",
        guarded: bool = False,
        release: str = "2.3",
        settings: Mapping[str, str] = MappingProxyType({}),
        jars: Sequence[Path] = (),
    ) -> None:
        self._settings = settings
        self._jars = jars
        self.folder = folder.resolve()
        self.heap = heap
        self.release = release
        self.ports: dict[str, int] = {}
        self.processes: dict[str, Process] = {}
        self.password = secrets.token_urlsafe(16)
        self.database = database if database != "auto" else "postgresql" if binaries() else "derby"
        self._watchdog = Watchdog((signal.SIGTERM, signal.SIGKILL)) if guarded else None
        self._load()

    @property
    def port(self) -> int:
        """The metastore's port."""
        return self.ports["metastore"]

    @property
    def warehouse(self) -> str:
        """The warehouse's URI."""
        return f"file:{self.folder}/warehouse"

    @property
    def postgres(self) -> Postgres | None:
        """The PostgreSQL under it; None on Derby.

        Raises:
            Missing: its programs are not on this machine.
        """
        if self.database != "postgresql":
            return None
        programs = binaries()
        if programs is None:
            raise Missing("there is no PostgreSQL here (initdb, postgres, psql): install postgresql, or use Derby")
        return Postgres(programs, self.folder / "postgresql", self.ports["postgresql"], self.password)

    def version(self) -> str:
        """As ``Hive Metastore 2.3.10 on PostgreSQL 15.8``."""
        postgres = self.postgres
        return f"Hive Metastore {metastore_version(self.release)} on {postgres.version() if postgres else 'Derby'}"

    def running(self) -> bool:
        """Whether every process runs and the metastore answers."""
        wanted = 2 if self.database == "postgresql" else 1
        alive = [process.alive() for process in self.processes.values()]
        return len(alive) == wanted and all(alive) and answers(self.port)

    def start(self) -> None:
        """Start what does not run, and wait until the metastore answers.

        Raises:
            Missing: something has to be installed first.
            NotStarted: it did not come up.
        """
        if self.running():
            return
        self.stop()
        for name in ("conf", "logs", "warehouse"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        self.ports = dict(zip(("metastore", "postgresql"), free_ports(2), strict=True))
        on_path = [str(self.folder / "conf"), *class_path(self.release), *map(str, self._jars)]
        postgres = self.postgres
        schema = "" if postgres is None else postgresql_schema(self.release)
        if postgres is not None:
            on_path.insert(1, f"{postgresql_driver()}/*")
            postgres.create()
            self._spawn("postgresql", postgres.command(), user=owner())
            self._wait("postgresql", postgres.answers)
            postgres.create_database(schema)
        self._configure(postgres, makes_tables=not schema)
        options = [
            f"-Xmx{self.heap}",
            *_JAVA_OPTIONS,
            f"-Dderby.system.home={self.folder}",
            "-cp",
            ":".join(on_path),
        ]
        self._spawn("metastore", [java(), *options, MAIN, "-p", str(self.port)])
        self._wait("metastore", lambda: answers(self.port))

    def stop(self) -> None:
        """End all processes, the metastore first: SIGTERM, and SIGKILL after a grace."""
        for name in reversed(list(self.processes)):
            process = self.processes[name]
            process.signal(signal.SIGTERM)
            if not process.wait(STOP_SECONDS):
                process.signal(signal.SIGKILL)
                process.wait(STOP_SECONDS)
            del self.processes[name]
            self._save()
        if self._watchdog is not None:
            self._watchdog.close()

    def remove(self) -> None:
        """Stop, and delete the run folder."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _spawn(self, name: str, command: list[str], user: str | None = None) -> None:
        log = self.folder / "logs" / f"{name}.log"
        process = spawned(command, log, Path("/") if user else self.folder, ("HIVE_", "HADOOP_"), user)
        self.processes[name] = process
        if self._watchdog is not None:
            self._watchdog.watch(process.pid)
        self._save()

    def _wait(self, name: str, ready: Callable[[], bool]) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not ready():
            gone = not self.processes[name].alive()
            if gone or time.monotonic() > deadline:
                log = (self.folder / "logs" / f"{name}.log").read_text(errors="replace").splitlines()[-15:]
                self.stop()
                why = "ended" if gone else f"did not answer within {START_SECONDS} seconds"
                raise NotStarted("\n".join([f"the Hive Metastore did not start: {name} {why}; its log:", *log]))
            time.sleep(0.2)

    def _configure(self, postgres: Postgres | None, *, makes_tables: bool) -> None:
        url = postgres.url if postgres else f"jdbc:derby:;databaseName={self.folder}/derby;create=true"
        driver = "org.postgresql.Driver" if postgres else "org.apache.derby.jdbc.EmbeddedDriver"
        site = string.Template((HERE / "hive-site.xml").read_text())
        path = self.folder / "conf" / "hive-site.xml"
        path.touch(mode=0o600)
        external = f"file:{self.folder}/external"
        settings = "".join(
            f"  <property><name>{escape(name)}</name><value>{escape(value)}</value></property>\n"
            for name, value in self._settings.items()
        )
        path.write_text(
            site.substitute(
                url=url,
                driver=driver,
                password=self.password,
                warehouse=self.warehouse,
                external=external,
                makes_tables=str(makes_tables).lower(),
                settings=settings,
            )
        )
        for name in ("hive-log4j2.properties", "log4j2.properties"):  # the second is that of 4.0
            shutil.copy(HERE / "hive-log4j2.properties", self.folder / "conf" / name)

    @property
    def _state(self) -> Path:
        return self.folder / "state.json"

    def _save(self) -> None:
        processes = {name: [process.pid, process.began] for name, process in self.processes.items()}
        state = {
            "database": self.database,
            "release": self.release,
            "password": self.password,
            "ports": self.ports,
            "processes": processes,
        }
        self._state.touch(mode=0o600)
        self._state.write_text(json.dumps(state))

    def _load(self) -> None:
        if self._state.exists():
            state = json.loads(self._state.read_text())
            self.database, self.password, self.ports = state["database"], state["password"], state["ports"]
            self.release = state.get("release", "2.3")
            self.processes = {name: Process(pid, start) for name, (pid, start) in state["processes"].items()}


def answers(port: int, timeout: float = 10) -> bool:
    """Whether a metastore on this port lists its databases."""
    return first_reply(port, b"get_all_databases", "127.0.0.1", timeout)

"""A PostgreSQL of one's own: its binaries, a data folder, a port on 127.0.0.1 and a password."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

_DEBIAN = Path("/usr/lib/postgresql")
USER = "hive"
DATABASE = "metastore"


def binaries() -> Path | None:
    """The folder of PostgreSQL's newest programs on this machine; None where there are none."""
    debian = sorted(_DEBIAN.glob("*/bin"), key=lambda folder: int(folder.parent.name), reverse=True)
    on_path = shutil.which("initdb")
    candidates = [*debian, *([Path(on_path).resolve().parent] if on_path else [])]
    wanted = ("initdb", "postgres", "psql")
    return next((one for one in candidates if all((one / program).exists() for program in wanted)), None)


def owner() -> str | None:
    """The user whom PostgreSQL has to run as: it refuses to run as root. None: the user who asks."""
    if os.geteuid():
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return next((name for name in ("postgres", "nobody") if name in names), None)


@dataclass(frozen=True, slots=True)
class Postgres:
    """One PostgreSQL: programs, data folder, port, password."""

    programs: Path
    data: Path
    port: int
    password: str

    @property
    def url(self) -> str:
        """Its database for JDBC."""
        return f"jdbc:postgresql://127.0.0.1:{self.port}/{DATABASE}"

    def create(self) -> None:
        """Make the data folder, if it is not there, for a user other than root.

        Raises:
            subprocess.CalledProcessError: initdb failed.
        """
        if (self.data / "PG_VERSION").exists():
            return
        self.data.mkdir(parents=True, exist_ok=True)
        user = owner()
        if user:
            shutil.chown(self.data, user)
        with tempfile.NamedTemporaryFile("w", suffix=".password") as secret:
            secret.write(self.password)
            secret.flush()
            if user:
                shutil.chown(secret.name, user)
            options = ["-U", USER, f"--pwfile={secret.name}", "-A", "scram-sha-256", "-E", "UTF8", "--locale=C"]
            self._run("initdb", "-D", str(self.data), *options, user=user)

    def command(self) -> list[str]:
        """The server's command: on the loopback interface, without a socket file."""
        listen = ["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="]
        return [str(self.programs / "postgres"), "-D", str(self.data), "-p", str(self.port), *listen]

    def sql(self, text: str, database: str = DATABASE) -> str:
        """Run SQL, stop at the first error, and return what it prints, without headings.

        Raises:
            subprocess.CalledProcessError: it failed; its stderr says why.
        """
        server = ["-h", "127.0.0.1", "-p", str(self.port), "-U", USER, "-d", database]
        return self._run("psql", *server, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", text=text)

    def answers(self) -> bool:
        """Whether it runs SQL."""
        try:
            return self.sql("SELECT 1", "postgres").strip() == "1"
        except subprocess.CalledProcessError:
            return False

    def create_database(self, schema: str) -> None:
        """Make the metastore's database and run SQL in it, if they are not there; all of the SQL or none."""
        if not self.sql(f"SELECT 1 FROM pg_database WHERE datname = '{DATABASE}'", "postgres").strip():
            self.sql(f"CREATE DATABASE {DATABASE}", "postgres")
        if schema and not self.sql("SELECT 1 FROM pg_tables WHERE tablename = 'VERSION'").strip():
            self.sql(f"BEGIN;\n{schema}\nCOMMIT;")

    def version(self) -> str:
        """As ``PostgreSQL 15.8``."""
        return "PostgreSQL " + self.sql("SHOW server_version", "postgres").split()[0]

    def _run(self, program: str, *arguments: str, text: str | None = None, user: str | None = None) -> str:
        environment = {**os.environ, "PGPASSWORD": self.password}
        groups = [] if user else None
        done = subprocess.run(  # noqa: S603
            [str(self.programs / program), *arguments],
            input=text,
            capture_output=True,
            text=True,
            check=True,
            env=environment,
            user=user,
            extra_groups=groups,
            cwd="/",
        )
        return done.stdout

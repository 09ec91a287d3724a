"""The doors of `hbstore serve`: which options go together, and the line that says where the doors are."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hbstore.errors import InvalidInput
from hbstore.rows.urls import parse_url

if TYPE_CHECKING:  # imported when the command runs: help needs none
    import typer

_OF_QUERIES: Final = (
    "results",
    "token_file",
    "spark_master",
    "spark_conf",
    "max_running",
    "max_running_of_user",
    "max_queued",
    "max_run_time",
    "max_result",
    "keep_results",
)
"""What options for queries are called in the command."""

_DEFAULT: Final = "DEFAULT"
"""The source of a value that the user gave nowhere: not on the command line, in the environment, or in a file."""

_COMMAND_LINE: Final = "COMMANDLINE"

_PORTS: Final = ("port", "http_port", "sql_port", "metrics_port")
_SECRET: Final = re.compile("(?i)secret|password|token|access[.]?key")
"""Spark's own spark.redaction.regex: settings whose values it shows nobody."""


def query_ports(http_port: int | None, sql_port: int | None) -> tuple[str, ...]:
    """The options by which the user opens a door for queries, as they are written.

    >>> query_ports(8080, None)
    ('--http-port',)
    """
    ports = {"--http-port": http_port, "--sql-port": sql_port}
    return tuple(name for name, port in ports.items() if port is not None)


def is_written(ctx: typer.Context, name: str) -> bool:
    """Whether the user gave an option: on the command line, in the environment, or in a file."""
    source = ctx.get_parameter_source(name)
    return source is not None and source.name != _DEFAULT


def check_together(ctx: typer.Context, opening: tuple[str, ...], *, without_metastore: bool, insecure: bool) -> None:
    """See that the options of the command go together.

    Args:
        ctx: of the command.
        opening: the options that open a door for queries.
        without_metastore: whether the metastore's door is left out.
        insecure: whether other machines may reach doors that ask nobody for a login.

    Raises:
        InvalidInput: they do not.
    """
    _check_secrets(ctx)
    written = [name for name in (*_OF_QUERIES, "port") if is_written(ctx, name)]
    if without_metastore and not opening:
        raise InvalidInput(
            "a server without the metastore's door needs one for queries",
            hint="Give --http-port or --sql-port, or leave out --without-metastore",
        )
    if without_metastore and "port" in written:
        raise InvalidInput(
            "a server without the metastore's door has no port for it",
            hint="Leave out --port, or leave out --without-metastore",
        )
    ports = [port for name in _PORTS if (port := ctx.params[name]) and not (name == "port" and without_metastore)]
    if len(set(ports)) < len(ports):
        raise InvalidInput(
            "two doors cannot have one port",
            ports=", ".join(f"{_option(name)}={ctx.params[name]}" for name in _PORTS if ctx.params[name]),
            hint="Choose another port; 0 takes any free port",
        )
    if not insecure:
        _check_logins(ctx, without_metastore=without_metastore)
    without_door = [_option(name) for name in written if name in _OF_QUERIES]
    if without_door and not opening:
        raise InvalidInput(
            "the server has no door for queries",
            options=", ".join(without_door),
            hint="Give --http-port or --sql-port, or leave out these options",
        )


def _check_secrets(ctx: typer.Context) -> None:
    """See that no secret of Spark's is on the command line, which every user of the machine can read."""
    source = ctx.get_parameter_source("spark_conf")
    typed = (ctx.params["spark_conf"] or ()) if source is not None and source.name == _COMMAND_LINE else ()
    for name in (setting.partition("=")[0] for setting in typed):
        if _SECRET.search(name):
            raise InvalidInput(
                "every user of the machine can read the command line, and the setting is a secret",
                setting=name,
                hint="Write it into a file of options that is yours alone, as [serve] spark-conf = ['NAME=VALUE'], or "
                "set HBSTORE_SERVE_SPARK_CONF",
            )


def _check_logins(ctx: typer.Context, *, without_metastore: bool) -> None:
    """See that each door that other machines reach asks for a login."""
    from hbstore.servers.listening import is_loopback

    asking = {"http_port", "sql_port"} if ctx.params["token_file"] else set()
    asking |= {"port"} if without_metastore else set()
    open_to_all = [name for name in _PORTS if ctx.params[name] is not None and name not in asking]
    if open_to_all and not is_loopback(ctx.params["host"]):
        raise InvalidInput(
            "other machines would reach doors that ask nobody for a login",
            host=ctx.params["host"],
            doors=", ".join(_option(name) for name in open_to_all),
            hint="Leave out --host; or give --token-file for --http-port and --sql-port, --without-metastore, and no "
            "--metrics-port; or say by --insecure that all who reach these doors may use them",
        )


def folder_beside(url: str, name: str, use: str) -> str:
    """A folder beside the file of a store, where the user names none.

    Args:
        url: the store's URL or path.
        name: what the folder is called behind the store's name; also the option that names one.
        use: what it is for, for the error.

    Raises:
        InvalidInput: the store is not in a file.

    >>> folder_beside("sqlite:///data/catalog.db", "warehouse", "the files of tables")
    '/data/catalog-warehouse'
    """
    parsed = parse_url(url)
    if parsed.scheme != "sqlite":
        raise InvalidInput(
            f"a server needs a folder for {use}, and a store that is not in a file has none beside it",
            store=url,
            hint=f"Give --{name} DIR, a folder that all servers of the store reach: a path or URI",
        )
    path = Path(parsed.place).absolute()
    return str(path.with_name(f"{path.stem}-{name}"))


def folders_beside(url: str, options: Mapping[str, Any]) -> dict[str, str]:
    """The folders that `hbstore serve` uses where no option names them, by the option; none where one has to.

    Args:
        url: the store's URL or path.
        options: of the command, as it has them.

    >>> folders_beside("/data/catalog.db", {"warehouse": None, "http_port": None, "sql_port": None})
    {'warehouse': '/data/catalog-warehouse'}
    """
    takes_queries = query_ports(options["http_port"], options["sql_port"])
    names = [name for name in ("warehouse", *(["results"] if takes_queries else [])) if not options.get(name)]
    if parse_url(url).scheme != "sqlite":
        return {}
    return {name: folder_beside(url, name, "files") for name in names}


def check_shared_store(url: str, opening: tuple[str, ...], processes: int) -> None:
    """See that several processes can open a store.

    Raises:
        InvalidInput: it is in the memory of one.
    """
    if url.startswith("memory:"):
        asking = (*(["--processes"] if processes > 1 else []), *opening)
        raise InvalidInput(
            "several processes cannot share a store in memory",
            url=url,
            hint=f"Name a store in a file or in HBase with --store, or leave out {_all(asking)}",
        )


def check_shared_port(processes: int) -> None:
    """See that several processes can share a port.

    Raises:
        InvalidInput: they cannot on this system.
    """
    from hbstore.servers.listening import port_can_be_shared

    if processes > 1 and not port_can_be_shared():
        raise InvalidInput(
            "processes cannot share a port on this system",
            system=sys.platform,
            hint="Leave out --processes; only Linux spreads the connections of a port over processes",
        )


@dataclass(frozen=True, slots=True)
class OpenDoors:
    """Where a server is reached, once it is.

    Attributes:
        store: its URL or path.
        warehouse: where databases and tables have their files.
        results: where the results of queries have theirs, if queries are taken.
        host: the address of all doors.
        metastore: the port of the metastore; None, like the others: there is no such door.
        http: the port for queries over HTTP.
        sql: the port for drivers of JDBC and ODBC.
        metrics: the port for Prometheus.
        token_file: whose users the doors for queries ask for a token; None: they ask nobody.
    """

    store: str
    warehouse: str
    results: str | None
    host: str
    metastore: int | None = None
    http: int | None = None
    sql: int | None = None
    metrics: int | None = None
    token_file: str | None = None

    @property
    def console(self) -> str:
        """The address of the console, where there is a door for it."""
        return self._address("http://", self.http) or ""

    @property
    def logins(self) -> dict[str, str]:
        """Whom each door asks for a login.

        >>> OpenDoors("memory://", "file:/w", None, "::1", metastore=9083, http=8080, token_file="/t").logins
        {'metastore': 'nobody', 'http': 'users of /t'}
        """
        asks = f"users of {self.token_file}" if self.token_file else "nobody"
        doors = {"metastore": "nobody", "http": asks, "sql": asks, "metrics": "nobody"}
        return {name: whom for name, whom in doors.items() if getattr(self, name) is not None}

    def lines(self, *, as_json: bool) -> list[str]:
        """One line for programs, or two for people.

        >>> OpenDoors("memory://", "file:/w", "/r", "::1", http=8080).lines(as_json=False)
        ... # doctest: +NORMALIZE_WHITESPACE
        ['serving memory://, warehouse file:/w, results /r, console and REST http://[::1]:8080',
         'asked for a login: at http nobody']
        """
        store = self.store if "://" in self.store else f"sqlite://{Path(self.store).absolute()}"
        doors = {
            "uri": self._address("thrift://", self.metastore),
            "metrics": self._address("http://", self.metrics, "/metrics"),
            "http": self._address("http://", self.http),
            "sql": self._address("jdbc:hive2://", self.sql),
        }
        if as_json:
            places = {"store": store, "warehouse": self.warehouse, "results": self.results}
            return [json.dumps({**places, **doors, "logins": self.logins})]
        words = {"console and REST": "http", "sql": "sql", "metrics": "metrics"}
        rest = "".join(f", {word} {doors[name]}" for word, name in words.items() if doors[name])
        at = f" at {doors['uri']}" if doors["uri"] else ""
        results = f", results {self.results}" if self.results else ""
        logins = ", ".join(f"at {door} {whom}" for door, whom in self.logins.items())
        return [f"serving {store}{at}, warehouse {self.warehouse}{results}{rest}", f"asked for a login: {logins}"]

    def _address(self, scheme: str, port: int | None, path: str = "") -> str | None:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return None if port is None else f"{scheme}{host}:{port}{path}"


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _all(options: tuple[str, ...]) -> str:
    return " and ".join(options)

"""Commands for queries that a server runs: submit, follow, fetch, cancel."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hbstore.cli.arguments import (
    DatabaseOption,
    JsonOption,
    NowOption,
    OptionOption,
    ServerOption,
    TokenOption,
    examples,
    named_values,
    time_of,
)
from hbstore.cli.printing import print_fields, print_json, print_lines, print_query_rows, print_rows
from hbstore.cli.progress import bars
from hbstore.errors import InvalidInput
from hbstore.keys.partition_names import DEFAULT_DATABASE

if TYPE_CHECKING:  # imported when a server is asked: help needs none
    from hbstore.client import Connection, RemoteQuery

commands = typer.Typer()

QueryArgument = Annotated[str, typer.Argument(metavar="QUERY", help="The id of the query.", show_default=False)]
TextArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[TEXT]",
        help="The statement; by default the one on stdin. Write -- before one that begins with a dash.",
    ),
]
PartialOption = Annotated[bool, typer.Option("--partial", help="Answer a cube query from the partitions that exist.")]
_SHOWN = 60
_SECONDS = 1.0


@commands.command(
    epilog=examples(
        "hbstore query submit --server http://127.0.0.1:8080 --database shop"
        " \"cube select price from sales_cube where time_range_in(order_time, '2015-01-30', '2015-02-02')\"",
        'hbstore query submit --server http://127.0.0.1:8080 --name "rows of sales" "SELECT count(*) FROM shop.sales"',
    )
)
def submit(
    text: TextArgument = None,
    *,
    name: Annotated[str | None, typer.Option("--name", metavar="NAME", help="What to call the query.")] = None,
    partial: PartialOption = False,
    now: NowOption = None,
    option: OptionOption = None,
    database: DatabaseOption = None,
    server: ServerOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let a server run a statement, and print the id of the query.

    The server takes cube queries, statements of Spark SQL, and hbstore's own.
    """
    with asked(server, token) as connection:
        asking = query_of(text, partial=partial, now=now, option=option, database=database)
        query = connection.query(**asking, name=name)
        print_json(query.to_dict()) if as_json else print_lines([query.id])


@commands.command(
    epilog=examples(
        "hbstore query explain --server http://127.0.0.1:8080 --database shop"
        " \"cube select price from sales_cube where time_range_in(order_time, '2015-01-30', '2015-02-02')\"",
    )
)
def explain(
    text: TextArgument = None,
    *,
    partial: PartialOption = False,
    now: NowOption = None,
    option: OptionOption = None,
    database: DatabaseOption = None,
    server: ServerOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print what a cube query would read, and its Spark SQL.

    `hbstore query run --explain` prints the same from the store itself.
    """
    with asked(server, token) as connection:
        plan = connection.explain(**query_of(text, partial=partial, now=now, option=option, database=database))
    text = plan.pop("text")
    print_json(plan) if as_json else sys.stdout.write(f"{text}\n")


@commands.command(epilog=examples("hbstore query status --server http://127.0.0.1:8080 0d9f…"))
def status(
    query: QueryArgument,
    *,
    wait: Annotated[bool, typer.Option("--wait", help="Wait until the query has ended.")] = False,
    server: ServerOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show how far a query is.

    With --wait, the exit code is that of the query's error if it failed.
    """
    with asked(server, token) as connection:
        remote_query = connection.get(query)
        if wait:
            follow(remote_query)
        if as_json:
            print_json(remote_query.to_dict())
        else:
            print_fields(_fields(remote_query))
        if wait and remote_query.error is not None:
            raise remote_query.error


@commands.command(
    epilog=examples(
        "hbstore query results --server http://127.0.0.1:8080 0d9f…",
        "hbstore query results --server http://127.0.0.1:8080 0d9f… --format arrow > rows.arrow",
    )
)
def results(
    query: QueryArgument,
    *,
    form: Annotated[
        str | None,
        typer.Option("--format", metavar="FORMAT", help="csv, json, ndjson or arrow; by default lines for people."),
    ] = None,
    server: ServerOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print the rows of a query that has succeeded.

    With --json, all rows are one document, as `hbstore query run --json` prints it. --format json asks the server for
    its first page.
    """
    with asked(server, token) as connection:
        remote_query = connection.get(query)
        note(remote_query)
        print_result(remote_query, form, as_json=as_json)


@commands.command(epilog=examples("hbstore query cancel --server http://127.0.0.1:8080 0d9f…"))
def cancel(
    query: QueryArgument, *, server: ServerOption = None, token: TokenOption = None, as_json: JsonOption = False
) -> None:
    """Cancel a query; one that has ended stays as it is."""
    with asked(server, token) as connection:
        remote_query = connection.get(query).cancel()
        print_json(remote_query.to_dict()) if as_json else print_lines([_state(remote_query)])


@commands.command("list", epilog=examples("hbstore query list --server http://127.0.0.1:8080 --state succeeded"))
def list_queries(
    *,
    user: Annotated[str | None, typer.Option("--user", metavar="USER", help="Only the queries of this user.")] = None,
    state: Annotated[
        str | None, typer.Option("--state", metavar="STATE", help="Only queued, running, succeeded, failed … ones.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="How many at most.")] = 100,
    server: ServerOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the queries that a server keeps, the newest first."""
    with asked(server, token) as connection:
        queries = connection.queries(user=user, state=state, limit=limit)
    if as_json:
        print_json([query.to_dict() for query in queries])
    else:
        print_rows(("query", "state", "user", "submitted", "statement"), map(_line, queries))


@contextmanager
def asked(server: str | None, token: str | None) -> Iterator[Connection]:
    """The server that the options name.

    Raises:
        InvalidInput: they name none.
    """
    from hbstore.client import connect

    if server is None:
        raise InvalidInput(
            "the command does not say which server",
            hint="Give --server http://HOST:PORT, or set HBSTORE_SERVER; `hbstore serve --http-port` starts one",
        )
    with connect(server, token=token) as connection:
        yield connection


def run_there(connection: Connection, query: dict[str, Any], *, as_csv: bool, as_json: bool) -> None:
    """Let a server run a statement, wait for its end, and print its rows."""
    remote_query = connection.query(**query)
    try:
        follow(remote_query)
        remote_query.wait()
    except KeyboardInterrupt:
        remote_query.cancel()
        raise
    note(remote_query)
    print_result(remote_query, "csv" if as_csv else None, as_json=as_json)


def query_of(
    text: str | None, *, partial: bool, now: str | None, option: list[str] | None, database: str | None
) -> dict[str, Any]:
    """The arguments of a query, as the options say."""
    return {
        "text": sys.stdin.read() if text is None else text,
        "partial": partial,
        "now": time_of(now),
        "options": named_values("option", option),
        "database": database or DEFAULT_DATABASE,
    }


def follow(query: RemoteQuery) -> None:
    """Wait until a query has ended, with a bar on a terminal."""
    with bars() as show:
        while not query.is_final:
            document = query.refresh(_SECONDS).to_dict()
            progress = document["progress"]
            if progress["tasks"]:
                show("Asking the server: tasks", progress["tasks_done"], progress["tasks"])
            else:
                show(f"Asking the server: {_state(query)}", 0, None)


def note(query: RemoteQuery) -> None:
    """What the user should know beside the rows, on stderr."""
    for start, end in query.missing:
        typer.echo(f"Note: nothing is there for [{start}, {end})", err=True)
    for warning in query.warnings:
        typer.echo(f"Note: {warning}", err=True)


def print_result(query: RemoteQuery, form: str | None, *, as_json: bool = False) -> None:
    """The rows of a query: as the server writes a format, or for people."""
    if form is not None and not as_json:
        with query.fetch(form) as reply:
            shutil.copyfileobj(reply, sys.stdout.buffer)
        return
    columns = [column["name"] for column in (query.to_dict()["result"] or {"columns": []})["columns"]]
    rows = (
        row for batch in query.batches() for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)
    )
    print_query_rows(columns, rows, as_json=as_json)


def _state(query: RemoteQuery) -> str:
    """How far a query is, for people."""
    return "cancelling" if query.to_dict()["cancel_requested"] and not query.is_final else query.state


def _fields(query: RemoteQuery) -> dict[str, object]:
    document = query.to_dict()
    progress, result = document["progress"], document["result"]
    return {
        "query": query.id,
        "name": document["request"]["name"],
        "user": document["request"]["user"],
        "state": _state(query),
        "submitted": document["submitted_at"],
        "started": document["started_at"],
        "ended": document["ended_at"],
        "expires": document["expires_at"],
        "stages": f"{progress['stages_done']} of {progress['stages']}" if progress["stages"] else None,
        "tasks": f"{progress['tasks_done']:,} of {progress['tasks']:,}" if progress["tasks"] else None,
        "rows": None if result is None else f"{result['rows']:,}",
        "bytes": None if result is None else f"{result['size']:,}",
        "missing": ", ".join(f"[{start}, {end})" for start, end in query.missing) or None,
        "error": None if query.error is None else f"{type(query.error).__name__}: {query.error}",
    }


def _line(query: RemoteQuery) -> tuple[str, ...]:
    document = query.to_dict()
    text = " ".join((document["request"]["name"] or document["request"]["text"]).split())
    shown = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
    return query.id, _state(query), document["request"]["user"], document["submitted_at"], shown

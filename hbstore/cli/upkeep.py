"""Commands that look after a store: check, repair, version."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from hbstore.cli.arguments import JsonOption, StoreOption, TablesArgument, examples, table_name
from hbstore.cli.failures import PROBLEMS
from hbstore.cli.opening import open_store
from hbstore.cli.printing import plural, print_json, print_lines
from hbstore.cli.progress import progress

if TYPE_CHECKING:  # `hbstore version` needs no store
    from hbstore.store.check import Problem
    from hbstore.store.partition_store import PartitionStore

commands = typer.Typer()


@commands.command(epilog=examples("hbstore check", "hbstore check shop.sales --json"))
def check(
    ctx: typer.Context, tables: TablesArgument = None, *, store: StoreOption = None, as_json: JsonOption = False
) -> None:
    """Check every row of some tables, or of all.

    A row is well if its key, its cells and its payload say the same. Each problem is printed on a line, and the exit
    code is 1 if there are any.
    """
    report = []
    problems = rows = 0
    with open_store(ctx, store) as opened:
        for database, name in _named(opened, tables):
            looked_at, found = _check(opened, database, name)
            rows += looked_at
            problems += len(found)
            if as_json:
                shown = [{"row": problem.key, "problem": problem.text} for problem in found]
                report.append({"table": f"{database}.{name}", "rows": looked_at, "problems": shown})
            else:
                print_lines(map(str, found))
    if as_json:
        print_json({"rows": rows, "problems": problems, "tables": report})
    else:
        typer.echo(
            f"{plural(rows, 'row')} checked, {plural(problems, 'problem') if problems else 'all well'}", err=True
        )
    if problems:
        raise typer.Exit(PROBLEMS)


@commands.command(epilog=examples("hbstore repair", "hbstore repair shop.sales"))
def repair(
    ctx: typer.Context, tables: TablesArgument = None, *, store: StoreOption = None, as_json: JsonOption = False
) -> None:
    """Finish the intents that dead writers left open.

    The planner's counts of distinct values are made anew as well. Rows that `hbstore check` complains about stay as
    they are.
    """
    done = []
    with open_store(ctx, store) as opened:
        for database, name in _named(opened, tables):
            done.append((f"{database}.{name}", opened.repair(database, name)))
    if as_json:
        print_json({"tables": [{"table": table, "intents": one.intents, "slots": one.slots} for table, one in done]})
    else:
        print_lines(
            f"{table}: {plural(one.intents, 'intent')} finished, {plural(one.slots, 'slot')} freed"
            for table, one in done
        )


@commands.command("version", epilog=examples("hbstore version", "hbstore version --json"))
def _version(*, as_json: JsonOption = False) -> None:
    """Print the version of hbstore."""
    version(as_json=as_json)


def version(*, as_json: bool = False) -> None:
    """Print the version of hbstore, and with ``as_json`` those of what it runs on."""
    from hbstore import __version__

    if not as_json:
        print_lines([f"hbstore {__version__}"])
        return
    import platform
    import sqlite3

    print_json({"hbstore": __version__, "python": platform.python_version(), "sqlite": sqlite3.sqlite_version})


def _named(store: PartitionStore, tables: Sequence[str] | None) -> list[tuple[str, str]]:
    """Database and name of the tables that were named, each once, or of all; TableNotFound before any work is done."""
    if not tables:
        return [(one.database, one.name) for database in store.databases() for one in store.tables(database.name)]
    found = [store.get_table(*table_name(text)) for text in tables]
    return list(dict.fromkeys((one.database, one.name) for one in found))


def _check(store: PartitionStore, database: str, table: str) -> tuple[int, list[Problem]]:
    """How many rows a table has, and what is wrong with them."""
    rows = 0
    problems = []
    with progress(f"{database}.{table}", store.count_partitions(database, table)) as show:
        for problem in store.check(database, table):
            rows += 1
            show(rows)
            if problem is not None:
                problems.append(problem)
    return rows, problems

"""Commands that look after a store: check, repair, version."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import typer

from hbstore.cli.arguments import JsonOption, StoreOption, TablesArgument, examples
from hbstore.cli.checking import named_tables, timeline_problems
from hbstore.cli.failures import PROBLEMS
from hbstore.cli.opening import open_store
from hbstore.cli.printing import plural, print_json, print_lines
from hbstore.cli.progress import progress
from hbstore.errors import CorruptRow, StoreReadOnly, TimelineNotFound

if TYPE_CHECKING:  # `hbstore version` needs no store
    from hbstore.store.check import Problem
    from hbstore.store.partition_store import PartitionStore

commands = typer.Typer()


@commands.command(epilog=examples("hbstore check", "hbstore check shop.sales --json"))
def check(
    ctx: typer.Context, tables: TablesArgument = None, *, store: StoreOption = None, as_json: JsonOption = False
) -> None:
    """Check every row of some tables, or of all, and their timelines.

    A row is well if its key, its cells and its payload say the same, and a timeline if its times are those of the
    partitions. Each problem is printed on a line, and the exit code is 1 if there are any.
    """
    report = []
    rows = 0
    with open_store(ctx, store) as opened:
        named, damaged = named_tables(opened, tables)
        problems = len(damaged)
        if not as_json:
            print_lines(map(str, damaged))
        for database, name in named:
            looked_at, found = _check(opened, database, name)
            of_timelines = _check_timelines(opened, database, name)
            rows += looked_at
            problems += len(found) + len(of_timelines)
            table = f"{database}.{name}"
            if as_json:
                report.append({"table": table, "rows": looked_at, "problems": _shown(found), "timelines": of_timelines})
            else:
                print_lines([*map(str, found), *(f"{table}: {one}" for one in of_timelines)])
    if as_json:
        catalog = [{"name": problem.table, **shown} for problem, shown in zip(damaged, _shown(damaged), strict=True)]
        print_json({"rows": rows, "problems": problems, "catalog": catalog, "tables": report})
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
        gone = 0 if tables else opened.repair_catalog()
        for database, name in named_tables(opened, tables)[0]:
            done.append((f"{database}.{name}", opened.repair(database, name)))
    if as_json:
        shown = [{"table": table, "intents": one.intents, "slots": one.slots} for table, one in done]
        print_json({"gone": gone, "tables": shown})
    else:
        if gone:
            print_lines([f"{plural(gone, 'table')} that had been dropped or renamed: finished"])
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


def _shown(problems: list[Problem]) -> list[dict[str, str]]:
    return [{"row": problem.key, "problem": problem.text} for problem in problems]


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


def _check_timelines(store: PartitionStore, database: str, table: str) -> list[str]:
    """What is wrong with a table's timelines; nothing where there are none, or none yet in a read-only store."""
    with suppress(TimelineNotFound, StoreReadOnly, CorruptRow):  # a row that is corrupt is a problem of its own
        return timeline_problems(store, database, table)
    return []

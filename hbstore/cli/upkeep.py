"""Commands that look after a store: check, repair, log, version."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

import typer

from hbstore.cli.arguments import JsonOption, StoreOption, TableArgument, TablesArgument, examples
from hbstore.cli.failures import PROBLEMS, message
from hbstore.cli.opening import open_store
from hbstore.cli.printing import print_answer, print_json, print_lines, print_warning
from hbstore.cli.progress import progress
from hbstore.cli.repairing import FolderRepair, RepairMode, repair_folders
from hbstore.errors import (
    CorruptRow,
    DatabaseNotFound,
    HbstoreError,
    InvalidInput,
    StoreReadOnly,
    StoreUnavailable,
    TableNotFound,
    TimelineError,
    TimelineNotFound,
)
from hbstore.keys.partition_names import identifier, parse_partition_name, table_name
from hbstore.texts.wording import plural

if TYPE_CHECKING:  # `hbstore version` needs no store
    from hbstore.store.check import Problem
    from hbstore.store.partition_store import PartitionStore
    from hbstore.transactions.inspection import Inspection

commands = typer.Typer()
_DATABASE: Final = b"D".hex()
_TABLE: Final = b"T".hex()
"""What the keys of rows of the catalog begin with, as problems have them."""
_GONE: Final = (TableNotFound, DatabaseNotFound)
"""How the store says that a table was dropped or renamed since all were listed."""


@commands.command(epilog=examples("hbstore check", "hbstore check shop.sales --json"))
def check(
    ctx: typer.Context, tables: TablesArgument = None, *, store: StoreOption = None, as_json: JsonOption = False
) -> None:
    """Check every row of some tables, or of all.

    It also checks their timelines and, without tables, the rows of functions, grants, roles, locks, streams, documents
    and records.

    A row is sound if its key, its cells and its payload agree; a timeline is sound if its times are those of the
    partitions. The command prints each problem on a line, and what it looked at on stderr; the exit code is 1 if it
    finds any problem.
    """
    report = []
    rows = timelines = 0
    with open_store(ctx, store) as opened:
        named = named_tables(opened, tables)
        problems = len(named.problems)
        if not as_json:
            print_lines(map(str, named.problems))
        for database, name in named.tables:
            try:
                looked_at, differences = _check(opened, database, name)
                texts = _check_timelines(opened, database, name)
            except _passed_over(tables):
                continue
            of_timelines = texts or []
            rows += looked_at
            timelines += texts is not None
            problems += len(differences) + len(of_timelines)
            table = f"{database}.{name}"
            if as_json:
                report.append(
                    {"table": table, "rows": looked_at, "problems": _shown(differences), "timelines": of_timelines}
                )
            else:
                print_lines([*map(str, differences), *(f"{table}: {one}" for one in of_timelines)])
    if as_json:
        catalog = [
            {"name": one.table, **shown} for one, shown in zip(named.problems, _shown(named.problems), strict=True)
        ]
        databases = None if tables else named.databases
        print_json({"databases": databases, "rows": rows, "problems": problems, "catalog": catalog, "tables": report})
    else:
        parts = [plural(named.looked_at, "table"), plural(rows, "partition")]
        parts += [f"timelines of {plural(timelines, 'table')}"] if timelines else []
        parts = parts if tables else [plural(named.databases, "database"), *parts, "all other rows"]
        result = plural(problems, "problem") if problems else "all well"
        typer.echo(f"checked {', '.join(parts[:-1])} and {parts[-1]}: {result}", err=True)
    if problems:
        raise typer.Exit(PROBLEMS)


@commands.command(
    epilog=examples(
        "hbstore repair",
        "hbstore repair shop.sales",
        "hbstore repair shop.logs --mode add",
        "hbstore repair shop.logs --mode sync --spec ds=2013-01-01 --dry-run",
    )
)
def repair(
    ctx: typer.Context,
    tables: TablesArgument = None,
    *,
    mode: Annotated[
        RepairMode | None,
        typer.Option(
            "--mode",
            help="Compare partitions with folders: add those of new folders, drop those whose folders are gone,"
            " or sync, which is both.",
        ),
    ] = None,
    spec: Annotated[
        str | None,
        typer.Option("--spec", metavar="SPEC", help="With --mode: only partitions of this spec, as ds=2013-01-01."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="With --mode: print what the command would do, and change nothing.")
    ] = False,
    force: Annotated[
        bool,
        typer.Option("--force", help="With --mode: drop partitions even if the table's folder is missing or empty."),
    ] = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Finish dead writers' work, or match partitions to folders.

    Without --mode, it finishes changes and publications, and computes the planner's counts of distinct values and the
    tables' totals again. Without tables, it also removes rows that outlived their table, deletes the files of tables
    and databases whose drop was not finished, and asks HBase for a major compaction, after which scans pass by no
    deleted partitions. It does not change other rows in which `hbstore check` finds problems.

    With --mode, it compares the partitions of the tables with the folders below the tables' folders, and adds or drops
    partitions. It touches no file of a partition. It lists folders that are not partitions, with the reason.
    """
    if mode is not None:
        folders = FolderRepair(mode.value, None if spec is None else parse_partition_name(spec), dry_run, force)
        with open_store(ctx, store) as opened:
            repair_folders(opened, tables, folders, as_json=as_json)
        return
    if spec is not None or dry_run or force:
        raise InvalidInput("these options need --mode", options="--spec, --dry-run, --force", hint="Add --mode")
    from hbstore.publishing import Publisher
    from hbstore.publishing.dropped_files import finish_drops

    done, failed = [], []
    with open_store(ctx, store) as opened:
        gone = 0 if tables else opened.repair_catalog()
        deleted = 0 if tables else finish_drops(opened)
        if not (tables or opened.rows.atomic):
            opened.rows.give_back()  # scans of tables that come and go pass by no deletes then
        for database, name in named_tables(opened, tables).tables:
            with suppress(*_passed_over(tables)):
                finished = opened.repair(database, name)
                try:
                    publications = Publisher(opened).recover(f"{database}.{name}")
                except (StoreUnavailable, *_GONE):
                    raise
                except HbstoreError as error:  # of one table, which keeps no other back
                    failed.append(f"{database}.{name}: {message(error)}")
                    publications = 0
                done.append((f"{database}.{name}", finished, publications))
    tables_shown = [
        {"table": table, "finished": repaired.finished, "publications": publications, "miscounted": repaired.miscounted}
        for table, repaired, publications in done
    ]
    lines = [f"{plural(gone, 'table')} that had been dropped or renamed: finished"] if gone else []
    lines += [f"{plural(deleted, 'drop')} of tables or databases: their files deleted"] if deleted else []
    lines += (
        f"{table}: {plural(repaired.finished, 'change')} finished"
        + (f", {plural(publications, 'publication')} finished or cleared away" if publications else "")
        + (", totals corrected" if repaired.miscounted else "")
        for table, repaired, publications in done
    )
    print_answer({"gone": gone, "deleted": deleted, "tables": tables_shown}, lines, as_json=as_json)
    if failed:
        for text in failed:
            print_warning(text)
        raise typer.Exit(PROBLEMS)


@commands.command(epilog=examples("hbstore log shop.sales", "hbstore log shop.sales --json"))
def log(ctx: typer.Context, table: TableArgument, *, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """Show the log of a table, to look for a fault.

    The log decides all changes of the table. The command shows which of them are open, so that the next process has to
    finish them, and which rows transactions have locked. It changes nothing. A table that was dropped still has a log.
    """
    from hbstore.store.table_row import table_key
    from hbstore.transactions.inspection import inspected

    with open_store(ctx, store) as opened:
        database, name = (identifier("table", part) for part in table_name(table))
        key = table_key(database, name)
        if not opened.rows.get(key):
            opened.get_table(database, name)  # its error says what is missing
        inspection = inspected(opened.rows, key)
    full = f"{database}.{name}"
    print_answer({"table": full, **inspection.to_dict()}, _log_lines(full, inspection), as_json=as_json)


def _log_lines(table: str, inspection: Inspection) -> Iterator[str]:
    """A line for the table, and one for each thing that is not finished."""
    from hbstore.transactions.inspection import who
    from hbstore.transactions.waiting import row_text

    def by(transaction_id: str) -> str:
        known = who(transaction_id)
        return f"{known['process']}, begun {known['began']}" if "process" in known else transaction_id

    last = inspection.log.last
    yield f"{table}: {plural(inspection.log.sequence, 'change')}" + (f", the last by {by(last)}" if last else "")
    for commit in inspection.open:
        rows = f"puts {plural(commit.puts, 'partition row')}, deletes {commit.deletes:,}"
        missing = "" if commit.writes is not None else "; the list of its writes is not there"
        yield f"open: change {commit.commit.sequence} by {by(commit.commit.id)}: {rows}{missing}"
    for lock in (*([inspection.lock] if inspection.lock else ()), *inspection.locks):
        decides = f"change {lock.intent.sequence + 1} of {row_text(lock.intent.primary)} decides"
        yield f"locked: {row_text(lock.row)} by {by(lock.intent.id)}: {decides}, {lock.standing.value}"
    for transaction_id in inspection.left:
        yield f"left behind: a payload row by {by(transaction_id)}; `hbstore repair` removes it after ten minutes"


@commands.command(epilog=examples("hbstore version", "hbstore version --json"))
def version(*, as_json: JsonOption = False) -> None:
    """Print the version and the commit of hbstore."""
    from hbstore.release import version_text, versions

    print_answer(versions(), [f"hbstore {version_text()}"], as_json=as_json)


@dataclass(frozen=True, slots=True)
class NamedTables:
    """The tables of a command.

    Attributes:
        tables: database and name of those whose rows in the catalog are sound.
        problems: what is wrong with the rows in the catalog of the others; where no table was named, with any.
        looked_at: how many tables there are, sound or not.
        databases: likewise, of all databases.
    """

    tables: list[tuple[str, str]]
    problems: list[Problem]
    looked_at: int
    databases: int


def named_tables(store: PartitionStore, tables: Sequence[str] | None) -> NamedTables:
    """The tables that were named, each once, or all, and what is wrong with their rows in the catalog.

    Raises:
        TableNotFound: one is not there; no work has been done yet.
    """
    names = None if not tables else {tuple(part.lower() for part in table_name(text)) for text in tables}
    sound, problems = [], []
    databases = 0
    for database, table, problem in store.check_catalog():
        databases += table is None and (problem is None or problem.key.startswith(_DATABASE))
        if names is not None and (database, table) not in names:
            continue
        if problem is not None:
            problems.append(problem)
            names = None if names is None else names - {(database, table)}
        elif table is not None:
            sound.append((database, table))
    for database, name in sorted((names or set()) - set(sound)):
        store.get_table(database, name)
    damaged = sum(problem.key.startswith(_TABLE) for problem in problems)
    return NamedTables(sound, problems, len(sound) + damaged, databases)


def timeline_problems(store: PartitionStore, database: str, table: str) -> list[str]:
    """What is wrong with a table's timelines. O(partitions).

    Raises:
        TimelineNotFound: it keeps none.
    """
    try:
        return store.timelines.check(f"{database}.{table}")
    except TimelineNotFound:
        raise
    except TimelineError as error:  # not even what the table says of its timelines makes sense
        return [message(error)]


def _shown(problems: list[Problem]) -> list[dict[str, str]]:
    return [{"row": problem.key, "problem": problem.text} for problem in problems]


def _passed_over(tables: Sequence[str] | None) -> tuple[type[HbstoreError], ...]:
    """The errors by which a command goes on with the next table: none where people name the tables."""
    return () if tables else _GONE


def _check(store: PartitionStore, database: str, table: str) -> tuple[int, list[Problem]]:
    """How many partitions a table has, and what is wrong with its rows."""
    rows = 0
    problems = []
    with progress(f"{database}.{table}", store.count_partitions(database, table)) as show:
        for problem in store.check(database, table):
            rows += problem is None or problem.of_partition
            show(rows)
            if problem is not None:
                problems.append(problem)
    return rows, problems


def _check_timelines(store: PartitionStore, database: str, table: str) -> list[str] | None:
    """What is wrong with a table's timelines; None where there are none, or none yet in a read-only store."""
    with suppress(TimelineNotFound, StoreReadOnly, CorruptRow):  # a row that is corrupt is a problem of its own
        return timeline_problems(store, database, table)
    return None

"""Commands that copy a running Hive Metastore into the store, and the store into one."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from hbstore.cli.arguments import JsonOption, StoreOption, examples
from hbstore.cli.failures import PROBLEMS
from hbstore.cli.opening import open_or_create_store, open_store
from hbstore.cli.printing import print_json, print_lines
from hbstore.cli.progress import bars
from hbstore.texts.wording import plural

if TYPE_CHECKING:  # `hbstore --help` needs none of them
    from hbstore.transfer import TableTransfer, Transfer

commands = typer.Typer()
_SHOWN: Final = 20
"""Names of partitions of one kind that are printed for each table; JSON has all of them."""

_BOTH: Final = (
    "If it was interrupted, the same command continues. At the end it compares both sides. If something could not be"
    " copied unchanged, it prints the name, and the exit code is 1."
)


class OnConflict(StrEnum):
    """What to do with existing objects that differ."""

    FAIL = "fail"
    KEEP = "keep"
    REPLACE = "replace"


MetastoreArgument = Annotated[
    str, typer.Argument(metavar="thrift://HOST:PORT", help="The Hive Metastore.", show_default=False)
]
DatabaseOption = Annotated[str | None, typer.Option("--database", metavar="DB", help="Only this database.")]
TableOption = Annotated[str | None, typer.Option("--table", metavar="TABLE", help="Only this table of --database.")]
OnConflictOption = Annotated[
    OnConflict, typer.Option("--on-conflict", help="What to do with existing objects that differ.")
]
ThreadsOption = Annotated[int, typer.Option("--threads", metavar="N", min=1, help="The number of threads that copy.")]
PageOption = Annotated[
    int, typer.Option("--page", metavar="N", min=1, help="The number of partitions in one request and one write.")
]
NoStatisticsOption = Annotated[bool, typer.Option("--no-statistics", help="Leave out column statistics.")]


@commands.command(
    "export",
    help=f"""Copy the store into a running Hive Metastore.

    The metastore creates missing folders.

    {_BOTH}""",
    epilog=examples(
        "hbstore export thrift://metastore:9083 --database shop",
        "hbstore export thrift://metastore:9083 --database shop --table sales --on-conflict replace",
    ),
)
@commands.command(
    "import",
    help=f"""Copy a running Hive Metastore into the store.

    It copies databases, tables, partitions, statistics, constraints and functions.

    It does not change the metastore, and touches no file. {_BOTH}""",
    epilog=examples(
        "hbstore import thrift://metastore:9083",
        "hbstore import thrift://metastore:9083 --database shop --table sales",
    ),
)
def copy(
    ctx: typer.Context,
    metastore: MetastoreArgument,
    *,
    database: DatabaseOption = None,
    table: TableOption = None,
    on_conflict: OnConflictOption = OnConflict.FAIL,
    threads: ThreadsOption = 4,
    page: PageOption = 1000,
    no_statistics: NoStatisticsOption = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Copy one way or the other, as the command is called, and print what was done."""
    from hbstore.transfer import export_metastore, import_metastore

    is_import = ctx.command.name == "import"
    opened = open_or_create_store(ctx, store)[0] if is_import else open_store(ctx, store)
    with opened, bars() as progress:
        done = (import_metastore if is_import else export_metastore)(
            opened,
            metastore,
            database=database,
            table=table,
            on_conflict=on_conflict.value,
            statistics=not no_statistics,
            page=page,
            threads=threads,
            progress=progress,
        )
    show(done, as_json=as_json)


def show(done: Transfer, *, as_json: bool) -> None:
    """Print what was done, and end with 1 if something is to be looked at."""
    if as_json:
        print_json(_document(done))
    else:
        print_lines(_lines(done))
    if not done.is_complete:
        raise typer.Exit(PROBLEMS)


def _lines(done: Transfer) -> Iterator[str]:
    yield from (f"database {name}: {_DONE[what]}" for name, what in done.databases.items())
    for table in done.tables:
        yield from _problems(table)
        yield f"table {table.table}: {', '.join(_counts(table))}"
    if done.constraints:
        yield f"{plural(done.constraints, 'constraint')} copied"
    if done.functions:
        yield f"{plural(done.functions, 'function')} copied"
    yield from (f"not copied: {what}: {why}" for what, why in done.refused)


_DONE: Final = {
    "created": "created",
    "same": "already exists",
    "replaced": "replaced",
    "kept": "already exists, was kept",
}


def _problems(table: TableTransfer) -> Iterator[str]:
    """What a person should look at, by name."""
    lines = [
        *(f"left out {name}: {why}" for name, why in (*table.unreadable, *table.partitions.refused)),
        *(f"kept as text {name}: a value does not fit its column's type" for name in table.untyped),
        *(f"differs {name}" for name in table.partitions.wrong),
    ]
    yield from lines[:_SHOWN]
    if lines[_SHOWN:]:
        yield f"and {plural(len(lines) - _SHOWN, 'partition')} more; --json names all of them"


def _counts(table: TableTransfer) -> Iterator[str]:
    yield _DONE[table.done]
    outcome = table.partitions
    if not table.source.count and not table.left_out and not table.extra and not outcome.kept:
        return
    yield f"{plural(outcome.added, 'partition')} added"
    numbers = {
        "replaced": outcome.replaced,
        "already exist": outcome.same,
        "kept as they are": len(outcome.kept),
        "left out": table.left_out,
        "kept as text": len(table.untyped),
        "gone from the source meanwhile": len(outcome.gone),
        "only in the target": table.extra,
    }
    yield from (f"{number:,} {what}" for what, number in numbers.items() if number)
    if table.is_verified:
        yield f"verified: {table.target}"
    else:
        yield f"NOT VERIFIED: {table.source} in the source, {table.target} in the target"


def _document(done: Transfer) -> dict[str, Any]:
    return {
        "metastore": done.metastore,
        "complete": done.is_complete,
        "databases": done.databases,
        "tables": [
            {
                "table": table.table,
                "done": table.done,
                "added": table.partitions.added,
                "replaced": table.partitions.replaced,
                "same": table.partitions.same,
                "kept": list(table.partitions.kept),
                "statistics": table.partitions.statistics,
                "refused": [
                    {"partition": name, "why": why} for name, why in (*table.unreadable, *table.partitions.refused)
                ],
                "kept_as_text": list(table.untyped),
                "gone": list(table.partitions.gone),
                "differs": list(table.partitions.wrong),
                "only_in_target": table.extra,
                "verified": table.is_verified,
                "source": {"partitions": table.source.count, "checksum": f"{table.source.total:032x}"},
                "target": {"partitions": table.target.count, "checksum": f"{table.target.total:032x}"},
            }
            for table in done.tables
        ],
        "constraints": done.constraints,
        "functions": done.functions,
        "refused": [{"what": what, "why": why} for what, why in done.refused],
    }

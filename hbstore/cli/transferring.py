"""Commands that copy a running Hive Metastore into the store, and the store into one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from hbstore.cli.arguments import JsonOption, StoreOption, examples
from hbstore.cli.failures import PROBLEMS
from hbstore.cli.opening import open_or_create_store, open_store, store_url
from hbstore.cli.printing import print_json, print_lines
from hbstore.cli.progress import bars
from hbstore.cli.spark_session import check_pyspark, spark_session
from hbstore.wording import plural

if TYPE_CHECKING:  # `hbstore --help` needs none of them
    from collections.abc import Callable

    from hbstore.store.partition_store import PartitionStore
    from hbstore.transfer import TableTransfer, Transfer
    from hbstore.transfer.work import MakeWorkers

commands = typer.Typer()
_SHOWN: Final = 20
"""Names of partitions of one kind that are printed for each table; JSON has all of them."""

_OTHERWISE: Final = "with --threads 4 threads copy the partitions"


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
ThreadsOption = Annotated[
    int | None,
    typer.Option("--threads", metavar="N", min=1, help="The number of threads that copy; by default Spark copies."),
]
PageOption = Annotated[
    int, typer.Option("--page", metavar="N", min=1, help="The number of partitions in one request and one write.")
]
NoStatisticsOption = Annotated[bool, typer.Option("--no-statistics", help="Leave out column statistics.")]


@commands.command(
    "import",
    epilog=examples(
        "hbstore import thrift://metastore:9083",
        "hbstore import thrift://metastore:9083 --database shop --table sales --threads 4",
    ),
)
def import_(
    ctx: typer.Context,
    metastore: MetastoreArgument,
    *,
    database: DatabaseOption = None,
    table: TableOption = None,
    on_conflict: OnConflictOption = OnConflict.FAIL,
    threads: ThreadsOption = None,
    page: PageOption = 1000,
    no_statistics: NoStatisticsOption = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Copy a running Hive Metastore into the store.

    It copies databases, tables, partitions, statistics and functions.

    It does not change the metastore, and touches no file. If it was interrupted, the same command continues. At the end
    it compares both sides. If something could not be copied unchanged, it prints the name, and the exit code is 1.
    """
    from hbstore.transfer import import_metastore

    opened, _ = open_or_create_store(ctx, store)
    _copy(
        import_metastore,
        opened,
        store_url(ctx, store),
        metastore,
        threads,
        as_json=as_json,
        database=database,
        table=table,
        on_conflict=on_conflict.value,
        statistics=not no_statistics,
        page=page,
    )


@commands.command(
    "export",
    epilog=examples(
        "hbstore export thrift://metastore:9083 --database shop",
        "hbstore export thrift://metastore:9083 --database shop --table sales --on-conflict replace --threads 4",
    ),
)
def export(
    ctx: typer.Context,
    metastore: MetastoreArgument,
    *,
    database: DatabaseOption = None,
    table: TableOption = None,
    on_conflict: OnConflictOption = OnConflict.FAIL,
    threads: ThreadsOption = None,
    page: PageOption = 1000,
    no_statistics: NoStatisticsOption = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Copy the store into a running Hive Metastore.

    The metastore creates missing folders.

    If it was interrupted, the same command continues. At the end it compares both sides. If something could not be
    copied unchanged, it prints the name, and the exit code is 1.
    """
    from hbstore.transfer import export_metastore

    opened = open_store(ctx, store)
    _copy(
        export_metastore,
        opened,
        store_url(ctx, store),
        metastore,
        threads,
        as_json=as_json,
        database=database,
        table=table,
        on_conflict=on_conflict.value,
        statistics=not no_statistics,
        page=page,
    )


def _copy(
    way: Callable[..., Transfer],
    opened: PartitionStore,
    url: str,
    metastore: str,
    threads: int | None,
    *,
    as_json: bool,
    **options: object,
) -> None:
    """Copy one way or the other, by threads or by tasks, and print what was done."""
    from hbstore.transfer.work import THREADS

    with opened, _workers(url, metastore, threads) as workers, bars() as progress:
        done = way(opened, metastore, threads=threads or THREADS, workers=workers, progress=progress, **options)
    show(done, as_json=as_json)


@contextmanager
def _workers(url: str, metastore: str, threads: int | None) -> Iterator[MakeWorkers | None]:
    """Tasks of Spark, which starts when there is something for it to do; None for threads."""
    if threads is not None:
        yield None
        return
    check_pyspark(_OTHERWISE)
    from hbstore.spark.transfer import spark_workers

    with ExitStack() as stack:
        session = spark_session("hbstore transfer", otherwise=_OTHERWISE)
        yield spark_workers(cache(lambda: stack.enter_context(session)), url, metastore)


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
        "functions": done.functions,
        "refused": [{"what": what, "why": why} for what, why in done.refused],
    }

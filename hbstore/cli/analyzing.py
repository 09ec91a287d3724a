"""The command that gathers statistics of partitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hbstore.cli.arguments import FilterOption, JsonOption, StoreOption, TableArgument, examples
from hbstore.cli.opening import open_store
from hbstore.cli.printing import print_answer
from hbstore.cli.progress import bars
from hbstore.cli.spark_session import spark_session
from hbstore.errors import InvalidInput
from hbstore.keys.partition_names import table_name
from hbstore.texts.wording import plural

if TYPE_CHECKING:  # `hbstore --help` needs no store
    from hbstore.store.partition_store import PartitionStore

commands = typer.Typer()


@commands.command(
    epilog=examples(
        "hbstore analyze shop.returns",
        "hbstore analyze shop.sales --filter \"ds >= '2014-01-01'\" --columns amount --only-missing",
    )
)
def analyze(
    ctx: typer.Context,
    table: TableArgument,
    *,
    filter: FilterOption = None,
    columns: Annotated[
        str | None,
        typer.Option("--columns", metavar="NAME,NAME", help="Gather the statistics of these columns too."),
    ] = None,
    all_columns: Annotated[
        bool, typer.Option("--all-columns", help="Gather the statistics of all columns that can have some.")
    ] = False,
    only_missing: Annotated[
        bool, typer.Option("--only-missing", help="Skip partitions that already have their statistics.")
    ] = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Gather the statistics of partitions by a Spark job.

    The store keeps them with the partitions.

    The statistics are rows, files and bytes, and for columns the nulls, distinct values, bounds and lengths. Without
    --filter the table itself also gets statistics for Spark's optimizer. If a partition changes meanwhile, the command
    analyzes it again. If the command was stopped, --only-missing analyzes the other partitions.
    """
    if columns is not None and all_columns:
        raise InvalidInput(
            "the two options exclude each other", options="--columns, --all-columns", hint="Use one of the two"
        )
    named = None if columns is None else [name.strip() for name in columns.split(",") if name.strip()]
    name = ".".join(table_name(table))
    with open_store(ctx, store) as opened:
        if _has_work(opened, table, filter):
            with spark_session("hbstore analyze") as session, bars() as show:
                from hbstore.spark.analysis.analyze import analyze_table

                document = asdict(
                    analyze_table(
                        session,
                        opened,
                        name,
                        filter,
                        columns="all" if all_columns else named,
                        only_missing=only_missing,
                        progress=lambda done, total: show(name, done, total),
                    )
                )
        else:
            document = {"table": name, "columns": (), "missing": (), "changed": (), "whole": False}
            document |= dict.fromkeys(("partitions", "passed_over", "rows", "files", "size"), 0)
    print_answer(document, _lines(document), as_json=as_json)


def _has_work(store: PartitionStore, table: str, filter: str | None) -> bool:
    """Whether there are partitions to analyze, or numbers of the table from when there were some."""
    if store.partition_names(*table_name(table), filter, max_parts=1):
        return True
    parameters = store.get_table(*table_name(table)).parameters
    return filter is None and any(name.startswith("spark.sql.statistics.") for name in parameters)


def _lines(document: Mapping[str, Any]) -> Iterator[str]:
    """What was found, with those partitions by their names that are not as they should be."""
    yield from (f"empty {name}: its folder does not exist" for name in document["missing"])
    yield from (f"left alone {name}: it kept changing" for name in document["changed"])
    counts = [
        f"{plural(document['partitions'], 'partition')} analyzed",
        plural(document["rows"], "row"),
        plural(document["files"], "file"),
        plural(document["size"], "byte"),
    ]
    if document["passed_over"]:
        counts.append(f"{plural(document['passed_over'], 'partition')} passed over")
    yield f"{document['table']}: {', '.join(counts)}"

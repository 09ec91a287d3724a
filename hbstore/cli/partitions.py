"""Commands for partitions: list, count, add, drop, rename."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from hbstore.cli.arguments import (
    Dialect,
    DialectOption,
    FilterOption,
    IfExistsOption,
    IfNotExistsOption,
    JsonOption,
    KeepInvalidOption,
    LocationOption,
    ParameterOption,
    StoreOption,
    TableArgument,
    examples,
    parameters,
    whole_spec,
)
from hbstore.cli.opening import open_store
from hbstore.cli.printing import TABLE_ROWS, on_terminal, print_answer, print_json_array, print_lines, print_table
from hbstore.errors import InvalidInput, InvalidPartitionValue, hinting
from hbstore.keys.partition_names import partition_name, table_name
from hbstore.model.objects import Partition
from hbstore.texts.wording import plural

commands = typer.Typer()
SpecArgument = Annotated[
    str,
    typer.Argument(
        metavar="SPEC", help="The partition's spec, such as ds=2013-01-01/hour=5: its name.", show_default=False
    ),
]


@commands.command(
    epilog=examples(
        "hbstore partitions shop.sales",
        "hbstore partitions shop.sales --filter \"ds like '2013-01-%' and hour = 5\" --limit 10",
        "hbstore partitions shop.sales --json",
    )
)
def partitions(
    ctx: typer.Context,
    table: TableArgument,
    *,
    filter: FilterOption = None,
    like_dialect: DialectOption = Dialect.SQL,
    limit: Annotated[
        int | None, typer.Option("--limit", min=0, metavar="N", help="The largest number to print.")
    ] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the partitions that a filter selects, in key order.

    In a pipe, each line is one partition name. With --json the output is an array with a line for each partition.
    """
    database, name = table_name(table)
    most = -1 if limit is None else limit
    with open_store(ctx, store) as opened:
        columns = opened.get_table(database, name).partition_column_names
        listed = opened.get_partitions_by_filter(database, name, filter, most, like_dialect.value)
    print_partitions(listed, columns, as_json=as_json)


@commands.command(epilog=examples("hbstore count shop.sales", 'hbstore count shop.sales --filter "hour in (5, 6)"'))
def count(
    ctx: typer.Context,
    table: TableArgument,
    *,
    filter: FilterOption = None,
    like_dialect: DialectOption = Dialect.SQL,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Count the partitions that a filter selects. If the store itself can count them, hbstore does not read them."""
    database, name = table_name(table)
    with open_store(ctx, store) as opened:
        number = opened.count_partitions(database, name, filter, like_dialect.value)
    document = {"table": f"{database}.{name}".lower(), "filter": filter, "count": number}
    print_answer(document, [str(number)], as_json=as_json)


@commands.command(
    epilog=examples(
        "hbstore add-partition shop.sales ds=2013-01-01/hour=5",
        "hbstore add-partition shop.sales ds=2013-01-01/hour=6 --location s3://old/6 --parameter numRows=100",
    )
)
def add_partition(
    ctx: typer.Context,
    table: TableArgument,
    spec: SpecArgument,
    *,
    location: LocationOption = None,
    parameter: ParameterOption = None,
    if_not_exists: IfNotExistsOption = False,
    keep_invalid: KeepInvalidOption = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add a partition. Without --location its folder is below the table's folder, and has the partition's name."""
    database, name = table_name(table)
    partition_parameters = parameters(parameter)
    with open_store(ctx, store) as opened:
        definition = opened.get_table(database, name)
        partition = Partition(whole_spec(definition, spec), location=location, parameters=partition_parameters)
        added = opened.add_partitions(
            database, name, [partition], if_not_exists, invalid_values="keep" if keep_invalid else "reject"
        )
    shown = partition_name(definition.partition_column_names, partition.values)
    document = {"table": str(definition), "partition": shown, "added": bool(added)}
    print_answer(document, [f"partition {shown}: {'added' if added else 'already exists'}"], as_json=as_json)


@commands.command(
    epilog=examples(
        "hbstore drop-partition shop.sales ds=2013-01-01/hour=5",
        "hbstore drop-partition shop.sales ds=2013-01-01/hour=6 ds=2013-01-01/hour=7 --if-exists",
        "hbstore drop-partition shop.sales --filter \"ds < '2013-01-01'\" --dry-run",
    )
)
def drop_partition(
    ctx: typer.Context,
    table: TableArgument,
    specs: Annotated[
        list[str] | None,
        typer.Argument(metavar="SPEC...", help="The specs of the partitions; drops all or none.", show_default=False),
    ] = None,
    *,
    filter_: Annotated[
        str | None,
        typer.Option("--filter", metavar="FILTER", help="In place of specs: those that a filter selects, all or none."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print which they are, and drop nothing.")] = False,
    if_exists: IfExistsOption = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Drop partitions. Files are not touched; `hbstore sql` drops partitions with their files."""
    if (filter_ is None) == (not specs):
        raise InvalidInput("partitions are named by specs or by a filter", hint="Give SPEC... or --filter, not both")
    expect_filter(filter_)
    database, name = table_name(table)
    with open_store(ctx, store) as opened:
        definition = opened.get_table(database, name)
        if filter_ is None:
            values = [whole_spec(definition, spec) for spec in specs or ()]
            selected = opened.get_partitions(database, name, values) if dry_run else []
        else:
            selected = opened.get_partitions_by_filter(database, name, filter_)
            values = [partition.values for partition in selected]
        if dry_run:
            print_partitions(selected, definition.partition_column_names, as_json=as_json)
            return
        dropped = opened.drop_partitions(database, name, values, if_exists=if_exists or filter_ is not None)
    document = {"table": str(definition), "dropped": dropped}
    print_answer(document, [f"{plural(dropped, 'partition')} dropped"], as_json=as_json)


@commands.command(
    epilog=examples("hbstore rename-partition shop.sales ds=2013-01-01/hour=5 ds=2013-01-03/hour=5"),
)
def rename_partition(
    ctx: typer.Context,
    table: TableArgument,
    spec: SpecArgument,
    new_spec: Annotated[str, typer.Argument(metavar="NEW_SPEC", help="Its new spec.", show_default=False)],
    *,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Give a partition another spec. Its location stays the same, because hbstore does not touch its files."""
    database, name = table_name(table)
    with open_store(ctx, store) as opened:
        definition = opened.get_table(database, name)
        columns = definition.partition_column_names
        old, new = whole_spec(definition, spec), whole_spec(definition, new_spec)
        with hinting(InvalidPartitionValue, "Correct the new spec"):
            opened.rename_partition(database, name, old, new)
    before, after = partition_name(columns, old), partition_name(columns, new)
    document = {"table": str(definition), "partition": before, "renamed": after}
    print_answer(document, [f"partition {before}: renamed to {after}"], as_json=as_json)


def expect_filter(filter_: str | None) -> None:
    """See that a filter of what is dropped says something: an empty one, as of a variable that is not set, selects all.

    Raises:
        InvalidInput: it is empty.
    """
    if filter_ is not None and not filter_.strip():
        raise InvalidInput("the filter is empty", hint="Write what it selects; for all partitions, drop the table")


def print_partitions(listed: Sequence[Partition], columns: tuple[str, ...], *, as_json: bool) -> None:
    """Print partitions of a table with these partition columns."""
    if as_json:
        print_json_array(_partition_json(partition, columns) for partition in listed)
    elif on_terminal() and len(listed) <= TABLE_ROWS:
        rows = [(partition_name(columns, partition.values), partition.location or "") for partition in listed]
        print_table(("partition", "location"), rows)
    else:
        print_lines(partition_name(columns, partition.values) for partition in listed)


def _partition_json(partition: Partition, columns: tuple[str, ...]) -> dict[str, Any]:
    """A partition as `hbstore load` takes it back."""
    return {
        "name": partition_name(columns, partition.values),
        "values": list(partition.values),
        "location": partition.location,
        "parameters": dict(partition.parameters),
        "create_time": partition.create_time,
        "last_access_time": partition.last_access_time,
    }

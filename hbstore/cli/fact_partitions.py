"""Commands for the partitions of facts and dimension tables: add, drop, list."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hbstore.cli.arguments import (
    DatabaseOption,
    FilterOption,
    IfNotExistsOption,
    JsonOption,
    LocationOption,
    ParameterOption,
    StorageOption,
    StoreOption,
    examples,
    model_name,
    named_values,
    parameters,
)
from hbstore.cli.opening import open_store
from hbstore.cli.partitions import print_partitions
from hbstore.cli.printing import print_answer
from hbstore.errors import InvalidInput, hinting
from hbstore.keys.partition_names import table_name
from hbstore.texts.wording import plural

if TYPE_CHECKING:  # imported when a store is opened: help needs none
    from hbstore.cubes import Cubes, PartitionDesc

commands = typer.Typer(no_args_is_help=True)
FactArgument = Annotated[
    str,
    typer.Argument(metavar="FACT", help="The fact or the dimension table: FACT or DB.FACT.", show_default=False),
]
PeriodOption = Annotated[
    str | None,
    typer.Option("--update-period", metavar="PERIOD", help="The partition's update period, such as DAILY."),
]
TimeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--time",
        metavar="COLUMN=TIME",
        help="When the partition begins, as its update period writes it: dt=2015-01-29; repeat it for more columns.",
    ),
]
SpecOption = Annotated[
    list[str] | None,
    typer.Option(
        "--spec", metavar="COLUMN=VALUE", help="The value of a partition column that holds no time; can be repeated."
    ),
]
FileOption = Annotated[
    str | None,
    typer.Option(
        "--file", metavar="FILE", help="A .yaml, .json or .xml file of partitions, instead of one by options."
    ),
]


@commands.command(
    epilog=examples(
        "hbstore fact partitions add shop.sales --storage-name s1 --update-period DAILY --time dt=2015-02-02",
        "hbstore fact partitions add shop.sales --storage-name s1 --file partitions.yaml",
    )
)
def add(
    ctx: typer.Context,
    fact: FactArgument,
    *,
    storage_name: StorageOption = None,
    update_period: PeriodOption = None,
    time: TimeOption = None,
    spec: SpecOption = None,
    location: LocationOption = None,
    parameter: ParameterOption = None,
    file: FileOption = None,
    if_not_exists: IfNotExistsOption = False,
    database: DatabaseOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Register partitions: one, or those of a file.

    The command adds all partitions of a file, or none. Without --location the folder of a partition is below the
    storage table's folder, and has the partition's name.
    """
    options = _given(
        update_period=update_period,
        time=named_values("time", time),
        other=named_values("spec", spec),
        location=location,
        parameters=parameters(parameter),
    )
    in_database, name = model_name(fact, database)
    descs = _descs(name, options, file)
    with _storage_table(ctx, store, in_database, name, storage_name) as (cubes, storage, table):
        added = cubes.add_partitions(name, storage, descs, if_not_exists=if_not_exists)
    _print_done(table, "added", "to", added, as_json=as_json)


@commands.command(
    epilog=examples(
        "hbstore fact partitions drop shop.sales --storage-name s1 --update-period DAILY --time dt=2015-02-01",
        "hbstore fact partitions drop shop.sales --storage-name s1 --file partitions.yaml",
    )
)
def drop(
    ctx: typer.Context,
    fact: FactArgument,
    *,
    storage_name: StorageOption = None,
    update_period: PeriodOption = None,
    time: TimeOption = None,
    spec: SpecOption = None,
    file: FileOption = None,
    database: DatabaseOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Drop partitions: one, or those of a file.

    The command drops all partitions of a file, or none. It does not touch data files.
    """
    options = _given(update_period=update_period, time=named_values("time", time), other=named_values("spec", spec))
    in_database, name = model_name(fact, database)
    descs = _descs(name, options, file)
    with _storage_table(ctx, store, in_database, name, storage_name) as (cubes, storage, table):
        dropped = cubes.drop_partitions(name, storage, descs)
    _print_done(table, "dropped", "from", dropped, as_json=as_json)


@commands.command(
    "list",
    epilog=examples(
        "hbstore fact partitions list shop.sales --storage-name s1",
        "hbstore fact partitions list shop.sales --storage-name s1 --filter \"dt >= '2015-01-30'\" --json",
    ),
)
def list_(
    ctx: typer.Context,
    fact: FactArgument,
    *,
    storage_name: StorageOption = None,
    filter: FilterOption = None,
    database: DatabaseOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the partitions that a filter selects, in key order.

    The output is that of `hbstore partitions` for the storage table.
    """
    in_database, name = model_name(fact, database)
    with _storage_table(ctx, store, in_database, name, storage_name) as (cubes, storage, table):
        listed = cubes.partitions(name, storage, filter)
        columns = cubes.store.get_table(*table_name(table)).partition_column_names
    print_partitions(listed, columns, as_json=as_json)


@contextmanager
def _storage_table(
    ctx: typer.Context, store: str | None, database: str, name: str, storage: str | None
) -> Iterator[tuple[Cubes, str, str]]:
    """The cubes of a command, with the storage that is meant and the name of the table there.

    Raises:
        InvalidInput: there are several storages.
        NoStorageTables: there is none.
    """
    from hbstore.cubes import Cubes

    with open_store(ctx, store) as opened:
        cubes = Cubes(opened, database)
        with hinting(InvalidInput, "Add --storage-name"):
            found = storage or cubes.only_storage(name)
        yield cubes, found, f"{database}.{cubes.storage_table(name, found)}".lower()


def _given(**options: Any) -> dict[str, Any]:
    """The options that were given."""
    return {name: value for name, value in options.items() if value}


def _descs(name: str, options: dict[str, Any], file: str | None) -> list[PartitionDesc]:
    """The partitions of a command: the one of its options, or those of its file.

    Raises:
        InvalidInput: there are both or neither, or the file is about another fact.
        InvalidModel: the file cannot be read.
    """
    from hbstore.cubes import PartitionDesc, read_partitions
    from hbstore.cubes.partition_files import descs_of

    if file is None:
        if not options:
            raise InvalidInput(
                "the partition is missing", hint="Add --update-period and --time, or --file with a file of partitions"
            )
        return [PartitionDesc(**options)]
    if options:
        raise InvalidInput(
            "--file excludes options that describe a partition",
            file=file,
            hint="Put the update period, times and values into the file",
        )
    return descs_of(read_partitions(file), name, file)


def _print_done(table: str, done: str, where: str, count: int, *, as_json: bool) -> None:
    print_answer(
        {"table": table, done: count}, [f"{plural(count, 'partition')} {done} {where} {table}"], as_json=as_json
    )

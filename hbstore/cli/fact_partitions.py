"""Commands for the partitions of facts and dimension tables: add, drop, list."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
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
from hbstore.errors import HbstoreError, InvalidInput, hinting
from hbstore.keys.partition_names import DEFAULT_DATABASE, table_name
from hbstore.texts.wording import plural

if TYPE_CHECKING:  # imported when a store is opened: help needs none
    from hbstore.cubes import Cubes, PartitionDesc

commands = typer.Typer(no_args_is_help=True)
FactArgument = Annotated[
    str,
    typer.Argument(metavar="FACT", help="The fact or the dimension table: FACT or DB.FACT.", show_default=False),
]
FactsArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="FACT",
        help="The fact or the dimension table: FACT or DB.FACT; with --file, by default what each entry says.",
        show_default=False,
    ),
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
        "hbstore fact partitions add --database shop --file partitions.yaml",
    )
)
def add(
    ctx: typer.Context,
    fact: FactsArgument = None,
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

    The command adds all partitions of a fact in a file, or none. Without --location the folder of a partition is below
    the storage table's folder, and has the partition's name.
    """
    options = _given(
        update_period=update_period,
        time=named_values("time", time),
        other=named_values("spec", spec),
        location=location,
        parameters=parameters(parameter),
    )

    def change(cubes: Cubes, name: str, storage: str, descs: list[PartitionDesc]) -> int:
        return cubes.add_partitions(name, storage, descs, if_not_exists=if_not_exists)

    in_database, name = (database or DEFAULT_DATABASE, None) if fact is None else model_name(fact, database)
    descs = _descs(name, options, file)
    done = _change_each(ctx, store, in_database, storage_name, descs, change)
    _print_done(done, "added", "to", is_one=fact is not None, as_json=as_json)


@commands.command(
    epilog=examples(
        "hbstore fact partitions drop shop.sales --storage-name s1 --update-period DAILY --time dt=2015-02-01",
        "hbstore fact partitions drop shop.sales --storage-name s1 --file partitions.yaml",
    )
)
def drop(
    ctx: typer.Context,
    fact: FactsArgument = None,
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

    The command drops all partitions of a fact in a file, or none. It does not touch data files.
    """
    options = _given(update_period=update_period, time=named_values("time", time), other=named_values("spec", spec))

    def change(cubes: Cubes, name: str, storage: str, descs: list[PartitionDesc]) -> int:
        return cubes.drop_partitions(name, storage, descs)

    in_database, name = (database or DEFAULT_DATABASE, None) if fact is None else model_name(fact, database)
    descs = _descs(name, options, file)
    done = _change_each(ctx, store, in_database, storage_name, descs, change)
    _print_done(done, "dropped", "from", is_one=fact is not None, as_json=as_json)


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


def _change_each(
    ctx: typer.Context,
    store: str | None,
    database: str,
    storage: str | None,
    descs: Mapping[str, list[PartitionDesc]],
    change: Callable[[Cubes, str, str, list[PartitionDesc]], int],
) -> list[tuple[str, int]]:
    """Change the partitions of facts, one after another; of each its table and how many.

    An error says of which tables some were changed before.
    """
    done: list[tuple[str, int]] = []
    for name, some in descs.items():
        try:
            with _storage_table(ctx, store, database, name, storage) as (cubes, on, table):
                done.append((table, change(cubes, name, on, some)))
        except HbstoreError as error:
            if done:
                error.add_note(f"changed before: {', '.join(table for table, _ in done)}")
            raise
    return done


def _given(**options: Any) -> dict[str, Any]:
    """The options that were given."""
    return {name: value for name, value in options.items() if value}


def _descs(name: str | None, options: dict[str, Any], file: str | None) -> dict[str, list[PartitionDesc]]:
    """The partitions of a command by facts: the one of its options, or those of its file.

    Raises:
        InvalidInput: there are both or neither, the fact is missing, or the file is about another one.
        InvalidModel: the file cannot be read.
    """
    from hbstore.cubes import PartitionDesc, read_partitions
    from hbstore.cubes.partition_files import descs_of

    if file is None:
        if not options:
            raise InvalidInput(
                "the partition is missing", hint="Add --update-period and --time, or --file with a file of partitions"
            )
        if name is None:
            raise InvalidInput("the fact is missing", hint="Name a fact or a dimension table, or give --file")
        return {name: [PartitionDesc(**options)]}
    if options:
        raise InvalidInput(
            "--file excludes options that describe a partition",
            file=file,
            hint="Put the update period, times and values into the file",
        )
    return descs_of(read_partitions(file), name, file)


def _print_done(changed: Sequence[tuple[str, int]], done: str, where: str, *, is_one: bool, as_json: bool) -> None:
    """Say how many partitions of which tables; of one fact that was named JSON is an object, else a list."""
    documents = [{"table": table, done: count} for table, count in changed]
    lines = [f"{plural(count, 'partition')} {done} {where} {table}" for table, count in changed]
    print_answer(
        documents[0] if is_one and documents else documents,
        lines or [f"nothing {done}: the file holds no partitions"],
        as_json=as_json,
    )

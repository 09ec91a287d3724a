"""Commands for the store itself, its databases and its tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hbstore.cli.arguments import (
    IfExistsOption,
    IfNotExistsOption,
    JsonOption,
    LocationOption,
    ParameterOption,
    StoreOption,
    TableArgument,
    column,
    examples,
    parameters,
)
from hbstore.cli.opening import open_or_create_store, open_store, store_url
from hbstore.cli.printing import print_answer, print_fields, print_json, time_text
from hbstore.errors import AlreadyExists, DatabaseNotFound, HbstoreError, TableNotFound
from hbstore.keys.partition_names import table_name
from hbstore.model.objects import Column, Database, Table, check_columns_apart
from hbstore.model.stored_as import FileFormat, stored_as
from hbstore.model.totals import Totals
from hbstore.texts.wording import plural

if TYPE_CHECKING:  # its thread pools take time to import, and help needs none
    from hbstore.files.warehouse import Warehouse
    from hbstore.store.partition_store import PartitionStore

commands = typer.Typer()
DatabaseArgument = Annotated[str, typer.Argument(metavar="DB", help="The database.", show_default=False)]


@commands.command(epilog=examples("hbstore init", "hbstore --store sqlite:///data/catalog.db init --database shop"))
def init(
    ctx: typer.Context,
    *,
    database: Annotated[
        str | None, typer.Option("--database", metavar="DB", help="A database to create, if it does not exist.")
    ] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Create the store, or check an existing one.

    A new store has the database `default`, as clients of Hive expect it.
    """
    new_database = None if database is None else Database(database)
    opened, created = open_or_create_store(ctx, store)
    with opened:
        _make_default(opened)
        if new_database is not None:
            opened.create_database(new_database, if_not_exists=True)
    url = store_url(ctx, store)
    name = None if new_database is None else new_database.name
    lines = [f"store {url}", *([] if name is None else [f"database {name}"])]
    print_answer({"store": url, "created": created, "database": name}, lines, as_json=as_json)


def _make_default(store: PartitionStore) -> None:
    """Give a store without databases the one that clients of Hive take for granted."""
    from hbstore.warehouse.databases import DEFAULT

    if not store.database_names():
        store.create_database(DEFAULT, if_not_exists=True)


@commands.command(epilog=examples("hbstore databases", "hbstore databases --json"))
def databases(ctx: typer.Context, *, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """List the databases, in order of their names."""
    with open_store(ctx, store) as opened:
        all_databases = opened.databases()
    rows = [(database.name, database.location or "", database.description or "") for database in all_databases]
    print_answer(
        [_database_json(database) for database in all_databases],
        (database.name for database in all_databases),
        as_json=as_json,
        table=(("database", "location", "description"), rows),
    )


@commands.command(epilog=examples("hbstore tables shop", "hbstore tables"))
def tables(
    ctx: typer.Context,
    database: Annotated[
        str | None, typer.Argument(metavar="[DB]", help="The database; by default all of them.")
    ] = None,
    *,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the tables of a database, or of all, as DB.TABLE."""
    with open_store(ctx, store) as opened:
        names = [one.name for one in opened.databases()] if database is None else [database]
        listed_tables = [table for name in names for table in opened.tables(name)]
    documents = [
        {
            "database": table.database,
            "table": table.name,
            "partition_columns": _columns_json(table.partition_columns),
            "location": table.location,
        }
        for table in listed_tables
    ]
    rows = [(str(table), _columns_text(table.partition_columns), table.location or "") for table in listed_tables]
    headers = ("table", "partition columns", "location")
    print_answer(documents, map(str, listed_tables), as_json=as_json, table=(headers, rows))


@commands.command(epilog=examples("hbstore describe shop.sales", "hbstore describe shop.sales --json"))
def describe(
    ctx: typer.Context, table: TableArgument, *, store: StoreOption = None, as_json: JsonOption = False
) -> None:
    """Show a table's columns, location, parameters and totals."""
    with open_store(ctx, store) as opened:
        definition = opened.get_table(*table_name(table))
        totals = opened.totals(definition.database, definition.name) if definition.partition_columns else None
    if as_json:
        print_json({**_table_json(definition), "totals": None if totals is None else totals.to_dict()})
        return
    print_fields(
        {
            "table": definition,
            **{
                f"partition column {partition_column.name}": partition_column.type
                for partition_column in definition.partition_columns
            },
            **{f"column {data_column.name}": data_column.type for data_column in definition.columns},
            "location": definition.location,
            "type": definition.table_type,
            "owner": definition.owner,
            "created": time_text(definition.create_time),
            **({} if totals is None else _totals_fields(totals)),
            **{f"parameter {name}": value for name, value in sorted(definition.parameters.items())},
        }
    )


@commands.command(epilog=examples("hbstore create-database shop", "hbstore create-database shop --if-not-exists"))
def create_database(
    ctx: typer.Context,
    database: DatabaseArgument,
    *,
    location: LocationOption = None,
    parameter: ParameterOption = None,
    if_not_exists: IfNotExistsOption = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Create a database, and the store if it does not exist.

    A new store has the database `default`, too, as clients of Hive expect it.
    """
    new_database = Database(database, location=location, parameters=parameters(parameter))
    opened, _ = open_or_create_store(ctx, store)
    with opened:
        _make_default(opened)
        created = is_done(lambda: opened.create_database(new_database), AlreadyExists, skip=if_not_exists)
    _print_done(
        "database", new_database.name, "created" if created else "already exists", {"created": created}, as_json=as_json
    )


@commands.command(
    epilog=examples(
        'hbstore create-table shop.sales --partition "ds date" --partition "hour int"',
        'hbstore create-table shop.sales --partition "ds date" --column "amount double" --format parquet --location s3://shop/sales',
    )
)
def create_table(
    ctx: typer.Context,
    table: TableArgument,
    *,
    partition: Annotated[
        list[str] | None,
        typer.Option(
            "--partition",
            metavar='"NAME TYPE"',
            help="A partition column; repeat it for more, the most significant first.",
        ),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option("--column", metavar='"NAME TYPE"', help="A column of the data; can be repeated."),
    ] = None,
    form: Annotated[
        FileFormat, typer.Option("--format", help="How its files are stored; csv is text without quotes, with commas.")
    ] = "text",
    location: LocationOption = None,
    warehouse: Annotated[
        str | None,
        typer.Option(
            "--warehouse",
            envvar="HBSTORE_WAREHOUSE",
            metavar="DIR",
            help="The warehouse of hbstore serve; without --location the table gets its folder below it.",
        ),
    ] = None,
    parameter: ParameterOption = None,
    if_not_exists: IfNotExistsOption = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Create a table. Its partition columns cannot be changed later, because all row keys contain their values."""
    new_table = check_columns_apart(
        Table(
            *table_name(table),
            partition_columns=[column(text) for text in partition or ()],
            columns=[column(text) for text in columns or ()],
            location=location,
            parameters=parameters(parameter),
            storage=stored_as(form),
        )
    )
    with open_store(ctx, store) as opened:
        if location is None and warehouse is not None:
            home = opened.get_database(new_table.database).location
            new_table = replace(
                new_table, location=_warehouse(warehouse).table_location(home, new_table.database, new_table.name)
            )
        created = is_done(lambda: opened.create_table(new_table), AlreadyExists, skip=if_not_exists)
    _print_done(
        "table", str(new_table), "created" if created else "already exists", {"created": created}, as_json=as_json
    )


@commands.command(epilog=examples("hbstore drop-table shop.sales", "hbstore drop-table shop.sales --if-exists"))
def drop_table(
    ctx: typer.Context,
    table: TableArgument,
    *,
    if_exists: IfExistsOption = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Drop a table and all its partitions. Files are not touched."""
    database, name = table_name(table)
    with open_store(ctx, store) as opened:
        dropped = is_done(lambda: opened.drop_table(database, name), DatabaseNotFound, TableNotFound, skip=if_exists)
    text = "dropped" if dropped else "was not there"
    _print_done("table", f"{database}.{name}".lower(), text, {"dropped": dropped}, as_json=as_json)


@commands.command(epilog=examples("hbstore drop-database shop --cascade", "hbstore drop-database shop --if-exists"))
def drop_database(
    ctx: typer.Context,
    database: DatabaseArgument,
    *,
    cascade: Annotated[bool, typer.Option("--cascade", help="Drop its tables and their partitions as well.")] = False,
    if_exists: IfExistsOption = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Drop a database. Files are not touched."""
    with open_store(ctx, store) as opened:
        dropped = is_done(lambda: opened.drop_database(database, cascade=cascade), DatabaseNotFound, skip=if_exists)
    text = "dropped" if dropped else "was not there"
    _print_done("database", database.lower(), text, {"dropped": dropped}, as_json=as_json)


def is_done(change: Callable[[], object], *needless: type[HbstoreError], skip: bool) -> bool:
    """Make a change; False if these errors say that there is nothing to do, where the command may skip that."""
    try:
        change()
    except needless:
        if not skip:
            raise
        return False
    return True


def _warehouse(root: str) -> Warehouse:
    from hbstore.files.warehouse import Warehouse

    return Warehouse(root)


def _print_done(kind: str, name: str, text: str, done: dict[str, bool], *, as_json: bool) -> None:
    print_answer({kind: name, **done}, [f"{kind} {name}: {text}"], as_json=as_json)


def _columns_text(columns: Sequence[Column]) -> str:
    return ", ".join(f"{one.name} {one.type}" for one in columns)


def _columns_json(columns: Sequence[Column]) -> list[dict[str, str | None]]:
    return [{"name": one.name, "type": one.type, "comment": one.comment} for one in columns]


def _database_json(database: Database) -> dict[str, Any]:
    return {
        "database": database.name,
        "description": database.description,
        "location": database.location,
        "owner": database.owner,
        "parameters": dict(database.parameters),
    }


def _totals_fields(totals: Totals) -> dict[str, str]:
    """What the partitions say together, and of each figure how many of them do not say it."""

    def shown(text: str, unknown: int) -> str:
        return f"{text} (unknown of {plural(unknown, 'partition')})" if unknown else text

    return {
        "partitions": f"{totals.partitions:,}",
        "rows": shown(f"{totals.rows:,}", totals.without_rows),
        "files": shown(f"{totals.files:,}", totals.without_files),
        "size": shown(f"{totals.size:,} bytes", totals.without_size),
    }


def _table_json(table: Table) -> dict[str, Any]:
    return {
        "database": table.database,
        "table": table.name,
        "partition_columns": _columns_json(table.partition_columns),
        "columns": _columns_json(table.columns),
        "location": table.location,
        "type": table.table_type,
        "owner": table.owner,
        "create_time": table.create_time,
        "parameters": dict(table.parameters),
    }

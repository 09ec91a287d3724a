"""Columns of tables."""

from __future__ import annotations

from hbstore.errors import DatabaseNotFound, TableNotFound
from hbstore.metastore.avro_columns import avro_columns, has_avro_schema
from hbstore.metastore.calls import Call, Handlers
from hbstore.metastore.naming import database_name
from hbstore.metastore.protocol import THRIFT
from hbstore.metastore.short_calls import leave_selector
from hbstore.model.objects import Column, Table

handlers = Handlers()


@handlers.answers("get_fields", "get_fields_with_environment_context")
def get_fields(call: Call) -> list[Column]:
    """The columns of a table's data: those of its Avro schema, where its parameters name one.

    Raises:
        UnknownTableException: there is no such table, or no such database.
        MetaException: no columns can be taken from its Avro schema.
    """
    return _columns(call, _table(call))


@handlers.answers("get_schema", "get_schema_with_environment_context")
def get_schema(call: Call) -> list[Column]:
    """The columns of a table's data, then those of its partitioning.

    Raises:
        UnknownTableException: there is no such table, or no such database.
        MetaException: no columns can be taken from its Avro schema.
    """
    table = _table(call)
    return [*_columns(call, table), *table.partition_columns]


def _columns(call: Call, table: Table) -> list[Column]:
    if not has_avro_schema(table):
        return list(table.columns)
    leave_selector()  # a schema may be long, and in a file
    return avro_columns(table, call.warehouse)


def _table(call: Call) -> Table:
    arguments = call.arguments
    base = (arguments.table_name or "").partition(".")[0]  # Hive takes the name of a table's column here as well
    try:
        return call.store.get_table(database_name(arguments.db_name), base)
    except (TableNotFound, DatabaseNotFound) as error:
        raise THRIFT.UnknownTableException(str(error)) from error

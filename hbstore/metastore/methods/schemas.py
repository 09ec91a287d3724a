"""Columns of tables, and constraints, of which none are kept."""

from __future__ import annotations

from typing import Any, Final

from hbstore.errors import DatabaseNotFound, TableNotFound
from hbstore.metastore.avro_columns import avro_columns, has_avro_schema
from hbstore.metastore.calls import Call, Handlers
from hbstore.metastore.naming import database_name
from hbstore.metastore.protocol import THRIFT
from hbstore.metastore.short_calls import leave_selector
from hbstore.model.objects import Column, Table

handlers = Handlers()

CONSTRAINT_KINDS: Final = (
    "primaryKeys",
    "foreignKeys",
    "uniqueConstraints",
    "notNullConstraints",
    "defaultConstraints",
    "checkConstraints",
)
"""The lists of constraints that requests and replies may have."""

_NOT_KEPT: Final = "hbstore does not store constraints: leave them out, as Hive never enforced them"


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


@handlers.answers("get_primary_keys")
def get_primary_keys(_: Call) -> Any:
    """None."""
    return THRIFT.PrimaryKeysResponse(primaryKeys=[])


@handlers.answers("get_foreign_keys")
def get_foreign_keys(_: Call) -> Any:
    """None."""
    return THRIFT.ForeignKeysResponse(foreignKeys=[])


@handlers.answers(
    "get_unique_constraints", "get_not_null_constraints", "get_default_constraints", "get_check_constraints"
)
def get_later_constraints(_: Call) -> Any:
    """None; clients of Hive 3 ask for them before they write."""
    return THRIFT.LaterConstraintsResponse(constraints=[])


@handlers.answers("get_all_table_constraints")
def get_all_table_constraints(call: Call) -> Any:
    """None of any kind.

    Raises:
        NoSuchObjectException: there is no such table.
    """
    request = call.arguments.request
    call.store.get_table(database_name(request.dbName), request.tblName or "")
    none = THRIFT.SQLAllTableConstraints(**dict.fromkeys(CONSTRAINT_KINDS, ()))
    return THRIFT.AllTableConstraintsResponse(allTableConstraints=none)


@handlers.answers(
    "add_primary_key",
    "add_foreign_key",
    "add_unique_constraint",
    "add_not_null_constraint",
    "add_default_constraint",
    "add_check_constraint",
    writes=True,
)
def add_constraint(_: Call) -> None:
    """Refused, rather than taken and forgotten.

    Raises:
        MetaException: always.
    """
    raise THRIFT.MetaException(_NOT_KEPT)


@handlers.answers("drop_constraint", writes=True)
def drop_constraint(call: Call) -> None:
    """There is none to drop.

    Raises:
        NoSuchObjectException: always.
    """
    request = call.arguments.req
    raise THRIFT.NoSuchObjectException(
        f"The constraint: {request.constraintname} does not exist for the associated table: "
        f"{request.dbname}.{request.tablename}"
    )


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

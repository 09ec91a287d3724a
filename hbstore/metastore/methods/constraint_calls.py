"""Constraints of tables: kept and answered, and enforced by nobody, as by default in Hive."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final

from hbstore.errors import DatabaseNotFound, InvalidInput, InvalidName, TableNotFound
from hbstore.metastore.calls import Call, Handlers
from hbstore.metastore.constraint_structs import LAYOUTS, constraints_in, structs_of
from hbstore.metastore.naming import database_name
from hbstore.metastore.protocol import THRIFT
from hbstore.metastore.short_calls import leave_selector
from hbstore.model.constraints import Constraint, ConstraintKind, ForeignKey
from hbstore.model.objects import Table

handlers = Handlers()
_OF_ONE_TABLE: Final = {
    layout.get[0]: kind for kind, layout in LAYOUTS.items() if kind is not ConstraintKind.FOREIGN_KEY
}
_ADDED: Final = {layout.add[0]: kind for kind, layout in LAYOUTS.items()}


@handlers.answers("get_foreign_keys")
def get_foreign_keys(call: Call) -> Any:
    """Foreign keys of a table, or those that refer to one, or those between both; of all tables where none is named."""
    request = call.arguments.request
    parent = _names(request.parent_db_name, request.parent_tbl_name)
    child = _names(request.foreign_db_name, request.foreign_tbl_name)
    if not all(child) and not all(parent):
        leave_selector()
    keys = call.store.hive.constraints.between(parent, child)
    return THRIFT.ForeignKeysResponse(foreignKeys=_structs(keys, ConstraintKind.FOREIGN_KEY))


@handlers.answers(*_OF_ONE_TABLE)
def get_constraints(call: Call) -> Any:
    """A table's constraints of one kind; none where there is no such table."""
    kind = _OF_ONE_TABLE[call.method.name]
    layout, request = LAYOUTS[kind], call.arguments.request
    _, _, reply = layout.get
    found = _of_table(call, request.db_name, request.tbl_name)
    return reply(**{layout.field: _structs(found, kind)})


@handlers.answers("get_all_table_constraints")
def get_all_table_constraints(call: Call) -> Any:
    """A table's constraints of every kind; none where there is no such table."""
    request = call.arguments.request
    found = _of_table(call, request.dbName, request.tblName)
    lists = {layout.field: _structs(found, kind) for kind, layout in LAYOUTS.items()}
    return THRIFT.AllTableConstraintsResponse(allTableConstraints=THRIFT.SQLAllTableConstraints(**lists))


@handlers.answers(*_ADDED, writes=True)
def add_constraints(call: Call) -> None:
    """Add constraints of one kind to a table, all or none.

    Raises:
        NoSuchObjectException: there is no such table.
        MetaException: a constraint cannot be, as `hbstore.store.hive.constraints` says, or they are of several tables.
    """
    kind = _ADDED[call.method.name]
    request = call.arguments.req
    added = constraints_in({kind: getattr(request, LAYOUTS[kind].add[2]) or ()})
    if not added:
        return
    places = {(constraint.database, constraint.table) for constraint in added}
    if len(places) > 1:
        hint = "Add those of each table with a call of its own"
        raise InvalidInput("the constraints are of several tables", tables=len(places), hint=hint)
    ((database, table),) = places
    call.note(table=f"{database}.{table}")
    call.store.hive.constraints.add(database, table, [constraint.constraint for constraint in added])


@handlers.answers("drop_constraint", writes=True)
def drop_constraint(call: Call) -> None:
    """Remove a constraint of a table, or a foreign key that refers to it.

    Raises:
        NoSuchObjectException: there is no such table or constraint.
    """
    request = call.arguments.req
    database, table = database_name(request.dbname), request.tablename or ""
    call.note(table=f"{database}.{table}")
    call.store.hive.constraints.drop(database, table, request.constraintname or "")


def requested_constraints(table: Table, request: Any) -> list[Constraint]:
    """The constraints in a request that creates a table; those that name no table are its own.

    Args:
        table: the table.
        request: has the lists of constraints, as far as there are any, as attributes.

    Raises:
        InvalidInput: one is of another table, or cannot be.
    """
    constraints = constraints_in({kind: getattr(request, layout.field, None) or () for kind, layout in LAYOUTS.items()})
    for owned in constraints:
        if (owned.database, owned.table) != (table.database, table.name) and owned.table:
            raise InvalidInput(
                "the table is created with a constraint of another table",
                table=table,
                constraint_of=f"{owned.database}.{owned.table}",
                hint="Add that constraint to the other table",
            )
    return [owned.constraint for owned in constraints]


def _of_table(call: Call, database: str | None, table: str | None) -> list[ForeignKey]:
    """The constraints of a table with its names; none where it is not there, as with a Hive Metastore."""
    with suppress(TableNotFound, DatabaseNotFound, InvalidName):
        row = call.store.table_row(database_name(database), table or "")
        own = call.store.hive.constraints.of(row.table.database, row.table.name)
        return [ForeignKey(row.table.database, row.table.name, one) for one in own]
    return []


def _structs(found: Iterable[ForeignKey], kind: ConstraintKind) -> list[Any]:
    return [struct for one in found if one.constraint.kind is kind for struct in structs_of(one)]


def _names(database: str | None, table: str | None) -> tuple[str | None, str | None]:
    return database and database_name(database).lower(), table and table.lower()

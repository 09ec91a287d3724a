"""Changing a whole table with its partitions in one transaction: another name, other columns, another location."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import NoneType

from hbstore.errors import AlreadyExists, ConcurrentChange, InvalidInput
from hbstore.keys.partition_names import identifier
from hbstore.keys.row_key import successor
from hbstore.model.objects import Table
from hbstore.rows.interface import TIMELINES
from hbstore.store.constraint_changes import follow_columns, move_constraints
from hbstore.store.constraints_cell import CONSTRAINTS
from hbstore.store.grants_row import move_grants
from hbstore.store.packing import rewrite_earlier
from hbstore.store.publications_cell import WRITES, check_in_place, check_movable, without_move
from hbstore.store.purge import OF_NAME
from hbstore.store.table_parameters import check_parameters
from hbstore.store.table_row import (
    DEFINITION,
    TableRow,
    check_same_table,
    database_key,
    next_definition,
    renewed_definition,
    table_key,
)
from hbstore.store.tables import Tables, existing_database
from hbstore.store.time_columns import declared_by
from hbstore.texts.arguments import expect, expect_flags
from hbstore.transactions.epochs import Epochs
from hbstore.transactions.payload_change import checked_relocation
from hbstore.transactions.templates import TEMPLATES, Templates
from hbstore.transactions.transaction import RowView, Transaction


@dataclass(frozen=True, slots=True)
class _Expectation:
    """What a table must be for a change to be made; it is true if it says anything.

    Attributes:
        parameters: values of its parameters; None: it has no such one.
        table: all of it; None: whatever it is.
    """

    parameters: Mapping[str, str | None]
    table: Table | None

    def check(self, row: TableRow) -> None:
        """Raise ConcurrentChange if a table is not what was expected."""
        hint = "Nothing was changed; read the table again"
        if self.table is not None and row.table != self.table:
            raise ConcurrentChange("the table differs from the expected one", table=row.table, hint=hint)
        for name, value in self.parameters.items():
            if row.table.parameters.get(name) != value:
                raise ConcurrentChange(
                    "a parameter of the table differs from its expected value",
                    table=row.table,
                    parameter=name,
                    expected=value,
                    found=row.table.parameters.get(name),
                    hint=hint,
                )


@dataclass(frozen=True, slots=True)
class TableChanges:
    """Changes tables.

    Attributes:
        tables: the tables.
    """

    tables: Tables

    def alter(
        self,
        table: Table,
        *,
        cascade: bool,
        expected: Mapping[str, str | None] | None,
        replaces: Table | None,
        same_as: TableRow | None = None,
    ) -> None:
        """Replace all of a table but its name and its partition columns, with its partitions if told so.

        With ``same_as`` it must be the very table of that row.
        """
        expect_flags(cascade=cascade)
        declared_by(table)
        expect("replaces", replaces, Table, NoneType, hint="Give the Table that it is now, or None")
        expect("expected_parameters", expected, Mapping, NoneType, hint="Give the parameters in a dict")
        expectation = _Expectation(expected or {}, replaces)
        with_partitions = bool(table.partition_columns) and cascade

        def alter(transaction: Transaction) -> None:
            view, row = self.tables.view(transaction, table.database, table.name)
            check_same_table(row, same_as)
            check_alterable(row, table)
            expectation.check(row)
            if table.location != row.table.location:
                check_in_place(row, partitions=True)  # whose processes hold the folder in the old place
            redefine(transaction, view, row, table, with_partitions=with_partitions)
            if with_partitions:
                columns = tuple(table.columns)
                view.put_cell(TEMPLATES, _with_epoch(view, row, lambda epochs: epochs.with_columns(columns)))

        if with_partitions:
            rewrite_earlier(self.tables, table.database, table.name)
        self.tables.transactions.run(alter)

    def rename(
        self,
        database: str,
        name: str,
        table: Table,
        *,
        relocated: tuple[str, str] | None,
        moved: str | None,
        same_as: TableRow | None = None,
    ) -> None:
        """Give a table another name; all else of its definition is replaced as well.

        ``moved`` is the publication for which its folder has moved, and which is over with this. With ``same_as`` it
        must be the very table of that row.
        """
        declared_by(table)
        relocated = None if relocated is None else checked_relocation(relocated)
        if (identifier("database", database), identifier("table", name)) == (table.database, table.name):
            raise InvalidInput(
                "the new name of the table is its old name",
                table=table,
                hint="To change the rest of the table, alter it",
            )

        def rename(transaction: Transaction) -> None:
            view, row = self.tables.view(transaction, database, name)
            if not row.definition.has_partition_columns_of(table):
                raise InvalidInput(
                    "a rename cannot change the partition columns",
                    table=row.table,
                    hint="Create another table and load the partitions into it",
                )
            check_same_table(row, same_as)
            check_parameters(table, row.table)
            check_movable(row, moved)
            target = transaction.row(table_key(table.database, table.name))
            existing_database(table.database, transaction.row(database_key(table.database)).state)
            if DEFINITION in target.cells:
                raise AlreadyExists(
                    "the table already exists", table=table, hint="Choose another name, or drop that table first"
                )
            view.settle()
            target.settle()
            altered = _altered(row, table)
            for cell, value in view.all_cells().items():
                if cell not in (*OF_NAME, CONSTRAINTS):  # which stay, and which follows by itself, below
                    target.put_cell(cell, value)
                    view.put_cell(cell, b"")
            names = (table.database, table.name)
            target.put_cell(TEMPLATES, _with_epoch(view, row, lambda epochs: epochs.renamed(names, relocated)))
            if moved is not None:
                target.put_cell(WRITES, without_move(row, moved))
            if _redeclares(row, table):
                clear_timelines(target, view.all_cells())
            follow_columns(transaction, view.key, row.table, table)
            move_constraints(transaction, view.key, target.key)
            target.put_cell(DEFINITION, renewed_definition(row.cells[DEFINITION], view.key, altered))
            target.set_state(view.state)
            target.continue_from(view)  # its rows go along, and keep the numbers that they were written with
            view.set_state(b"")
            move_grants(transaction, view.key, target.key, row.table_id)

        rewrite_earlier(self.tables, database, name)
        self.tables.transactions.run(rename)


def check_alterable(row: TableRow, table: Table) -> None:
    """See that a definition may take the place of a table's.

    Raises:
        InvalidInput: the partition columns differ, or how long partitions are kept cannot be read.
        UnknownTimelineClass: it names a class that there is not.
    """
    if not row.definition.has_partition_columns_of(table):
        raise InvalidInput(
            "partition columns cannot be altered, because all row keys contain their values",
            table=table,
            hint="Create another table and load the partitions into it",
        )
    check_parameters(table, row.table)


def redefine(
    transaction: Transaction, view: RowView, row: TableRow, table: Table, *, with_partitions: bool = False
) -> None:
    """Put another definition in the place of a table's.

    Args:
        transaction: what changes it.
        view: the table in a transaction.
        row: what it says.
        table: the definition.
        with_partitions: whether its partitions are rewritten as well.
    """
    follow_columns(transaction, view.key, row.table, table)
    redeclares = _redeclares(row, table)
    if redeclares:
        clear_timelines(view)
    if redeclares or with_partitions:
        view.put_cell(DEFINITION, renewed_definition(row.cells[DEFINITION], row.key, _altered(row, table)))
    else:
        view.put_cell(DEFINITION, next_definition(row.cells[DEFINITION], table))


def clear_timelines(view: RowView, cells: Mapping[str, bytes] | None = None) -> None:
    """Remove the timelines of a table: they are built from its partitions when somebody asks for them.

    Args:
        view: the table.
        cells: those that may have timelines; None: the table's own.
    """
    for name in view.all_cells() if cells is None else cells:
        if name.startswith(TIMELINES):
            view.put_cell(name, b"")


def _altered(row: TableRow, table: Table) -> Table:
    """A table as it is to be; it was created when it was, unless told otherwise."""
    return table if table.create_time else replace(table, create_time=row.table.create_time)


def _with_epoch(view: RowView, row: TableRow, begin: Callable[[Epochs], Epochs]) -> bytes:
    """The templates of a table that begins another epoch; as they were where it has no partitions."""
    prefix = row.definition.prefix
    if not view.has_partition_rows(prefix, successor(prefix)):
        return b""
    templates = Templates.of(row.cells.get(TEMPLATES))
    return templates.in_epoch(begin(templates.epochs)).encode()


def _redeclares(row: TableRow, table: Table) -> bool:
    """Whether a table would keep other timelines than it does."""
    columns = row.definition.time_columns
    return (None if columns is None else columns.declaration) != declared_by(table)

"""What becomes of constraints in a transaction: they are added and dropped, and go along with tables and columns.

All functions change cells of the rows of the tables that a constraint is about (`hbstore.store.constraints_cell`). A
row is read as the transaction leaves it so far, as one transaction may drop both tables of a foreign key.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

from hbstore.errors import DdlRefused, InvalidInput
from hbstore.model.constraints import KEYS, Constraint, ConstraintKind, ForeignKey, References
from hbstore.model.objects import Table
from hbstore.store.constraints_cell import CONSTRAINTS, TableConstraints
from hbstore.store.table_row import DEFINITION, definition_of, names_of, table_key
from hbstore.transactions.transaction import Transaction

_SHORT: Final = {
    ConstraintKind.PRIMARY_KEY: "pk",
    ConstraintKind.FOREIGN_KEY: "fk",
    ConstraintKind.UNIQUE: "uk",
    ConstraintKind.NOT_NULL: "nn",
    ConstraintKind.DEFAULT: "dc",
    ConstraintKind.CHECK: "dc",
}
"""What the names begin with that a Hive Metastore makes."""
_HASH: Final = 0xFFFFFFF


def add_constraints(transaction: Transaction, key: bytes, constraints: Iterable[Constraint]) -> list[Constraint]:
    """Add constraints to the table of a row, foreign keys after all others; they, with their names.

    Raises:
        InvalidInput: a column or the table of a foreign key is not there, or there is a constraint of the name.
        DdlRefused: there is a primary key already, or a foreign key refers to no key.
    """
    table = _table(transaction, key)
    assert table is not None
    added = []
    for constraint in sorted(constraints, key=lambda constraint: constraint.kind is ConstraintKind.FOREIGN_KEY):
        now = _read(transaction, key)
        _check_columns(table, constraint.columns)
        if constraint.kind is ConstraintKind.PRIMARY_KEY and any(other.kind is constraint.kind for other in now.own):
            raise DdlRefused(
                "the table has a primary key already", table=table, hint="Drop that first, with its constraint's name"
            )
        parent = None
        if constraint.references is not None:
            parent = table_key(constraint.references.database, constraint.references.table)
            constraint = replace(constraint, references=_key_of(transaction, table, constraint, constraint.references))  # noqa: PLW2901
        taken = {*now.names(), *(() if parent is None else _read(transaction, parent).names())}
        if constraint.name in taken:
            raise InvalidInput(
                "the table has a constraint of this name already",
                table=table,
                constraint=constraint.name,
                hint="Choose another name, or drop that one first",
            )
        constraint = replace(constraint, name=constraint.name or _new_name(table, constraint, taken))  # noqa: PLW2901
        _write(transaction, key, replace(now, own=(*now.own, constraint)))
        if parent is not None:
            other = _read(transaction, parent)
            foreign = ForeignKey(table.database, table.name, constraint)
            _write(transaction, parent, replace(other, referring=(*other.referring, foreign)))
        added.append(constraint)
    return added


def remove_constraint(transaction: Transaction, key: bytes, name: str) -> bool:
    """Remove a constraint from the table of a row, or a foreign key that refers to it; whether there is one."""
    now = _read(transaction, key)
    name = name.strip().lower()
    if any(constraint.name == name for constraint in now.own):
        _keep(transaction, key, lambda constraint: constraint.name != name)
        return True
    for foreign in now.referring:
        if foreign.constraint.name == name:
            _keep(transaction, table_key(foreign.database, foreign.table), lambda constraint: constraint.name != name)
            return True
    return False


def forget_constraints(transaction: Transaction, key: bytes) -> None:
    """Remove all constraints of a table that goes, and what others say about it."""
    now = _read(transaction, key)
    for foreign in now.referring:
        place, name = table_key(foreign.database, foreign.table), foreign.constraint.name
        _keep(transaction, place, lambda one, name=name: one.name != name)  # type: ignore[misc]
    _keep(transaction, key, lambda _: False)


def follow_columns(transaction: Transaction, key: bytes, before: Table, after: Table) -> None:
    """Remove the constraints of columns that a table has no more or with another type, as a Hive Metastore does."""
    same = {(column.name.lower(), column.type) for column in after.columns}
    gone = {column.name.lower() for column in before.columns if (column.name.lower(), column.type) not in same}
    if gone and CONSTRAINTS in transaction.row(key).cells:
        _keep(transaction, key, lambda one: gone.isdisjoint(one.columns))


def move_constraints(transaction: Transaction, key: bytes, new_key: bytes) -> None:
    """Let the constraints of a table follow it to another row, and tell the tables at the other ends its new name."""
    now = _read(transaction, key)
    if not now.own and not now.referring:
        return
    old, new = names_of(key), names_of(new_key)

    def own(item: Constraint) -> Constraint:
        to = item.references
        if to is None or (to.database, to.table) != old:
            return item
        return replace(item, references=replace(to, database=new[0], table=new[1]))

    def named(item: ForeignKey) -> ForeignKey:
        at = new if (item.database, item.table) == old else (item.database, item.table)
        return ForeignKey(*at, own(item.constraint))

    others = {table_key(item.database, item.table) for item in now.referring}
    others |= {table_key(item.references.database, item.references.table) for item in now.own if item.references}
    for place in (others - {key}) | {new_key}:
        constraints = now if place == new_key else _read(transaction, place)
        moved = TableConstraints(tuple(map(own, constraints.own)), tuple(map(named, constraints.referring)))
        transaction.row(place).put_cell(CONSTRAINTS, moved.encode())
    transaction.row(key).put_cell(CONSTRAINTS, b"")


def _keep(transaction: Transaction, key: bytes, keeps: Callable[[Constraint], bool]) -> None:
    """Keep some of a table's constraints; with a key go the foreign keys that refer to it, at both of their ends."""
    now = _read(transaction, key)
    gone = [dropped for dropped in now.own if not keeps(dropped)]
    if not gone:
        return
    _write(transaction, key, replace(now, own=tuple(kept for kept in now.own if keeps(kept))))
    names = names_of(key)
    for dropped in gone:
        if dropped.references is not None:
            _detach(transaction, ForeignKey(*names, dropped))
        if dropped.kind in KEYS:
            for foreign in _read(transaction, key).referring:
                to, name = foreign.constraint.references, foreign.constraint.name
                if to is not None and to.key == dropped.name:
                    place = table_key(foreign.database, foreign.table)
                    _keep(transaction, place, lambda other, name=name: other.name != name)  # type: ignore[misc]


def _detach(transaction: Transaction, foreign: ForeignKey) -> None:
    """Take a foreign key from the table that it refers to."""
    to = foreign.constraint.references
    assert to is not None
    key = table_key(to.database, to.table)
    parents = _read(transaction, key)
    left = tuple(
        other
        for other in parents.referring
        if (other.database, other.table, other.constraint.name)
        != (foreign.database, foreign.table, foreign.constraint.name)
    )
    if left != parents.referring:
        _write(transaction, key, replace(parents, referring=left))


def _key_of(transaction: Transaction, table: Table, one: Constraint, to: References) -> References:
    """What a foreign key refers to, with the name of the key.

    Raises:
        InvalidInput: the other table or its columns are not there.
        DdlRefused: no key has these columns in this order, or the columns are of other types.
    """
    place = table_key(to.database, to.table)
    parent = _table(transaction, place)
    if parent is None:
        raise InvalidInput(
            "the foreign key refers to a table that does not exist", table=str(to), hint="Create that table first"
        )
    _check_columns(parent, to.columns)
    keys = [other for other in _read(transaction, place).own if other.kind in KEYS and other.columns == to.columns]
    if not keys or _types(table, one.columns) != _types(parent, to.columns):
        raise DdlRefused(
            "the foreign key refers to no primary key or unique constraint of columns of the same types",
            table=str(to),
            columns=",".join(to.columns),
            hint="Name all columns of such a key, in its order",
        )
    return replace(to, key=keys[0].name)


def _types(table: Table, columns: Sequence[str]) -> list[str]:
    types = {column.name.lower(): column.type for column in (*table.columns, *table.partition_columns)}
    return [types[column] for column in columns]


def _check_columns(table: Table, columns: Sequence[str]) -> None:
    """See that a table has columns.

    Raises:
        InvalidInput: it lacks one.
    """
    there = {column.name.lower() for column in (*table.columns, *table.partition_columns)}
    for column in columns:
        if column not in there:
            raise InvalidInput(
                "the constraint is about a column that the table does not have",
                table=table,
                column=column,
                hint="Name columns of the table",
            )


def _new_name(table: Table, one: Constraint, taken: set[str]) -> str:
    """A name as a Hive Metastore makes it: of a kind, a hash of what is constrained, the time, and a number."""
    short, to, at = _SHORT[one.kind], one.references, int(time.time() * 1000)
    if to is None:
        parts = [table.database, table.name, *(one.columns[:1] or ("<null>",)), short]
    else:
        parts = [table.database, table.name, to.database, to.table, to.columns[0], one.columns[0], short]
    hashed = 0
    for code in "{" + ",".join(parts) + "}":  # as Java's String.hashCode
        hashed = (31 * hashed + ord(code)) & 0xFFFFFFFF
    number = 0
    while (name := f"{short}_{hashed & _HASH}_{at}_{number}") in taken:
        number += 1
    return name


def _table(transaction: Transaction, key: bytes) -> Table | None:
    definition = transaction.row(key).current(DEFINITION)
    return definition_of(definition).table if definition else None


def _read(transaction: Transaction, key: bytes) -> TableConstraints:
    return TableConstraints.decode(transaction.row(key).current(CONSTRAINTS))


def _write(transaction: Transaction, key: bytes, constraints: TableConstraints) -> None:
    transaction.row(key).put_cell(CONSTRAINTS, constraints.encode())

"""Constraints of tables: kept and answered as a Hive Metastore does, and not enforced."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from hbstore.errors import ConstraintNotFound, DatabaseNotFound, InvalidInput, InvalidName, TableNotFound
from hbstore.keys.partition_names import identifier
from hbstore.model.constraints import Constraint, ForeignKey
from hbstore.store.constraint_changes import add_constraints, remove_constraint
from hbstore.store.constraints_cell import CONSTRAINTS, TableConstraints
from hbstore.store.table_row import TABLE_KEYS, names_of, table_keys
from hbstore.store.tables import Tables
from hbstore.texts.arguments import expect, expect_many, expect_texts
from hbstore.transactions.transaction import Transaction


@dataclass(frozen=True, slots=True, repr=False)
class Constraints:
    """Keys, NOT NULL, defaults and checks of tables.

    They go along with a table that is renamed, and with it when it is dropped; what is about a column goes with that
    column, or when its type changes. With a key go the foreign keys that refer to it.

    Attributes:
        tables: the tables that they belong to.

    Raises, in all that follows:
        TableNotFound, DatabaseNotFound: there is no such table.

    >>> from hbstore.model.constraints import ConstraintKind
    >>> key = Constraint(ConstraintKind.PRIMARY_KEY, ["ds", "hour"], "sales_key", relied=True)
    >>> store.hive.constraints.add("shop", "sales", [key]) == [key]
    True
    >>> store.hive.constraints.of("shop", "sales") == (key,)
    True
    >>> store.hive.constraints.drop("shop", "sales", "SALES_KEY")
    """

    tables: Tables

    def __repr__(self) -> str:
        return f"<Constraints of {self.tables.transactions.rows.url}>"

    def of(self, database: str, table: str) -> Sequence[Constraint]:
        """The constraints of a table in the order in which they came. One row.

        >>> store.hive.constraints.of("shop", "sales")
        ()
        """
        return self._of(database, table).own

    def referring(self, database: str, table: str) -> Sequence[ForeignKey]:
        """The foreign keys that refer to a table. One row.

        >>> store.hive.constraints.referring("shop", "sales")
        ()
        """
        return self._of(database, table).referring

    def foreign_keys(self) -> Sequence[ForeignKey]:
        """The foreign keys of all tables, in order of the tables. O(tables).

        >>> store.hive.constraints.foreign_keys()
        []
        """
        return [
            ForeignKey(*names_of(key), one)
            for key, constraints in self._scanned(*TABLE_KEYS)
            for one in constraints.own
            if one.references is not None
        ]

    def of_database(self, database: str) -> dict[str, Sequence[Constraint]]:
        """The constraints of those tables of a database that have any, by their names. O(tables).

        >>> store.hive.constraints.of_database("shop")
        {}
        """
        scanned = self._scanned(*table_keys(identifier("database", database)))
        return {names_of(key)[1]: constraints.own for key, constraints in scanned if constraints.own}

    def between(self, parent: tuple[str | None, str | None], child: tuple[str | None, str | None]) -> list[ForeignKey]:
        """The foreign keys of one table that refer to another one, which need not be there.

        One row where a table is named whole, else O(tables).

        Args:
            parent: a database and a table that they refer to; None for any.
            child: those that have them; None for any.

        Raises:
            InvalidInput: the names are no pair of texts.

        >>> store.hive.constraints.between(("shop", "sales"), (None, None))
        []
        """
        (to_database, to_table), (database, table) = _pair("parent", parent), _pair("child", child)
        candidates: Iterable[ForeignKey] = ()
        if database and table:
            with suppress(TableNotFound, DatabaseNotFound, InvalidName):
                candidates = [ForeignKey(database.lower(), table.lower(), one) for one in self.of(database, table)]
        elif to_database and to_table:
            with suppress(TableNotFound, DatabaseNotFound, InvalidName):
                candidates = self.referring(to_database, to_table)
        else:
            candidates = self.foreign_keys()
        wanted = tuple(name and name.lower() for name in (to_database, to_table, database, table))
        return [key for key in candidates if _is_between(key, wanted)]

    def add(self, database: str, table: str, constraints: Iterable[Constraint]) -> Sequence[Constraint]:
        """Add constraints to a table, all or none; they, with their names, foreign keys last.

        Raises:
            InvalidInput: a column or the table of a foreign key is not there, a name is taken, or they are too many.
            DdlRefused: there is a primary key already, or a foreign key refers to no key of the other table.

        >>> from hbstore.model.constraints import ConstraintKind
        >>> (added,) = store.hive.constraints.add("shop", "sales", [Constraint(ConstraintKind.NOT_NULL, ["hour"])])
        >>> added.name.startswith("nn_")
        True
        >>> store.hive.constraints.drop("shop", "sales", added.name)
        """
        given = expect_many("constraints", constraints, Constraint, hint="Give a list of Constraint")

        def add(transaction: Transaction) -> Sequence[Constraint]:
            view, _ = self.tables.view(transaction, database, table)
            return add_constraints(transaction, view.key, given)

        return self.tables.transactions.run(add)

    def drop(self, database: str, table: str, name: str) -> None:
        """Remove a constraint of a table, or a foreign key that refers to it; ConstraintNotFound if there is none.

        >>> store.hive.constraints.drop("shop", "sales", "nope")
        Traceback (most recent call last):
            ...
        hbstore.errors.ConstraintNotFound: the table has no such constraint: table=shop.sales, constraint=nope. ...
        """
        expect_texts(name=name)

        def drop(transaction: Transaction) -> None:
            view, row = self.tables.view(transaction, database, table)
            if not remove_constraint(transaction, view.key, name):
                hint = "List the table's constraints"
                raise ConstraintNotFound(
                    "the table has no such constraint", table=row.table, constraint=name, hint=hint
                )

        self.tables.transactions.run(drop)

    def _of(self, database: str, table: str) -> TableConstraints:
        return TableConstraints.decode(self.tables.open(database, table).cells.get(CONSTRAINTS))

    def _scanned(self, start: bytes, stop: bytes) -> list[tuple[bytes, TableConstraints]]:
        """The rows of tables that have constraints, and these."""
        scan = self.tables.transactions.scan_cell
        cells = self.tables.at_one_moment(lambda: list(scan(start, stop, CONSTRAINTS)))
        return [(key, TableConstraints.decode(cell)) for key, cell in cells]


def _pair(argument: str, names: tuple[str | None, str | None]) -> tuple[str | None, str | None]:
    hint = 'Give a database and a table, such as ("shop", "sales"); None is any'
    expect(argument, names, tuple, hint=hint)
    if len(names) != 2:  # noqa: PLR2004
        raise InvalidInput("a table is named by a database and a table", argument=argument, parts=len(names), hint=hint)
    expect_texts(or_none=True, database=names[0], table=names[1])
    return names


def _is_between(one: ForeignKey, wanted: Sequence[str | None]) -> bool:
    """Whether a constraint is a foreign key from one table to another, where None is any."""
    to = one.constraint.references
    if to is None:
        return False
    names = (to.database, to.table, one.database, one.table)
    return all(name in (None, "", own) for name, own in zip(wanted, names, strict=True))

"""What constraints say of columns: which are always filled, and what they are where a row does not say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from hbstore.errors import DatabaseNotFound, InvalidName, TableNotFound
from hbstore.hiveserver2.relations import Relation
from hbstore.model.constraints import Constraint, ConstraintKind
from hbstore.store.partition_store import PartitionStore

_FILLED: Final = (ConstraintKind.PRIMARY_KEY, ConstraintKind.NOT_NULL)
_READ_SINGLY: Final = 4
"""Tables of a database that are read one by one; the constraints of more are read by a scan."""


@dataclass(frozen=True, slots=True)
class SaidOfColumns:
    """What the constraints of some tables say of single columns; nobody enforces it.

    Attributes:
        filled: databases, tables and columns of which a primary key or NOT NULL is said.
        defaults: the texts of defaults, by database, table and column.
    """

    filled: frozenset[tuple[str, str, str]]
    defaults: dict[tuple[str, str, str], str]

    @staticmethod
    def of(store: PartitionStore, relations: Iterable[Relation]) -> SaidOfColumns:
        """What is said of the columns of tables of a store. A read for each, or a scan of a database of many.

        Args:
            store: where they are.
            relations: the tables, each as often as may be; of views nothing is said.
        """
        tables: dict[str, set[str]] = {}
        for relation in relations:
            if relation.table is not None:
                tables.setdefault(relation.database, set()).add(relation.name)
        filled, defaults = set(), {}
        for database, names in tables.items():
            if len(names) <= _READ_SINGLY:
                found = {name: constraints_of(store, database, name) for name in names}
            else:
                found = store.hive.constraints.of_database(database)
            for name, constraints in found.items():
                for constraint in constraints:
                    places = [(database, name, column) for column in constraint.columns]
                    if constraint.kind in _FILLED:
                        filled.update(places)
                    elif constraint.kind is ConstraintKind.DEFAULT:
                        defaults[places[0]] = constraint.text or ""
        return SaidOfColumns(frozenset(filled), defaults)

    def of_column(self, relation: Relation, column: str) -> tuple[bool, str | None]:
        """Whether a column is said to have a value in each row; and what it is where a row does not say, or None."""
        place = (relation.database, relation.name, column.lower())
        return place in self.filled, self.defaults.get(place)


def constraints_of(store: PartitionStore, database: str, table: str) -> Sequence[Constraint]:
    """The constraints of a table; none where it is not there."""
    with suppress(TableNotFound, DatabaseNotFound, InvalidName):
        return store.hive.constraints.of(database, table)
    return ()

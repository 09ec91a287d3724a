"""Constraints of the tables of a copy, once all tables are there: foreign keys refer to others of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol, TypeAlias

from hbstore.errors import ConstraintNotFound, DatabaseNotFound, DdlRefused, MetastoreRefused, TableNotFound
from hbstore.model.constraints import Constraint, ConstraintKind
from hbstore.model.objects import Table
from hbstore.store.partition_store import PartitionStore
from hbstore.transfer.copying import IMPOSSIBLE
from hbstore.transfer.work import OnConflict

_REFUSED: Final = (*IMPOSSIBLE, DdlRefused, ConstraintNotFound)
_GONE: Final = (MetastoreRefused, TableNotFound, DatabaseNotFound)
"""How a source answers of a table that was dropped since it was copied."""
_Place: TypeAlias = tuple[str, str]
"""A table's database and name."""


class Side(Protocol):
    """Where constraints are read or written: a store or a metastore. Its methods raise HbstoreError."""

    def constraints(self, database: str, table: str) -> Sequence[Constraint]:
        """The constraints of a table."""

    def add_constraint(self, database: str, table: str, constraint: Constraint) -> None:
        """Add one."""

    def drop_constraint(self, database: str, table: str, name: str) -> None:
        """Remove one."""


@dataclass(frozen=True, slots=True)
class StoreSide:
    """A store as a `Side`."""

    store: PartitionStore

    def constraints(self, database: str, table: str) -> Sequence[Constraint]:
        """See `Side`."""
        return self.store.hive.constraints.of(database, table)

    def add_constraint(self, database: str, table: str, constraint: Constraint) -> None:
        """See `Side`."""
        self.store.hive.constraints.add(database, table, [constraint])

    def drop_constraint(self, database: str, table: str, name: str) -> None:
        """See `Side`."""
        self.store.hive.constraints.drop(database, table, name)


@dataclass(frozen=True, slots=True)
class ConstraintCopy:
    """Copies constraints.

    Attributes:
        source: where they are read.
        target: where they are added.
        on_conflict: what to do with what differs in the target: "replace" drops that first, else it stays, and "fail"
            says so. What only the target has stays.
        refused: what could not be copied, and why, is added to it.
    """

    source: Side
    target: Side
    on_conflict: OnConflict
    refused: list[tuple[str, str]]

    def run(self, tables: Sequence[Table]) -> int:
        """Copy those of tables that are on both sides; how many were added."""
        own_by_place: dict[_Place, Sequence[Constraint]] = {}
        for table in tables:
            place = (table.database, table.name)
            try:
                own = self.source.constraints(*place)
            except _GONE as error:
                self.refused.append((f"constraints of {table}", str(error)))
                continue
            if own:
                own_by_place[place] = own
        for place, own in own_by_place.items():
            self._settle(place, own)
        count = 0
        for are_foreign in (False, True):  # which refer to keys of any table
            for place, own in own_by_place.items():
                some = [one for one in own if (one.kind is ConstraintKind.FOREIGN_KEY) is are_foreign]
                count += self._add(place, some)
        return count

    def _settle(self, place: _Place, own: Sequence[Constraint]) -> None:
        """Do what is to be done with what differs in the target."""
        existing = self.target.constraints(*place)
        for constraint in own:
            other = _counterpart(constraint, existing)
            if other is None or _comparable(constraint) == _comparable(other):
                continue
            if self.on_conflict == "replace":
                self._tried(place, constraint, lambda name: self.target.drop_constraint(*place, name), other.name)
            elif self.on_conflict == "fail":
                self.refused.append((_shown(place, constraint), "the constraint already exists and differs"))

    def _add(self, place: _Place, some: Sequence[Constraint]) -> int:
        """Add those that the target lacks; how many."""
        if not some:
            return 0
        there = self.target.constraints(*place)
        missing = [one for one in some if _counterpart(one, there) is None]
        return sum(self._tried(place, one, lambda it: self.target.add_constraint(*place, it), one) for one in missing)

    def _tried(self, place: _Place, one: Constraint, change: Callable[..., None], argument: object) -> bool:
        try:
            change(argument)
        except _REFUSED as error:
            self.refused.append((_shown(place, one), str(error)))
            return False
        return True


def _counterpart(one: Constraint, there: Sequence[Constraint]) -> Constraint | None:
    """The constraint in whose place this one would be: of its name; a table has one primary key, whatever its name."""
    primary = ConstraintKind.PRIMARY_KEY
    return next((it for it in there if it.name == one.name or (it.kind is one.kind is primary)), None)


def _comparable(one: Constraint) -> Constraint:
    """A constraint without names that either side may have made."""
    to = one.references and replace(one.references, key="")
    return replace(one, references=to, name="" if one.kind is ConstraintKind.PRIMARY_KEY else one.name)


def _shown(place: _Place, one: Constraint) -> str:
    return f"constraint {one.name} of {'.'.join(place)}"

"""What is copied: everything, a database, or a table; and how two of one name differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Final, Protocol, TypeAlias

from hbstore.errors import DatabaseNotFound, InvalidInput, TableNotFound, TransferConflict, did_you_mean
from hbstore.keys.partition_names import identifier
from hbstore.model.objects import Database, Table
from hbstore.transfer.result import Done
from hbstore.transfer.work import POLICIES, OnConflict

Progress: TypeAlias = Callable[[str, int, int], object]
"""Is told a table, how many of its partitions are done, and how many there are."""

_SHOWN: Final = 5
_HINT: Final = "Use on_conflict (--on-conflict) to keep or to replace existing ones; what was copied before stays"


class CatalogListing(Protocol):
    """Where databases and tables are listed: the store, or another metastore."""

    def database_names(self) -> list[str]:
        """The names of all databases."""

    def table_names(self, database: str) -> list[str]:
        """The names of a database's tables."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What is to be copied.

    Attributes:
        database: this database only; None for all.
        table: this table only.

    Raises:
        InvalidInput: a table is named without its database.
        InvalidName: a name that cannot be.
    """

    database: str | None = None
    table: str | None = None

    def __post_init__(self) -> None:
        if self.table is not None and self.database is None:
            raise InvalidInput(
                "the database of the table is missing", table=self.table, hint="Name the database of the table too"
            )
        for kind in ("database", "table"):
            name = getattr(self, kind)
            if name is not None:
                object.__setattr__(self, kind, identifier(kind, name))

    def databases(self, source: CatalogListing) -> list[str]:
        """The names of the databases.

        Raises:
            DatabaseNotFound: the database does not exist in the source.
        """
        names = source.database_names()
        if self.database is None:
            return names
        if self.database not in names:
            raise DatabaseNotFound(
                "the database does not exist in the source",
                database=self.database,
                hint=did_you_mean(self.database, names, "Name a database of the source, or none to copy all databases"),
            )
        return [self.database]

    def tables(self, source: CatalogListing, database: str) -> list[str]:
        """The names of a database's tables.

        Raises:
            TableNotFound: the table does not exist in the source.
        """
        names = source.table_names(database)
        if self.table is None:
            return names
        if self.table not in names:
            raise TableNotFound(
                "the table does not exist in the source",
                table=f"{database}.{self.table}",
                hint=did_you_mean(self.table, names, "Name a table of the source, or none to copy the whole database"),
            )
        return [self.table]


def checked_policy(on_conflict: str) -> None:
    """See that there is such a policy.

    Raises:
        InvalidInput: there is none.
    """
    if on_conflict not in POLICIES:
        raise InvalidInput("the policy is unknown", on_conflict=on_conflict, hint=f"Use {', '.join(POLICIES)}")


def settled(what: str, source: Database | Table, target: Database | Table, on_conflict: OnConflict) -> Done:
    """What is to become of a database or table that is there already.

    Raises:
        TransferConflict: it differs, and that is an error.
    """
    differing = [field.name for field in fields(source) if getattr(source, field.name) != getattr(target, field.name)]
    if not differing:
        return "same"
    if on_conflict == "fail":
        raise TransferConflict(
            f"a {what} already exists and differs", name=str(source), differs=", ".join(differing), hint=_HINT
        )
    return "kept" if on_conflict == "keep" else "replaced"


def partition_conflict(table: Table, names: Sequence[str]) -> TransferConflict:
    """The error of partitions that are there already and differ."""
    more = f" and {len(names) - _SHOWN:,} more" if names[_SHOWN:] else ""
    return TransferConflict(
        "partitions already exist and differ",
        table=table,
        partitions=f"{', '.join(sorted(names)[:_SHOWN])}{more}",
        hint=_HINT,
    )

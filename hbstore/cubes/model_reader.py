"""Descriptions by their names, for callers that read a model one way or the other: from a store, or from a server."""

from __future__ import annotations

from typing import Protocol

from hbstore.cubes.concepts import Cube, DerivedCube
from hbstore.cubes.document import Named
from hbstore.cubes.logical_tables import DimTable, Fact, LogicalTable
from hbstore.cubes.registration import only_storage_of, storage_table_of
from hbstore.errors import ModelNotFound


class ModelReader(Protocol):
    """Answers questions about the descriptions of a database by `get` and `list`."""

    def get(self, kind: str, name: str) -> Named:
        """The document of a kind and name; "cube" finds derived cubes as well. ModelNotFound if there is none.

        >>> cubes.get("fact", "rides_daily").cube
        'rides'
        """

    def names(self, kind: str) -> list[str]:
        """The names of all documents of a kind in order. DatabaseNotFound if the database is not there.

        >>> cubes.names("fact")
        ['rides_daily']
        """
        return [document.name for document in self.list(kind)]

    def cube(self, name: str) -> Cube | DerivedCube:
        """The cube of a name, base or derived. ModelNotFound if there is none.

        >>> cubes.cube("rides").field_names()
        ('minutes', 'start_time')
        """
        cube = self.get("cube", name)
        assert isinstance(cube, Cube | DerivedCube)
        return cube

    def fact(self, name: str) -> Fact:
        """The fact of a name. ModelNotFound if there is none.

        >>> cubes.fact("rides_daily").cube
        'rides'
        """
        fact = self.get("fact", name)
        assert isinstance(fact, Fact)
        return fact

    def dimtable(self, name: str) -> DimTable:
        """The dimension table of a name. ModelNotFound if there is none.

        >>> cubes.dimtable("stations").dimension
        'station'
        """
        dimtable = self.get("dimtable", name)
        assert isinstance(dimtable, DimTable)
        return dimtable

    def storage_table(self, name: str, storage: str) -> str:
        """What the table of a fact or a dimension table on a storage is called. ModelNotFound if there is none.

        >>> cubes.storage_table("rides_daily", "lake")
        'lake_rides_daily'
        """
        logical = self._tabled(name)
        return logical.table_name(storage_table_of(logical, storage).storage)

    def only_storage(self, name: str) -> str:
        """The storage of a fact or a dimension table that is on no other.

        Raises:
            ModelNotFound: there is no such fact or dimension table.
            NoStorageTables: it is on no storage.
            InvalidInput: it is on several.

        >>> cubes.only_storage("rides_daily")
        'lake'
        """
        return only_storage_of(self._tabled(name))

    def _tabled(self, name: str) -> LogicalTable:
        """The fact of a name, or the dimension table."""
        try:
            return self.fact(name)
        except ModelNotFound:
            return self.dimtable(name)

    def list(self, kind: str) -> list[Named]:
        """All documents of a kind in order of their names. DatabaseNotFound if the database is not there.

        >>> [document.name for document in cubes.list("fact")]
        ['rides_daily']
        """

"""RemoteCatalog: databases and tables of a server's store, with the methods of `hbstore.PartitionStore` for them."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from hbstore.client.documents import document_of
from hbstore.client.remote_table import RemoteTable
from hbstore.client.transport import Transport, segment
from hbstore.errors import AlreadyExists, DatabaseNotFound, TableNotFound
from hbstore.keys.partition_names import DEFAULT_DATABASE, table_name
from hbstore.model.objects import Database, Table

if TYPE_CHECKING:
    from hbstore.client.remote_cubes import RemoteCubes


class RemoteCatalog:
    """Databases and tables of a server. What is created gets its folder, what is dropped loses its files.

    Raises, in all that follows:
        DatabaseNotFound, TableNotFound: what the call is about is not there.
        ServerUnavailable: the server does not answer.
        StoreReadOnly: it changes nothing.
        CommitStateUnknown: the answer to a change was lost.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def table(self, name: str) -> RemoteTable:
        """The handle of a table, named ``"database.table"``.

        Raises:
            InvalidInput: the name is not written so.
        """
        handle = RemoteTable(self._transport, *table_name(name))
        handle.definition  # noqa: B018  whose error says that there is none
        return handle

    def cubes(self, database: str = DEFAULT_DATABASE) -> RemoteCubes:
        """The model of a database, as of `hbstore.cubes.Cubes`. Nothing is sent before the first question.

        Raises:
            InvalidName: the name is not letters, digits and underscores.
        """
        from hbstore.client.remote_cubes import RemoteCubes  # which takes its time, and tables need nothing of

        return RemoteCubes(self._transport, database)

    def databases(self) -> list[Database]:
        """All databases in order of their names; their privileges are not sent."""
        return [Database(**one) for one in self._transport.document("GET", "/databases")["databases"]]

    def database_names(self) -> list[str]:
        """The names of all databases in order."""
        return [one.name for one in self.databases()]

    def get_database(self, name: str) -> Database:
        """One database; its privileges are not sent."""
        return Database(**self._transport.document("GET", _database(name)))

    def create_database(self, database: str | Database, *, if_not_exists: bool = False) -> None:
        """Add a database and its folder.

        Raises:
            AlreadyExists: there is one of the name, unless ``if_not_exists``.
            InvalidName: the name is not letters, digits and underscores.
        """
        new = database if isinstance(database, Database) else Database(database)
        self._create("/databases", document_of(new), if_not_exists=if_not_exists)

    def drop_database(self, name: str, *, cascade: bool = False, if_exists: bool = False) -> None:
        """Remove a database, all of it or nothing.

        Raises:
            DatabaseNotEmpty: it has tables, and ``cascade`` is not said.
        """
        query = {"cascade": "true" if cascade else None}
        with suppress(*(DatabaseNotFound,) if if_exists else ()):
            self._transport.document("DELETE", _database(name), query=query, is_change=True)

    def table_names(self, database: str) -> list[str]:
        """The names of a database's tables in order."""
        return [one["name"] for one in self._transport.document("GET", f"{_database(database)}/tables")["tables"]]

    def get_table(self, database: str, name: str) -> Table:
        """One table."""
        return RemoteTable(self._transport, database, name).definition

    def create_table(self, table: Table, *, if_not_exists: bool = False) -> None:
        """Add a table and its folder; without a location it is below its database's.

        Raises:
            AlreadyExists: there is one of the name, unless ``if_not_exists``.
            InvalidType: a column's type is none of Hive's.
        """
        path = f"{_database(table.database)}/tables"
        self._create(path, document_of(table), if_not_exists=if_not_exists)

    def drop_table(self, database: str, name: str, *, if_exists: bool = False) -> None:
        """Remove a table and all its partitions."""
        path = f"{_database(database)}/tables/{segment(name)}"
        with suppress(*(DatabaseNotFound, TableNotFound) if if_exists else ()):
            self._transport.document("DELETE", path, is_change=True)

    def _create(self, path: str, document: dict[str, Any], *, if_not_exists: bool) -> None:
        with suppress(*(AlreadyExists,) if if_not_exists else ()):
            self._transport.document("POST", path, body=document, is_change=True)


def _database(name: str) -> str:
    return f"/databases/{segment(name)}"

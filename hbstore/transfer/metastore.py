"""Another metastore's methods, as far as copying needs them: of Hive 2.3, or by requests, of Hive 4.

Hive 4 has no get_table any more, but get_table_req. Whether a metastore is of that kind is asked once. Its methods then
get a capability with each request, as it would otherwise show and make tables other than they are: a managed table
would become an external one. Where a metastore has only one of two methods, that one is called.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any, Final

from hbstore.errors import MetastoreRefused
from hbstore.layouts import DATABASE, PARAMETERS, PARTITION, STRINGS, TABLE
from hbstore.model import Database, Partition, StorageDescriptor, Table
from hbstore.service_model import ColumnStatistic, Function
from hbstore.service_structs import FUNCTION, encode_function
from hbstore.structs import encode_database, encode_table
from hbstore.thrift.kinds import Texts
from hbstore.transfer.connection import Address, ClientConnection
from hbstore.transfer.raw import RAW
from hbstore.wire import BOOL, I16, STRING, ListOf, MapOf, Struct, WireType

_RAW_METADATA: Final = ("MANAGERAWMETADATA",)
"""The capability of those who want tables as they are."""

_NAME: Final = "hbstore"
_ALL: Final = -1
_TEXTS: Final = Texts()
_RAWS: Final = ListOf(RAW)


def _partition(
    values: tuple[str, ...] = (),
    storage: tuple[StorageDescriptor | None, str | None] = (None, None),
    database: str = "",
    table: str = "",
    **fields: Any,
) -> Partition:
    del database, table  # whose it is has been asked for
    return Partition(values, storage=storage[0], location=storage[1], **fields)


_PARTITIONS: Final = ListOf(Struct(_partition, PARTITION.fields, rest=PARTITION.rest))


def _statistic(column: str, type: str | None = None, data: bytes = b"") -> ColumnStatistic:
    return ColumnStatistic(column, type, data)


_STATISTIC: Final = Struct(_statistic, {1: ("column", STRING), 2: ("type", STRING), 3: ("data", RAW)})
_STATISTICS: Final = ListOf(_STATISTIC)
_OF_PARTITIONS: Final = MapOf(STRING, _STATISTICS)
_UNCOUNTED: Final = Struct(SimpleNamespace, {1: ("properties", PARAMETERS)}).write(
    SimpleNamespace(properties={"DO_NOT_UPDATE_STATS": "true"})
)
"""The context of changes by which files are not counted anew: what was counted is copied."""

_DESCRIBED: Final = Struct(
    SimpleNamespace,
    {1: ("of_table", BOOL), 2: ("database", STRING), 3: ("table", STRING), 4: ("partition", STRING)},
)
_COLUMN_STATISTICS: Final = Struct(
    SimpleNamespace, {1: ("described", _DESCRIBED), 2: ("statistics", _STATISTICS), 4: ("engine", STRING)}
)


class Metastore:
    """A metastore somewhere else. For one thread at a time.

    Args:
        address: where it listens.
        by_requests: whether it is one of Hive 4; by default it is asked.

    All methods raise MetastoreUnavailable where it does not answer, and MetastoreRefused where it does not want to.
    """

    def __init__(self, address: Address, *, by_requests: bool | None = None) -> None:
        self.address = address
        self._connection = ClientConnection(address)
        self._by_requests = by_requests

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    @property
    def by_requests(self) -> bool:
        """Whether it is one of Hive 4, which has no get_table."""
        if self._by_requests is None:
            try:
                self._call("get_table", _of(database=(1, STRING, "default"), table=(2, STRING, _NAME)))
                self._by_requests = False
            except MetastoreRefused as error:
                self._by_requests = bool(error.fields.get("unknown"))
        return self._by_requests

    # Databases and tables

    def database_names(self) -> list[str]:
        """The names of all databases."""
        return sorted(self._call("get_all_databases", b"\0", STRINGS))

    def database(self, name: str) -> Database:
        """One database."""
        database: Database = self._call("get_database", _of(name=(1, STRING, name)), DATABASE)
        return database

    def create_database(self, database: Database) -> None:
        """Add a database."""
        self._call("create_database", _of(database=(1, RAW, encode_database(database))))

    def alter_database(self, database: Database) -> None:
        """Replace all of a database but its name."""
        arguments = _of(name=(1, STRING, database.name), database=(2, RAW, encode_database(database)))
        self._call("alter_database", arguments)

    def table_names(self, database: str) -> list[str]:
        """The names of a database's tables and views."""
        return sorted(self._call("get_all_tables", _of(database=(1, STRING, database)), STRINGS))

    def table(self, database: str, name: str) -> Table:
        """One table.

        Raises:
            HbstoreError: there cannot be such a table here, as of its columns' types.
        """
        reply = self._either(
            ("get_table", _of(database=(1, STRING, database), table=(2, STRING, name))),
            (
                "get_table_req",
                _request(
                    database=(1, STRING, database),
                    table=(2, STRING, name),
                    capabilities=(8, STRINGS, _RAW_METADATA),
                    name=(9, STRING, _NAME),
                ),
            ),
            TABLE,
        )
        table: Table = reply
        return table

    def create_table(self, table: Table) -> None:
        """Add a table."""
        data = encode_table(table)
        self._either(
            ("create_table", _of(table=(1, RAW, data))),
            (
                "create_table_req",
                _request(table=(1, RAW, data), capabilities=(9, STRINGS, _RAW_METADATA), name=(10, STRING, _NAME)),
            ),
        )

    def alter_table(self, table: Table) -> None:
        """Replace all of a table but its names."""
        data, database, name = encode_table(table), table.database, table.name
        self._either(
            (
                "alter_table_with_environment_context",
                _of(
                    database=(1, STRING, database),
                    name=(2, STRING, name),
                    table=(3, RAW, data),
                    context=(4, RAW, _UNCOUNTED),
                ),
            ),
            (
                "alter_table_req",
                _request(
                    database=(2, STRING, database),
                    name=(3, STRING, name),
                    table=(4, RAW, data),
                    context=(5, RAW, _UNCOUNTED),
                    capabilities=(8, STRINGS, _RAW_METADATA),
                    client=(9, STRING, _NAME),
                ),
            ),
        )

    # Partitions

    def partition_names(self, database: str, table: str) -> tuple[str, ...]:
        """The names of all partitions of a table, in one reply of at most 1 GiB."""
        arguments = _of(database=(1, STRING, database), table=(2, STRING, table), most=(3, I16, _ALL))
        names: tuple[str, ...] = self._call("get_partition_names", arguments, STRINGS)
        return names

    def partitions(self, database: str, table: str, names: Sequence[str]) -> tuple[Partition, ...]:
        """Those of some partitions that are there, in no order."""
        partitions: tuple[Partition, ...] = self._either(
            (
                "get_partitions_by_names",
                _of(database=(1, STRING, database), table=(2, STRING, table), names=(3, _TEXTS, names)),
            ),
            (
                "get_partitions_by_names_req",
                _request(
                    database=(1, STRING, database),
                    table=(2, STRING, table),
                    names=(3, _TEXTS, names),
                    capabilities=(5, STRINGS, _RAW_METADATA),
                    client=(6, STRING, _NAME),
                ),
            ),
            _PARTITIONS,
        )
        return partitions

    def add_partitions(self, database: str, table: str, payloads: Sequence[bytes]) -> None:
        """Add partitions, given as Partition structs, all or none."""
        request = _request(
            database=(1, STRING, database),
            table=(2, STRING, table),
            partitions=(3, _RAWS, payloads),
            if_not_exists=(4, BOOL, False),
            with_result=(5, BOOL, False),
        )
        self._call("add_partitions_req", request)

    def alter_partitions(self, database: str, table: str, payloads: Sequence[bytes]) -> None:
        """Replace all of partitions but their values, all or none."""
        self._either(
            (
                "alter_partitions_with_environment_context",
                _of(
                    database=(1, STRING, database),
                    table=(2, STRING, table),
                    partitions=(3, _RAWS, payloads),
                    context=(4, RAW, _UNCOUNTED),
                ),
            ),
            (
                "alter_partitions_req",
                _request(
                    database=(2, STRING, database),
                    table=(3, STRING, table),
                    partitions=(4, _RAWS, payloads),
                    context=(5, RAW, _UNCOUNTED),
                ),
            ),
        )

    # Statistics and functions

    def table_statistics(self, table: Table) -> list[ColumnStatistic]:
        """The statistics of a table's columns."""
        columns = [column.name for column in table.columns]
        if not columns:
            return []
        request = _request(
            database=(1, STRING, table.database),
            table=(2, STRING, table.name),
            columns=(3, STRINGS, columns),
            engine=(6, STRING, "hive"),
        )
        return list(self._if_known("get_table_statistics_req", request, _first(_STATISTICS)) or ())

    def partition_statistics(self, table: Table, names: Sequence[str]) -> dict[str, tuple[ColumnStatistic, ...]]:
        """The statistics of columns of some partitions, by the partitions' names."""
        columns = [column.name for column in table.columns]
        if not columns:
            return {}
        request = _request(
            database=(1, STRING, table.database),
            table=(2, STRING, table.name),
            columns=(3, STRINGS, columns),
            names=(4, _TEXTS, names),
            engine=(7, STRING, "hive"),
        )
        return self._if_known("get_partitions_statistics_req", request, _first(_OF_PARTITIONS)) or {}

    def put_statistics(self, table: Table, statistics_by_name: Mapping[str | None, Sequence[ColumnStatistic]]) -> None:
        """Put statistics of columns of partitions, by names, or of the table, by None."""
        requests = [
            _COLUMN_STATISTICS.write(
                SimpleNamespace(
                    described=SimpleNamespace(
                        of_table=name is None, database=table.database, table=table.name, partition=name
                    ),
                    statistics=statistics,
                    engine="hive",
                )
            )
            for name, statistics in statistics_by_name.items()
        ]
        request = _request(statistics=(1, _RAWS, requests), merge=(2, BOOL, False), engine=(5, STRING, "hive"))
        self._call("set_aggr_stats_for", request)

    def functions(self) -> list[Function]:
        """The functions of all databases."""
        return list(self._if_known("get_all_functions", b"\0", _first(ListOf(FUNCTION))) or ())

    def create_function(self, function: Function) -> None:
        """Add a function."""
        self._call("create_function", _of(function=(1, RAW, encode_function(function))))

    # How they are called

    def _call(self, method: str, arguments: bytes, result: WireType | None = None) -> Any:
        return self._connection.call(method, arguments, result)

    def _if_known(self, method: str, arguments: bytes, result: WireType) -> Any:
        """What a method returns; None where there is no such method, as with some that are no Hive Metastores."""
        try:
            return self._call(method, arguments, result)
        except MetastoreRefused as error:
            if not error.fields.get("unknown"):
                raise
        return None

    def _either(self, plain: tuple[str, bytes], request: tuple[str, bytes], result: WireType | None = None) -> Any:
        """What one of two methods returns: of the second the first field of its result."""
        inner = None if result is None else _first(result)
        ways = [(*plain, result), (*request, inner)]
        first, second = reversed(ways) if self.by_requests else ways
        try:
            return self._call(*first)
        except MetastoreRefused as error:
            if not error.fields.get("unknown"):
                raise
        return self._call(*second)


def _value(value: Any = None) -> Any:
    return value


def _first(kind: WireType) -> Struct[Any]:
    """The kind of a struct of which only the first field counts; None where it is not set."""
    return Struct(_value, {1: ("value", kind)})


def _of(**fields: tuple[int, WireType, Any]) -> bytes:
    r"""The bytes of a struct, by the numbers, kinds and values of its fields.

    >>> _of(name=(1, STRING, "a"))
    b'\x0b\x00\x01\x00\x00\x00\x01a\x00'
    """
    layout = Struct(SimpleNamespace, {number: (name, kind) for name, (number, kind, _) in fields.items()})
    return layout.write(SimpleNamespace(**{name: value for name, (_, _, value) in fields.items()}))


def _request(**fields: tuple[int, WireType, Any]) -> bytes:
    """The bytes of the arguments of a method that takes one struct."""
    return _of(request=(1, RAW, _of(**fields)))

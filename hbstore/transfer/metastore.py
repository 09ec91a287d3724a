"""Another metastore's methods, as far as copying needs them: of Hive 2.3, or by requests, of Hive 4.

Hive 4 has no get_table any more, but get_table_req. Whether a metastore is of that kind is asked once. Its methods then
get a capability with each request, as it would otherwise show and make tables other than they are: a managed table
would become an external one. Where a metastore has only one of two methods, that one is called.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from hbstore.errors import MetastoreRefused
from hbstore.metastore.catalogs import CATALOG
from hbstore.metastore.constraint_structs import LAYOUTS, Layout, constraints_in, structs_of
from hbstore.metastore.protocol import THRIFT
from hbstore.model.constraints import Constraint, ForeignKey
from hbstore.model.frozen import FrozenDict
from hbstore.model.layouts import DATABASE, PARTITION, TABLE
from hbstore.model.objects import Database, Partition, StorageDescriptor, Table
from hbstore.model.service_objects import ColumnStatistic, Function
from hbstore.model.service_structs import FUNCTION
from hbstore.model.structs import encode_database, encode_table
from hbstore.thrift.kinds import ReadyStruct, StructKinds
from hbstore.thrift.methods import methods_of
from hbstore.thrift.wire import STRING, Struct, skip
from hbstore.transfer.connection import Address, ClientConnection

_NAME: Final = "hbstore"
_AS_THEY_ARE: Final = {"processorCapabilities": ("MANAGERAWMETADATA",), "processorIdentifier": _NAME}
"""What those say in a request who want tables as they are."""

_ALL: Final = -1
_ENGINE: Final = "hive"


def _partition(
    values: tuple[str, ...] = (),
    storage: tuple[StorageDescriptor | None, str | None] = (None, None),
    database: str = "",
    table: str = "",
    **fields: Any,
) -> Partition:
    del database, table  # whose it is has been asked for
    return Partition(values, storage=storage[0], location=storage[1], **fields)


def _statistic(column: str, type: str | None = None, data: bytes = b"") -> ColumnStatistic:
    return ColumnStatistic(column, type, data)


def _struct_bytes(data: bytes, at: int) -> tuple[bytes, int]:
    """The bytes of a struct into which nobody looks."""
    end = skip(data, at, TABLE.code)
    if end > len(data):
        raise ValueError("a struct is cut off")
    return data[at:end], end


_KINDS: Final = StructKinds(
    {
        "Database": ReadyStruct(DATABASE.read, encode_database),
        "Table": ReadyStruct(TABLE.read, encode_table),
        "Partition": ReadyStruct(Struct(_partition, PARTITION.fields, rest=PARTITION.rest).read, bytes),
        "Function": FUNCTION,
        "ColumnStatisticsObj": Struct(
            _statistic, {1: ("column", STRING), 2: ("type", STRING), 3: ("data", ReadyStruct(_struct_bytes, bytes))}
        ),
    },
    FrozenDict,
)
_METHODS: Final = methods_of(THRIFT.ThriftHiveMetastore, _KINDS)
_UNCOUNTED: Final = THRIFT.EnvironmentContext({"DO_NOT_UPDATE_STATS": "true"})
"""The context of changes by which files are not counted anew: what was counted is copied."""


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
        self._unknown: set[str] = set()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    @property
    def by_requests(self) -> bool:
        """Whether it is one of Hive 4, which has no get_table."""
        if self._by_requests is None:
            try:
                self._call("get_table", wanted=False, dbname="default", tbl_name=_NAME)
                self._by_requests = False
            except MetastoreRefused as error:
                self._by_requests = bool(error.fields.get("unknown"))
        return self._by_requests

    # Databases and tables

    def database_names(self) -> list[str]:
        """The names of all databases."""
        return sorted(self._call("get_all_databases"))

    def database(self, name: str) -> Database:
        """One database."""
        database: Database = self._call("get_database", name=name)
        return database

    def create_database(self, database: Database) -> None:
        """Add a database."""
        self._call("create_database", database=database)

    def alter_database(self, database: Database) -> None:
        """Replace all of a database but its name."""
        self._call("alter_database", dbname=database.name, db=database)

    def table_names(self, database: str) -> list[str]:
        """The names of a database's tables and views."""
        return sorted(self._call("get_all_tables", db_name=database))

    def table(self, database: str, name: str) -> Table:
        """One table.

        Raises:
            HbstoreError: there cannot be such a table here, as of its columns' types.
        """
        request = THRIFT.GetTableRequest(dbName=database, tblName=name, **_AS_THEY_ARE)
        table: Table = self._either(
            ("get_table", {"dbname": database, "tbl_name": name}), ("get_table_req", {"req": request}), "table"
        )
        return table

    def create_table(self, table: Table) -> None:
        """Add a table."""
        request = THRIFT.CreateTableRequest(table=table, **_AS_THEY_ARE)
        self._either(("create_table", {"tbl": table}), ("create_table_req", {"request": request}))

    def alter_table(self, table: Table) -> None:
        """Replace all of a table but its names."""
        place = {"dbname": table.database, "tbl_name": table.name}
        request = THRIFT.AlterTableRequest(
            dbName=table.database, tableName=table.name, table=table, environmentContext=_UNCOUNTED, **_AS_THEY_ARE
        )
        self._either(
            (
                "alter_table_with_environment_context",
                {**place, "new_tbl": table, "environment_context": _UNCOUNTED},
            ),
            ("alter_table_req", {"req": request}),
        )

    # Partitions

    def partition_names(self, database: str, table: str) -> tuple[str, ...]:
        """The names of all partitions of a table, in one reply of at most 1 GiB."""
        names: tuple[str, ...] = self._call("get_partition_names", db_name=database, tbl_name=table, max_parts=_ALL)
        return names

    def partitions(self, database: str, table: str, names: Sequence[str]) -> tuple[Partition, ...]:
        """Those of some partitions that are there, in no order."""
        place = {"db_name": database, "tbl_name": table, "names": names}
        request = THRIFT.GetPartitionsByNamesRequest(**place, **_AS_THEY_ARE)
        partitions: tuple[Partition, ...] = self._either(
            ("get_partitions_by_names", place), ("get_partitions_by_names_req", {"req": request}), "partitions"
        )
        return partitions

    def add_partitions(self, database: str, table: str, payloads: Sequence[bytes]) -> None:
        """Add partitions, given as Partition structs, all or none."""
        request = THRIFT.AddPartitionsRequest(
            dbName=database, tblName=table, parts=payloads, ifNotExists=False, needResult=False
        )
        self._call("add_partitions_req", request=request)

    def alter_partitions(self, database: str, table: str, payloads: Sequence[bytes]) -> None:
        """Replace all of partitions but their values, all or none."""
        place = {"db_name": database, "tbl_name": table}
        request = THRIFT.AlterPartitionsRequest(
            dbName=database, tableName=table, partitions=payloads, environmentContext=_UNCOUNTED
        )
        self._either(
            (
                "alter_partitions_with_environment_context",
                {**place, "new_parts": payloads, "environment_context": _UNCOUNTED},
            ),
            ("alter_partitions_req", {"req": request}),
        )

    # Statistics and functions

    def table_statistics(self, table: Table) -> list[ColumnStatistic]:
        """The statistics of a table's columns."""
        columns = [column.name for column in table.columns]
        if not columns:
            return []
        request = THRIFT.TableStatsRequest(dbName=table.database, tblName=table.name, colNames=columns, engine=_ENGINE)
        reply = self._if_known("get_table_statistics_req", request=request)
        return list((reply and reply.tableStats) or ())

    def partition_statistics(self, table: Table, names: Sequence[str]) -> Mapping[str, tuple[ColumnStatistic, ...]]:
        """The statistics of columns of some partitions, by the partitions' names."""
        columns = [column.name for column in table.columns]
        if not columns:
            return {}
        request = THRIFT.PartitionsStatsRequest(
            dbName=table.database, tblName=table.name, colNames=columns, partNames=names, engine=_ENGINE
        )
        reply = self._if_known("get_partitions_statistics_req", request=request)
        return (reply and reply.partStats) or {}

    def put_statistics(self, table: Table, statistics_by_name: Mapping[str | None, Sequence[ColumnStatistic]]) -> None:
        """Put statistics of columns of partitions, by names, or of the table, by None."""
        described = [
            THRIFT.ColumnStatistics(
                statsDesc=THRIFT.ColumnStatisticsDesc(
                    isTblLevel=name is None, dbName=table.database, tableName=table.name, partName=name
                ),
                statsObj=statistics,
                engine=_ENGINE,
            )
            for name, statistics in statistics_by_name.items()
        ]
        request = THRIFT.SetPartitionsStatsRequest(colStats=described, needMerge=False, engine=_ENGINE)
        self._call("set_aggr_stats_for", request=request)

    def functions(self) -> list[Function]:
        """The functions of all databases."""
        reply = self._if_known("get_all_functions")
        return list((reply and reply.functions) or ())

    def create_function(self, function: Function) -> None:
        """Add a function."""
        self._call("create_function", func=function)

    # Constraints

    def constraints(self, database: str, table: str) -> Sequence[Constraint]:
        """The constraints of a table; of Hive 2.3 its primary key and foreign keys."""
        place = {"dbName": database, "tblName": table, "catName": CATALOG}
        reply = self._unless_unknown("get_all_table_constraints", THRIFT.AllTableConstraintsRequest(**place))
        if reply is not None:
            lists = reply.allTableConstraints
            found = {kind: getattr(lists, layout.field) or () for kind, layout in LAYOUTS.items()}
        else:
            found = {kind: self._constraints_of_kind(layout, database, table) for kind, layout in LAYOUTS.items()}
        return [one.constraint for one in constraints_in(found)]

    def add_constraint(self, database: str, table: str, constraint: Constraint) -> None:
        """Add a constraint to a table."""
        method, request, field = LAYOUTS[constraint.kind].add
        self._call(method, req=request(**{field: structs_of(ForeignKey(database, table, constraint))}))

    def drop_constraint(self, database: str, table: str, name: str) -> None:
        """Remove a constraint of a table."""
        request = THRIFT.DropConstraintRequest(dbname=database, tablename=table, constraintname=name, catName=CATALOG)
        self._call("drop_constraint", req=request)

    def _constraints_of_kind(self, layout: Layout, database: str, table: str) -> Sequence[Any]:
        method, request, _ = layout.get
        if method == "get_foreign_keys":
            place = {"foreign_db_name": database, "foreign_tbl_name": table}
        else:
            place = {"db_name": database, "tbl_name": table}
        reply = self._unless_unknown(method, request(**place, catName=CATALOG))
        return (reply and getattr(reply, layout.field)) or ()

    # How they are called

    def _call(self, name: str, /, *, wanted: bool = True, **arguments: Any) -> Any:
        """What a method returns; None where nobody wants it."""
        method = _METHODS[name]
        sent = method.arguments.write(method.arguments.make(**arguments))
        return self._connection.call(name, sent, method.success if wanted else None)

    def _if_known(self, name: str, /, **arguments: Any) -> Any:
        """What a method returns; None where there is no such method, as with some that are no Hive Metastores."""
        try:
            return self._call(name, **arguments)
        except MetastoreRefused as error:
            if not error.fields.get("unknown"):
                raise
        return None

    def _unless_unknown(self, name: str, request: Any) -> Any:
        """What a method returns; None where there is no such method, which is asked for once."""
        if name in self._unknown:
            return None
        reply = self._if_known(name, request=request)
        if reply is None:
            self._unknown.add(name)
        return reply

    def _either(
        self, plain: tuple[str, dict[str, Any]], by_request: tuple[str, dict[str, Any]], field: str | None = None
    ) -> Any:
        """What one of two methods returns: the one by request as a field of its reply. Without a field nothing."""
        ways = (by_request, plain) if self.by_requests else (plain, by_request)
        for method, arguments in ways:
            try:
                reply = self._call(method, wanted=field is not None, **arguments)
            except MetastoreRefused as error:
                if method == ways[-1][0] or not error.fields.get("unknown"):
                    raise
            else:
                return reply if field is None or method == plain[0] else getattr(reply, field)
        raise AssertionError("the last way returns or raises")

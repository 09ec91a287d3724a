"""Methods of Hive 4 that say in one request what older methods say in several arguments.

`METHODS_BY_REQUEST` says of each which older method answers it, and in which fields of the request that method's
arguments stand. The older method's handler does the work; only the envelopes around call and answer differ. Methods
whose requests say more than an older method's arguments have handlers of their own, beside those of the older ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from hbstore.errors import InvalidInput
from hbstore.metastore.calls import Call, Handler, Handlers
from hbstore.metastore.methods import (
    databases,
    partition_changes,
    partition_names,
    partition_reads,
    schemas,
    tables,
)
from hbstore.metastore.protocol import METHODS, THRIFT
from hbstore.metastore.replies import PartitionList


@dataclass(frozen=True, slots=True)
class ByRequest:
    """How an older method answers one that takes a request.

    Attributes:
        module: the handlers that the older method's is among.
        older: the older method.
        fields: its arguments, each with the field of the request that holds it.
        reply: the struct around its answer; None: there is none around it.
    """

    module: Handlers
    older: str
    fields: Mapping[str, str]
    reply: str | None = None


_TABLE: Final = {"db_name": "dbName", "tbl_name": "tblName"}
"""The fields in which most requests about partitions name the table."""

METHODS_BY_REQUEST: Final[Mapping[str, ByRequest]] = {
    "alter_database_req": ByRequest(databases.handlers, "alter_database", {"dbname": "oldDbName", "db": "newDb"}),
    "drop_database_req": ByRequest(
        databases.handlers, "drop_database", {"name": "name", "deleteData": "deleteData", "cascade": "cascade"}
    ),
    "drop_table_req": ByRequest(
        tables.handlers,
        "drop_table_with_environment_context",
        {"dbname": "dbName", "name": "tableName", "deleteData": "deleteData", "environment_context": "envContext"},
    ),
    "truncate_table_req": ByRequest(
        tables.handlers,
        "truncate_table",
        {"dbName": "dbName", "tableName": "tableName", "partNames": "partNames"},
        "TruncateTableResponse",
    ),
    "get_fields_req": ByRequest(
        schemas.handlers, "get_fields", {"db_name": "dbName", "table_name": "tblName"}, "GetFieldsResponse"
    ),
    "get_schema_req": ByRequest(
        schemas.handlers, "get_schema", {"db_name": "dbName", "table_name": "tblName"}, "GetSchemaResponse"
    ),
    "get_partition_req": ByRequest(
        partition_reads.handlers, "get_partition", {**_TABLE, "part_vals": "partVals"}, "GetPartitionResponse"
    ),
    "get_partitions_req": ByRequest(
        partition_reads.handlers, "get_partitions", {**_TABLE, "max_parts": "maxParts"}, "PartitionsResponse"
    ),
    "get_partitions_by_names_req": ByRequest(
        partition_reads.handlers,
        "get_partitions_by_names",
        {"db_name": "db_name", "tbl_name": "tbl_name", "names": "names"},
        "GetPartitionsByNamesResult",
    ),
    "get_partition_names_ps_req": ByRequest(
        partition_names.handlers,
        "get_partition_names_ps",
        {**_TABLE, "part_vals": "partValues", "max_parts": "maxParts"},
        "GetPartitionNamesPsResponse",
    ),
    "rename_partition_req": ByRequest(
        partition_changes.handlers,
        "rename_partition",
        {"db_name": "dbName", "tbl_name": "tableName", "part_vals": "partVals", "new_part": "newPart"},
        "RenamePartitionResponse",
    ),
}
"""Which older method answers which method."""


def _handler(by: ByRequest) -> Handler:
    """Answers a method by an older one."""
    older = METHODS[by.older]
    answer = by.module.by_method[by.older]

    def handler(call: Call) -> Any:
        (argument,) = call.method.needed
        request = getattr(call.arguments, argument)
        values = {name: getattr(request, field) for name, field in by.fields.items()}
        missing = [by.fields[name] for name in older.needed if values[name] is None]
        if missing:
            raise InvalidInput("the request is not whole", missing=missing[0], hint="Send what the method is about")
        arguments = older.arguments.make(**values)
        return _enveloped(by.reply, answer(replace(call, arguments=arguments)))

    return handler


def _enveloped(reply: str | None, answer: Any) -> Any:
    """An answer as the first field of a struct, if it is to be one; one without fields says only that it is done."""
    if reply is None:
        return answer
    if isinstance(answer, PartitionList):
        return answer.in_struct()
    return getattr(THRIFT, reply)(*(() if answer is None else (answer,)))


handlers = Handlers()
for _name, _by in METHODS_BY_REQUEST.items():
    handlers.answers(_name, writes=_by.older in _by.module.writing)(_handler(_by))

"""Partition specs: lists of partitions in an envelope that names their table and its folder.

Hive knows two kinds: one holds whole partitions, the other takes their storage out of them where it is the same. HMS
sends the first unless a table asks for the other by a parameter, and every client reads it. hbstore sends nothing else:
one spec, whose list is the stored bytes.
"""

from __future__ import annotations

from typing import Final

from hbstore.metastore.calls import Call, Handlers
from hbstore.metastore.catalogs import CATALOG
from hbstore.metastore.methods.listing import spool_partitions
from hbstore.metastore.replies import PartitionList, PartitionSpool
from hbstore.model.layouts import PARTITION
from hbstore.model.objects import Table
from hbstore.thrift.wire import STRING, ListOf, field_head

handlers = Handlers()

_ONE_SPEC: Final = bytes((PARTITION.code,)) + (1).to_bytes(4, "big")
_DATABASE, _TABLE, _ROOT = (field_head(STRING, number) for number in (1, 2, 3))
_LIST: Final = field_head(PARTITION, 5) + field_head(ListOf(PARTITION), 1)
"""The field of the list's own struct, and in it the field of the list."""
_ENDS: Final = b"\0" + field_head(STRING, 6) + STRING.write(CATALOG) + b"\0"
"""The end of the list's own struct, the name of the catalog, which clients of 2.3 pass over, and the end of all."""


@handlers.answers("get_partitions_pspec")
def get_partitions_pspec(call: Call) -> PartitionList:
    """All partitions of a table, or the first so many in key order, in one spec."""
    arguments = call.arguments
    return one_spec(*spool_partitions(call, arguments.db_name, arguments.tbl_name, None, max_parts=arguments.max_parts))


@handlers.answers("get_part_specs_by_filter")
def get_part_specs_by_filter(call: Call) -> PartitionList:
    """The partitions that a filter selects, in one spec; `filters` beside this module says which filters are errors."""
    arguments = call.arguments
    return one_spec(
        *spool_partitions(call, arguments.db_name, arguments.tbl_name, arguments.filter, max_parts=arguments.max_parts)
    )


def one_spec(table: Table, spool: PartitionSpool, *, before: bytes = b"", behind: bytes = b"") -> PartitionList:
    """A list of one spec, around the list of its partitions, with what stands before and behind it in a result."""
    names = ((_DATABASE, table.database), (_TABLE, table.name), (_ROOT, table.location or ""))
    fields = b"".join(head + STRING.write(text) for head, text in names)
    return PartitionList(spool, before + _ONE_SPEC + fields + _LIST, _ENDS + behind)

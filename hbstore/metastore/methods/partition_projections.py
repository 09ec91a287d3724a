"""get_partitions_with_specs: partitions by names, values or filters, of which a client asks for some fields.

They come as Hive 4 sends them: partitions in the table's folder that have the same storage are one spec, in which it
stands once; all others are in a spec with a list, at the end. Patterns of parameters are SQL's.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from contextlib import ExitStack
from enum import IntEnum
from functools import partial
from typing import Any, Final

from hbstore.errors import CorruptRow, InvalidInput
from hbstore.filters.parser import parse_filter
from hbstore.filters.tree import And, joined
from hbstore.metastore.calls import Call, Handlers
from hbstore.metastore.catalogs import CATALOG
from hbstore.metastore.methods.filters import dialect_of_request
from hbstore.metastore.methods.listing import Batches, read_partitions
from hbstore.metastore.methods.partition_reads import read_named
from hbstore.metastore.methods.projection import PartitionCutter, Projection, projection_of
from hbstore.metastore.protocol import THRIFT
from hbstore.metastore.replies import IN_MEMORY, PartitionList, PartitionLists, PartitionSpool
from hbstore.model.layouts import LOCATION_HEAD, PARTITION, STORAGE
from hbstore.model.objects import Table
from hbstore.model.structs import decode_partition
from hbstore.rows.damage import RESTORE
from hbstore.servers.reply_room import ReplyShare
from hbstore.store.reader import TableFilter
from hbstore.thrift.wire import STRING, ListOf, field_head
from hbstore.warehouse.locations import located
from hbstore.warehouse.partial_values import partial_values

handlers = Handlers()

_MOST_STORAGES: Final = 64
"""Different storages that are shared; partitions with others stand in the list, so that a reply has few files."""

_SPECS: Final = field_head(ListOf(PARTITION), 1) + bytes((PARTITION.code,))
"""What stands before the number of specs in the reply's struct."""
_DATABASE, _TABLE, _ROOT, _CATALOG = (field_head(STRING, number) for number in (1, 2, 3, 6))
_SHARED: Final = field_head(PARTITION, 4) + field_head(ListOf(PARTITION), 1)
_LIST: Final = field_head(PARTITION, 5) + field_head(ListOf(PARTITION), 1)
_STORAGE: Final = field_head(STORAGE, 2)
_STOP: Final = b"\0"
_UNREADABLE: Final = (ValueError, IndexError, KeyError, struct.error)


class FilterMode(IntEnum):
    """What the texts of a request's filter are, as Hive numbers it."""

    BY_NAMES = 0
    BY_VALUES = 1
    BY_EXPR = 2


@handlers.answers("get_partitions_with_specs")
def get_partitions_with_specs(call: Call) -> Any:
    """Some fields of the partitions that names, values, or filters select; of all partitions without a filter.

    Raises:
        MetaException: there is no such table or field, a name or a filter is malformed, or there are more values than
            columns.
    """
    request = call.arguments.request
    projection_spec = request.projectionSpec or THRIFT.GetProjectionsSpec()
    projection = projection_of(
        THRIFT.hive_metastore.Partition,
        projection_spec.fieldList or (),
        projection_spec.includeParamKeyPattern,
        projection_spec.excludeParamKeyPattern,
    )
    with ExitStack() as undo:
        groups = _Groups(projection, call.session.room)
        undo.callback(groups.close)
        table = _read(call, request, groups)
        undo.pop_all()
    call.note(partitions=groups.number)
    return groups.reply(table)


def _read(call: Call, request: Any, groups: _Groups) -> Table:
    """Fill groups with the partitions that a request selects; the table as it was then."""

    def make(table: Table, batches: Batches) -> Table:
        table = located(call.store, call.warehouse, table)
        groups.fill(table, batches)
        return table

    database, name = request.dbName, request.tblName
    filter_spec = request.filterSpec
    if filter_spec is None or filter_spec.filterMode is None:
        return read_partitions(call, database, name, None, make)
    texts = filter_spec.filters or ()
    if filter_spec.filterMode == FilterMode.BY_NAMES:
        return read_named(call, database, name, texts, make)
    if filter_spec.filterMode == FilterMode.BY_VALUES:
        return read_partitions(call, database, name, TableFilter(partial(partial_values, values=texts)), make)
    if filter_spec.filterMode == FilterMode.BY_EXPR:
        trees = [parse_filter(text, dialect_of_request(text)) for text in texts]
        conditions = [tree for tree in trees if tree is not None]
        return read_partitions(call, database, name, joined(And, conditions) if conditions else None, make)
    raise InvalidInput(
        "there is no such way to select partitions",
        filterMode=filter_spec.filterMode,
        hint="Use 0 for names, 1 for values or 2 for filters",
    )


class _Groups:
    """Partitions by the storage that they share, on their way into a reply."""

    def __init__(self, projection: Projection, room: ReplyShare) -> None:
        self._projection = projection
        self._room = room
        self._shared: dict[bytes, PartitionSpool] = {}
        self._others = PartitionSpool(share=room)

    @property
    def number(self) -> int:
        """How many partitions there are."""
        return sum(spool.count for spool in (*self._shared.values(), self._others))

    def close(self) -> None:
        """Release memory and files."""
        for spool in (*self._shared.values(), self._others):
            spool.close()

    def fill(self, table: Table, batches: Batches) -> None:
        """Take partitions, and forget those that were there.

        Raises:
            CorruptRow: one of them is no Partition struct.
        """
        for spool in (*self._shared.values(), self._others):
            spool.clear()
        self._shared, self._others = {}, PartitionSpool(share=self._room)
        cutter = PartitionCutter(table.location, self._projection)
        for batch in batches:
            try:
                self._add(cutter, batch)
            except _UNREADABLE as error:
                for payload in batch:
                    decode_partition(payload)  # most often the error of this says more
                raise CorruptRow("a partition lacks a field", table=table, reason=error, hint=RESTORE) from error

    def _add(self, cutter: PartitionCutter, batch: Sequence[bytes]) -> None:
        others: list[bytes] = []
        by_storage: dict[bytes, list[bytes]] = {}
        for storage, payloads, cuts in cutter.cut(batch):
            if storage is None:
                others += cuts
            elif storage in by_storage or self._may_share(storage, len(by_storage)):
                by_storage.setdefault(storage, []).extend(cuts)
            else:
                others += map(cutter.whole, payloads)
        self._others.extend([others])
        for storage, some in by_storage.items():
            self._shared.setdefault(storage, PartitionSpool(self._memory, self._room)).extend([some])

    def reply(self, table: Table) -> Any:
        """The specs: those that share a storage, then the list."""
        names = b"".join(
            head + STRING.write(text) for head, text in ((_DATABASE, table.database), (_TABLE, table.name))
        )
        catalog = _CATALOG + STRING.write(CATALOG)
        root = location = b""
        if self._projection.has_location and table.location is not None:
            root, location = (head + STRING.write(table.location) for head in (_ROOT, LOCATION_HEAD))
        lists = [
            PartitionList(
                spool, names + root + _SHARED, _STORAGE + storage + location + _STOP + _STOP + catalog + _STOP
            )
            for storage, spool in self._shared.items()
        ]
        if self._others.count:
            lists.append(PartitionList(self._others, names + _LIST, _STOP + catalog + _STOP))
        if not lists:
            return THRIFT.GetPartitionsResponse(partitionSpec=[])
        return PartitionLists(_SPECS + len(lists).to_bytes(4, "big"), tuple(lists), _STOP)

    @property
    def _memory(self) -> int:
        """What a spool keeps in memory: most tables have one storage, whose spool gets all that a reply may have."""
        return IN_MEMORY // _MOST_STORAGES if self._shared else IN_MEMORY

    def _may_share(self, storage: bytes, new: int) -> bool:
        return storage in self._shared or len(self._shared) + new < _MOST_STORAGES

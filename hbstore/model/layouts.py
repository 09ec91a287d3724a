"""The Hive Metastore's structs as tables of fields: number -> attribute of `hbstore.model.objects`, and kind.

`hive_metastore.thrift` has the same structs in Thrift's own language; a test holds the two together.
"""

from __future__ import annotations

from typing import Any, Final

from hbstore.model.frozen import FrozenDict
from hbstore.model.objects import Column, Database, Grant, Order, Privileges, SerDe, Skew, StorageDescriptor, Table
from hbstore.thrift.wire import BOOL, I32, STRING, ListOf, MapOf, Struct, field_head, find_field

_LATER: Final = "later_fields"
STRINGS: Final = ListOf(STRING)
PARAMETERS: Final = MapOf(STRING, STRING, FrozenDict)
COLUMN: Final = Struct(Column, {1: ("name", STRING), 2: ("type", STRING), 3: ("comment", STRING)})
COLUMNS: Final = ListOf(COLUMN)
ORDER: Final = Struct(Order, {1: ("column", STRING), 2: ("order", I32)})
SERDE: Final = Struct(SerDe, {1: ("name", STRING), 2: ("library", STRING), 3: ("parameters", PARAMETERS)}, rest=_LATER)
SKEW: Final = Struct(
    Skew,
    {1: ("columns", STRINGS), 2: ("values", ListOf(STRINGS)), 3: ("locations", MapOf(STRINGS, STRING, FrozenDict))},
)
GRANT: Final = Struct(
    Grant,
    {
        1: ("privilege", STRING),
        2: ("create_time", I32),
        3: ("grantor", STRING),
        4: ("grantor_type", I32),
        5: ("grant_option", BOOL),
    },
)
_GRANTS: Final = MapOf(STRING, ListOf(GRANT), FrozenDict)
PRIVILEGES: Final = Struct(Privileges, {1: ("users", _GRANTS), 2: ("groups", _GRANTS), 3: ("roles", _GRANTS)})
LOCATION: Final = 2
"""The one field of a storage descriptor that differs from partition to partition."""
LOCATION_HEAD: Final = field_head(STRING, LOCATION)
STORAGE: Final[Struct[dict[str, Any]]] = Struct(
    dict,  # the location goes elsewhere, so the fields are handed on as they are
    {
        1: ("columns", COLUMNS),
        LOCATION: ("location", STRING),
        3: ("input_format", STRING),
        4: ("output_format", STRING),
        5: ("compressed", BOOL),
        6: ("num_buckets", I32),
        7: ("serde", SERDE),
        8: ("bucket_columns", STRINGS),
        9: ("sort_columns", ListOf(ORDER)),
        10: ("parameters", PARAMETERS),
        11: ("skew", SKEW),
        12: ("stored_as_sub_directories", BOOL),
    },
    rest=_LATER,
)
DATABASE: Final = Struct(
    Database,
    {
        1: ("name", STRING),
        2: ("description", STRING),
        3: ("location", STRING),
        4: ("parameters", PARAMETERS),
        5: ("privileges", PRIVILEGES),
        6: ("owner", STRING),
        7: ("owner_type", I32),
    },
    rest=_LATER,
)


def _table(storage: dict[str, Any] | None = None, **fields: Any) -> Table:
    """A table keeps its location and columns itself, not in its storage."""
    storage = storage or {}
    location, columns = storage.pop("location", None), storage.pop("columns", ())
    return Table(**fields, columns=columns, location=location, storage=StorageDescriptor(**storage))


TABLE: Final = Struct(
    _table,
    {
        1: ("name", STRING),
        2: ("database", STRING),
        3: ("owner", STRING),
        4: ("create_time", I32),
        5: ("last_access_time", I32),
        6: ("retention", I32),
        7: ("storage", STORAGE),
        8: ("partition_columns", COLUMNS),
        9: ("parameters", PARAMETERS),
        10: ("view_original_text", STRING),
        11: ("view_expanded_text", STRING),
        12: ("table_type", STRING),
        13: ("privileges", PRIVILEGES),
        14: ("temporary", BOOL),
        15: ("rewrite_enabled", BOOL),
    },
    rest=_LATER,
)


def storage_around_location(storage: StorageDescriptor) -> tuple[bytes, bytes]:
    """A storage descriptor's bytes before the location's field and behind it."""
    tail = STORAGE.write_fields(storage, range(3, 13)) + STORAGE.write_rest(storage)
    return STORAGE.write_fields(storage, (1,)), tail + b"\0"


class SharedStorage:
    """The kind of a partition's storage: read as the descriptor and the location.

    Partitions of one table share all but the location. So the bytes around it are kept, with the descriptor that was
    read from them, and where the next partition has the same bytes there, it gets the same descriptor.
    """

    code = STORAGE.code

    def __init__(self) -> None:
        # One tuple, replaced as a whole: threads see the old one or the new one. None behind: there is no location.
        self._last: tuple[bytes, bytes | None, StorageDescriptor] | None = None

    def read(self, data: bytes, at: int) -> tuple[tuple[StorageDescriptor, str | None], int]:
        """The descriptor and the location."""
        last = self._last
        if last is not None and data.startswith(last[0], at):
            if last[1] is None:
                return (last[2], None), at + len(last[0])
            location, end = STRING.read(data, at + len(last[0]))
            if data.startswith(last[1], end):
                return (last[2], location), end + len(last[1])
        fields, end = STORAGE.read_fields(data, at)
        stored_location: str | None = fields.pop("location", None)
        storage = StorageDescriptor(**fields)
        if stored_location is None:
            self._last = data[at:end], None, storage
        else:
            begin = find_field(data, at, LOCATION_HEAD)
            self._last = data[at:begin], data[STRING.read(data, begin)[1] : end], storage
        return (storage, stored_location), end

    def write(self, value: tuple[StorageDescriptor, str | None]) -> bytes:
        """From the descriptor and the location."""
        head, tail = storage_around_location(value[0])
        return head + (b"" if value[1] is None else LOCATION_HEAD + STRING.write(value[1])) + tail


def _partition(values: tuple[str, ...], **fields: Any) -> dict[str, Any]:
    """What a `Partition` is filled with; one without values is none."""
    return {"values": values, **fields}


PARTITION: Final = Struct(
    _partition,
    {
        1: ("values", STRINGS),
        2: ("database", STRING),
        3: ("table", STRING),
        4: ("create_time", I32),
        5: ("last_access_time", I32),
        6: ("storage", SharedStorage()),
        7: ("parameters", PARAMETERS),
        8: ("privileges", PRIVILEGES),
    },
    rest=_LATER,
)

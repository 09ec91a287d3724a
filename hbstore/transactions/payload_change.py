"""Changing partitions as bytes: other names of their table, another location, other columns.

Partitions of one table have the same names, and mostly the same columns: those bytes are looked for before anything is
read, so that a partition of a wide table costs a few microseconds.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final

from hbstore.errors import InvalidInput
from hbstore.model.layouts import COLUMNS, LOCATION_HEAD, PARTITION, STORAGE
from hbstore.model.objects import Column
from hbstore.texts.arguments import expect
from hbstore.thrift.wire import STRING, field_head, find_field, skip

_HEADS: Final = {name: field_head(kind, number) for number, (name, kind) in PARTITION.fields.items()}
_VALUES: Final = _HEADS["values"]
_DATABASE: Final = _HEADS["database"]
_TABLE: Final = _HEADS["table"]
_STORAGE: Final = _HEADS["storage"]
_COLUMNS: Final = next(field_head(kind, number) for number, (name, kind) in STORAGE.fields.items() if name == "columns")
_CREATED: Final = _HEADS["create_time"]
_ACCESSED: Final = _HEADS["last_access_time"]
_TIMES: Final = len(_CREATED) + 4 + len(_ACCESSED) + 4
_UNREADABLE: Final = (ValueError, IndexError, struct.error)

MAX_LOCATION: Final = 4_000
_BOTH: Final = 2
_RELOCATED: Final = "Give the old folder and the new folder of the partitions"
"""Characters in the beginning of a location that others are replaced by; the Hive Metastore keeps no longer ones."""


class PayloadChange:
    """Changes partitions of one table; threads may share one.

    Args:
        names: database and table that they belong to from now on; None: as before.
        relocated: beginnings of locations, and what replaces each, one after the other; locations elsewhere stay.
        columns: what the columns of their storage become; None: as before.

    >>> from hbstore.model.objects import Partition, Table
    >>> from hbstore.model.structs import decode_partition, encode_partition
    >>> before = encode_partition(Table("shop", "sales", [Column("ds", "date")]), Partition(["x"], location="s3://a/b"))
    >>> change = PayloadChange(("shop", "old_sales"), [("s3://a", "s3://attic")])
    >>> decode_partition(change.apply(before)).location
    's3://attic/b'
    """

    def __init__(
        self,
        names: tuple[str, str] | None = None,
        relocated: Sequence[tuple[str, str]] = (),
        columns: Sequence[Column] | None = None,
    ) -> None:
        self._names = None
        if names is not None:
            self._names = _DATABASE + STRING.write(names[0]) + _TABLE + STRING.write(names[1])
        pairs = [tuple(folder.encode() for folder in checked_relocation(pair)) for pair in relocated]
        self._relocated = [(old, old + b"/", new) for old, new in pairs]
        self._columns = None if columns is None else _COLUMNS + COLUMNS.write(columns)
        self._alike: tuple[bytes, bytes] | None = None

    def apply(self, payload: bytes, values: int = 0) -> bytes:
        """The bytes of a partition after the change.

        What is no partition stays as it is: a damaged row moves along, and `hbstore check` names it there.

        Args:
            payload: its bytes.
            values: how many of them there are up to the end of its values, where that is known.
        """
        try:
            return self._changed(payload, values)
        except _UNREADABLE:
            return payload

    def _changed(self, payload: bytes, values: int) -> bytes:
        if not values:
            if not payload.startswith(_VALUES):
                raise ValueError("the values do not come first")
            values = skip(payload, len(_VALUES), PARTITION.fields[1][1].code)
        if self._alike is not None:
            names, storage = self._alike
            times = values + len(names)
            at = times + _TIMES
            # Nearly all partitions of a table have the same bytes here, but for two times.
            if (
                payload.startswith(names, values)
                and payload.startswith(storage, at)
                and payload.startswith(_CREATED, times)
                and payload.startswith(_ACCESSED, times + len(_CREATED) + 4)
            ):
                columns = at + len(_STORAGE)
                return self._with(payload, values, times, columns, at + len(storage) - len(LOCATION_HEAD))
        names_end = values
        for head in (_DATABASE, _TABLE):
            if not payload.startswith(head, names_end):
                raise ValueError("the names do not follow")
            names_end = skip(payload, names_end + len(head), STRING.code)
        columns = find_field(payload, names_end, _STORAGE)
        location = columns
        if payload.startswith(_COLUMNS, columns):
            location = skip(payload, columns + len(_COLUMNS), COLUMNS.code)
        at = names_end + _TIMES
        if columns == at + len(_STORAGE) and payload.startswith(LOCATION_HEAD, location):
            self._alike = payload[values:names_end], payload[at : location + len(LOCATION_HEAD)]
        return self._with(payload, values, names_end, columns, location)

    def _with(self, payload: bytes, values: int, names: int, columns: int, location: int) -> bytes:
        """A partition with other names, columns and location; the arguments are the ends of what is before these."""
        parts = [payload[:values], self._names or payload[values:names], payload[names:columns]]
        parts.append(payload[columns:location] if self._columns is None else self._columns)
        if self._relocated and payload.startswith(LOCATION_HEAD, location):
            at = location + len(LOCATION_HEAD) + 4
            location = at + int.from_bytes(payload[at - 4 : at], "big")
            if location > len(payload):
                raise ValueError("the location is longer than what is there")
            text = payload[at:location]
            for old, below, new in self._relocated:
                if text == old or text.startswith(below):
                    text = new + text[len(old) :]
            parts += (LOCATION_HEAD, len(text).to_bytes(4, "big"), text)
        parts.append(payload[location:])
        return b"".join(parts)


def checked_relocation(relocated: tuple[str, str]) -> tuple[str, str]:
    """Both beginnings without their last slashes.

    Raises:
        InvalidInput: one is empty or very long.
    """
    for at, one in enumerate(expect("relocated", relocated, tuple, list, hint=_RELOCATED)):
        expect(f"relocated[{at}]", one, str, hint=_RELOCATED)
    old, new = (one.rstrip("/") for one in relocated) if len(relocated) == _BOTH else ("", "")
    if not old or not new or max(len(old), len(new)) > MAX_LOCATION:
        raise InvalidInput(
            "the old or the new folder is missing or too long",
            old=old[:100],
            new=new[:100],
            hint=_RELOCATED,
        )
    return old, new

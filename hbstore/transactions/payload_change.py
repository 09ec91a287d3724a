"""Rewriting stored partitions as bytes: other names of their table, another location, other columns.

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
_UNREADABLE: Final = (ValueError, IndexError, struct.error)

MAX_LOCATION: Final = 4_000
_BOTH: Final = 2
_RELOCATED: Final = "Give the old folder and the new folder of the partitions"
"""Characters in the beginning of a location that others are replaced by; the Hive Metastore keeps no longer ones."""


class PayloadChange:
    """Rewrites partitions of one table.

    Args:
        names: database and table that they belong to from now on; None: as before.
        relocated: the beginning of locations, and what replaces it; locations elsewhere stay.
        columns: what the columns of their storage become; None: as before.

    >>> from hbstore.model.objects import Partition, Table
    >>> from hbstore.model.structs import decode_partition, encode_partition
    >>> before = encode_partition(Table("shop", "sales", [Column("ds", "date")]), Partition(["x"], location="s3://a/b"))
    >>> change = PayloadChange(("shop", "old_sales"), ("s3://a", "s3://attic"))
    >>> decode_partition(change.apply(before)).location
    's3://attic/b'
    """

    def __init__(
        self,
        names: tuple[str, str] | None = None,
        relocated: tuple[str, str] | None = None,
        columns: Sequence[Column] | None = None,
    ) -> None:
        self._names = None
        if names is not None:
            self._names = _DATABASE + STRING.write(names[0]) + _TABLE + STRING.write(names[1])
        self._relocated = None if relocated is None else tuple(one.encode() for one in checked_relocation(relocated))
        self._columns = None if columns is None else _COLUMNS + COLUMNS.write(columns)
        self._old_names = self._old_columns = b"\0"  # with which neither begins

    def apply(self, payload: bytes) -> bytes:
        """The bytes of a partition after the change.

        What is no partition stays as it is: a damaged row moves along, and `hbstore check` names it there.
        """
        try:
            return self._changed(payload)
        except _UNREADABLE:
            return payload

    def _changed(self, payload: bytes) -> bytes:
        if not payload.startswith(_VALUES):
            raise ValueError("the values do not come first")
        names = skip(payload, len(_VALUES), PARTITION.fields[1][1].code)
        behind = self._behind_names(payload, names)
        storage = find_field(payload, behind, _STORAGE)
        location = self._behind_columns(payload, storage)
        parts = [payload[:names], self._names or payload[names:behind], payload[behind:storage]]
        parts.append(payload[storage:location] if self._columns is None else self._columns)
        if self._relocated is not None and payload.startswith(LOCATION_HEAD, location):
            at = location + len(LOCATION_HEAD)
            end = skip(payload, at, STRING.code)
            text = payload[at + 4 : end]
            old, new = self._relocated
            if text == old or text.startswith(old + b"/"):
                text = new + text[len(old) :]
            parts += (LOCATION_HEAD, len(text).to_bytes(4, "big"), text)
            location = end
        parts.append(payload[location:])
        return b"".join(parts)

    def _behind_names(self, payload: bytes, at: int) -> int:
        if payload.startswith(self._old_names, at):
            return at + len(self._old_names)
        end = at
        for head in (_DATABASE, _TABLE):
            if not payload.startswith(head, end):
                raise ValueError("the names do not follow")
            end = skip(payload, end + len(head), STRING.code)
        self._old_names = payload[at:end]
        return end

    def _behind_columns(self, payload: bytes, at: int) -> int:
        if payload.startswith(self._old_columns, at):
            return at + len(self._old_columns)
        if not payload.startswith(_COLUMNS, at):
            return at
        end = skip(payload, at + len(_COLUMNS), COLUMNS.code)
        self._old_columns = payload[at:end]
        return end


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

"""What a listing shows of a table, read from its stored bytes without the columns: a third of the time.

The columns are decoded when a listing asks for them.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from hbstore.byte_cache import remembered
from hbstore.frozen import FrozenDict
from hbstore.hiveserver2.table_columns import table_columns
from hbstore.layouts import PARAMETERS
from hbstore.model import Column
from hbstore.structs import decode_table
from hbstore.wire import STRING, Struct


@dataclass(frozen=True, slots=True)
class TableHead:
    """A table as it is stored, and some of what that says.

    Attributes:
        name: in its database.
        table_type: in Hive's words, such as ``MANAGED_TABLE``.
        parameters: by name.
        stored: the bytes of the Hive Metastore's Table struct.
    """

    name: str
    table_type: str = "MANAGED_TABLE"
    parameters: Mapping[str, str] = field(default_factory=FrozenDict)
    stored: bytes = b""

    @staticmethod
    def of(stored: bytes) -> TableHead:
        """The head of a stored table.

        Raises:
            CorruptRow: the bytes are no table.

        >>> from hbstore import Table
        >>> from hbstore.structs import encode_table
        >>> TableHead.of(encode_table(Table("shop", "sales", table_type="VIRTUAL_VIEW"))).table_type
        'VIRTUAL_VIEW'
        """
        return _head(stored)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns, as queries see them.

        Raises:
            CorruptRow: the bytes are no table.
        """
        return table_columns(decode_table(self.stored))


@remembered
def _head(stored: bytes) -> TableHead:
    """Tools ask again and again; more tables than these are read anew."""
    try:
        fields, _ = _HEAD.read_fields(stored, 0)
        return TableHead(**fields, stored=stored)
    except (ValueError, IndexError, TypeError, struct.error):
        table = decode_table(stored)
        return TableHead(table.name, table.table_type, table.parameters, stored)


_HEAD: Final = Struct(TableHead, {1: ("name", STRING), 9: ("parameters", PARAMETERS), 12: ("table_type", STRING)})

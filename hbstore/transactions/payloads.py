"""Payload rows: long lists of writes of open commits, in cells ``d:0``, ``d:1`` … of catalog rows ``I primary 00 id``.

A payload row is written once, before its transaction is decided, and removed when all of that is written. It belongs to
one transaction, whose id no other has. So nobody ever writes into the row of another.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hbstore.keys.row_key import successor
from hbstore.rows.interface import CatalogCell, Rows
from hbstore.transactions.identity import began_at
from hbstore.transactions.writes import RowWrites, decode_writes

PAYLOAD_KEYS: Final = (b"I", b"J")
_CHUNK: Final = 4 * 1024 * 1024
"""Bytes in one cell; HBase takes 10 MiB."""
_SIZE: Final = "d:size"


def put_payload(rows: Rows, primary: bytes, transaction_id: str, data: bytes) -> None:
    """Store what a transaction writes.

    The size goes first, so that `old_payloads` sees a row that was half sent, too.
    """
    key = payload_key(primary, transaction_id)
    chunks = [data[at : at + _CHUNK] for at in range(0, len(data), _CHUNK)]
    cells = [CatalogCell(key, f"d:{number}", chunk) for number, chunk in enumerate(chunks)]
    rows.put_cells([CatalogCell(key, _SIZE, b"%d" % len(data)), *cells], 1)


def get_payload(rows: Rows, primary: bytes, transaction_id: str) -> tuple[RowWrites, ...] | None:
    """What a transaction writes; None where that is not there, or not whole."""
    cells = rows.get(payload_key(primary, transaction_id)) or {}
    if _SIZE not in cells:
        return None
    size = int(cells[_SIZE])
    data = b"".join(cells.get(f"d:{number}", b"") for number in range(-(-size // _CHUNK)))
    return decode_writes(data) if len(data) == size else None


def remove_payload(rows: Rows, primary: bytes, transaction_id: str) -> None:
    """Remove what a transaction wrote."""
    rows.remove_row(payload_key(primary, transaction_id))


def old_payloads(rows: Rows, primary: bytes, before: float) -> Iterator[str]:
    """The ids of transactions of a row that began before a moment and whose payload rows are still there.

    Nothing but the sizes is read: the rows may be many and large.

    Args:
        rows: where they are.
        primary: the row in whose log they were to be decided.
        before: seconds since 1970.
    """
    start = payload_key(primary, "")
    for key, cells in list(rows.scan_catalog(start, successor(start), (_SIZE,))):
        transaction_id = key[len(start) :].decode()
        is_of_another = "\0" in transaction_id  # of a row whose key begins with this row's, such as a table's grants
        if not is_of_another and any(cells.values()) and began_at(transaction_id) < before:
            yield transaction_id


def payload_key(primary: bytes, transaction_id: str) -> bytes:
    """The key of a transaction's payload row."""
    return b"I" + primary + b"\x00" + transaction_id.encode()

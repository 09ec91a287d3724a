"""Write ids: the numbers that Hive 3 writes a transaction's rows by, for each table its own.

Hive 2.3 writes rows by the transaction's number itself, and here that stays so: the write id of a transaction is its
number, in every table. So clients of both versions name the same files alike, and nothing has to be stored. What is
valid in a table is then what is valid of all transactions.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hbstore.errors import InvalidInput
from hbstore.metastore.calls import Call, Handlers
from hbstore.metastore.naming import database_name
from hbstore.metastore.protocol import THRIFT
from hbstore.model.service_objects import TransactionList

handlers = Handlers()
_MOST: Final = 1 << 63


@dataclass(frozen=True, slots=True)
class TransactionSnapshot:
    """Which transactions a reader sees: those up to a number, but for some.

    Attributes:
        high_water_mark: the number.
        open: those that were open, rising.
        aborted: those that were aborted, rising.
    """

    high_water_mark: int
    open: Sequence[int]
    aborted: Sequence[int]


@handlers.answers("allocate_table_write_ids", writes=True)
def allocate_table_write_ids(call: Call) -> Any:
    """The write ids of transactions, which are their own numbers.

    Raises:
        NoSuchTxnException, TxnAbortedException: one is not open.
        MetaException: a table's write ids are to be copied from elsewhere.
    """
    request = call.arguments.rqst
    if request.srcTxnToWriteIdList:
        raise THRIFT.MetaException(
            "write ids of another metastore cannot be copied: they are the transactions' numbers"
        )
    numbers = sorted(request.txnIds or ())
    name = f"{request.dbName}.{request.tableName}"
    table_id = _table_ids(call, [name]).get(name, "")  # CREATE TABLE AS writes before it creates
    call.store.hive.transactions.allocate_write_ids(numbers, table_id)
    return THRIFT.AllocateTableWriteIdsResponse([THRIFT.TxnToWriteId(number, number) for number in numbers])


@handlers.answers("get_valid_write_ids")
def get_valid_write_ids(call: Call) -> Any:
    """Which write ids of some tables a reader sees: now, or as its list of transactions says.

    Raises:
        MetaException: the list cannot be read.
    """
    request = call.arguments.rqst
    transactions = call.store.hive.transactions.list()
    snapshot = parse_snapshot(request.validTxnList) if request.validTxnList else _snapshot(transactions)
    names = request.fullTableNames or ()
    ids = _table_ids(call, names) if transactions.aborted_in.keys() - {""} else {}
    return THRIFT.GetValidWriteIdsResponse(
        [_valid_write_ids(name, ids.get(name), snapshot, transactions) for name in names]
    )


@handlers.answers("get_max_allocated_table_write_id")
def get_max_allocated_table_write_id(call: Call) -> Any:
    """The largest write id that a table may have: the largest number of a transaction."""
    return THRIFT.MaxAllocatedTableWriteIdResponse(maxWriteId=call.store.hive.transactions.list().high_water_mark)


def aborted_bits(numbers: Sequence[int], aborted: Collection[int]) -> bytes:
    r"""Which of some numbers are of aborted transactions, as Java writes a BitSet: the lowest bit first.

    >>> aborted_bits([3, 4, 7], [4, 7])
    b'\x06'
    """
    gone = set(aborted)
    bits = bytearray((len(numbers) + 7) // 8)
    for at, number in enumerate(numbers):
        if number in gone:
            bits[at >> 3] |= 1 << (at & 7)
    return bytes(bits.rstrip(b"\0"))


def parse_snapshot(text: str) -> TransactionSnapshot:
    """A reader's list of transactions: ``high water mark:least open:open ones:aborted ones``.

    Raises:
        InvalidInput: it is none.

    >>> parse_snapshot("9:4:4,6:5")
    TransactionSnapshot(high_water_mark=9, open=(4, 6), aborted=(5,))
    """
    try:
        mark, _, *lists = text.split(":")
        opened, aborted = ([int(number) for number in part.split(",") if number] for part in lists)
        high_water_mark = int(mark)
    except ValueError as error:
        raise InvalidInput(
            "the list of transactions cannot be read",
            list=text[:80],
            hint="Send it as the client got it, such as 9:4:4,6:5",
        ) from error
    if not 0 <= high_water_mark < _MOST:
        raise InvalidInput("a transaction's number is too large", list=text[:80], hint="Ask for the list again")
    return TransactionSnapshot(high_water_mark, tuple(opened), tuple(aborted))


def _snapshot(transactions: TransactionList) -> TransactionSnapshot:
    opened = [transaction.id for transaction in transactions.open]
    return TransactionSnapshot(transactions.high_water_mark, opened, transactions.aborted)


def _valid_write_ids(
    name: str, table_id: str | None, snapshot: TransactionSnapshot, transactions: TransactionList
) -> Any:
    """Those of one table: all but the open ones, and those of the aborted that may have written into it."""
    aborted_in, last = transactions.aborted_in, transactions.high_water_mark
    wrote = {*aborted_in.get("", ()), *(transaction.id for transaction in transactions.open)}
    wrote.update(aborted_in.get(table_id or "", ()))
    aborted = [number for number in snapshot.aborted if number in wrote or number > last]
    unusable = sorted({*snapshot.open, *aborted})
    return THRIFT.TableValidWriteIds(
        fullTableName=name,
        writeIdHighWaterMark=snapshot.high_water_mark,
        invalidWriteIds=unusable,
        minOpenWriteId=min(snapshot.open, default=None),
        abortedBits=aborted_bits(unusable, aborted),
    )


def _table_ids(call: Call, names: Sequence[str]) -> dict[str, str]:
    """The ids of those of some tables that are there (yet), by their full names."""
    parted = {name: (database_name(name.partition(".")[0]), name.partition(".")[2]) for name in names}
    ids = call.store.table_ids(parted.values())
    return {name: ids[pair].hex() for name, pair in parted.items() if pair in ids}

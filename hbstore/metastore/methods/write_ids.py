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

handlers = Handlers()
_MOST: Final = 1 << 63


@dataclass(frozen=True, slots=True)
class TransactionSnapshot:
    """Which transactions a reader sees: those up to a number, but for some.

    Attributes:
        high_water_mark: the number.
        open: those that were open.
        aborted: those that were aborted.
    """

    high_water_mark: int
    open: Sequence[int]
    aborted: Sequence[int]


@handlers.answers("allocate_table_write_ids", writes=True)
def allocate_table_write_ids(call: Call) -> Any:
    """The write ids of transactions, which are their own numbers.

    Raises:
        NoSuchTxnException, TxnAbortedException: one is not open.
        MetaException: a table's write ids are to be copied from elsewhere, or the table is not there.
    """
    request = call.arguments.rqst
    if request.srcTxnToWriteIdList:
        raise THRIFT.MetaException(
            "write ids of another metastore cannot be copied: they are the transactions' numbers"
        )
    call.store.get_table(database_name(request.dbName), request.tableName or "")
    numbers = sorted(request.txnIds or ())
    for number in numbers:
        call.store.hive.transactions.heartbeat(number)
    return THRIFT.AllocateTableWriteIdsResponse([THRIFT.TxnToWriteId(number, number) for number in numbers])


@handlers.answers("get_valid_write_ids")
def get_valid_write_ids(call: Call) -> Any:
    """Which write ids of some tables a reader sees: now, or as its list of transactions says.

    Raises:
        MetaException: the list cannot be read.
    """
    request = call.arguments.rqst
    snapshot = parse_snapshot(request.validTxnList) if request.validTxnList else _now(call)
    unusable = sorted([*snapshot.open, *snapshot.aborted])
    return THRIFT.GetValidWriteIdsResponse(
        [
            THRIFT.TableValidWriteIds(
                fullTableName=name,
                writeIdHighWaterMark=snapshot.high_water_mark,
                invalidWriteIds=unusable,
                minOpenWriteId=min(snapshot.open, default=None),
                abortedBits=aborted_bits(unusable, snapshot.aborted),
            )
            for name in request.fullTableNames or ()
        ]
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
    bits = sum(1 << at for at, number in enumerate(numbers) if number in gone)
    return bits.to_bytes((bits.bit_length() + 7) // 8, "little")


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


def _now(call: Call) -> TransactionSnapshot:
    found = call.store.hive.transactions.list()
    return TransactionSnapshot(found.high_water_mark, [one.id for one in found.open], found.aborted)

"""How much a store holds: its tables, their partitions, and the publications that are not finished.

The numbers are those that tables keep themselves, so that what is read is two cells of each table's row and no row of a
partition. Nobody is waited for and nothing is finished: a change that its process has not brought to an end may count
with the next look only.
"""

from __future__ import annotations

from dataclasses import dataclass

from hbstore.rows.interface import Rows
from hbstore.store.catalog_logs import catalog_objects
from hbstore.store.table_row import TABLE_KEYS, totals_in


@dataclass(frozen=True, slots=True)
class StoreCounts:
    """What a store holds.

    Attributes:
        tables: how many.
        partitions: of all tables together.
        leased: publications whose jobs live and have decided nothing yet.
        decided: publications that are decided, and whose files are being shown.
        overdue: publications whose jobs have let their leases end, decided or not.
    """

    tables: int = 0
    partitions: int = 0
    leased: int = 0
    decided: int = 0
    overdue: int = 0


def store_counts(rows: Rows, now: float) -> StoreCounts:
    """Count what a store holds. One scan, O(tables).

    Args:
        rows: those of the store.
        now: seconds since 1970, by which leases have ended or not.

    Raises:
        StoreUnavailable: the store does not answer.
        CorruptRow: a table's row cannot be read.

    >>> store_counts(store.rows, now=0.0)
    StoreCounts(tables=1, partitions=72, leased=0, decided=0, overdue=0)
    """
    tables = partitions = leased = decided = overdue = 0
    for table in catalog_objects(rows, [TABLE_KEYS]):
        if not table.is_there:
            continue
        tables += 1
        partitions += totals_in(table.log.state).partitions
        for publication in table.publications:
            if publication.until < now:
                overdue += 1
            elif publication.decided:
                decided += 1
            else:
                leased += 1
    return StoreCounts(tables, partitions, leased, decided, overdue)

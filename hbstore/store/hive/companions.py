"""Companion rows: column statistics and marks of a table or a partition, which go when it goes.

Column statistics and marks belong to one table or partition: what belonged to a dropped one must never be seen on the
next of its name, however late it was written. Three things see to that:

* **A table's companions have keys that begin with its table id**, 8 random bytes that no other table has (see
  `hbstore.store.table_row`). A table that is dropped and created again has other keys; what the old ones hold goes with
  the table's rows, and is never asked for again. A table that is altered or renamed keeps its companions.
* **A partition's companion is one row, whose key follows from the partition's.** So a drop need not look for what there
  is: the keys of the companions (`companion_keys`) stand in the same transaction as those of the partitions.
* **A companion is changed in a transaction that sees the partition.** So what was written before a drop is gone after
  it, and what comes after a drop finds no partition.

They are rows like those of partitions, not cells of the catalog, as many of them are written, read and dropped at once:
the statistics of 10,000 partitions are ten requests to HBase and one transaction in SQLite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from hbstore.errors import InvalidInput
from hbstore.model.service_structs import NOTHING, Companion, decode_companion, encode_companion
from hbstore.rows.interface import PartitionRow
from hbstore.store.puts import MAX_PAYLOAD, no_such_partition
from hbstore.store.table_row import TableRow, check_same_table
from hbstore.store.tables import Tables
from hbstore.transactions.transaction import RowView, Transaction

CompanionChange: TypeAlias = Callable[[Companion], Companion]
"""What becomes of a companion; it may be called several times."""

Also: TypeAlias = Callable[[RowView, TableRow, Mapping[bytes, bytes]], None]
"""Writes into a table in a transaction, whose row is given, and the payloads of the partitions that were read."""


@dataclass(frozen=True, slots=True)
class Companions:
    """Reads and changes companions.

    Attributes:
        tables: the tables that they belong to.
    """

    tables: Tables

    def read(self, keys: Iterable[bytes]) -> dict[bytes, Companion]:
        """Those companions that are there, by their keys; a request for each 1,000 on HBase."""
        return {
            key: decode_companion(payload)
            for key, payload in self.tables.transactions.rows.multi_get(sorted(set(keys)))
        }

    def change(
        self,
        row: TableRow,
        steps: Mapping[bytes, CompanionChange],
        partitions: Mapping[bytes, Sequence[str]],
        *,
        must_exist: bool = True,
        also: Also | None = None,
    ) -> None:
        """Change companions of one table, all or none, as if nobody else did at the same time.

        Args:
            row: the table.
            steps: what becomes of the companion of each key.
            partitions: the keys and the values of the partitions that the companions belong to: changes of these under
                way are finished first. None for the table's own companion.
            must_exist: whether these partitions must be there.
            also: what else is written in the same step.

        Raises:
            PartitionNotFound: a partition is not there.
            ConcurrentChange: another table has its name now; nothing was changed.
            InvalidInput: a companion would be too large.
            CommitStateUnknown: HBase went away in the middle; the change will be made wholly or not at all.
        """
        if not steps:
            return

        def change(transaction: Transaction) -> None:
            view, now = self.tables.view(transaction, row.table.database, row.table.name)
            check_same_table(now, row)
            payloads = view.existing([*steps, *partitions])
            missing = partitions.keys() - payloads.keys()
            if must_exist and missing:
                raise no_such_partition(row.table, partitions[min(missing)])
            known = {key: decode_companion(payload) for key, payload in payloads.items() if key in steps}
            view.write(*_changed(row, steps, known))
            if also is not None:
                also(view, now, payloads)

        self.tables.transactions.run(change)


def _changed(
    row: TableRow, steps: Mapping[bytes, CompanionChange], companions: Mapping[bytes, Companion]
) -> tuple[list[PartitionRow], list[bytes]]:
    """The rows to put and to delete."""
    puts, deletes = [], []
    for key, step in steps.items():
        before = companions.get(key, NOTHING)
        after = step(before)
        if after == NOTHING and before != NOTHING:
            deletes.append(key)
        elif after != before:
            payload = encode_companion(after)
            if len(payload) > MAX_PAYLOAD:
                raise InvalidInput(
                    "the statistics of one table or partition are too large",
                    table=row.table,
                    bytes=len(payload),
                    limit=MAX_PAYLOAD,
                    hint="Leave out the bit vectors",
                )
            puts.append(PartitionRow(key, (), payload))
    return puts, deletes

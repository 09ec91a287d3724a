"""Annexes: rows that hold what is known about a table or a partition besides itself, and go when it goes.

Column statistics and marks belong to one table or partition: what belonged to a dropped one must never be seen on the
next of its name, however late it was written. Three things see to that:

* **A table's annexes have keys that begin with its incarnation**, 8 random bytes that no other table has (see
  `hbstore.store.table_row`). A table that is dropped and created again has other keys; what the old ones hold goes with
  the table's rows, and is never asked for again. A table that is altered or renamed keeps its annexes.
* **A partition's annex is one row, whose key follows from the partition's.** So a drop need not look for what there
  is: the keys of the annexes (`annex_keys`) stand in the same change as those of the partitions, and go at the same
  moment, in one transaction or by one intent.
* **An annex is changed as partitions are**: where there are transactions, in one that sees the partition there; on
  HBase by an intent, decided only if no other change of the table was decided since the partition was seen. As an
  intent on the same keys is always finished first, and HBase's timestamps are the journal's sequence numbers, what was
  decided before a drop is gone after it, even if it is written late, and what comes after a drop finds no partition.

They are rows like those of partitions, not cells of the catalog, as many of them are written, read and dropped at once:
the statistics of 10,000 partitions are ten requests to HBase and one transaction in SQLite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from hbstore.errors import ConcurrentChange, InvalidInput
from hbstore.rows.interface import PartitionRow, Rows
from hbstore.service_structs import NOTHING, Annex, decode_annex, encode_annex
from hbstore.store.annex_keys import table_annex_key
from hbstore.store.changes import Change, ChangeKind
from hbstore.store.journal import JournalCommit
from hbstore.store.puts import MAX_PAYLOAD, no_such_partition
from hbstore.store.table_row import TableRow
from hbstore.store.tables import Tables

Step: TypeAlias = Callable[[Annex], Annex]
"""What becomes of an annex; it may be called several times."""


@dataclass(frozen=True, slots=True)
class Annexes:
    """Reads and changes annexes.

    Attributes:
        rows: where they are.
        tables: the tables that they belong to.
    """

    rows: Rows
    tables: Tables

    def read(self, keys: Iterable[bytes]) -> dict[bytes, Annex]:
        """Those annexes that are there, by their keys; a request for each 1,000 on HBase."""
        return {key: decode_annex(payload) for key, payload in self.rows.multi_get(sorted(set(keys)))}

    def change(
        self,
        row: TableRow,
        steps: Mapping[bytes, Step],
        partitions: Mapping[bytes, Sequence[str]],
        *,
        must_exist: bool = True,
    ) -> None:
        """Change annexes of one table, all or none, as if nobody else did at the same time.

        Args:
            row: the table.
            steps: what becomes of the annex of each key.
            partitions: the keys and the values of the partitions that the annexes belong to: changes of these under
                way are finished first. None for the table's own annex.
            must_exist: whether these partitions must be there.

        Raises:
            PartitionNotFound: a partition is not there.
            ConcurrentChange: another table has its name now; nothing was changed.
            InvalidInput: an annex would be too large.
            CommitStateUnknown: HBase went away in the middle; the change will be made wholly or not at all.
        """
        if not steps:
            return

        def check(_: Change) -> Change | None:
            if must_exist:
                self._check_present(row, partitions)
            return _changed(row, steps, self.read(steps))

        touched = Change(ChangeKind.ALTER, deletes=tuple(sorted({*steps, *partitions})))
        if not self.rows.atomic:
            JournalCommit(self.rows, self._reopen, check).commit(row, touched)
            return
        with self.rows.transaction():
            self._reopen(row)
            done = check(touched)
            if done is not None:
                self.rows.write(done.puts, done.deletes, 0)

    def _reopen(self, row: TableRow) -> TableRow:
        found = self.tables.reopen(row)
        if table_annex_key(found) != table_annex_key(row):
            raise ConcurrentChange("another table has this name now", table=row.table, hint="Try again")
        return found

    def _check_present(self, row: TableRow, present: Mapping[bytes, Sequence[str]]) -> None:
        missing = present.keys() - {key for key, _ in self.rows.multi_get(sorted(present))}
        if missing:
            raise no_such_partition(row.table, present[min(missing)])


def _changed(row: TableRow, steps: Mapping[bytes, Step], known: Mapping[bytes, Annex]) -> Change | None:
    """The rows to put and to delete; None where all annexes stay as they are."""
    puts, deletes = [], []
    for key, step in steps.items():
        before = known.get(key, NOTHING)
        after = step(before)
        if after == NOTHING and before != NOTHING:
            deletes.append(key)
        elif after != before:
            payload = encode_annex(after)
            if len(payload) > MAX_PAYLOAD:
                raise InvalidInput(
                    "the statistics of one table or partition are too large",
                    table=row.table,
                    bytes=len(payload),
                    limit=MAX_PAYLOAD,
                    hint="Leave out the bit vectors",
                )
            puts.append(PartitionRow(key, (), payload))
    return Change(ChangeKind.ALTER, tuple(puts), tuple(deletes)) if puts or deletes else None

"""One page of an import: partitions are read from the metastore, compared with the store's, and written into it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from hbstore.errors import (
    AlreadyExists,
    ConcurrentChange,
    InvalidInput,
    InvalidPartitionValue,
    TimelineError,
)
from hbstore.metastore.partition_names import name_reader
from hbstore.model import Partition, Table
from hbstore.service_model import ColumnStatistic
from hbstore.store.partition_store import PartitionStore
from hbstore.structs import partition_from_payload, partition_values
from hbstore.transfer.checksum import Payloads
from hbstore.transfer.listing import Identities, Identity
from hbstore.transfer.metastore import Metastore
from hbstore.transfer.work import OnConflict, Outcome, Page, singled_out

_ATTEMPTS: Final = 20
_REFUSALS: Final = (InvalidPartitionValue, InvalidInput, TimelineError)
"""What says that a partition cannot be in the store."""


@dataclass(frozen=True, slots=True)
class ImportPage:
    """Copies a page of partitions of one table into the store; done again, it changes nothing.

    Attributes:
        table: as it is in the store.
        on_conflict: what to do with partitions that are there already and differ.
        statistics: whether statistics of columns are copied, too.
    """

    table: Table
    on_conflict: OnConflict
    statistics: bool

    def __call__(self, store: PartitionStore, metastore: Metastore, page: Page) -> Outcome:
        """See `Work`.

        Raises:
            MetastoreUnavailable, MetastoreRefused: the source does not give its partitions.
            ConcurrentChange: others keep writing the same partitions.
            StoreUnavailable, StoreFull: the store cannot be written.
        """
        identify = Identities(self.table).of
        read = name_reader(self.table)
        wanted = {identify(read(name)): name for name in page}
        given = {
            identity: one
            for one in metastore.partitions(self.table.database, self.table.name, page)
            if (identity := identify(one.values)) in wanted
        }
        gone = tuple(name for identity, name in wanted.items() if identity not in given)
        for _ in range(_ATTEMPTS):
            try:
                outcome = self._write(store, given, wanted, identify)
            except (AlreadyExists, ConcurrentChange) as error:  # others write the same: look again
                last = error
                continue
            if not outcome.conflicts and self.statistics:
                left_out = {*outcome.kept, *(name for name, _ in outcome.refused)}
                copied = [name for identity, name in wanted.items() if identity in given and name not in left_out]
                outcome = replace(outcome, statistics=self._copy_statistics(store, metastore, copied))
            return replace(outcome, gone=gone)
        raise ConcurrentChange(
            "other writers kept changing the same partitions",
            table=self.table,
            reason=last,
            hint="Repeat the command when those writers are done",
        )

    def _write(
        self,
        store: PartitionStore,
        given: dict[Identity, Partition],
        wanted: Mapping[Identity, str],
        identify: Callable[[Sequence[str]], Identity],
    ) -> Outcome:
        """Write what is not there, and what differs if it is to be replaced."""
        database, name = self.table.database, self.table.name
        payloads = Payloads(self.table)
        ready = {identity: payloads.ordered(one) for identity, one in given.items()}
        new = {identity: payloads.encode(one) for identity, one in ready.items()}
        stored = store.get_payloads(database, name, [one.values for one in given.values()])
        there = {identify(partition_values(payload)): payload for payload in stored}
        differing = [
            identity
            for identity, payload in there.items()
            if payload != new[identity] and payloads.payload(partition_from_payload(payload)) != new[identity]
        ]
        names = tuple(wanted[identity] for identity in differing)
        if differing and self.on_conflict == "fail":
            return Outcome(conflicts=names)
        kept = frozenset(differing) if self.on_conflict == "keep" else frozenset[Identity]()
        replaced = frozenset(differing) - kept
        written = given.keys() - kept

        def write(some: Sequence[Identity]) -> None:
            store.change_partitions(
                database,
                name,
                add=[ready[one] for one in some if one not in there],
                put=[ready[one] for one in some if one in replaced],
                expected={partition_values(there[one]): there[one] for one in some if one in replaced},
                invalid_values="keep",
            )

        missing = [identity for identity in given if identity not in there or identity in replaced]
        refused = singled_out(write, missing, _REFUSALS)
        written -= {identity for identity, _ in refused}
        return Outcome(
            added=sum(identity not in there for identity in written),
            replaced=sum(identity in replaced for identity in written),
            same=sum(identity in there and identity not in replaced for identity in written),
            kept=names if kept else (),
            refused=tuple((wanted[identity], str(error)) for identity, error in refused),
            checksum=payloads.of(new[identity] for identity in written),
        )

    def _copy_statistics(self, store: PartitionStore, metastore: Metastore, names: Sequence[str]) -> int:
        """Write the statistics of columns that differ; of how many partitions."""
        read = name_reader(self.table)
        given = {read(name): some for name, some in metastore.partition_statistics(self.table, names).items() if some}
        if not given:
            return 0
        database, table = self.table.database, self.table.name
        there = store.column_statistics.read_partitions(database, table, given)
        now = int(time.time())
        new = {
            values: [replace(one, analyzed=now) for one in some]
            for values, some in given.items()
            if not same_statistics(some, there.get(values, ()))
        }
        if new:
            store.column_statistics.write_partitions(database, table, new)
        return len(new)


def same_statistics(given: Sequence[ColumnStatistic], there: Sequence[ColumnStatistic]) -> bool:
    """Whether all statistics are there, whenever they were made."""
    known = {one.column: (one.type, one.data) for one in there}
    return all(known.get(one.column) == (one.type, one.data) for one in given)

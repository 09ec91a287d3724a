"""One page of an import: partitions are read from the metastore, compared with the store's, and written into it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from hbstore.errors import (
    AlreadyExists,
    InvalidInput,
    InvalidPartitionValue,
    TimelineError,
)
from hbstore.keys.partition_names import name_reader
from hbstore.model.objects import Partition, Table
from hbstore.model.service_objects import ColumnStatistic
from hbstore.model.structs import partition_from_payload, partition_values
from hbstore.store.partition_store import PartitionStore
from hbstore.transfer.checksum import Payloads
from hbstore.transfer.listing import Identities, Identity
from hbstore.transfer.metastore import Metastore
from hbstore.transfer.work import OnConflict, Outcome, Page, singled_out

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
            StoreBusy: others kept writing the same partitions.
            StoreUnavailable, StoreFull: the store cannot be written.
        """
        identify = Identities(self.table).of
        read = name_reader(self.table.partition_column_names)
        names = {identify(read(name)): name for name in page}
        partitions = {
            identity: partition
            for partition in metastore.partitions(self.table.database, self.table.name, page)
            if (identity := identify(partition.values)) in names
        }
        gone = tuple(name for identity, name in names.items() if identity not in partitions)
        outcome = store.patience.retry(
            lambda: self._write(store, partitions, names, identify),
            AlreadyExists,
            text="other writers kept changing the same partitions",
            hint="Repeat the command when those writers are done",
            table=self.table,
        )
        if not outcome.conflicts and self.statistics:
            left_out = {*outcome.kept, *(name for name, _ in outcome.refused)}
            copied = [name for identity, name in names.items() if identity in partitions and name not in left_out]
            outcome = replace(outcome, statistics=self._copy_statistics(store, metastore, copied))
        return replace(outcome, gone=gone)

    def _write(
        self,
        store: PartitionStore,
        partitions: dict[Identity, Partition],
        names: Mapping[Identity, str],
        identify: Callable[[Sequence[str]], Identity],
    ) -> Outcome:
        """Write what is not there, and what differs if it is to be replaced."""
        database, name = self.table.database, self.table.name
        payloads = Payloads(self.table)
        ready = {identity: payloads.ordered(partition) for identity, partition in partitions.items()}
        new = {identity: payloads.encode(partition) for identity, partition in ready.items()}
        stored = store.get_payloads(database, name, [partition.values for partition in partitions.values()])
        existing = {identify(partition_values(payload)): payload for payload in stored}
        differing = [
            identity
            for identity, payload in existing.items()
            if payload != new[identity] and payloads.payload(partition_from_payload(payload)) != new[identity]
        ]
        differing_names = tuple(names[identity] for identity in differing)
        if differing and self.on_conflict == "fail":
            return Outcome(conflicts=differing_names)
        kept = frozenset(differing) if self.on_conflict == "keep" else frozenset[Identity]()
        replaced = frozenset(differing) - kept
        written = partitions.keys() - kept

        def write(identities: Sequence[Identity]) -> None:
            store.change_partitions(
                database,
                name,
                add=[ready[identity] for identity in identities if identity not in existing],
                put=[ready[identity] for identity in identities if identity in replaced],
                expected={
                    partition_values(existing[identity]): existing[identity]
                    for identity in identities
                    if identity in replaced
                },
                invalid_values="keep",
            )

        missing = [identity for identity in partitions if identity not in existing or identity in replaced]
        refused = singled_out(write, missing, _REFUSALS)
        written -= {identity for identity, _ in refused}
        return Outcome(
            added=sum(identity not in existing for identity in written),
            replaced=sum(identity in replaced for identity in written),
            same=sum(identity in existing and identity not in replaced for identity in written),
            kept=differing_names if kept else (),
            refused=tuple((names[identity], str(error)) for identity, error in refused),
            checksum=payloads.of(new[identity] for identity in written),
        )

    def _copy_statistics(self, store: PartitionStore, metastore: Metastore, names: Sequence[str]) -> int:
        """Write the statistics of columns that differ; of how many partitions."""
        read = name_reader(self.table.partition_column_names)
        statistics = {
            read(name): some for name, some in metastore.partition_statistics(self.table, names).items() if some
        }
        if not statistics:
            return 0
        database, table = self.table.database, self.table.name
        existing = store.column_statistics.read_partitions(database, table, statistics)
        now = int(time.time())
        new = {
            values: [replace(statistic, analyzed=now) for statistic in some]
            for values, some in statistics.items()
            if not same_statistics(some, existing.get(values, ()))
        }
        if new:
            store.column_statistics.write_partitions(database, table, new)
        return len(new)


def same_statistics(statistics: Sequence[ColumnStatistic], existing: Sequence[ColumnStatistic]) -> bool:
    """Whether all statistics are there, whenever they were made."""
    existing_data = {statistic.column: (statistic.type, statistic.data) for statistic in existing}
    return all(existing_data.get(statistic.column) == (statistic.type, statistic.data) for statistic in statistics)

"""One page of an export: partitions of the store are compared with the metastore's, and written into it.

A metastore sets a new partition's create time itself, and marks it for statistics that it gets. So partitions are
altered after all that, and stay as they are then. What a metastore changes all the same is done before: names of
columns are in lower case, and a partition without a time of its last change gets its create time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urlsplit

from hbstore.errors import MetastoreRefused
from hbstore.keys.partition_names import name_reader
from hbstore.model.frozen import FrozenDict
from hbstore.model.objects import Partition, Table
from hbstore.model.structs import PartitionEncoder
from hbstore.store.partition_store import PartitionStore
from hbstore.transfer.checksum import Digests
from hbstore.transfer.import_page import same_statistics
from hbstore.transfer.listing import Identities, Identity
from hbstore.transfer.metastore import Metastore
from hbstore.transfer.work import OnConflict, Outcome, Page, singled_out
from hbstore.warehouse.change_times import DDL_TIME
from hbstore.warehouse.normal_form import lowered_storage

_NO_TIME: Final = (None, "", "0")
_MARK: Final = "COLUMN_STATS_ACCURATE"
_COUNTED: Final = frozenset({"numFiles", "numFilesErasureCoded", "numRows", "rawDataSize", "totalSize"})


@dataclass(frozen=True, slots=True)
class ExportPage:
    """Copies a page of partitions of one table into the metastore; done again, it changes nothing.

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
            MetastoreUnavailable: the target is not there.
            MetastoreRefused: it does not take many partitions, so that the reason is not one of them.
            StoreUnavailable: the store cannot be read.
        """
        both = _Page.read(self.table, store, metastore, page)
        if both.differing and self.on_conflict == "fail":
            return Outcome(conflicts=tuple(both.names[identity] for identity in both.differing))
        kept = both.differing if self.on_conflict == "keep" else frozenset[Identity]()
        replaced = both.differing - kept
        sent = {identity: partition for identity, partition in both.sent.items() if identity not in kept}
        new = [identity for identity in sent if identity not in both.theirs]
        encode = PartitionEncoder(self.table).encode
        database, name = self.table.database, self.table.name

        def add(identities: Sequence[Identity]) -> None:
            metastore.add_partitions(database, name, [encode(sent[identity]) for identity in identities])

        def alter(identities: Sequence[Identity]) -> None:
            metastore.alter_partitions(database, name, [encode(sent[identity]) for identity in identities])

        refused = dict(singled_out(add, new, (MetastoreRefused,)))
        marked = self._copy_statistics(
            store, metastore, both, [identity for identity in sent if identity not in refused]
        )
        altered = {
            identity: None for identity in [*new, *both.unfinished, *replaced, *marked] if identity not in refused
        }
        refused |= dict(singled_out(alter, list(altered), (MetastoreRefused,)))
        for identity in refused:
            del sent[identity]
        return Outcome(
            added=sum(identity in sent for identity in [*new, *both.unfinished]),
            replaced=sum(identity in sent for identity in replaced),
            same=len(both.theirs) - len(both.differing) - len(both.unfinished),
            statistics=len(marked),
            kept=tuple(both.names[identity] for identity in kept),
            gone=both.gone,
            refused=tuple((both.names[identity], str(error)) for identity, error in refused.items()),
            checksum=Digests(self.table).of(list(sent.values())),
        )

    def _copy_statistics(
        self, store: PartitionStore, metastore: Metastore, both: _Page, copied: Sequence[Identity]
    ) -> list[Identity]:
        """Write the statistics of columns that differ; those of which partitions."""
        if not self.statistics:
            return []
        of = {both.sent[identity].values: identity for identity in copied}
        statistics = store.column_statistics.read_partitions(self.table.database, self.table.name, of)
        if not statistics:
            return []
        names = {values: both.names[of[values]] for values in statistics}
        their_statistics = metastore.partition_statistics(self.table, list(names.values()))
        new = [
            values
            for values, some in statistics.items()
            if not same_statistics(some, their_statistics.get(names[values], ()))
        ]
        if new:
            metastore.put_statistics(self.table, {names[values]: statistics[values] for values in new})
        return [of[values] for values in new]


@dataclass(frozen=True, slots=True)
class VerifyPage:
    """Compares a page of partitions of one table with the metastore's.

    Attributes:
        table: as it is in the store.
    """

    table: Table

    def __call__(self, store: PartitionStore, metastore: Metastore, page: Page) -> Outcome:
        """See `Work`."""
        both = _Page.read(self.table, store, metastore, page)
        wrong = {*both.differing, *both.unfinished, *(both.sent.keys() - both.theirs.keys())}
        checksum = Digests(self.table).of(list(both.theirs.values()))
        return Outcome(wrong=tuple(both.names[identity] for identity in wrong), checksum=checksum)


@dataclass(frozen=True, slots=True)
class _Page:
    """A page of partitions on both sides.

    Attributes:
        names: names by identity.
        sent: the store's, as they are sent.
        theirs: the metastore's.
        differing: those that are on both sides and are not the same.
        unfinished: those that are as the metastore left them before they were altered, and the same otherwise.
        gone: names of those that the store does not have any more.
    """

    names: dict[Identity, str]
    sent: dict[Identity, Partition]
    theirs: dict[Identity, Partition]
    differing: frozenset[Identity]
    unfinished: frozenset[Identity]
    gone: tuple[str, ...]

    @classmethod
    def read(cls, table: Table, store: PartitionStore, metastore: Metastore, page: Page) -> _Page:
        identify, read, digest = Identities(table).of, name_reader(table.partition_column_names), Digests(table).digest
        named = {name: read(name) for name in page}
        names = {identify(values): name for name, values in named.items()}
        stored = store.get_partitions(table.database, table.name, list(named.values()))
        sent = {identify(partition.values): as_sent(partition) for partition in stored}
        fetched = {
            identify(partition.values): partition
            for partition in metastore.partitions(table.database, table.name, page)
        }
        theirs = {
            identity: aligned(partition, sent[identity]) for identity, partition in fetched.items() if identity in sent
        }
        different = {identity for identity in theirs if digest(theirs[identity]) != digest(sent[identity])}
        unfinished = {
            identity
            for identity in different
            if digest(_as_altered(theirs[identity], sent[identity])) == digest(sent[identity])
        }
        gone = tuple(name for identity, name in names.items() if identity not in sent)
        return cls(names, sent, theirs, frozenset(different - unfinished), frozenset(unfinished), gone)


def as_sent(partition: Partition) -> Partition:
    """A partition as a metastore would keep it.

    >>> as_sent(Partition(["a"], create_time=5)).parameters
    {'transient_lastDdlTime': '5'}
    """
    parameters = partition.parameters
    if parameters.get(DDL_TIME) in _NO_TIME:
        parameters = FrozenDict({**parameters, DDL_TIME: str(partition.create_time or 1)})
    storage = partition.storage
    return replace(partition, storage=None if storage is None else lowered_storage(storage), parameters=parameters)


def aligned(theirs: Partition, sent: Partition) -> Partition:
    """What a metastore has, as it was sent where it says the same: the location, and a create time that none was sent.

    >>> aligned(Partition(["a"], location="file:/sales/a"), Partition(["a"], location="/sales/a")).location
    '/sales/a'
    """
    location = sent.location if is_same_place(theirs.location, sent.location) else theirs.location
    created = theirs.create_time if sent.create_time else 0
    if (location, created) == (theirs.location, theirs.create_time):
        return theirs
    return replace(theirs, location=location, create_time=created)


def _as_altered(theirs: Partition, sent: Partition) -> Partition:
    """A partition without what a metastore sets when it is added and gets statistics."""
    return replace(theirs, create_time=sent.create_time, parameters=unmarked(theirs.parameters, sent.parameters))


def unmarked(theirs: Mapping[str, str], sent: Mapping[str, str]) -> Mapping[str, str]:
    """Parameters as they were sent if they differ only in what a metastore counts and marks for itself.

    >>> unmarked({"a": "1", "COLUMN_STATS_ACCURATE": "{}", "numFiles": "0"}, {"a": "1"})
    {'a': '1'}
    """
    own = {_MARK, *(_COUNTED - sent.keys())}
    plain = [{name: value for name, value in some.items() if name not in own} for some in (theirs, sent)]
    return sent if plain[0] == plain[1] else theirs


def is_same_place(theirs: str | None, sent: str | None) -> bool:
    """Whether a metastore's location is what was sent, where it adds its own file system to paths without one."""
    if theirs is None or sent is None:
        return theirs == sent
    if theirs == sent:
        return True
    their_url, sent_url = urlsplit(theirs), urlsplit(sent)
    same_system = not sent_url.scheme or (their_url.scheme, their_url.netloc) == (sent_url.scheme, sent_url.netloc)
    return same_system and their_url.path.rstrip("/") == sent_url.path.rstrip("/")

"""What is stuck in a store: publications and changes of processes that died, and locks that others wait for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from hbstore.model.service_objects import Lock, LockState
from hbstore.publishing.dropped_files import DroppedFiles
from hbstore.publishing.open_publications import publication_state
from hbstore.store.catalog_logs import CatalogObject
from hbstore.store.check import PAYLOAD_AGE
from hbstore.texts.wording import plural
from hbstore.transactions.identity import holder_of
from hbstore.transactions.inspection import who
from hbstore.transactions.log import Log


@dataclass(frozen=True, slots=True)
class StuckWork:
    """A publication or a change that its process should have finished.

    Attributes:
        kind: what it is, for people.
        table: whose it is; None: another object's.
        name: of the object.
        since: how long it should have been over.
        by: what is known of it and of its process.
        publication: its id, if people can finish it or give it up; else empty.
    """

    kind: str
    table: tuple[str, str] | None
    name: str
    since: timedelta
    by: str
    publication: str = ""


@dataclass(frozen=True, slots=True)
class WaitingLock:
    """A lock of a Hive client that waits, and what it waits for.

    Attributes:
        lock: it.
        blocker: the lock that is in its way; None: it is about to be given.
        held: how long that one has been held; None: it waits, too.
    """

    lock: Lock
    blocker: Lock | None
    held: timedelta | None

    @property
    def names(self) -> str:
        """What it is about."""
        return names_of(self.lock)


def stuck_work(objects: Iterable[CatalogObject], drops: Iterable[DroppedFiles], now: float) -> list[StuckWork]:
    """Publications whose leases have ended, drops whose files stay, and changes open for long; the longest first.

    Args:
        objects: those of the catalog.
        drops: what was dropped and has files.
        now: seconds since 1970.
    """
    stuck = [work for seen in objects for work in (*_publications(seen, now), *_changes(seen, now))]
    for drop in drops:
        if drop.until < now:
            since, files = timedelta(seconds=now - drop.until), sum(len(folder.names) for folder in drop.folders)
            by = f"{plural(files, 'file')}, id {drop.id}"
            stuck.append(StuckWork("drop, files not deleted", None, drop.what, since, by, drop.id))
    return sorted(stuck, key=lambda work: work.since, reverse=True)


def waiting_locks(locks: Sequence[Lock], now: float) -> list[WaitingLock]:
    """The locks that wait, in the order in which they are given. O(locks).

    Args:
        locks: all of the store.
        now: seconds since 1970.

    >>> waiting_locks([], now=0.0)
    []
    """
    by_id = {lock.id: lock for lock in locks}
    waiting = []
    for lock in locks:
        if lock.state is LockState.WAITING:
            blocker = by_id.get(lock.blocked_by or 0)
            since = None if blocker is None or blocker.acquired is None else now - blocker.acquired / 1000
            waiting.append(WaitingLock(lock, blocker, None if since is None else timedelta(seconds=max(since, 0.0))))
    return waiting


def names_of(lock: Lock) -> str:
    """What a lock is about."""
    return ", ".join(
        ".".join(name for name in (component.database, component.table, component.partition) if name)
        for component in lock.components
    )


def _publications(seen: CatalogObject, now: float) -> Iterator[StuckWork]:
    database, name = (*seen.names, "")[:2]
    for publication in seen.publications:
        if publication.until < now and seen.is_there:
            kind = f"publication, {publication_state(publication, now)}"
            by = f"{plural(len(publication.places), 'partition')}, id {publication.id}"
            yield StuckWork(
                kind, (database, name), seen.name, timedelta(seconds=now - publication.until), by, publication.id
            )


def _changes(seen: CatalogObject, now: float) -> Iterator[StuckWork]:
    """Changes that are decided and not written, and a lock of the row, ten minutes after they began.

    They have no lease: ten minutes is what `hbstore repair` gives a writer before it takes it for dead.
    """
    table = (seen.names[0], seen.names[1]) if seen.kind == "table" else None
    for kind, transaction_id in _open(seen.log):
        described = who(transaction_id)
        if "process" in described:
            age = now - int(transaction_id.partition("/")[0])
            if age > PAYLOAD_AGE:
                yield StuckWork(kind, table, seen.name, timedelta(seconds=age), holder_of(transaction_id))


def _open(log: Log) -> Iterator[tuple[str, str]]:
    for commit in log.commits:
        yield "change, decided and not written", commit.id
    if log.intent is not None:
        yield "row, locked for a change", log.intent.id

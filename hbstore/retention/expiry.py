"""Dropping old partitions so that it can be undone while their files are in the trash.

Partitions are dropped in *runs*, 1,000 at most in one. Of each run the store keeps a record:

1. The record is written: the stored bytes of the partitions, and the folder of the trash that is this run's own.
2. The partitions are dropped, all or none, and only if they are what the record says. Their files move into that folder
   (`hbstore.publishing.removal`), those of external tables stay where they are.
3. After some days the folder is deleted, then the record.

`undo` goes back as long as the record is there. Where a process dies behind 1, the record names partitions that are
still there, which `undo` leaves alone; behind 2, the next writer or `hbstore repair` moves the rest of the files into
the same folder.
"""

from __future__ import annotations

import json
import logging
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from shlex import quote
from typing import Final
from uuid import uuid4

from hbstore.errors import (
    CommitStateUnknown,
    ConcurrentChange,
    DatabaseNotFound,
    FileOperationFailed,
    InvalidInput,
    OutsideWarehouse,
    PartitionNotFound,
    StoreBusy,
    TableNotFound,
    TimelineError,
)
from hbstore.files.warehouse import Warehouse
from hbstore.keys.partition_names import partition_name, table_name
from hbstore.model.objects import Partition, Table
from hbstore.model.structs import partition_values, partitions_from_payloads
from hbstore.publishing.held_folder import held_at_last
from hbstore.publishing.publisher import Publisher
from hbstore.publishing.removal import holds_table
from hbstore.retention.kept_files import own_trash, places_of, shared_places
from hbstore.rows.urls import absolute_url
from hbstore.store.partition_store import PartitionStore
from hbstore.store.table_row import TableRow
from hbstore.warehouse.locations import located
from hbstore.warehouse.partition_changes import drop_partitions
from hbstore.warehouse.table_kinds import is_purged, keeps_files

AT_ONCE: Final = 1_000
"""Partitions of a run."""
KEPT: Final = timedelta(days=7)
"""How long the files of a run stay in the trash, unless something else is said."""

_LOG: Final = logging.getLogger("hbstore.retention")
_KIND: Final = "expired"
_IS_THERE: Final = "a partition of these values is there"
_IN_USE: Final = "a partition that is there has its files at its place"
_NOT_IN_TRASH: Final = "its files are not in the trash any more; if they are at its place, MSCK REPAIR TABLE adds it"


@dataclass(frozen=True, slots=True)
class ExpiryRun:
    """Partitions that were dropped together because they were old.

    Attributes:
        id: unique; ids of later runs are larger.
        table: its full name then.
        table_id: in hexadecimal.
        at: when, in ISO 8601.
        partitions: how many they are.
        files: ``trash``, ``none`` where no partition had a folder, ``kept`` of an external table, or ``deleted`` of one
            whose files pass the trash.
        trash: the folder in which their files are.
        packed: the stored bytes of the partitions.
    """

    id: str
    table: str
    table_id: str
    at: str
    partitions: int
    files: str
    trash: str
    packed: str

    def payloads(self) -> list[bytes]:
        """The stored bytes of the partitions."""
        return [b64decode(text) for text in json.loads(zlib.decompress(b64decode(self.packed)))]

    def encode(self) -> str:
        """For the store's records."""
        return json.dumps({name: getattr(self, name) for name in self.__slots__ if name != "id"})


@dataclass(frozen=True, slots=True)
class Undone:
    """What `undo` did.

    Attributes:
        restored: the names of the partitions that are there again.
        left: the names of those that stay dropped, or were never dropped, with the reasons.
    """

    restored: list[str]
    left: dict[str, str]


def expire(
    store: PartitionStore, warehouse: Warehouse, table: Table, payloads: Sequence[bytes], now: datetime
) -> Iterator[ExpiryRun]:
    """Drop partitions in runs; each is given when it is done.

    A run is left out if somebody has changed one of its partitions, or a job is writing it.

    Args:
        store: the catalog.
        warehouse: where files are.
        table: their table.
        payloads: the stored bytes of the partitions, of which none is to be kept for its files: `parted`.
        now: the time.

    Raises:
        OutsideWarehouse: the files may not be moved; nothing of the run was dropped.

    >>> from dataclasses import replace
    >>> from datetime import timezone
    >>> from hbstore.retention.expiry import expire, runs, undo
    >>> warehouse, now = Warehouse("/wh"), datetime(2013, 5, 1, tzinfo=timezone.utc)
    >>> external = replace(sales.definition, name="logs", location="/logs", parameters={"EXTERNAL": "TRUE"})
    >>> store.create_table(external)
    >>> store.table("shop.logs").add([("2013-01-01", "5")])
    1
    >>> old = store.get_payloads("shop", "logs", [("2013-01-01", "5")])
    >>> [(run.partitions, run.files) for run in expire(store, warehouse, external, old, now)]
    [(1, 'kept')]
    >>> undo(store, warehouse, runs(store)[0].id).restored
    ['ds=2013-01-01/hour=5']
    """
    table = located(store, warehouse, table)
    waiting = [payloads[start : start + AT_ONCE] for start in range(0, len(payloads), AT_ONCE)]
    while waiting:
        batch = waiting.pop(0)
        try:
            run = _expire_batch(store, warehouse, table, batch, now)
        except InvalidInput:  # the record, or the list of their files, is too long
            if len(batch) == 1:
                raise
            waiting[:0] = [batch[: len(batch) // 2], batch[len(batch) // 2 :]]
            continue
        if run is not None:
            yield run


def runs(store: PartitionStore) -> list[ExpiryRun]:
    """The runs that can be undone, the earliest first."""
    return [ExpiryRun(run_id, **json.loads(text)) for run_id, text in store.records.list(_KIND)]


def undo_command(store: PartitionStore, run_id: str, warehouse: str) -> str:
    """The command that undoes a run, for people who need not be where the store was named.

    >>> undo_command(store, "2026-11-29T10-00-00-5f0c6f0f2a13", "/data/my warehouse")
    "hbstore --store memory:// expired undo 2026-11-29T10-00-00-5f0c6f0f2a13 --warehouse '/data/my warehouse'"
    """
    return f"hbstore --store {quote(absolute_url(store.rows.url))} expired undo {run_id} --warehouse {quote(warehouse)}"


def undo(store: PartitionStore, warehouse: Warehouse, run_id: str) -> Undone:
    """Bring back what a run has dropped, with its files, but for partitions that are there by now. It can be repeated.

    Their column statistics stay gone. O(partitions of the table), unless its files were kept.

    Args:
        store: the catalog.
        warehouse: where files are.
        run_id: the run's.

    Raises:
        InvalidInput: there is no such run, or its files passed the trash.
        ConcurrentChange: its table was dropped or renamed.
    """
    run = _run(store, run_id)
    _row(store, run)
    Publisher(store).recover(run.table)  # moves into the trash what a dead process has not
    table = located(store, warehouse, _row(store, run).table)
    database, name, payloads = table.database, table.name, run.payloads()
    trash = warehouse.with_trash(run.trash)
    present = {partition_values(payload) for payload in store.get_payloads(database, name, _values(payloads))}
    in_use = frozenset() if run.files == "kept" else shared_places(store, table, frozenset(payloads))
    restored: list[str] = []
    left: dict[str, str] = {}
    # A folder that holds another comes back first, and brings it along.
    for partition in sorted(partitions_from_payloads(payloads), key=lambda one: one.location or ""):
        shown = partition_name(table.partition_column_names, partition.values)
        if partition.values in present:
            reason: str | None = _IS_THERE
        elif in_use & places_of(partition.location) and not holds_table(table, partition.location or ""):
            reason = _IN_USE
        else:
            reason = _added_again(store, trash, table, run, partition)
        if reason is None:
            restored.append(shown)
        else:
            left[shown] = reason
    if not left:
        _forget(store, warehouse, run)
    return Undone(restored, left)


def delete_runs(store: PartitionStore, warehouse: Warehouse, until: datetime) -> list[ExpiryRun]:
    """Delete the files of runs up to a time for good, and forget the runs; those that are deleted.

    A run whose files are in another warehouse's trash is left to that one's servers. One that cannot be deleted does
    not keep the others: it is a warning in the log.

    Args:
        store: the catalog.
        warehouse: where files are.
        until: the time.
    """
    deleted = []
    for run in runs(store):
        if datetime.fromisoformat(run.at) > until or run.trash != f"{own_trash(warehouse)}/{run.id}":
            continue
        try:
            with suppress(TableNotFound, DatabaseNotFound):
                Publisher(store).recover(run.table)  # else what a dead process has not moved yet came later
            _forget(store, warehouse, run)
        except (FileOperationFailed, CommitStateUnknown, StoreBusy) as error:
            _LOG.warning("the files of %s stay in %s: %s", run.table, run.trash, error)
        else:
            deleted.append(run)
    return deleted


def _expire_batch(
    store: PartitionStore, warehouse: Warehouse, table: Table, batch: Sequence[bytes], now: datetime
) -> ExpiryRun | None:
    """Drop partitions in one run; None if one of them is not what it was, so that nothing was dropped."""
    at = now.astimezone(UTC).isoformat(timespec="seconds")
    run_id = f"{at[:19].replace(':', '-')}-{uuid4().hex[:12]}"
    files = "kept" if keeps_files(table) else "deleted" if is_purged(table) else _moved(warehouse, table, batch)
    trash = f"{own_trash(warehouse)}/{run_id}"
    table_id = store.table_row(table.database, table.name).table_id.hex()
    packed = b64encode(zlib.compress(json.dumps([b64encode(payload).decode() for payload in batch]).encode())).decode()
    run = ExpiryRun(run_id, str(table), table_id, at, len(batch), files, trash, packed)
    store.records.create(_KIND, run_id, run.encode())
    try:
        drop_partitions(store, warehouse.with_trash(trash), table, batch, delete=True, unchanged=True)
    except (PartitionNotFound, ConcurrentChange):  # a WriteConflict is one
        store.records.drop(_KIND, run_id)
        return None
    except (OutsideWarehouse, InvalidInput):
        store.records.drop(_KIND, run_id)
        raise
    return run


def _moved(warehouse: Warehouse, table: Table, batch: Sequence[bytes]) -> str:
    """``trash`` if any of the partitions has a folder, else ``none``: no trash of theirs will be there for `undo`."""
    for partition in partitions_from_payloads(batch):
        if partition.location and not holds_table(table, partition.location):
            warehouse.check_under_roots(partition.location)
            if warehouse.exists(partition.location):
                return "trash"
    return "none"


def _run(store: PartitionStore, run_id: str) -> ExpiryRun:
    text = store.records.get(_KIND, run_id)
    if text is None:
        raise InvalidInput("there is no such run", run=run_id, hint="See `hbstore expired list`")
    run = ExpiryRun(run_id, **json.loads(text))
    if run.files == "deleted":
        raise InvalidInput(
            "the files of the run were deleted, because the table has the parameter auto.purge",
            run=run_id,
            hint="Restore them from a backup, and add the partitions with MSCK REPAIR TABLE",
        )
    return run


def _row(store: PartitionStore, run: ExpiryRun) -> TableRow:
    """The table of a run.

    Raises:
        ConcurrentChange: it was dropped or renamed.
    """
    with suppress(TableNotFound, DatabaseNotFound):
        row = store.table_row(*table_name(run.table))
        if row.table_id.hex() == run.table_id:
            return row
    raise ConcurrentChange(
        "the table of the run was dropped or renamed",
        table=run.table,
        run=run.id,
        hint=f"Its files are in {run.trash}: move them to where you want them, and add the partitions",
    )


def _values(payloads: Sequence[bytes]) -> list[tuple[str, ...]]:
    return [partition_values(payload) for payload in payloads]


def _added_again(
    store: PartitionStore, trash: Warehouse, table: Table, run: ExpiryRun, partition: Partition
) -> str | None:
    """Add a partition and move its files back to where they were; why not, or None.

    Raises:
        ConcurrentChange: the table was dropped or renamed; the files are in the trash.
    """
    place = partition.location or ""
    has_files = run.files != "kept" and bool(place) and not holds_table(table, place)
    home = table.location or place
    inside = [home, place]
    with ExitStack() as stack:
        if has_files:  # else a rename could move the table's folder, and another table get its place
            stack.enter_context(held_at_last(lambda: trash.held(home), store.patience, home))
        row = _row(store, run)
        were_there, reason = _brought_back(trash, run, place, inside) if has_files else (False, None)
        if reason is None:
            try:
                store.add_partitions(table.database, table.name, [partition], True, invalid_values="keep", same_as=row)
            except (ConcurrentChange, TimelineError) as error:
                if were_there:
                    trash.delete(place, inside=inside, purge=False)
                if isinstance(error, ConcurrentChange):
                    raise
                return str(error)  # by now the table keeps timelines in which it has no time
        return reason


def _brought_back(trash: Warehouse, run: ExpiryRun, place: str, inside: Sequence[str]) -> tuple[bool, str | None]:
    """Move a partition's files back to where they were: whether there were any, and why that failed, or None."""
    try:
        were_there = trash.restore(place, inside=inside)
    except (FileOperationFailed, OutsideWarehouse) as error:
        return False, str(error)
    # Of one that never had a folder nothing is there either, while what else the run has dropped still is.
    is_well = were_there or run.files == "none" or trash.exists(run.trash)
    return were_there, None if is_well else _NOT_IN_TRASH


def _forget(store: PartitionStore, warehouse: Warehouse, run: ExpiryRun) -> None:
    """Delete the folder of a run, then its record."""
    if run.files in ("trash", "none"):  # somebody may have written files after it was looked whether there are any
        warehouse.with_trash(run.trash).delete_trash()
    store.records.drop(_KIND, run.id)

"""Execute: read what a plan selects, in key order.

Gets that stand next to each other become one multi-get; a skip scan first finds a batch of distinct values and then
reads below them, so that its gets are batched as well.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from hbstore.keys.row_key import RESPELLED, cell_at, cell_start
from hbstore.model.name_lists import lay_out
from hbstore.model.totals import NOTHING, Totals
from hbstore.plans.scan_plan import MultiScanPlan, RelativeScan, ScanKind, ScanPlan
from hbstore.plans.schema import KeySchema
from hbstore.rows.interface import Rows
from hbstore.rows.predicate import ALWAYS, Predicate
from hbstore.servers.call_limits import check_wanted

GET_BATCH: Final = 1_000
"""Keys in one multi-get at most."""

SKIP_BATCH: Final = 256
"""Distinct values that a skip scan finds before it reads below them."""


class Read(NamedTuple):
    """One scan with the keys that it runs between."""

    kind: ScanKind
    start: bytes
    stop: bytes
    residual: Predicate | None
    column: int
    below: tuple[RelativeScan, ...]


@dataclass(frozen=True, slots=True)
class Measured:
    """What one or more scans cost.

    Attributes:
        rows_read: rows looked at, next to the rows or here.
        rows_returned: those of them that the filter selects.
        round_trips: requests that the backend answered, where it counts them.
        seconds: how long it took.

    >>> sales.explain("ds = '2013-01-01' and hour = 5", analyze=True).total.rows_returned
    1
    """

    rows_read: int = 0
    rows_returned: int = 0
    round_trips: int = 0
    seconds: float = 0.0

    def __add__(self, other: Measured) -> Measured:
        return Measured(
            self.rows_read + other.rows_read,
            self.rows_returned + other.rows_returned,
            self.round_trips + other.round_trips,
            self.seconds + other.seconds,
        )


def fetch(plan: MultiScanPlan, rows: Rows, limit: int | None = None) -> Iterator[Sequence[bytes]]:
    """Payloads of the rows that the plan selects, in key order, in batches.

    Args:
        plan: sorted, disjoint scans.
        rows: where the rows are.
        limit: how many rows at most; None for all.
    """
    first = plan.scans[0] if len(plan.scans) == 1 else None
    if first is not None and first.kind is ScanKind.SCAN:  # the usual plan, without going through the reader below
        return rows.payloads(first.start.key, first.stop.key, first.residual, limit)
    return _fetch_all(plan, rows, limit)


def _fetch_all(plan: MultiScanPlan, rows: Rows, limit: int | None) -> Iterator[Sequence[bytes]]:
    remaining = limit
    for batch in _Reader(rows, plan.schema).run(_reads(plan.scans), limit):
        if remaining is None:
            yield batch
            continue
        if len(batch) >= remaining:
            yield batch[:remaining]
            return
        remaining -= len(batch)
        yield batch


def fetch_heads(plan: MultiScanPlan, rows: Rows, size: int) -> Iterator[bytes]:
    """The first bytes of the payloads that `fetch` gives, as `lay_out` makes them of many."""
    reader = _Reader(rows, plan.schema)
    for group in _groups(_reads(plan.scans)):
        if group[0].kind is ScanKind.SCAN:
            yield from rows.heads(group[0].start, group[0].stop, size, group[0].residual)
        else:
            for batch in reader.run(group, None):
                yield lay_out(batch, size)


def count(plan: MultiScanPlan, rows: Rows) -> int:
    """How many rows the plan selects; they are not read where the backend can count them."""
    reader = _Reader(rows, plan.schema)
    total = 0
    for group in _groups(_reads(plan.scans)):
        if group[0].kind is ScanKind.SCAN:
            total += rows.count(group[0].start, group[0].stop, group[0].residual)
        else:
            total += sum(len(batch) for batch in reader.run(group, None))
    return total


def measure(plan: MultiScanPlan, rows: Rows) -> tuple[list[Measured], Measured, Totals]:
    """Run the plan as `fetch` does and measure each scan.

    Returns:
        One measurement for each scan, all of it, and what the partitions that were found say together. Gets that ran
        as one multi-get share its time equally, and its round trips stand with the first of them.
    """
    each: list[Measured] = []
    kept = NOTHING
    for group in _groups(_reads(plan.scans)):
        reader = _Reader(rows, plan.schema, keep_ranges=True)
        trips = rows.round_trips()
        began = time.perf_counter()
        if group[0].kind is ScanKind.GET:
            some, totals = _measure_gets(group, rows)
            each += some
            kept += totals
            continue
        number, summing = 0, 0.0
        for batch in reader.run(group, None):
            stopped = time.perf_counter()
            number += len(batch)
            kept += Totals.of(batch)
            summing += time.perf_counter() - stopped
        seconds = time.perf_counter() - began - summing
        trips = rows.round_trips() - trips
        checked = sum(rows.count(start, stop) for start, stop in reader.checked)
        each.append(Measured(reader.rows_read + checked, number, trips, seconds))
    return each, sum(each, Measured()), kept


def _measure_gets(group: list[Read], rows: Rows) -> tuple[list[Measured], Totals]:
    trips = rows.round_trips()
    began = time.perf_counter()
    payloads = {key: payload for keys in _chunks(group) for key, payload in rows.multi_get(keys)}
    seconds = time.perf_counter() - began
    trips = rows.round_trips() - trips
    hits = [int(read.start in payloads) for read in group]
    each = [Measured(hit, hit, 0 if at else trips, seconds / len(group)) for at, hit in enumerate(hits)]
    return each, Totals.of(payloads.values())


def _chunks(gets: list[Read]) -> Iterator[list[bytes]]:
    for at in range(0, len(gets), GET_BATCH):
        yield [read.start for read in gets[at : at + GET_BATCH]]


@dataclass(slots=True)
class _Reader:
    rows: Rows
    schema: KeySchema
    keep_ranges: bool = False
    rows_read: int = 0
    checked: list[tuple[bytes, bytes]] = field(default_factory=list)

    def run(self, reads: Iterable[Read], limit: int | None) -> Iterator[Sequence[bytes]]:
        for group in _groups(reads):
            check_wanted()
            read = group[0]
            if read.kind is ScanKind.GET:
                for keys in _chunks(group):
                    check_wanted()
                    found = self.rows.multi_get(keys)
                    self.rows_read += len(found)
                    if found:
                        yield [payload for _, payload in found]
            elif read.kind is ScanKind.SKIP:
                yield from self._skip(read)
            else:
                for batch in self.rows.payloads(read.start, read.stop, read.residual, limit):
                    check_wanted()
                    if read.residual is None:
                        self.rows_read += len(batch)
                    yield batch
                if read.residual is not None and self.keep_ranges:
                    self.checked.append((read.start, read.stop))

    def _skip(self, read: Read) -> Iterator[Sequence[bytes]]:
        pending: list[Read] = []
        for number, cells in enumerate(self._distinct(read), start=1):
            pending += [_below(scan, self.schema.prefix, cells) for scan in read.below]
            if number % SKIP_BATCH == 0:
                yield from self.run(pending, None)
                pending = []
        yield from self.run(pending, None)

    def _distinct(self, read: Read) -> Iterator[tuple[bytes, ...]]:
        """The cells up to the column that is skipped over, for each distinct cell in the range."""
        column, columns = read.column, len(self.schema.names)
        position = read.start
        while (key := self.rows.first_key(position, read.stop)) is not None:
            self.rows_read += 1
            cells = tuple(cell_at(key, at, columns) for at in range(column + 1))
            yield cells
            position = key[: cell_start(key, column + 1, columns)] + RESPELLED


def _reads(scans: Iterable[ScanPlan]) -> Iterator[Read]:
    for scan in scans:
        yield Read(scan.kind, scan.start.key, scan.stop.key, scan.residual, scan.column, scan.below)


def _below(scan: RelativeScan, prefix: bytes, cells: tuple[bytes, ...]) -> Read:
    start, stop = scan.keys(prefix, cells)
    residual = None if scan.residual is ALWAYS else scan.residual
    return Read(scan.kind, start, stop, residual, len(cells) + len(scan.cells), scan.below)


def _groups(reads: Iterable[Read]) -> Iterator[list[Read]]:
    """Neighbouring gets together, everything else on its own."""
    gets: list[Read] = []
    for read in reads:
        if read.kind is ScanKind.GET:
            gets.append(read)
            continue
        if gets:
            yield gets
            gets = []
        yield [read]
    if gets:
        yield gets

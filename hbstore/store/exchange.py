"""Exchanging partitions: moving them from one table to another, all or none, in one transaction of two rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from hbstore.errors import InvalidInput
from hbstore.keys.row_key import row_key
from hbstore.model.objects import PartitionValues
from hbstore.model.structs import partition_from_payload
from hbstore.model.totals import Totals
from hbstore.rows.interface import PartitionRow
from hbstore.store.changes import Change
from hbstore.store.companion_keys import companion_keys
from hbstore.store.leases import check_unwritten
from hbstore.store.manifest import EXCHANGES
from hbstore.store.publication_steps import decide_in
from hbstore.store.puts import NEEDS_VALUES, already_exists, cells_of, no_such_partition, reusable_values, texts_of
from hbstore.store.recount import note_change
from hbstore.store.table_row import TableRow, totals_state
from hbstore.store.tables import Tables
from hbstore.store.time_columns import AffectedTimes, Times, collected
from hbstore.store.timeline_updates import update_timelines
from hbstore.store.writer import add_statistics, mark_respelled, partitioned
from hbstore.texts.arguments import expect, expect_many, expect_texts
from hbstore.transactions.payload_change import PayloadChange, checked_relocation
from hbstore.transactions.transaction import RowView, Transaction

_PAIR: Final = 'Give names of a database and a table, such as ("shop", "sales")'


class MovingPartition(NamedTuple):
    """One partition: its key in the table that it leaves, its key in the other one, its cells, and its values."""

    source: bytes
    target: bytes
    cells: tuple[bytes, ...]
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PartitionExchange:
    """Moves partitions between tables.

    Attributes:
        tables: the tables.
    """

    tables: Tables

    def move(
        self,
        source: tuple[str, str],
        target: tuple[str, str],
        values: Sequence[PartitionValues],
        *,
        relocated: tuple[str, str] | None,
        publication: str | None = None,
    ) -> list[bytes]:
        """Move partitions; their bytes in the table that they came to, in key order.

        Args:
            source: the table that they leave.
            target: the table that they come to.
            values: of each.
            relocated: the beginning of locations, and what replaces it.
            publication: the id under which both tables have leased them, which is decided with this.

        Raises:
            PublicationLost: one of the tables has no such publication any more.
            PartitionNotFound: one is not there to be moved.
            AlreadyExists: one is in the other table already.
            WriteConflict: a job is writing one.
            InvalidTime, TimelineMismatch: one does not fit the other table's update periods.
        """
        expect_texts(or_none=True, publication=publication)
        relocated = None if relocated is None else checked_relocation(relocated)
        wanted = [reusable_values(one) for one in expect_many("values", values, hint=NEEDS_VALUES)]

        def move(transaction: Transaction) -> list[bytes]:
            (source_view, source_row), (target_view, target_row) = self._open(transaction, source, target)
            places = _places(source_row, target_row, wanted)
            leaving = _leaving(source_view, source_row, target_view, target_row, places)
            leaves = Change(deletes=tuple(place.source for place in places))
            if publication is not None:
                for view, row in ((source_view, source_row), (target_view, target_row)):
                    decide_in(view, row, publication)
            check_unwritten(source_row, leaves, dict(zip(leaves.deletes, leaving, strict=True)), EXCHANGES)
            change = PayloadChange(
                (target_row.table.database, target_row.table.name), () if relocated is None else [relocated]
            )
            payloads = list(map(change.apply, leaving))
            sources = [place.source for place in places]
            puts = [PartitionRow(place.target, place.cells, new) for place, new in zip(places, payloads, strict=True)]
            source_view.write([], [*sources, *companion_keys(source_row, sources)])
            target_view.write(puts, [])
            totals = Totals.of(payloads)
            source_view.set_state(totals_state(source_row.totals - totals))
            target_view.set_state(totals_state(target_row.totals + totals))
            mark_respelled(target_view, target_row, puts)
            note_change(source_view, source_row, (), sources, dict(zip(sources, leaving, strict=True)))
            note_change(target_view, target_row, puts, (), {})
            add_statistics(target_view, target_row, Change(tuple(puts)))
            for view, row, comes in ((source_view, source_row, False), (target_view, target_row, True)):
                columns = row.definition.time_columns
                if columns is not None:
                    times = _times(row, places, payloads, strict=comes)
                    affected = (
                        AffectedTimes(added=times) if comes else AffectedTimes(lost=times, payloads=frozenset(leaving))
                    )
                    update_timelines(view, row, columns, affected)
            return payloads

        return self.tables.transactions.run(move)

    def _open(
        self, transaction: Transaction, source: tuple[str, str], target: tuple[str, str]
    ) -> tuple[tuple[RowView, TableRow], tuple[RowView, TableRow]]:
        for argument, pair in (("source", source), ("target", target)):
            expect(argument, pair, tuple, list, hint=_PAIR)
            if len(pair) != 2:  # noqa: PLR2004
                raise InvalidInput(
                    "the argument is not a pair of a database and a table",
                    argument=argument,
                    value=repr(pair),
                    hint=_PAIR,
                )
        left, right = self.tables.view(transaction, *source), self.tables.view(transaction, *target)
        source_row, target_row = left[1], right[1]
        partitioned(source_row.table)
        if source_row.key == target_row.key or not source_row.definition.has_partition_columns_of(target_row.table):
            raise InvalidInput(
                "these tables cannot exchange partitions",
                source=source_row.table,
                target=target_row.table,
                hint="Name two tables whose partition columns have the same names, types and order",
            )
        return left, right


def _leaving(
    source_view: RowView,
    source_row: TableRow,
    target_view: RowView,
    target_row: TableRow,
    places: list[MovingPartition],
) -> list[bytes]:
    """The bytes of partitions, all of which are there to be moved, in their order."""
    before = source_view.existing(place.source for place in places)
    taken = target_view.existing(place.target for place in places)
    for place in places:
        if place.source not in before:
            raise no_such_partition(source_row.table, place.values)
        if place.target in taken:
            raise already_exists(target_row.table, place.values)
    return [before[place.source] for place in places]


def _places(source_row: TableRow, target_row: TableRow, values: Sequence[PartitionValues]) -> list[MovingPartition]:
    """Each partition once, in key order."""
    places = {}
    for one in values:
        texts = texts_of(source_row, one)
        cells = cells_of(source_row.definition, texts, "keep")
        key = row_key(source_row.definition.prefix, cells)
        places[key] = MovingPartition(key, row_key(target_row.definition.prefix, cells), cells, texts)
    return [places[key] for key in sorted(places)]


def _times(row: TableRow, places: Sequence[MovingPartition], payloads: Sequence[bytes], *, strict: bool) -> Times:
    """The times of partitions in one of the tables; those that have none are refused if strict, else passed over."""
    columns = row.definition.time_columns
    if columns is None:
        return {}
    times = columns.times if strict else columns.known_times
    given = zip(places, payloads, strict=True)
    return collected(
        time for place, payload in given for time in times(place.cells, partition_from_payload(payload).parameters)
    )

"""Exchanging partitions: they leave one table and come to another, all or none.

Where there are transactions it is one. Elsewhere the table that they come to gets an intent that keeps their places
free, and then an intent on the table that they leave decides; docs/protocols/exchanging-partitions.md tells how.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, NamedTuple

from hbstore.arguments import expect, expect_many
from hbstore.errors import (
    AlreadyExists,
    CommitStateUnknown,
    ConcurrentChange,
    HbstoreError,
    InvalidInput,
    PartitionNotFound,
    StoreUnavailable,
    TimelineError,
)
from hbstore.keys import row_key
from hbstore.model import PartitionValues
from hbstore.rows.interface import PartitionRow, Rows
from hbstore.store.annex_keys import annex_keys
from hbstore.store.changes import Change, ChangeKind
from hbstore.store.finishing import Finisher
from hbstore.store.journal import finish_decided, help_others, open_intent, unchanged
from hbstore.store.journal_cell import Intent
from hbstore.store.pauses import pause
from hbstore.store.payloads import PayloadChange, checked_relocation
from hbstore.store.puts import NEEDS_VALUES, already_exists, cells_of, no_such_partition, texts_of
from hbstore.store.slots import NO_SLOT, Slots, new_intent_id
from hbstore.store.table_row import TableRow, journal_of
from hbstore.store.table_totals import add_totals
from hbstore.store.tables import Tables
from hbstore.store.time_columns import Times, collected
from hbstore.store.timeline_updates import update_timelines
from hbstore.store.touched import Touched
from hbstore.store.writer import Writer, partitioned
from hbstore.structs import partition_from_payload
from hbstore.totals import NOTHING, Totals
from hbstore.transactions.outcome import undecided

_PAIR: Final = 'Give names of a database and a table, such as ("shop", "sales")'
_ATTEMPTS: Final = 200


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
        rows: where they are.
        tables: the tables.
        writer: which counts what comes.
    """

    rows: Rows
    tables: Tables
    writer: Writer

    def move(
        self,
        source: tuple[str, str],
        target: tuple[str, str],
        values: Sequence[PartitionValues],
        *,
        relocated: tuple[str, str] | None,
    ) -> list[bytes]:
        """Move partitions; their bytes in the table that they came to, in key order."""
        relocated = None if relocated is None else checked_relocation(relocated)
        if self.rows.atomic:
            with self.rows.transaction():
                here, there = self._open(source, target)
                places = _places(here, there, values)
                change = self._change(here, there, places, relocated)
                add_totals(self.rows, here, change.gained)
                add_totals(self.rows, there, Totals.of(put.payload for put in change.puts))
                self.rows.write(change.puts, change.deletes, 0)
                self.writer.add_statistics(there, change)
                update_timelines(self.rows, here, change.touched)
                update_timelines(self.rows, there, change.peer_touched)
            return [put.payload for put in change.puts]
        for attempt in range(_ATTEMPTS):
            here, there = self._open(source, target)
            places = _places(here, there, values)
            if not places:
                return []
            done = self._try(here, there, places, relocated, patient=not attempt)
            if done is not None:
                with suppress(HbstoreError):  # the exchange is made, whatever becomes of the statistics
                    self.writer.add_statistics(self.tables.reopen(there), done)
                return [put.payload for put in done.puts]
            pause(attempt)
        raise ConcurrentChange(
            "other writers kept changing the tables", table=here.table, hint="Nothing was changed; try again"
        )

    def _open(self, source: tuple[str, str], target: tuple[str, str]) -> tuple[TableRow, TableRow]:
        for argument, pair in (("source", source), ("target", target)):
            expect(argument, pair, tuple, list, hint=_PAIR)
            if len(pair) != 2:  # noqa: PLR2004
                raise InvalidInput(
                    "the argument is not a pair of a database and a table",
                    argument=argument,
                    value=repr(pair),
                    hint=_PAIR,
                )
        here, there = self.tables.open(*source), self.tables.open(*target)
        partitioned(here.table)
        if here.key == there.key or not here.definition.has_partition_columns_of(there.table):
            raise InvalidInput(
                "these tables cannot exchange partitions",
                source=here.table,
                target=there.table,
                hint="Name two tables whose partition columns have the same names, types and order",
            )
        return here, there

    def _change(
        self, here: TableRow, there: TableRow, places: list[MovingPartition], relocated: tuple[str, str] | None
    ) -> Change:
        """What is put into the one table and deleted from the other.

        Raises:
            PartitionNotFound: one is not there to be moved.
            AlreadyExists: one is in the other table already.
            InvalidTime, TimelineMismatch: one does not fit the other table's update periods.
        """
        found = dict(self.rows.multi_get([place.source for place in places]))
        taken = {key for key, _ in self.rows.multi_get([place.target for place in places])}
        moved = PayloadChange((there.table.database, there.table.name), relocated)
        for place in places:
            if place.source not in found:
                raise no_such_partition(here.table, place.values)
            if place.target in taken:
                raise already_exists(there.table, place.values)
        puts = [PartitionRow(place.target, place.cells, moved.apply(found[place.source])) for place in places]
        sources = [place.source for place in places]
        deletes = tuple(sorted(sources + annex_keys(here, sources)))
        payloads = [put.payload for put in puts]
        return Change(
            ChangeKind.EXCHANGE,
            tuple(puts),
            deletes,
            touched=Touched(doubtful=_times(here, places, payloads, strict=False)),
            peer_touched=Touched(added=_times(there, places, payloads, strict=True)),
            gained=NOTHING - Totals.of(payloads),
        )

    def _try(
        self,
        here: TableRow,
        there: TableRow,
        places: list[MovingPartition],
        relocated: tuple[str, str] | None,
        *,
        patient: bool,
    ) -> Change | None:
        """Keep the places free, look, decide, and move; None where somebody else came between."""
        sources, targets = [place.source for place in places], [place.target for place in places]
        if help_others(self.rows, here, sources, patient=patient):
            return None
        if help_others(self.rows, there, targets, patient=patient):
            return None
        name = new_intent_id()
        sequence = journal_of(there).last_sequence + 1
        decided_at = journal_of(here).last_sequence
        ends = targets[0], targets[-1]
        receive = Intent(name, NO_SLOT, sequence, ChangeKind.RECEIVE, *ends, here.key, decided_at)
        with undecided():
            if not open_intent(self.rows, there, receive):
                return None
        slots = Slots(self.rows)
        slot: int | None = None
        unknown = False
        intent = None
        try:
            change = self._change(here, there, places, relocated)
            slot = slots.store(here.key, name, change.encode())
            wanted = Intent(
                name, slot, decided_at + 1, ChangeKind.EXCHANGE, sources[0], sources[-1], there.key, sequence
            )
            if open_intent(self.rows, here, wanted, change.gained):
                intent = wanted
        except (AlreadyExists, PartitionNotFound, TimelineError):
            if unchanged(self.tables.reopen(here), here):
                raise
        except CommitStateUnknown:
            unknown = True  # it may yet be decided, so both the slot and the places stay
            raise
        finally:
            if intent is None and not unknown:
                self._withdraw(here, there, receive, slot)
        if intent is None:
            return None
        finish_decided(Finisher(self.rows), here, change, intent)
        return change

    def _withdraw(self, here: TableRow, there: TableRow, receive: Intent, slot: int | None) -> None:
        """Give the places free and the slot back; where that fails, the next writer does so."""
        with suppress(StoreUnavailable, CommitStateUnknown, ConcurrentChange):
            Finisher(self.rows).finish(there.key, receive)
        if slot is not None:
            Slots(self.rows).abandon(here.key, slot)


def _places(here: TableRow, there: TableRow, values: Sequence[PartitionValues]) -> list[MovingPartition]:
    """Each partition once, in key order."""
    places = {}
    for one in expect_many("values", values, hint=NEEDS_VALUES):
        texts = texts_of(here, one)
        cells = cells_of(here.definition, texts, "keep")
        key = row_key(here.definition.prefix, cells)
        places[key] = MovingPartition(key, row_key(there.definition.prefix, cells), cells, texts)
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

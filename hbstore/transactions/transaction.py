"""What a step of a transaction sees: catalog rows, each with its state, its cells and its partition rows.

All that it reads is as it was before the transaction; what it writes is kept until all of it is decided at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final, TypeAlias

from hbstore.rows.interface import Cells, PartitionRow, Rows, StoredRow
from hbstore.transactions.log import LOG, Log, Span, spans_of
from hbstore.transactions.noted_changes import NOTING, Noting
from hbstore.transactions.templates import NO_TEMPLATES, TEMPLATES, Templates
from hbstore.transactions.unpacked_rows import COMPANION, unpacked
from hbstore.transactions.writes import RowWrites

Settle: TypeAlias = "Callable[[RowView, Sequence[Span]], None]"
"""Sees that all that is decided about some partition rows of a catalog row is written."""


Scan: TypeAlias = "Callable[[bytes, bytes], Iterator[tuple[bytes, Log, dict[str, bytes]]]]"
"""Reads catalog rows with start <= key < stop."""


class RestartError(Exception):
    """A transaction has to start again, as something that its step read was changed meanwhile, or is locked.

    Args:
        row: the catalog row that was.
        transaction_id: whose transaction is in the way, where that is told.
    """

    def __init__(self, row: bytes, transaction_id: str | None = None) -> None:
        super().__init__()
        self.row = row
        self.transaction_id = transaction_id


class RowView:
    """A catalog row in a transaction.

    Args:
        key: the row's key.
        cells: as they were read, the log among them.
        rows: where they are.
        settle: see `Settle`; on a backend with transactions there is nothing to settle.

    ``log`` is the row's log before the transaction, ``log_cell`` its bytes; ``has_read_further`` says whether more was
    read than the row itself in one piece. A step sets ``seen_at_once`` where readers must see all that it writes to
    partition rows, or nothing, even if none of them goes.
    """

    __slots__ = (
        "_cells",
        "_deletes",
        "_new_cells",
        "_new_state",
        "_puts",
        "_sequence",
        "_settle",
        "has_read_further",
        "key",
        "log",
        "log_cell",
        "rows",
        "seen_at_once",
    )

    def __init__(self, key: bytes, cells: Cells, rows: Rows, settle: Settle) -> None:
        self.key: Final = key
        self.log_cell: Final = cells.get(LOG)
        self.log: Final = Log.decode(self.log_cell)
        self.has_read_further = False
        self.seen_at_once = False
        self._cells = self.log.overlaid(cells)
        self.rows: Final = rows
        self._settle = settle
        self._sequence = self.log.sequence
        self._new_state: bytes | None = None
        self._new_cells: dict[str, bytes] = {}
        self._puts: dict[bytes, PartitionRow] = {}
        self._deletes: set[bytes] = set()

    def __repr__(self) -> str:
        return f"<RowView {self.key!r}>"

    @property
    def state(self) -> bytes:
        """The state before the transaction."""
        return self.log.state

    @property
    def cells(self) -> Mapping[str, bytes]:
        """The cells before the transaction; the log is none of them, and empty ones are left out."""
        return self._cells

    def set_state(self, state: bytes) -> None:
        """Give the row another state; nothing for none."""
        self._new_state = state

    def continue_from(self, view: RowView) -> None:
        """Take over the numbers of another row, as what was written with them belongs to this one from now on."""
        self._sequence = max(self._sequence, view.log.sequence)

    def current(self, name: str) -> bytes:
        """A cell as the transaction leaves it so far; empty where there is none."""
        return self._new_cells.get(name, self._cells.get(name, b""))

    def put_cell(self, name: str, value: bytes) -> None:
        """Put a cell; nothing removes it."""
        self._new_cells[name] = value

    def all_cells(self) -> Mapping[str, bytes]:
        """The cells before the transaction with the row's timelines, which may be large.

        Raises:
            RestartError: the row was changed meanwhile.
        """
        self.has_read_further = True
        cells = self.rows.get_all(self.key)
        log = Log.decode(cells.get(LOG))
        if not log.is_unchanged_since(self.log):
            raise RestartError(self.key)
        return log.overlaid(cells)

    def existing(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """The payloads of those of some partition rows that exist."""
        wanted = sorted(set(keys))
        self._look(spans_of(wanted))
        return dict(self._unpacked().multi_get(wanted)) if wanted else {}

    def partition_rows(self, start: bytes, stop: bytes, limit: int | None = None) -> Iterator[StoredRow]:
        """Partition rows with start <= key < stop, in key order; the first of them alone if there is a limit."""
        self._look(((start, stop),))
        return chain.from_iterable(self._unpacked().scan(start, stop, None, limit))

    def partition_keys(self, start: bytes, stop: bytes, limit: int) -> list[bytes]:
        """The first keys of partition rows with start <= key < stop."""
        self._look(((start, stop),))
        return [key for batch in self.rows.scan(start, stop, None, limit) for key, _ in batch]

    def has_partition_rows(self, start: bytes, stop: bytes) -> bool:
        """Whether there is a partition row with start <= key < stop."""
        self._look(((start, stop),))
        return self.rows.first_key(start, stop) is not None

    def settle(self, start: bytes = b"", stop: bytes = b"\xff") -> None:
        """See that all that is decided about a range of partition rows is written, to read it in another way."""
        self._look(((start, stop),))

    def write(self, puts: Iterable[PartitionRow], deletes: Iterable[bytes]) -> None:
        """Put and delete partition rows. What is written to one key last counts."""
        for put in puts:
            self._puts[put.key] = put
            self._deletes.discard(put.key)
        for key in deletes:
            self._deletes.add(key)
            self._puts.pop(key, None)
        self._look(spans_of([*self._puts, *self._deletes]))

    def writes(self) -> RowWrites:
        """What the transaction does with the row; the rows of its partitions are packed here, and the change noted."""
        state = self.log.state if self._new_state is None else self._new_state
        puts = self._packed_puts()
        cells = {name: value for name, value in self._new_cells.items() if value != self._cells.get(name)}
        changed = bool(state != self.log.state or cells or self._puts or self._deletes)
        noting = self.current(NOTING)
        if changed and noting:
            puts = (*puts, *Noting.decode(noting).notes(self._sequence + 1, [*self._puts, *self._deletes]))
        return RowWrites(
            row=self.key,
            sequence=self._sequence + 1,
            state=state,
            cells=cells,
            puts=puts,
            deletes=tuple(sorted(self._deletes)),
            changed=changed,
        )

    def _packed_puts(self) -> tuple[PartitionRow, ...]:
        templates = Templates.of(self._cells.get(TEMPLATES)) if self._puts else NO_TEMPLATES
        puts = []
        for put in self._puts.values():
            if not put.key.startswith(COMPANION):
                templates, row = templates.pack(put.payload)
                put = PartitionRow(put.key, put.cells, row)  # noqa: PLW2901
            puts.append(put)
        if puts:
            self.put_cell(TEMPLATES, templates.encode())
        return tuple(puts)

    def _unpacked(self) -> Rows:
        return unpacked(self.rows, self.key, self._cells)

    def _look(self, spans: Sequence[Span]) -> None:
        self.has_read_further = True
        self._settle(self, spans)


class Transaction:
    """The rows of a transaction.

    Args:
        open_row: reads a row, and keeps others from changing it until the transaction ends.
        scan_rows: reads the rows between two keys with their logs and other cells.
    """

    __slots__ = ("_open_row", "scan", "views")

    def __init__(self, open_row: Callable[[bytes], RowView], scan_rows: Scan) -> None:
        self._open_row = open_row
        self.views: dict[bytes, RowView] = {}
        self.scan: Final = scan_rows
        """Rows between two keys as they are now. Nobody is kept from changing them: what the step takes from that must
        hold as long as a row of the transaction stays what it is, as a database's tables do while nobody creates one.
        """

    def row(self, key: bytes) -> RowView:
        """A catalog row, which need not exist; the first one that is asked for decides the transaction on HBase."""
        view = self.views.get(key)
        if view is None:
            view = self.views[key] = self._open_row(key)
        return view

    def writes(self) -> list[RowWrites]:
        """What it does with its rows, in the order in which they were asked for."""
        return [view.writes() for view in self.views.values()]

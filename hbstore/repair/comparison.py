"""Comparison: what the folders below a table's own and its partitions say of each other. No file is touched here."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from hbstore.errors import InvalidTime, TimelineMismatch
from hbstore.files.locations import location_or_none
from hbstore.keys.partition_names import partition_name
from hbstore.keys.row_key import text_cell
from hbstore.model.objects import Partition, Table
from hbstore.repair.listing import Walked
from hbstore.repair.shape import Folder, Foreign, printable
from hbstore.repair.staging import Staging
from hbstore.store.time_columns import TimeColumns
from hbstore.texts.wording import plural
from hbstore.warehouse.locations import spelt_alike

Mode: TypeAlias = Literal["add", "drop", "sync"]
"""Add partitions for folders, drop partitions whose folders are gone, or both."""

MODES: Final[tuple[Mode, ...]] = ("add", "drop", "sync")

Cells: TypeAlias = tuple[bytes, ...]
"""The values of a partition, which columns in another case and other escapes in a folder's name leave the same."""


@dataclass(frozen=True, slots=True, repr=False)
class Repair:
    """What is to be done to a table's partitions, and what was done.

    Attributes:
        table: the table.
        add: partitions of folders that are not in the store, sorted by name.
        drop: partitions of the store whose locations are gone, sorted by name.
        foreign: folders that are not taken for partitions, and why, sorted.
        busy: names of partitions that jobs are writing, which are left alone, sorted.
        staging: folders of dead jobs, below ``_hbstore``.
        added: how many partitions were added. Fewer than there are in ``add`` where others were faster, none in a dry
            run.
        dropped: how many partitions were dropped.
    """

    table: Table
    add: tuple[Partition, ...] = ()
    drop: tuple[Partition, ...] = ()
    foreign: tuple[Foreign, ...] = ()
    busy: tuple[str, ...] = ()
    staging: tuple[Staging, ...] = ()
    added: int = 0
    dropped: int = 0

    def __repr__(self) -> str:
        found = f"{len(self.add):,} to add, {len(self.drop):,} to drop, {plural(len(self.foreign), 'foreign folder')}"
        return f"<Repair of {self.table}: {found}, {self.added:,} added, {self.dropped:,} dropped>"

    def names(self, partitions: Iterable[Partition]) -> list[str]:
        """The names of partitions of this table.

        >>> from hbstore.repair import Shape, Walked, compared
        >>> gone = {f"s3://shop/sales/ds=2013-01-0{day}/hour=5" for day in (1, 2, 3)}
        >>> repair = compared(sales.definition, Walked([], []), sales.partitions("hour = 5"), gone=gone)
        >>> repair.names(repair.drop)
        ['ds=2013-01-01/hour=5', 'ds=2013-01-02/hour=5', 'ds=2013-01-03/hour=5']
        """
        return [partition_name(self.table.partition_column_names, one.values) for one in partitions]


def compared(
    table: Table,
    walked: Walked,
    partitions: Sequence[Partition],
    *,
    mode: Mode = "sync",
    gone: Container[str] = frozenset(),
    busy: Container[Cells] = frozenset(),
    others: Sequence[Partition] = (),
) -> Repair:
    """What is to be added and dropped, and what is foreign. O(folders + partitions).

    Args:
        table: the table.
        walked: what is below its folder.
        partitions: its partitions in the store.
        mode: what is asked for.
        gone: locations of partitions where nothing is; see `unseen`.
        busy: partitions that jobs are writing.
        others: further partitions of the table, whose folders are not added for other values.

    >>> from hbstore import Column
    >>> table = Table("shop", "sales", partition_columns=[Column("hour", "int")], location="/data")
    >>> walked = Walked([Folder("hour=05", ("05",)), Folder("hour=6", ("6",))], [])
    >>> partitions = [Partition(["6"], location="/data/hour=6"), Partition(["7"], location="/elsewhere")]
    >>> repair = compared(table, walked, partitions, gone={"/elsewhere"})
    >>> repair.names(repair.add), repair.names(repair.drop)
    (['hour=05'], ['hour=7'])
    """
    of_values = _Values(table)
    root = (table.location or "").rstrip("/")
    stored = {of_values.cells(partition.values): partition for partition in partitions}
    at_home = {spelt_alike(one.location, root): one.values for one in (*partitions, *others) if one.location}
    drop: dict[Cells, Partition] = {}
    if mode != "add":
        drop = {key: partition for key, partition in stored.items() if key not in busy and partition.location in gone}
    add, foreign, left_alone = list[Partition](), list(walked.foreign), set[str]()
    for key, folders in _by_cells(of_values, walked.folders).items():
        if key in busy:
            left_alone.add(of_values.name(folders[0].values))
        elif key in stored and key not in drop:
            home = stored[key].location
            foreign += [
                Foreign(printable(folder.path), f"the files of the partition are in {home}")
                for folder in folders
                if not _is_at(home, f"{root}/{folder.path}")
            ]
        elif len(folders) > 1:
            shown = [printable(folder.path) for folder in folders]
            foreign += [
                Foreign(path, "the same partition as " + " and ".join(other for other in shown if other != path))
                for path in shown
            ]
        elif (resident := at_home.get(f"{root}/{folders[0].path}")) is not None:
            # Spark's MSCK names the folder c=caf%C3%A9 c=cafÃ©: with another name, too, each row would be read twice.
            said = f"the files of the partition {of_values.name(resident)}, which has another value"
            foreign.append(Foreign(printable(folders[0].path), said))
        elif why := of_values.misses_its_time(key):
            foreign.append(Foreign(printable(folders[0].path), why))
        elif mode != "drop":
            add.append(Partition(folders[0].values, location=f"{root}/{folders[0].path}"))
    return Repair(
        table,
        tuple(sorted(add, key=lambda partition: of_values.name(partition.values))),
        tuple(sorted(drop.values(), key=lambda partition: of_values.name(partition.values))),
        tuple(sorted(foreign)),
        tuple(sorted(left_alone)),
    )


def unseen(table: Table, walked: Walked, partitions: Sequence[Partition]) -> list[str]:
    """The locations of partitions that are not those of folders which were found, so that somebody has to look."""
    of_values = _Values(table)
    root = (table.location or "").rstrip("/")
    by_cells = _by_cells(of_values, walked.folders)
    return [
        partition.location
        for partition in partitions
        if partition.location is not None
        and all(
            partition.location != f"{root}/{folder.path}"
            for folder in by_cells.get(of_values.cells(partition.values), ())
        )
    ]


class _Values:
    """Typed values of one table's partitions; the cells of texts are remembered, as most texts come again."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._columns = TimeColumns.of(table)
        self._known: list[dict[str, bytes]] = [{} for _ in table.partition_columns]

    def cells(self, values: Sequence[str]) -> Cells:
        cells = []
        for known, kind, text in zip(self._known, self._table.key_types, values, strict=True):
            cell = known.get(text)
            if cell is None:
                cell = known[text] = text_cell(kind, text)
            cells.append(cell)
        return tuple(cells)

    def name(self, values: Sequence[str]) -> str:
        return partition_name(self._table.partition_column_names, values)

    def misses_its_time(self, cells: Cells) -> str | None:
        """Why a partition cannot be in the table's timelines; None if it can, or there are none."""
        if self._columns is None:
            return None
        try:
            self._columns.times(cells, {})
        except (InvalidTime, TimelineMismatch) as error:
            return error.text
        return None


def _by_cells(of_values: _Values, folders: Iterable[Folder]) -> dict[Cells, list[Folder]]:
    found: dict[Cells, list[Folder]] = {}
    for one in folders:
        found.setdefault(of_values.cells(one.values), []).append(one)
    return found


def _is_at(home: str | None, location: str) -> bool:
    """Whether two texts name one place."""
    return home == location or (home is not None and _place(home) == _place(location))


def _place(text: str) -> tuple[str, ...]:
    place = location_or_none(text)
    return (text,) if place is None else (*place.file_system, *place.parts)

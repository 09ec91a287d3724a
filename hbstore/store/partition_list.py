"""Partitions: what a filter selects of a table, as a list that says of which table it is and can be looked at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, overload

from hbstore.extras import check_extra
from hbstore.keys.partition_names import partition_name
from hbstore.keys.row_key import text_cell
from hbstore.model.objects import Partition, Table
from hbstore.pictures.drawing import LINE_HEIGHT, Drawing
from hbstore.pictures.heat_map import draw_heat_map
from hbstore.store.arrow_table import arrow_table
from hbstore.texts.wording import clipped, plural

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

_WIDTH: Final = 720
_ROWS: Final = 24
"""Lines of the heat map at most; more values of the second column share a line."""
_CELLS: Final = 120
"""Cells of a line at most; more values of the first column share a cell."""
_LABEL: Final = 18


class Partitions(Sequence[Partition]):
    """Partitions of one table in key order: a list that cannot be changed.

    It equals a list or tuple of the same partitions. In a notebook it is a heat map: the first partition column from
    left to right, the second from top to bottom, and the more partitions the darker.

    Args:
        table: the table that they belong to.
        partitions: in key order; each is decoded when one of its fields is read.

    >>> selected = sales.partitions("ds = '2013-01-01' and hour < 3")
    >>> selected
    <3 partitions of shop.sales: ds=2013-01-01/hour=0 to ds=2013-01-01/hour=2>
    >>> [partition.values for partition in selected[1:]]
    [('2013-01-01', '1'), ('2013-01-01', '2')]
    >>> selected.specs[0], selected.names[0]
    ({'ds': '2013-01-01', 'hour': '0'}, 'ds=2013-01-01/hour=0')
    """

    __slots__ = ("_partitions", "table")

    def __init__(self, table: Table, partitions: Sequence[Partition]) -> None:
        self.table = table
        self._partitions = partitions

    @property
    def specs(self) -> list[dict[str, str]]:
        """The partition spec of each: column names to values. O(n).

        >>> sales.partitions("ds = '2013-01-01' and hour = 5").specs
        [{'ds': '2013-01-01', 'hour': '5'}]
        """
        columns = self.table.partition_column_names
        return [dict(zip(columns, partition.values, strict=True)) for partition in self._partitions]

    @property
    def names(self) -> list[str]:
        """The name of each, as ``ds=2013-01-01/hour=5``. O(n).

        >>> sales.partitions("hour = 5", max_parts=1).names
        ['ds=2013-01-01/hour=5']
        """
        return [self._name(partition) for partition in self._partitions]

    def to_arrow(self) -> pa.Table:
        """A table of Arrow: a row for each, its values in the types of the columns, where it is and what it says. O(n).

        The null partition is null; ``num_rows``, ``total_size`` and ``num_files`` are null where it does not say them.

        Raises:
            MissingPackage: pyarrow is not installed.

        >>> sales.partitions("hour = 5").to_arrow().select(["ds", "hour", "num_rows"]).to_pylist()[0]
        {'ds': datetime.date(2013, 1, 1), 'hour': 5, 'num_rows': 100}
        """
        return arrow_table(self.table, self._partitions)

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame of pandas, of the same columns. Nulls are what pandas makes of Arrow's.

        Raises:
            MissingPackage: pyarrow or pandas is not installed.

        >>> int(sales.partitions("hour = 5").to_pandas()["num_rows"].sum())
        300
        """
        check_extra("pandas", "a DataFrame of pandas")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """A DataFrame of polars, of the same columns and types.

        Raises:
            MissingPackage: pyarrow or polars is not installed.

        >>> sales.partitions("hour = 5").to_polars()["num_rows"].sum()
        300
        """
        check_extra("polars", "a DataFrame of polars")
        import polars as pl

        frame = pl.from_arrow(self.to_arrow())
        assert isinstance(frame, pl.DataFrame)
        return frame

    def __len__(self) -> int:
        return len(self._partitions)

    def __iter__(self) -> Iterator[Partition]:
        return iter(self._partitions)

    @overload
    def __getitem__(self, at: int) -> Partition: ...

    @overload
    def __getitem__(self, at: slice) -> Partitions: ...

    def __getitem__(self, at: int | slice) -> Partition | Partitions:
        """One of them, or some."""
        return Partitions(self.table, self._partitions[at]) if isinstance(at, slice) else self._partitions[at]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Partitions | list | tuple):
            return NotImplemented
        return len(self) == len(other) and all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]  # equal to lists, which have none

    def __repr__(self) -> str:
        ends = [
            clipped(self._name(self._partitions[at]), 60) for at in ((0, -1) if len(self) > 1 else range(len(self)))
        ]
        return f"<{plural(len(self), 'partition')} of {self.table}{': ' * bool(ends)}{' to '.join(ends)}>"

    def _repr_html_(self) -> str:
        """A heat map for notebooks. O(n)."""
        columns = self.table.partition_columns
        if not self._partitions or not columns:
            return f"<div>{plural(len(self), 'partition')} of {self.table}</div>"
        across = [partition.values[0] for partition in self._partitions]  # noqa: PD011  not pandas'
        down = [partition.values[1] if columns[1:] else "" for partition in self._partitions]  # noqa: PD011
        types = self.table.key_types
        places = _bins(dict.fromkeys(across), _CELLS)  # in key order as they come
        lines = _bins(sorted(set(down), key=lambda text: text_cell(types[1], text) if text else b""), _ROWS)
        counts: dict[tuple[int, int], int] = {}
        for left, top in zip(across, down, strict=True):
            cell = places[left], lines[top]
            counts[cell] = counts.get(cell, 0) + 1
        return _heat_map(self, counts, places, lines)

    def _name(self, partition: Partition) -> str:
        return partition_name(self.table.partition_column_names, partition.values)


def _bins(values: Iterable[str], most: int) -> dict[str, int]:
    """Which of at most so many equal bins each value is in; values are in order."""
    listed = list(values)
    size = -(-len(listed) // most)
    return {value: at // size for at, value in enumerate(listed)}


def _firsts(bins: Mapping[str, int]) -> dict[int, str]:
    """The first value of each bin."""
    firsts: dict[int, str] = {}
    for value, at in bins.items():
        firsts.setdefault(at, value)
    return firsts


def _heat_map(
    partitions: Partitions, counts: dict[tuple[int, int], int], places: dict[str, int], lines: dict[str, int]
) -> str:
    columns = partitions.table.partition_column_names
    title = f"{plural(len(partitions), 'partition')} of {partitions.table}"
    drawing = Drawing(_WIDTH, title)
    drawing.text(0, 0, title)
    across = [f"{columns[0]}={value}" for value in _firsts(places).values()]
    down = [f"{columns[1]}={value}" if len(columns) > 1 else columns[0] for value in _firsts(lines).values()]
    draw_heat_map(drawing, _WIDTH, LINE_HEIGHT, counts, across, down, _LABEL)
    return str(drawing)

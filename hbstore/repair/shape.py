"""Shape: which folders below a table's own are its partitions, by their names alone.

sales/                                  the table's folder
  ds=2013-01-01/hour=5/                 a partition
  DS=2013-01-01/Hour=6/                 one as well: columns are written in any case
  _SUCCESS/ _hbstore/ .tmp/             hidden: nobody looks
  ds=2013-01-02 00%3A00%3A00/hour=5.0/  one as well: engines read the date and the number
  old/ region=eu/ ds=yesterday/         foreign: no ``column=value`` of this level, or nothing that is read as a value
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from hbstore.errors import InvalidPartitionValue
from hbstore.keys.partition_names import spec_values, unescape_name
from hbstore.keys.row_key import NULL_PARTITION, TAG_TEXT, text_cell
from hbstore.keys.types import ColumnType, read_value
from hbstore.model.objects import Table


class Entry(NamedTuple):
    """A folder in a folder, as a file system lists it; ``leads_out`` is a link to a place outside the table."""

    name: str
    leads_out: bool = False


class Folder(NamedTuple):
    """A partition's folder, or one on the way to some.

    ``path`` is its names below the table's folder with slashes between them, as they are on the disk; ``values`` are
    the partition values in them, one for each level.
    """

    path: str
    values: tuple[str, ...]


class Foreign(NamedTuple):
    """A folder that is not taken for a partition, by its path below the table's, and why."""

    folder: str
    why: str


ROOT = Folder("", ())
"""The table's own folder."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What the folders of a table are called.

    Attributes:
        columns: the partition columns, one for each level.
        types: their types.
        wanted: for each column the cell of the only value that is looked for; None for all.

    >>> from hbstore import Column
    >>> table = Table("shop", "sales", partition_columns=[Column("ds", "date"), Column("hour", "int")])
    >>> shape = Shape.of(table)
    >>> shape.sort(ROOT, [Entry("ds=2013-01-01"), Entry("_SUCCESS")])
    ([Folder(path='ds=2013-01-01', values=('2013-01-01',))], [])
    >>> shape.sort(Folder("ds=2013-01-01", ("2013-01-01",)), [Entry("hour=noon")])
    ([], [Foreign(folder='ds=2013-01-01/hour=noon', why='no int')])
    """

    columns: tuple[str, ...]
    types: tuple[ColumnType, ...]
    wanted: tuple[bytes | None, ...]

    @staticmethod
    def of(table: Table, spec: Mapping[str, str] | None = None) -> Shape:
        """The shape of a table; with a partial partition spec only that of the partitions that it names.

        Raises:
            InvalidPartitionValue: the spec names no partition column, or a value that does not fit its type.

        >>> Shape.of(sales.definition, {"ds": "2013-01-01"}).columns
        ('ds', 'hour')
        """
        columns, types = table.partition_column_names, table.key_types
        cells = []
        for column, kind, text in zip(columns, types, spec_values(columns, spec or {}), strict=True):
            cell = None if text is None else text_cell(kind, text)
            if cell is not None and cell[:1] == TAG_TEXT:
                raise InvalidPartitionValue(
                    "a partition value does not fit its column's type",
                    column=column,
                    type=kind.name,
                    value=repr(text),
                    hint="Give a value of that type",
                )
            cells.append(cell)
        return Shape(columns, types, tuple(cells))

    def sort(self, folder: Folder, entries: Iterable[Entry]) -> tuple[list[Folder], list[Foreign]]:
        """The folders in a folder: those of the next level, and foreign ones. O(entries).

        >>> folders, foreign = Shape.of(sales.definition).sort(ROOT, [Entry("ds=2013-01-01"), Entry("stray")])
        >>> [folder.path for folder in folders], [one.folder for one in foreign]
        (['ds=2013-01-01'], ['stray'])
        """
        level = len(folder.values)
        column, kind, only_cell = self.columns[level], self.types[level], self.wanted[level]
        folders, foreign = [], []
        for name, leads_out in entries:
            if is_passed_over(name):
                continue
            path = f"{folder.path}/{name}" if folder.path else name
            key, equals, escaped = name.partition("=")
            value = unescape_name(escaped)
            if not equals or unescape_name(key).lower() != column.lower():
                foreign.append(Foreign(printable(path), f"not called {column}=…"))
            elif not value:
                foreign.append(Foreign(printable(path), "no value"))
            elif (cell := _cell(kind, value)) is None:
                foreign.append(Foreign(printable(path), f"no {kind.name}"))
            elif only_cell is not None and cell != only_cell:
                continue
            elif leads_out:
                foreign.append(Foreign(printable(path), "a link to a place outside the table"))
            else:
                folders.append(Folder(path, (*folder.values, value)))
        return folders, foreign


def is_passed_over(name: str) -> bool:
    """Whether Hive and Spark pass over a folder of this name, as over ``_hbstore``; a column may begin with ``_``.

    >>> [is_passed_over(name) for name in ("_temporary", ".hive-staging", "_ds=1", "ds=1")]
    [True, True, False, False]
    """
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def printable(path: str) -> str:
    r"""A path with bytes that are not UTF-8 written out.

    >>> printable("ds=\udcff")
    'ds=\\xff'
    """
    return path.encode(errors="surrogateescape").decode(errors="backslashreplace")


def _cell(kind: ColumnType, text: str) -> bytes | None:
    """The cell of a text; None if engines read no value from it, or if it cannot be stored."""
    if text != NULL_PARTITION and read_value(kind, text) is None:
        return None
    return text_cell(kind, text)

"""Totals: how many partitions, rows, files and bytes a table has, as the statistics of its partitions say.

Partitions say so in their parameters: ``numRows``, ``numFiles`` and ``totalSize`` as Hive writes them, or
``spark.sql.statistics.numRows`` and ``.totalSize`` as Spark's ANALYZE does. The sums are taken from stored bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields
from operator import add, attrgetter, sub
from typing import Final

from hbstore.model.layouts import PARAMETERS, PARTITION
from hbstore.pictures.html_table import html_table
from hbstore.texts.wording import plural
from hbstore.thrift.wire import field_head

_HEAD: Final = next(field_head(kind, number) for number, (_, kind) in PARTITION.fields.items() if kind is PARAMETERS)
_SPARK_ROWS: Final = b"spark.sql.statistics.numRows"
_SPARK_SIZE: Final = b"spark.sql.statistics.totalSize"
_NAMES: Final = (b"numRows", b"numFiles", b"totalSize", _SPARK_ROWS, _SPARK_SIZE)
_FIGURE: Final = re.compile(
    rb"\0\0\0("
    + b"|".join(bytes([len(name)]) + re.escape(name) for name in _NAMES)
    + rb")\0\0\0([\x01-\x13])(\d{1,19})"
)
"""A parameter's name with its length, the length of its value, and the digits that the value begins with."""


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over partitions; those that do not say a figure are counted beside it.

    Attributes:
        partitions: how many there are.
        rows: the rows of those that say how many they have.
        files: likewise their files.
        size: likewise the bytes of their files.
        without_rows: how many partitions do not say how many rows they have.
        without_files: likewise files.
        without_size: likewise bytes.

    >>> Totals(2, rows=10, size=300) + Totals(1, without_rows=1, size=100)
    Totals(partitions=3, rows=10, files=0, size=400, without_rows=1, without_files=0, without_size=0)
    """

    partitions: int = 0
    rows: int = 0
    files: int = 0
    size: int = 0
    without_rows: int = 0
    without_files: int = 0
    without_size: int = 0

    def __add__(self, other: Totals) -> Totals:
        """Both together."""
        return Totals(*map(add, _numbers(self), _numbers(other)))

    def __sub__(self, other: Totals) -> Totals:
        """Without the other."""
        return Totals(*map(sub, _numbers(self), _numbers(other)))

    def to_dict(self) -> dict[str, int]:
        """The numbers by the names of the attributes.

        >>> totals = sales.totals().to_dict()
        >>> totals["partitions"], totals["rows"], totals["without_files"]
        (72, 7200, 72)
        """
        return dict(zip(_FIELDS, _numbers(self), strict=True))

    def _repr_html_(self) -> str:
        """A table for notebooks: each sum, and how many partitions do not say it."""
        figures = [("rows", self.rows, self.without_rows), ("files", self.files, self.without_files)]
        figures.append(("bytes", self.size, self.without_size))
        rows = [
            (name, f"{sum_:,}", f"{plural(less, 'partition')} without" * bool(less)) for name, sum_, less in figures
        ]
        return html_table(plural(self.partitions, "partition"), rows)

    @staticmethod
    def of(payloads: Iterable[bytes]) -> Totals:
        """The totals of stored partitions. O(bytes of their parameters).

        What is no number, or a negative one, as Hive writes where it does not know, counts as not said. Where Hive's is
        0, what Spark's ANALYZE says counts: metastores write 0 where nobody has counted. Damaged bytes say nothing.

        >>> from hbstore.model.objects import Column, Partition, Table
        >>> from hbstore.model.structs import encode_partition
        >>> table = Table("shop", "sales", [Column("ds", "date")])
        >>> partition = Partition(["2013-01-01"], parameters={"numRows": "7", "totalSize": "1200"})
        >>> Totals.of([encode_partition(table, partition)])
        Totals(partitions=1, rows=7, files=0, size=1200, without_rows=0, without_files=1, without_size=0)
        """
        count = rows = files = size = some_rows = some_files = some_size = 0
        for payload in payloads:
            count += 1
            numbers = {}
            for name, length, digits in _FIGURE.findall(payload, payload.rfind(_HEAD)):
                if length[0] == len(digits):
                    numbers[name[1:]] = int(digits)
            if not numbers:
                continue
            said = numbers.get(b"numRows") or numbers.get(_SPARK_ROWS, numbers.get(b"numRows"))
            if said is not None:
                rows += said
                some_rows += 1
            said = numbers.get(b"totalSize") or numbers.get(_SPARK_SIZE, numbers.get(b"totalSize"))
            if said is not None:
                size += said
                some_size += 1
            if b"numFiles" in numbers:
                files += numbers[b"numFiles"]
                some_files += 1
        return Totals(count, rows, files, size, count - some_rows, count - some_files, count - some_size)


_FIELDS: Final = tuple(field.name for field in fields(Totals))
_numbers: Final = attrgetter(*_FIELDS)
NOTHING: Final = Totals()

"""Logical tables, which are on storages: facts of cubes and dimension tables of dimensions, and their storage tables.

>>> fact = Fact(
...     name="sales_daily",
...     cube="sales",
...     columns=[Column(name="price", type="double")],
...     storage_tables=[
...         StorageTable(
...             storage="s1",
...             update_periods=["daily", "HOURLY"],
...             partition_columns=[Column(name="dt", type="string")],
...             time_partition_columns=["dt"],
...         )
...     ],
... )
>>> fact.table_name("S1"), [period.name for period in fact.storage_tables[0].update_periods]
('s1_sales_daily', ['HOURLY', 'DAILY'])
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Self, TypeAlias

from pydantic import AfterValidator, Field, model_validator

from hbstore.cubes.document import Document, Named
from hbstore.cubes.values import (
    BoundingTimes,
    FieldName,
    HiveType,
    Items,
    Name,
    Period,
    Properties,
    ValidityTime,
    no_twins,
)
from hbstore.errors import InvalidName, InvalidType
from hbstore.keys.partition_names import identifier
from hbstore.keys.types import DateType, StringType, TimestampType, parse_type
from hbstore.model.frozen import FrozenDict
from hbstore.model.stored_as import FileFormat
from hbstore.timelines import UpdatePeriod

_TIME_TYPES = (StringType, DateType, TimestampType)


class Column(Document):
    """A column of a logical table.

    Attributes:
        extra: whether it is none of the fields of the cube or dimension, but belongs to the table's files.
        start_time: the table has nothing in it before this time.
        end_time: nor at this time or after it.
    """

    name: FieldName
    type: HiveType
    comment: str | None = None
    extra: bool = False
    start_time: ValidityTime | None = None
    end_time: ValidityTime | None = None


class Serde(Document):
    """The class that reads and writes rows, and its parameters."""

    name: str | None = None
    library: str | None = None
    parameters: Properties = FrozenDict()


class SortColumn(Document):
    """A column that files are sorted by."""

    name: FieldName
    descending: bool = False


class TableDescription(Document):
    """How and where a storage table's files are.

    Attributes:
        external: whether the files are somebody else's.
        format: of the files, by its name: the classes that are not named are its own. Text if nothing names one.
        table_properties: parameters of the table.
    """

    location: str | None = None
    external: bool = True
    format: FileFormat | None = None
    input_format: str | None = None
    output_format: str | None = None
    compressed: bool = False
    serde: Serde = Serde()
    storage_handler: str | None = None
    bucket_columns: Annotated[tuple[FieldName, ...], Items] = ()
    buckets: Annotated[int, Field(ge=-1)] = -1
    sort_columns: Annotated[tuple[SortColumn, ...], Items] = ()
    table_properties: Properties = FrozenDict()


def _by_rank(periods: tuple[UpdatePeriod, ...]) -> tuple[UpdatePeriod, ...]:
    no_twins((period.name for period in periods), "each update period")
    return tuple(sorted(periods, key=lambda period: period.rank))


class StorageTable(Document):
    """A logical table on one storage.

    Attributes:
        storage: on which.
        update_periods: how often it gets partitions, the smallest first.
        partition_columns: what its partitions differ in, most significant first.
        time_partition_columns: those of them that hold the time of an update period.
        description: how and where its files are.
    """

    storage: Name
    update_periods: Annotated[tuple[Period, ...], Items, AfterValidator(_by_rank)] = ()
    partition_columns: Annotated[tuple[Column, ...], Items] = ()
    time_partition_columns: Annotated[tuple[FieldName, ...], Items] = ()
    description: TableDescription = TableDescription()

    @model_validator(mode="after")
    def _sound(self) -> Self:
        types = {column.name: column.type for column in self.partition_columns}
        no_twins((column.name for column in self.partition_columns), "each partition column")
        no_twins(self.time_partition_columns, "each time partition column")
        for column, text in types.items():
            try:
                kind = parse_type(text)
            except InvalidType as error:
                raise ValueError(f"{error.text}: column={column}, type={text}. {error.hint}") from None
            if column in self.time_partition_columns and not isinstance(kind, _TIME_TYPES):
                raise ValueError(f"the time partition column {column} as string, date or timestamp, not {text}")
        for column in self.time_partition_columns:
            if column not in types:
                raise ValueError(f"a partition column {column}, as it is to be a time partition column")
        if self.update_periods and not self.time_partition_columns and not self.is_continuous:
            raise ValueError("time_partition_columns, as there are update_periods")
        return self

    @property
    def is_continuous(self) -> bool:
        """Whether it is a table that is always up to date and gets no partitions.

        >>> cubes.fact("rides_daily").storage_tables[0].is_continuous
        False
        """
        return self.update_periods == (UpdatePeriod.CONTINUOUS,) and not self.partition_columns


def _table_name(logical: LogicalTable, storage: str) -> str:
    """The name of its table on a storage.

    >>> cubes.fact("rides_daily").table_name("lake")
    'lake_rides_daily'
    """
    return f"{storage.lower()}_{logical.name}"


class Fact(Named):
    """A logical table of a cube.

    Attributes:
        cube: the base cube.
        columns: fields of the cube, in the order in which the storage tables have them.
        weight: of facts that could answer a question, the lightest is asked.
        start_time: the fact holds nothing before this time; of two, with ``and`` between them, the later one counts.
        end_time: nor at this time or after it; of two, the earlier one counts.
    """

    kind: ClassVar = "fact"

    cube: Name
    description: str | None = None
    columns: Annotated[tuple[Column, ...], Items, Field(min_length=1)]
    weight: float | None = None
    start_time: BoundingTimes | None = None
    end_time: BoundingTimes | None = None
    properties: Properties = FrozenDict()
    storage_tables: Annotated[tuple[StorageTable, ...], Items] = ()

    table_name = _table_name

    @model_validator(mode="after")
    def _sound(self) -> Self:
        _check_table(self)
        for table in self.storage_tables:
            if not table.update_periods:
                raise ValueError(f"update_periods of the fact's table on {table.storage}")
        return self


class DimTable(Named):
    """A logical table of a dimension; each storage has it as dumps of one update period, or without partitions in time.

    Attributes:
        dimension: which.
        columns: fields of the dimension.
    """

    kind: ClassVar = "dimtable"

    dimension: Name
    description: str | None = None
    columns: Annotated[tuple[Column, ...], Items, Field(min_length=1)]
    weight: float | None = None
    properties: Properties = FrozenDict()
    storage_tables: Annotated[tuple[StorageTable, ...], Items] = ()

    table_name = _table_name

    @model_validator(mode="after")
    def _sound(self) -> Self:
        _check_table(self)
        for table in self.storage_tables:
            periods, columns = len(table.update_periods), len(table.time_partition_columns)
            if periods > 1 or columns != periods:
                raise ValueError(
                    f"one update period and one time partition column, or neither, of the table on {table.storage}"
                )
        return self


LogicalTable: TypeAlias = Fact | DimTable
"""What has storage tables."""


def _check_table(table: LogicalTable) -> None:
    no_twins((column.name for column in table.columns), "each column")
    no_twins((on.storage for on in table.storage_tables), "each storage")
    for on in table.storage_tables:
        try:
            identifier("table", table.table_name(on.storage))
        except InvalidName:
            raise ValueError(f"a name such that {table.table_name(on.storage)} has at most 256 characters") from None

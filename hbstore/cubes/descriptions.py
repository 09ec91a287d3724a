"""Partitions as those who register them say: an update period, a time for each time partition column, other values.

>>> from hbstore.cubes.logical_tables import Column, StorageTable
>>> on = StorageTable(
...     storage="s1",
...     update_periods=["HOURLY"],
...     partition_columns=[Column(name="dt", type="string"), Column(name="region", type="string")],
...     time_partition_columns=["dt"],
... )
>>> values_of(on, PartitionDesc("hourly", {"dt": "2015-01-29-06"}, {"region": "eu"}))
('2015-01-29-06', 'eu')
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import NoneType
from typing import Final, TypeVar

from hbstore.cubes.logical_tables import StorageTable
from hbstore.errors import InvalidPartition, InvalidPartitionValue, InvalidTime, did_you_mean
from hbstore.keys.row_key import NULL_PARTITION
from hbstore.keys.types import ColumnType, DateType, TimestampType, parse_type
from hbstore.model.frozen import FrozenDict
from hbstore.texts.arguments import expect, expect_dict, expect_texts
from hbstore.texts.wording import clipped
from hbstore.timelines import UpdatePeriod
from hbstore.times.moments import DAY, time_at

V = TypeVar("V")
A_PERIOD: Final = 'Give an UpdatePeriod, or its name: "DAILY"'
_REPR: Final = 120
_TIMES: Final = 'Give a time for each time partition column, such as {"dt": "2015-01-29"}: a text or a datetime'
OTHERS: Final = 'Give a text for each other partition column, such as {"country": "nl"}; None is the null partition'


@dataclass(frozen=True, slots=True, repr=False)
class PartitionDesc:
    """A partition of a fact or a dimension table.

    Attributes:
        update_period: whose time the partition holds, or its name; None for a table without times.
        time: for each time partition column when the partition begins: an aware datetime, text as the period writes it,
            or an ISO text with a T; without a zone, in UTC.
        other: for each other partition column its value; None is the null partition.
        location: where its files are; None: the table's location and the partition's name.
        parameters: what else is to be kept with it.
    """

    update_period: UpdatePeriod | str | None = None
    time: Mapping[str, datetime | str] = field(default_factory=FrozenDict)
    other: Mapping[str, str | None] = field(default_factory=FrozenDict)
    location: str | None = None
    parameters: Mapping[str, str] = field(default_factory=FrozenDict)

    def __post_init__(self) -> None:
        for name, hint in (("time", _TIMES), ("other", OTHERS)):  # `values_of` looks at the values, by column
            expect_dict(name, getattr(self, name), object, hint=hint)
            object.__setattr__(self, name, FrozenDict(getattr(self, name)))
        expect_dict("parameters", self.parameters, str, hint="Give a dict of texts")
        object.__setattr__(self, "parameters", FrozenDict(self.parameters))
        expect_texts(or_none=True, location=self.location)
        if isinstance(self.update_period, str):
            object.__setattr__(self, "update_period", UpdatePeriod.named(self.update_period))
        expect("update_period", self.update_period, UpdatePeriod, NoneType, hint=A_PERIOD)

    def __repr__(self) -> str:
        period = "" if self.period is None else f"{self.period.name} "
        values = ", ".join(f"{name}={value}" for name, value in [*self.time.items(), *self.other.items()])
        return f"<PartitionDesc {period}{clipped(repr(values)[1:-1], _REPR)}>"

    @property
    def period(self) -> UpdatePeriod | None:
        """The update period itself.

        >>> PartitionDesc("DAILY", {"dt": "2015-01-29"}).period
        <UpdatePeriod.DAILY: 'DAILY'>
        """
        assert not isinstance(self.update_period, str)  # __post_init__ has seen to it
        return self.update_period

    def begins(self, column: str) -> datetime:
        """The time in one of the time partition columns.

        Raises:
            InvalidTime: it is not the beginning of a part of the update period.

        >>> PartitionDesc("DAILY", {"dt": "2015-01-29"}).begins("dt")
        datetime.datetime(2015, 1, 29, 0, 0, tzinfo=datetime.timezone.utc)
        """
        assert self.period is not None
        return _begin(self.period, {name.lower(): value for name, value in self.time.items()}[column], column)


def values_of(on: StorageTable, desc: PartitionDesc) -> tuple[str, ...]:
    """The values of a partition in the order of the partition columns.

    Raises:
        InvalidPartition: the table does not have the update period, or a column is missing, unknown or given twice.
        InvalidTime: a time is not the beginning of a part of the update period.
        InvalidPartitionValue: a value does not fit its column's type.
    """
    _check_period(on, desc)
    times = _by_column(on, "time", desc.time, set(on.time_partition_columns))
    others = other_texts(on, desc.other)
    values = []
    for column in on.partition_columns:
        kind = parse_type(column.type)
        if column.name in times:
            assert desc.period is not None  # _check_period
            values.append(
                _time_text(desc.period, _begin(desc.period, times[column.name], column.name), kind, column.name)
            )
        else:
            values.append(others[column.name])
    return tuple(values)


def other_texts(on: StorageTable, values: Mapping[str, str | None]) -> dict[str, str]:
    """The values of the partition columns that hold no time, as texts.

    Raises:
        InvalidPartition: a column is missing, unknown or given twice.
        InvalidPartitionValue: a value does not fit its column's type.
    """
    types = {one.name: one.type for one in on.partition_columns if one.name not in on.time_partition_columns}
    by_column = _by_column(on, "other", values, set(types))
    return {name: _other_text(value, parse_type(types[name]), name) for name, value in by_column.items()}


def value_text(kind: ColumnType, period: UpdatePeriod, index: int) -> str:
    """The value of a time partition column of a type for a part of an update period.

    >>> value_text(DateType(), UpdatePeriod.MONTHLY, UpdatePeriod.MONTHLY.index(datetime(2015, 2, 1, tzinfo=UTC)))
    '2015-02-01'
    """
    if not isinstance(kind, DateType | TimestampType):
        return period.format_index(index)
    text = time_at(period.moment(index)).isoformat(" ")
    return text[:10] if isinstance(kind, DateType) else text[:19]


def _time_text(period: UpdatePeriod, time: datetime, kind: ColumnType, column: str) -> str:
    """The value for the part of a period that begins at a time.

    Raises:
        InvalidTime: the column is one of dates, and the time is none.
    """
    index = period.index(time)
    if isinstance(kind, DateType) and period.moment(index) % DAY:
        raise InvalidTime(
            "the time is not a date, but its column has the type date",
            column=column,
            time=period.format(time),
            hint="Use a column of type timestamp or string",
        )
    return value_text(kind, period, index)


def _begin(period: UpdatePeriod, value: datetime | str, column: str) -> datetime:
    try:
        if isinstance(value, str) and "T" in value:
            parsed = datetime.fromisoformat(value)
            value = parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
        return period.parse(value) if isinstance(value, str) else period.time(period.index(value))
    except ValueError:
        raise InvalidTime(
            "the text is not an ISO time",
            column=column,
            value=value,
            expected=period.pattern,
            hint="Write the time as 2015-01-29T06:00:00, or as expected",
        ) from None
    except InvalidTime as error:
        raise InvalidTime(error.text, hint=error.hint, column=column, **error.fields) from None


def _check_period(on: StorageTable, one: PartitionDesc) -> None:
    if one.period is None and on.update_periods:
        raise _wrong("the partition names no update period", on, one)
    if one.period is not None and one.period not in on.update_periods:
        raise _wrong("the storage table does not have the update period", on, one)


def _wrong(text: str, on: StorageTable, one: PartitionDesc) -> InvalidPartition:
    return InvalidPartition(
        text,
        storage=on.storage,
        update_period=None if one.period is None else one.period.name,
        expected=", ".join(period.name for period in on.update_periods) or "none",
        hint="Name one of the expected update periods" if on.update_periods else "Leave out the update period",
    )


def _by_column(on: StorageTable, what: str, values: Mapping[str, V], wanted: set[str]) -> dict[str, V]:
    by_column: dict[str, V] = {}
    for name, value in values.items():
        if name.lower() in by_column:
            raise InvalidPartition(
                "the description names a partition column twice",
                storage=on.storage,
                column=name,
                hint="Name it once; upper and lower case are the same",
            )
        by_column[name.lower()] = value
    if by_column.keys() != wanted:
        missing, extra = sorted(wanted - by_column.keys()), sorted(by_column.keys() - wanted)
        hint = "Give a value for each partition column of the storage table, and for no other column"
        raise InvalidPartition(
            f"the {what} partition columns are not the columns of the storage table",
            storage=on.storage,
            missing=", ".join(missing) or "none",
            unknown=", ".join(extra) or "none",
            hint=did_you_mean(next(iter(extra), ""), missing, hint),
        )
    return by_column


def _other_text(value: str | None, kind: ColumnType, column: str) -> str:
    if value in (None, "", NULL_PARTITION):
        return NULL_PARTITION
    try:
        kind.parse(value)
    except (ValueError, TypeError, AttributeError):
        raise InvalidPartitionValue(
            "a partition value does not fit its column's type",
            column=column,
            type=kind.name,
            value=repr(value),
            hint="Give a value of that type",
        ) from None
    return value

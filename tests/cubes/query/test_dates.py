"""Columns of dates for times, and of timestamps for dates: a date tells no hours, and a date of the model is a day."""

from __future__ import annotations

import pytest

from hbstore.cubes.logical_tables import Column
from hbstore.errors import NoCandidate, UnsupportedQuery
from tests.cubes.small_cube import CUBE, fact, opened, partitions, table

DAYS = partitions("DAILY", ["2015-01-01", "2015-01-02"])
RANGE = "time_range_in(start_time, '2015-01-01', '2015-01-03')"


def paid(name, kind, storage, weight):
    """A fact of fares that has the time of paying in a column of that type."""
    made = fact(name, "fare", table(storage, "DAILY"), weight=weight)
    return made.changed(columns=[*made.columns, Column(name="paid_time", type=kind)])


def of_dates(kind):
    """The cube, in which the time of paying has a type."""
    *storages, cube, station = CUBE
    fields = [one.changed(type=kind) if one.name == "paid_time" else one for one in cube.dim_attributes]
    return [*storages, cube.changed(dim_attributes=fields), station]


@pytest.fixture
def cubes():
    """A light fact that has dates, with its partitions, and a heavy one that has timestamps."""
    with opened(*CUBE, paid("days", "date", "lake", 1), paid("times", "timestamp", "vault", 9)) as made:
        made.add_partitions("days", "lake", DAYS)
        yield made


@pytest.mark.parametrize(
    ("select", "where", "told"),
    [
        ("fare", "time_range_in(paid_time, '2015-01-01-06', '2015-01-03')", False),
        ("fare", "time_range_in(paid_time, '2015-01-01', '2015-01-01-18')", False),
        ("fare", "not time_range_in(paid_time, '2015-01-01', '2015-01-01-00:30')", False),
        ("fare", "time_range_in(paid_time, '2015-01-01', '2015-01-02')", True),
        ("fare", "paid_time >= '2015-01-02'", True),
        ("fare", "paid_time >= '2015-01-02 00:30:00'", False),
        ("fare", "paid_time is not null", True),
        ("paid_time, fare", "true", False),
        ("max(paid_time)", "true", False),
        ("hour(paid_time) as h, fare", "true", False),
        ("to_date(paid_time) as d, fare", "true", True),
        ("sum(case when minute(paid_time) = 0 then fare end)", "true", False),
    ],
)
def test_dates_answer_what_is_the_same_in_days(cubes, select, where, told):
    query = f"select {select} from rides where {RANGE} and {where}"
    if told:
        assert list(cubes.rewrite(query).partitions) == ["lake_days"]
        return
    with pytest.raises(NoCandidate) as caught:
        cubes.rewrite(query)
    causes = {one.table: (one.cause, one.detail) for one in caught.value.candidates}
    cause, detail = causes["lake_days"]
    assert cause == "COLUMN_NOT_FOUND"
    assert detail.startswith("its paid_time has dates, which do not tell ")
    cubes.add_partitions("times", "vault", DAYS)
    assert list(cubes.rewrite(query).partitions) == ["vault_times"]


def test_dates_of_the_model_have_ranges_of_whole_days():
    with opened(*of_dates("date"), paid("times", "timestamp", "vault", 9)) as cubes:
        cubes.add_partitions("times", "vault", DAYS)
        query = f"select paid_time, fare from rides where time_range_in(paid_time, '2015-01-01', '{{}}') and {RANGE}"
        with pytest.raises(UnsupportedQuery, match="the range of a date begins or ends within a day"):
            cubes.rewrite(query.format("2015-01-01-18"))
        assert "CAST(`paid_time` AS DATE) AS `paid_time`" in cubes.rewrite(query.format("2015-01-02")).sql
        aggregate = cubes.rewrite(f"select count(distinct paid_time) from rides where {RANGE}").sql
        assert "CAST(`paid_time` AS DATE) AS `paid_time`" in aggregate


def test_dates_of_rows_are_no_times_of_partitions():
    """The time of partitions, as a date in the rows, tells no moments either."""
    days = fact("days", "fare", table("lake", "HOURLY"))
    days = days.changed(columns=[*days.columns, Column(name="start_time", type="date")])
    with opened(*CUBE, days) as cubes:
        cubes.add_partitions("days", "lake", partitions("HOURLY", ["2015-01-01-00"]))
        hour = "time_range_in(start_time, '2015-01-01-00', '2015-01-01-01')"
        assert cubes.rewrite(f"select to_date(start_time) as d, fare from rides where {hour}").partitions
        with pytest.raises(NoCandidate, match="its start_time has dates, which do not tell start_time"):
            cubes.rewrite(f"select start_time, fare from rides where {hour}")

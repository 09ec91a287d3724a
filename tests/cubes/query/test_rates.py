"""Bytes and rows in the choice between storage tables, as their totals say them."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hbstore.cubes import Cubes, PartitionDesc
from hbstore.cubes.logical_tables import StorageTable
from hbstore.cubes.query.candidates import StorageCandidate
from hbstore.cubes.query.options import QueryOptions
from hbstore.cubes.query.rates import Rates
from hbstore.cubes.query.star import Star
from hbstore.store.partition_store import PartitionStore
from tests.cubes.small_cube import CUBE, NOW, fact, opened, stations, table
from tests.cubes.test_stored_cover import CountingRows

FROM = "from rides where time_range_in(start_time, '2015-01-01', '2015-01-04')"
TABLE = table("lake", "HOURLY", "DAILY", "MONTHLY")
FORMS = {"HOURLY": "%Y-%m-%d-%H", "DAILY": "%Y-%m-%d", "MONTHLY": "%Y-%m"}


@pytest.fixture
def cubes():
    with opened(*CUBE, stations(StorageTable(storage="lake"))) as cubes:
        yield cubes


def with_fact(cubes, name, period, says, *, weight=1, column="station_id", count=None):
    """Add a fact with the partitions of three days; what a partition says of itself, or what each does."""
    cubes.create(fact(name, f"fare {column}", TABLE, weight=weight))
    hours = {"HOURLY": 1, "DAILY": 24}[period]
    times = [dt.datetime(2015, 1, 1, tzinfo=dt.UTC) + dt.timedelta(hours=at) for at in range(0, 72, hours)][:count]
    each = says if isinstance(says, list) else [says] * len(times)
    descs = [
        PartitionDesc(
            period, {"dt": time.strftime(FORMS[period])}, parameters={key: str(one) for key, one in some.items()}
        )
        for time, some in zip(times, each, strict=True)
    ]
    cubes.add_partitions(name, "lake", descs)


def read(cubes, what="fare"):
    found = cubes.rewrite(f"cube select {what} {FROM}")
    return list(found.partitions)


def cause(cubes, table):
    found = cubes.rewrite(f"cube select fare {FROM}")
    return next(str(one) for one in found.candidates if one.table == table)


def test_bytes_decide_between_tables_of_one_weight(cubes):
    with_fact(cubes, "few_partitions", "DAILY", {"totalSize": 24_001})
    with_fact(cubes, "few_bytes", "HOURLY", {"totalSize": 1_000})
    assert read(cubes) == ["lake_few_bytes"]
    assert cause(cubes, "lake_few_partitions") == "lake_few_partitions: MORE_BYTES: others answer it from fewer bytes"


def test_the_same_bytes_leave_it_to_the_number_of_partitions(cubes):
    with_fact(cubes, "hours", "HOURLY", {"totalSize": 1_000})
    with_fact(cubes, "days", "DAILY", {"totalSize": 24_000})
    assert read(cubes) == ["lake_days"]
    assert cause(cubes, "lake_hours").startswith("lake_hours: MORE_PARTITIONS")


def test_weight_comes_before_bytes(cubes):
    with_fact(cubes, "light", "DAILY", {"totalSize": 9_000_000}, weight=1)
    with_fact(cubes, "heavy", "DAILY", {"totalSize": 1}, weight=2)
    assert read(cubes) == ["lake_light"]


def test_bytes_are_not_compared_with_nothing(cubes):
    with_fact(cubes, "silent", "HOURLY", {})
    with_fact(cubes, "says_little", "HOURLY", {"totalSize": 1})
    with_fact(cubes, "says_much", "DAILY", {"totalSize": 9_000_000})
    assert read(cubes) == ["lake_says_much"]  # as it has the fewest partitions
    assert cause(cubes, "lake_says_little").startswith("lake_says_little: MORE_PARTITIONS")


def test_rows_decide_where_one_table_does_not_say_its_bytes(cubes):
    with_fact(cubes, "many", "DAILY", {"numRows": 250, "totalSize": 1})
    with_fact(cubes, "few", "HOURLY", {"numRows": 10})
    assert read(cubes) == ["lake_few"]
    assert cause(cubes, "lake_many") == "lake_many: MORE_ROWS: others answer it from fewer rows"


def test_zeros_say_nothing(cubes):
    with_fact(cubes, "zeros", "HOURLY", {"totalSize": 0, "numRows": 0})
    with_fact(cubes, "says", "DAILY", {"totalSize": 5, "numRows": 5})
    assert read(cubes) == ["lake_says"]


@pytest.mark.parametrize(("silent", "table"), [(36, "lake_hours"), (37, "lake_days")])
def test_most_partitions_of_a_table_speak_for_the_others(cubes, silent, table):
    with_fact(cubes, "hours", "HOURLY", [{} if at < silent else {"totalSize": 10} for at in range(72)])
    with_fact(cubes, "days", "DAILY", {"totalSize": 241})
    assert read(cubes) == [table]


def test_tables_that_cannot_answer_or_have_no_partitions_need_say_nothing(cubes):
    with_fact(cubes, "few_partitions", "DAILY", {"totalSize": 24_001})
    with_fact(cubes, "few_bytes", "HOURLY", {"totalSize": 1_000})
    with_fact(cubes, "empty", "DAILY", {}, count=0)
    with_fact(cubes, "other", "DAILY", {}, column="station_name")
    assert read(cubes, "station_id, fare") == ["lake_few_bytes"]


def test_a_table_that_needs_no_partitions_does_not_say_its_bytes(cubes):
    live = StorageTable(storage="lake", update_periods=["CONTINUOUS"])
    cubes.create(fact("a_live", "fare start_time", live, weight=1))
    with_fact(cubes, "days", "DAILY", {"totalSize": 9_000})
    assert read(cubes) == ["lake_days"]
    assert cause(cubes, "lake_a_live").startswith("lake_a_live: MORE_PARTITIONS")


def test_all_ways_to_understand_a_query_are_compared_by_the_same(cubes):
    """The name of a station is a column of one fact that says no bytes; others say theirs, and join the dimension."""
    with_fact(cubes, "a_silent", "HOURLY", {}, column="station_name")
    with_fact(cubes, "b_much", "DAILY", {"totalSize": 9_000})
    with_fact(cubes, "c_more", "DAILY", {"totalSize": 9_001})
    assert read(cubes, "station_name, fare") == ["lake_b_much"]


def test_a_month_is_compared_by_its_time(cubes):
    with_fact(cubes, "days", "DAILY", {"totalSize": 100})
    with_fact(cubes, "both", "DAILY", {"totalSize": 99})
    cubes.add_partitions(
        "both", "lake", [PartitionDesc("MONTHLY", {"dt": "2014-12"}, parameters={"totalSize": "3099"})]
    )
    assert read(cubes) == ["lake_both"]  # 34 days of partitions, 99.9 bytes a day; 846 bytes in each partition


def test_each_storage_table_is_read_once_for_its_timelines_and_its_totals(cubes):
    with_fact(cubes, "some", "DAILY", {"totalSize": 8})
    with_fact(cubes, "less", "DAILY", {"totalSize": 7})
    assert read(cubes) == ["lake_less"]
    rows = CountingRows(cubes.store.rows)
    for _ in range(2):
        rows.reads.clear()
        assert read(Cubes(PartitionStore(rows), "shop", lambda: NOW)) == ["lake_less"]
    tables = {key: count for key, count in rows.reads.items() if isinstance(key, bytes) and key[:1] == b"T"}
    assert tables == {b"Tshop lake_less": 1, b"Tshop lake_some": 1}
    assert not {"multi_get", "scan", "payloads", "heads", "count", "whole_rows"} & rows.reads.keys()


@settings(max_examples=30)
@given(
    st.lists(
        st.lists(
            st.tuples(st.sampled_from(["HOURLY", "DAILY", "MONTHLY"]), st.integers(0, 30), st.integers(0, 10**15)),
            unique_by=lambda one: one[:2],
            max_size=8,
        ),
        min_size=2,
        max_size=3,
    )
)
def test_rates_are_the_bytes_by_the_time_of_all_partitions(tables):
    with opened(*CUBE) as cubes:
        wanted = {}
        for number, partitions in enumerate(tables):
            cubes.create(fact(f"f{number}", "fare station_id", TABLE, weight=1))
            hours = 0
            for period, at, _ in partitions:
                begin = _time(period, at)
                hours += (_time(period, at + 1) - begin) / dt.timedelta(hours=1)
            cubes.add_partitions(
                f"f{number}",
                "lake",
                [
                    PartitionDesc(
                        period, {"dt": _time(period, at).strftime(FORMS[period])}, parameters={"totalSize": str(size)}
                    )
                    for period, at, size in partitions
                ],
            )
            if partitions:
                wanted[f"lake_f{number}"] = Fraction(sum(size for *_, size in partitions)) / int(hours)
        candidates = StorageCandidate.all_of(Star(cubes._model), cubes.cube("rides"), NOW, QueryOptions())
        rates = Rates.between({(candidate, "dt") for candidate in candidates})
        if 0 in wanted.values():
            assert rates == Rates()
        else:
            assert rates.what == "bytes"
            found = {
                candidate.table: rates.of(candidate, "dt") * 3_600_000_000
                for candidate in candidates
                if rates.of(candidate, "dt")
            }
            assert found.keys() == {table for table, one in wanted.items()}
            assert all(abs(one - wanted[table]) < Fraction(1, 1_000) for table, one in found.items())


def _time(period, at):
    if period == "MONTHLY":
        return dt.datetime(2012 + at // 12, at % 12 + 1, 1, tzinfo=dt.UTC)
    return dt.datetime(2015, 1, 1, tzinfo=dt.UTC) + dt.timedelta(hours=at * (24 if period == "DAILY" else 1))

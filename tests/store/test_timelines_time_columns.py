"""The times of partitions: what each kind of column holds, to which update period one belongs, what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore import NULL_PARTITION, Column, Partition, Table
from hbstore.errors import InvalidTime, TimelineMismatch, TimelineNotFound, UnknownUpdatePeriod
from hbstore.keys.row_key import text_cell
from hbstore.store.time_columns import TimeColumns
from hbstore.timelines.declaration import LATEST, PARTITION_UPDATE_PERIOD, TIME_PARTITION_COLUMNS, UPDATE_PERIODS
from hbstore.times.update_period import UpdatePeriod
from tests.store import timelines as tl
from tests.store.timelines import FACT, declared, partition

DAY, HOUR = UpdatePeriod.DAILY, UpdatePeriod.HOURLY


def columns_of(*kinds, periods="DAILY,HOURLY"):
    names = [f"c{number}" for number in range(len(kinds))]
    columns = [Column(name, kind) for name, kind in zip(names, kinds, strict=True)]
    return TimeColumns.of(Table("d", "t", columns, parameters=declared(periods, ",".join(names))))


def times(columns, *texts, period=None):
    """The times of a partition of these values, as text."""
    cells = tuple(map(text_cell, columns.table.key_types, texts))
    parameters = {} if period is None else {PARTITION_UPDATE_PERIOD: period}
    periods = {name: period for name, period, _ in columns.names()}
    return {name: periods[name].format_index(index) for name, index in columns.times(cells, parameters)}


@given(
    period=st.sampled_from(UpdatePeriod),
    at=st.floats(0, 1, exclude_max=True),
    kind=st.sampled_from(("string", "varchar(30)", "char(25)")),
)
def test_a_time_as_text_and_back(period, at, kind):
    columns = columns_of(kind, periods=period.name)
    index = int(at * period.limit)
    cell = columns.cell("c0", period, index)
    assert cell == text_cell(columns.table.key_types[0], period.format_index(index))
    assert columns.times([cell], {}) == [(f"{period.name}.c0", index)]


@given(
    period=st.sampled_from([one for one in UpdatePeriod if one.rank >= DAY.rank]), at=st.floats(0, 1, exclude_max=True)
)
def test_a_time_in_a_date_and_back(period, at):
    columns = columns_of("date", periods=period.name)
    index = int(at * period.limit)
    assert columns.times([columns.cell("c0", period, index)], {}) == [(f"{period.name}.c0", index)]


@given(period=st.sampled_from(UpdatePeriod), at=st.floats(0, 1, exclude_max=True))
def test_a_time_in_a_timestamp_and_back(period, at):
    columns = columns_of("timestamp", periods=period.name)
    index = int(at * period.limit)
    assert columns.times([columns.cell("c0", period, index)], {}) == [(f"{period.name}.c0", index)]


@given(year=st.integers(1_000, 9_999), kind=st.sampled_from(("int", "smallint", "bigint")))
def test_a_year_in_a_number_and_back(year, kind):
    columns = columns_of(kind, periods="YEARLY")
    index = UpdatePeriod.YEARLY.parse_index(str(year))
    assert columns.times([columns.cell("c0", UpdatePeriod.YEARLY, index)], {}) == [("YEARLY.c0", index)]


@given(
    period=st.sampled_from(UpdatePeriod), one=st.floats(0, 1, exclude_max=True), two=st.floats(0, 1, exclude_max=True)
)
def test_cells_are_in_the_order_of_times(period, one, two):
    columns = columns_of("string", periods=period.name)
    low, high = sorted(int(at * period.limit) for at in (one, two))
    assert (columns.cell("c0", period, low) < columns.cell("c0", period, high)) == (low < high)


@pytest.mark.parametrize(
    ("kinds", "texts", "period", "expected"),
    [
        (
            ["string", "string"],
            ["2015-01-29", "2015-01-30"],
            None,
            {"DAILY.c0": "2015-01-29", "DAILY.c1": "2015-01-30"},
        ),
        (
            ["string", "string"],
            ["2015-01-29-06", "2015-01-29-07"],
            None,
            {"HOURLY.c0": "2015-01-29-06", "HOURLY.c1": "2015-01-29-07"},
        ),
        (["string", "string"], ["2015-01-29", NULL_PARTITION], None, {"DAILY.c0": "2015-01-29"}),
        (["string", "string"], [LATEST, "2015-01-29"], None, {"DAILY.c1": "2015-01-29"}),
        (["string", "string"], [LATEST, NULL_PARTITION], None, {}),
        (["string", "string"], [LATEST, NULL_PARTITION], "HOURLY", {}),
        (["date", "date"], [LATEST, "2015-1-9"], "daily", {"DAILY.c1": "2015-01-09"}),
        (["date", "string"], ["2015-01-29", "2015-01-29"], None, {"DAILY.c0": "2015-01-29", "DAILY.c1": "2015-01-29"}),
        (
            ["date", "string"],
            ["2015-01-29", "2015-01-29-05"],
            "HOURLY",
            {"HOURLY.c0": "2015-01-29-00", "HOURLY.c1": "2015-01-29-05"},
        ),
        (
            ["date", "string"],
            ["2015-01-29", "2015-01-29-05"],
            None,
            {"HOURLY.c0": "2015-01-29-00", "HOURLY.c1": "2015-01-29-05"},
        ),
        (["timestamp"], ["2015-01-29 06:00:00"], None, {"HOURLY.c0": "2015-01-29-06"}),
        (["timestamp"], ["2015-01-29 00:00:00"], "DAILY", {"DAILY.c0": "2015-01-29"}),
    ],
)
def test_times_of_a_partition(kinds, texts, period, expected):
    assert times(columns_of(*kinds), *texts, period=period) == expected


@pytest.mark.parametrize(
    ("kinds", "texts", "period", "said"),
    [
        (["string"], ["2015-13-01"], None, ["fit none of", "c0=2015-13-01", "HOURLY, DAILY"]),
        (["string"], [" 2015-01-01"], None, ["fit none of"]),
        (["string"], ["2015-01-0\u0661"], None, ["fit none of"]),
        (["string", "string"], ["2015-01-01", "2015-01-01-05"], None, ["fit none of", "c1=2015-01-01-05"]),
        (["date"], ["2015-01-01"], None, ["fit several of", "HOURLY, DAILY"]),
        (["string"], ["2015-01-01"], "HOURLY", ["not a time of its update period", "column=c0", "yyyy-MM-dd-HH"]),
        (["string", "string"], ["2015-01-01", "2015"], "DAILY", ["not a time of its update period", "column=c1"]),
        (["timestamp"], ["2015-01-01 00:00:00.5"], "HOURLY", ["not a time of its update period"]),
        (["timestamp"], ["2015-01-01 00:30:00"], None, ["fit none of"]),
        (["date"], ["never"], "DAILY", ["not a time of its update period", "c0=never"]),
        (["int"], ["2015"], "DAILY", ["not a time of its update period"]),
    ],
)
def test_values_that_are_no_times(kinds, texts, period, said):
    with pytest.raises(InvalidTime) as caught:
        times(columns_of(*kinds), *texts, period=period)
    assert all(word in str(caught.value) for word in [*said, "d.t"]), caught.value


@pytest.mark.parametrize("period", ["MONTHLY", "never", "", "DAILY "])
def test_an_update_period_that_the_table_does_not_have(period):
    with pytest.raises(TimelineMismatch, match="does not have the partition's update period"):
        times(columns_of("string"), "2015-01-01", period=period)


def test_several_periods_fit_only_where_all_values_fit_them():
    columns = columns_of("string", "string", periods="MONTHLY,QUARTERLY")
    assert times(columns, "2015-04", "2015-05") == {"MONTHLY.c0": "2015-04", "MONTHLY.c1": "2015-05"}
    assert times(columns, "2015-04", "2015-04", period="quarterly") == {
        "QUARTERLY.c0": "2015-04",
        "QUARTERLY.c1": "2015-04",
    }
    with pytest.raises(InvalidTime, match="several"):
        times(columns, "2015-04", "2015-04")


DAMAGED = {
    "a period twice": (declared("DAILY,hourly, daily"), TimelineMismatch, [UPDATE_PERIODS, "DAILY"]),
    "a period that there is not": (declared("DAILY,FORTNIGHTLY"), UnknownUpdatePeriod, ["FORTNIGHTLY"]),
    "a column twice": (declared(columns="dt,DT"), TimelineMismatch, [TIME_PARTITION_COLUMNS, "dt"]),
    "a column that there is not": (declared(columns="dt,et"), TimelineMismatch, ["et", "dt, region, pt"]),
    "a period that there is not, without columns": ({UPDATE_PERIODS: "NEVER"}, UnknownUpdatePeriod, ["NEVER"]),
    "a column that there is not, without periods": ({TIME_PARTITION_COLUMNS: "et"}, TimelineMismatch, ["et"]),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_declaration_is_refused_and_nothing_is_changed(store, name):
    parameters, error, said = DAMAGED[name]
    tl.prepared(store)
    store.add_partitions(*FACT, tl.days(1, 2))
    bad = tl.table(parameters=parameters)
    known, there = store.get_table(*FACT), store.get_partitions_by_filter(*FACT, None)
    for refused in (
        lambda: store.create_table(replace(bad, name="other")),
        lambda: store.create_table(bad, if_not_exists=True),
        lambda: store.alter_table(bad),
        lambda: store.alter_table(bad, cascade=True),
        lambda: store.rename_table(*FACT, replace(bad, name="other")),
    ):
        with pytest.raises(error) as caught:
            refused()
        assert all(word in str(caught.value) for word in said), caught.value
    assert store.table_names("shop") == [FACT[1]]
    assert store.get_table(*FACT) == known
    assert store.get_partitions_by_filter(*FACT, None) == there
    tl.assert_true(store)


def test_a_table_that_declares_only_one_of_both_keeps_no_timelines(store):
    store.create_database("shop")
    store.create_table(tl.table(parameters={UPDATE_PERIODS: "DAILY"}))
    store.add_partitions(*FACT, [partition("whatever")])
    for question in (store.timelines.read, store.timelines.rebuild, store.timelines.of, store.timelines.check):
        with pytest.raises(TimelineNotFound, match=TIME_PARTITION_COLUMNS):
            question(".".join(FACT))


def test_bad_times_are_refused_and_nothing_is_changed(store):
    tl.prepared(store, FACT, tl.TWIN, parameters=declared("DAILY"))
    store.add_partitions(*FACT, tl.days(1, 2))
    first = tl.days(1)[0]
    bad = partition("2015-01")
    for refused in (
        lambda: store.add_partitions(*FACT, [*tl.days(3), bad]),
        lambda: store.alter_partitions(*FACT, [tl.days(1, period="DAILY")[0], tl.days(2, period="HOURLY")[0]]),
        lambda: store.rename_partition(*FACT, first.values, bad.values),
        lambda: store.change_partitions(*FACT, add=tl.days(4), put=[bad]),
    ):
        with pytest.raises((InvalidTime, TimelineMismatch)):
            refused()
        assert tl.kept(store)["DAILY", "dt"] == {"2015-01-01", "2015-01-02"}
        tl.assert_true(store)


def test_an_exchange_with_a_table_of_other_periods_is_refused(store):
    tl.prepared(store, FACT)
    tl.prepared(store, tl.TWIN, parameters=declared("HOURLY"))
    store.add_partitions(*FACT, tl.days(1, 2))
    with pytest.raises(InvalidTime):
        store.exchange_partitions(FACT, tl.TWIN, [one.values for one in tl.days(1, 2)])
    assert store.count_partitions(*FACT) == 2
    tl.assert_true(store, FACT, tl.TWIN)


def test_other_columns_than_strings_keep_timelines(store):
    """A date first and a timestamp behind: looked for by the first column and by another one."""
    store.create_database("shop")
    columns = [Column("ds", "date"), Column("n", "int"), Column("at", "timestamp")]
    store.create_table(Table("shop", "typed", columns, parameters=declared("DAILY,HOURLY", "ds,at")))
    store.timelines.read("shop.typed")

    def made(day, number, hour):
        values = (f"2015-01-{day:02}", str(number), f"2015-01-{day:02} {hour:02}:00:00")
        return Partition(values, parameters={PARTITION_UPDATE_PERIOD: "HOURLY" if hour else "DAILY"})

    store.add_partitions("shop", "typed", [made(day, n, hour) for day in (1, 2) for n in (1, 2) for hour in (0, 5)])
    store.drop_partitions(
        "shop", "typed", [made(1, n, hour).values for n, hour in [(1, 0), (2, 0), (1, 5), (2, 5)][:3]]
    )
    kept = tl.kept(store, ("shop", "typed"))
    assert kept == {
        ("HOURLY", "ds"): {"2015-01-01-00", "2015-01-02-00"},
        ("HOURLY", "at"): {"2015-01-01-05", "2015-01-02-05"},
        ("DAILY", "ds"): {"2015-01-02"},
        ("DAILY", "at"): {"2015-01-02"},
    }
    assert store.timelines.check("shop.typed") == []
    store.drop_partitions("shop", "typed", [made(1, 2, 5).values, made(2, 1, 0).values])
    kept = tl.kept(store, ("shop", "typed"))
    assert kept["HOURLY", "ds"] == {"2015-01-02-00"}
    assert kept["HOURLY", "at"] == {"2015-01-02-05"}
    assert kept["DAILY", "ds"] == kept["DAILY", "at"] == {"2015-01-02"}


@pytest.mark.parametrize("column", ["dt", "pt"])
def test_a_time_goes_with_the_last_partition_of_its_own_period(store, column):
    """January is a month and a quarter: one text in one column, of two timelines."""
    tl.prepared(store, parameters=declared("MONTHLY,QUARTERLY", column))
    months = [partition("2015-01", period="MONTHLY", region=region) for region in ("eu", "us")]
    quarters = [partition("2015-01", period="QUARTERLY", region=region) for region in ("asia", "africa")]
    store.add_partitions(*FACT, months + quarters)
    for gone, expected in [
        (months[0], {"MONTHLY", "QUARTERLY"}),
        (months[1], {"QUARTERLY"}),
        (quarters[0], {"QUARTERLY"}),
        (quarters[1], set()),
    ]:
        store.drop_partitions(*FACT, [gone.values])
        assert {period for (period, _), listed in tl.kept(store).items() if listed} == expected
        tl.assert_true(store)


@pytest.mark.parametrize("column", ["dt", "pt"])
def test_a_time_stays_with_a_partition_that_the_same_change_leaves_at_it(store, column):
    """Of two partitions of a month that are altered together one becomes that of a quarter."""
    tl.prepared(store, parameters=declared("MONTHLY,QUARTERLY", column))
    store.add_partitions(*FACT, [partition("2015-01", period="MONTHLY", region=region) for region in ("eu", "us")])
    regions = {"eu": "QUARTERLY", "us": "MONTHLY"}
    store.alter_partitions(
        *FACT, [partition("2015-01", period=period, region=region) for region, period in regions.items()]
    )
    assert {period for (period, _), listed in tl.kept(store).items() if listed} == {"MONTHLY", "QUARTERLY"}
    tl.assert_true(store)


def test_a_partition_that_is_passed_over_brings_no_times(store):
    """It is there already, as one of another update period."""
    tl.prepared(store, parameters=declared("MONTHLY,QUARTERLY"))
    store.add_partitions(*FACT, [partition("2015-01", period="MONTHLY")])
    wanted = [partition("2015-01", period="QUARTERLY"), partition("2015-04", period="QUARTERLY")]
    assert store.add_partitions(*FACT, wanted, if_not_exists=True) == 1
    assert tl.kept(store)["QUARTERLY", "dt"] == {"2015-04"}
    tl.assert_true(store)


def test_a_time_of_one_column_does_not_hold_up_that_of_another(store):
    """Two processing times lose a partition; what is left of the one has the other as the time of its events."""
    tl.prepared(store)
    left = partition("2015-01-02", "2015-01-01")
    gone = [partition("2015-01-05", "2015-01-02"), partition("2015-01-06", "2015-01-01")]
    store.add_partitions(*FACT, [left, *gone])
    store.drop_partitions(*FACT, [one.values for one in gone])
    assert tl.kept(store)["DAILY", "pt"] == {"2015-01-01"}
    tl.assert_true(store)

"""Registering partitions: values as the columns have them, timelines that follow, and everything that is refused."""

from __future__ import annotations

import datetime as dt

import pytest

from hbstore import AlreadyExists, InvalidPartitionValue, PartitionNotFound
from hbstore.cubes import Column, Fact, PartitionDesc, StorageTable, TableDescription
from hbstore.cubes.descriptions import values_of
from hbstore.errors import InvalidPartition, InvalidTime, ModelNotFound, OutsideValidity, UnknownUpdatePeriod
from hbstore.store.writer import Writer
from hbstore.timelines import UpdatePeriod
from hbstore.timelines.declaration import PARTITION_UPDATE_PERIOD
from tests.cubes.conftest import days, hour, on, sample
from tests.timelines.strategies import utc, without_zone

FACT = sample("rides_daily")


def state(cubes, name, storage):
    """All that a change could have left: the partitions and the timelines."""
    timelines = [] if name == "stations" else cubes.timelines(name, storage=storage)
    return cubes.partitions(name, storage), [str(timeline) for timeline in timelines]


def periods_fact(cubes, kind, *periods):
    """A fact on one storage with these periods and a time column of this type."""
    fact = Fact(
        name="periods",
        cube="rides",
        columns=[Column(name="minutes", type="bigint")],
        storage_tables=[
            StorageTable(
                storage="lake",
                update_periods=periods,
                partition_columns=[Column(name="dt", type=kind), Column(name="region", type="int")],
                time_partition_columns=["dt"],
            )
        ],
    )
    cubes.create(fact)


def test_partitions_are_kept_with_their_period_and_in_the_timelines(cubes):
    one = PartitionDesc(
        UpdatePeriod.DAILY, {"DT": utc(2015, 1, 29)}, location="s3://x/29", parameters={"numRows": "17"}
    )
    assert cubes.add_partitions("Rides_Daily", "Lake", [one, PartitionDesc("monthly", {"dt": "2015-02"})]) == 2
    day, month = cubes.partitions("rides_daily", "lake")
    assert (day.values, day.location) == (("2015-01-29",), "s3://x/29")
    assert day.parameters == {"numRows": "17", PARTITION_UPDATE_PERIOD: "DAILY"}
    assert day.create_time > 0
    assert (month.values, month.parameters) == (("2015-02",), {PARTITION_UPDATE_PERIOD: "MONTHLY"})
    assert month.location == "hdfs://namenode:8020/lake/rides_daily/dt=2015-02"
    daily, monthly = cubes.timelines("rides_daily", storage="lake")
    assert daily.latest() == utc(2015, 1, 29)
    assert monthly.latest() == utc(2015, 2, 1)
    assert cubes.partitions("rides_daily", "lake", "dt > '2015-01'") == [day, month]
    assert cubes.partitions("rides_daily", "lake", "dt < '2015-02'") == [day]


@pytest.mark.parametrize(
    ("kind", "period", "time", "text"),
    [
        ("string", "HOURLY", "2015-01-29-06", "2015-01-29-06"),
        ("varchar(20)", "WEEKLY", "2015-W05", "2015-W05"),
        ("string", "QUARTERLY", utc(2015, 4, 1), "2015-04"),
        ("string", "DAILY", "2015-01-29T00:00:00", "2015-01-29"),
        ("string", "HOURLY", "2015-01-29T08:00:00+02:00", "2015-01-29-06"),
        ("string", "HOURLY", utc(2015, 1, 29, 8).replace(tzinfo=dt.timezone(dt.timedelta(hours=2))), "2015-01-29-06"),
        ("date", "DAILY", "2015-01-29", "2015-01-29"),
        ("date", "WEEKLY", "2015-W05", "2015-01-26"),
        ("date", "MONTHLY", "2015-02", "2015-02-01"),
        ("date", "HOURLY", "2015-01-29-00", "2015-01-29"),
        ("timestamp", "HOURLY", "2015-01-29-06", "2015-01-29 06:00:00"),
        ("timestamp", "YEARLY", "2015", "2015-01-01 00:00:00"),
    ],
)
def test_times_are_written_as_their_columns_have_them(cubes, kind, period, time, text):
    periods_fact(cubes, kind, period)
    cubes.add_partitions("periods", "lake", [PartitionDesc(period, {"dt": time}, {"region": "05"})])
    (found,) = cubes.partitions("periods", "lake")
    assert found.values == (text, "05")
    (timeline,) = cubes.timelines("periods")
    assert timeline.exists(UpdatePeriod[period].floor(timeline.latest()))
    assert cubes.store.timelines.check("shop.lake_periods") == []
    assert cubes.drop_partitions("periods", "lake", [PartitionDesc(period, {"dt": time}, {"region": "05"})]) == 1
    assert cubes.timelines("periods")[0].is_empty()


WRONG = {
    "another period": (PartitionDesc("HOURLY", {"dt": "2015-01-29-06"}), InvalidPartition),
    "no period": (PartitionDesc(None, {"dt": "2015-01-29"}), InvalidPartition),
    "no time": (PartitionDesc("DAILY"), InvalidPartition),
    "another column": (PartitionDesc("DAILY", {"dt": "2015-01-29", "pt": "2015-01-29"}), InvalidPartition),
    "another other column": (PartitionDesc("DAILY", {"dt": "2015-01-29"}, {"region": "eu"}), InvalidPartition),
    "a column twice": (PartitionDesc("DAILY", {"dt": "2015-01-29", "DT": "2015-01-29"}), InvalidPartition),
    "a time as another value": (PartitionDesc("DAILY", {}, {"dt": "2015-01-29"}), InvalidPartition),
    "a time of another period": (PartitionDesc("DAILY", {"dt": "2015-01-29-06"}), InvalidTime),
    "a time within a day": (PartitionDesc("DAILY", {"dt": utc(2015, 1, 29, 6)}), InvalidTime),
    "a time without a zone": (PartitionDesc("DAILY", {"dt": without_zone(2015, 1, 29)}), InvalidTime),
    "an ISO time within a day": (PartitionDesc("DAILY", {"dt": "2015-01-29T06:00:00"}), InvalidTime),
    "an ISO time that is none": (PartitionDesc("DAILY", {"dt": "2015-01-29T66:00:00"}), InvalidTime),
    "no time at all": (PartitionDesc("DAILY", {"dt": 5}), InvalidTime),
    "a month that is none": (PartitionDesc("MONTHLY", {"dt": "2015-13"}), InvalidTime),
    "latest": (PartitionDesc("DAILY", {"dt": "latest"}), InvalidTime),
}


@pytest.mark.parametrize("call", ["add_partitions", "alter_partitions", "drop_partitions"])
@pytest.mark.parametrize(("desc", "error"), WRONG.values(), ids=WRONG)
def test_what_does_not_fit_is_refused_and_nothing_changes(cubes, desc, error, call):
    cubes.add_partitions("rides_daily", "lake", days("2015-01-01"))
    before = state(cubes, "rides_daily", "lake")
    first = days("2015-01-02") if call == "add_partitions" else days("2015-01-01")
    with pytest.raises(error) as caught:
        getattr(cubes, call)("rides_daily", "lake", [*first, desc])
    assert caught.value.fields
    assert state(cubes, "rides_daily", "lake") == before


def test_a_value_fits_its_column(cubes):
    periods_fact(cubes, "date", "DAILY", "HOURLY")
    with pytest.raises(InvalidTime) as caught:
        cubes.add_partitions("periods", "lake", [PartitionDesc("HOURLY", {"dt": "2015-01-29-06"}, {"region": "1"})])
    assert caught.value.fields["column"] == "dt"
    for value in ("x", 5):
        with pytest.raises(InvalidPartitionValue):
            cubes.add_partitions("periods", "lake", [PartitionDesc("DAILY", {"dt": "2015-01-29"}, {"region": value})])
    cubes.add_partitions("periods", "lake", [PartitionDesc("DAILY", {"dt": "2015-01-29"}, {"region": None})])
    assert cubes.partitions("periods", "lake")[0].values[1] == "__HIVE_DEFAULT_PARTITION__"


def test_a_batch_is_registered_wholly_or_not_at_all(cubes):
    cubes.add_partitions("rides_daily", "lake", days("2015-01-02"))
    before = state(cubes, "rides_daily", "lake")
    for batch in (days("2015-01-01", "2015-01-02"), days("2015-01-03", "2015-01-03")):
        with pytest.raises(AlreadyExists):
            cubes.add_partitions("rides_daily", "lake", batch)
    with pytest.raises(PartitionNotFound):
        cubes.drop_partitions("rides_daily", "lake", days("2015-01-02", "2015-01-03"))
    with pytest.raises(PartitionNotFound):
        cubes.alter_partitions("rides_daily", "lake", days("2015-01-02", "2015-01-03", location="s3://new"))
    assert state(cubes, "rides_daily", "lake") == before
    assert cubes.add_partitions("rides_daily", "lake", []) == 0


def test_a_batch_is_one_change_of_the_store(cubes, monkeypatch):
    calls = []
    for name in ("add", "replace"):
        inner = getattr(Writer, name)
        monkeypatch.setattr(
            Writer, name, lambda *args, inner=inner, **named: (calls.append(args), inner(*args, **named))[1]
        )
    start = utc(2015, 1, 1)
    batch = [PartitionDesc("DAILY", {"dt": start + dt.timedelta(days=number)}) for number in range(400)]
    assert cubes.add_partitions("rides_daily", "lake", batch) == 400
    assert cubes.drop_partitions("rides_daily", "lake", batch[:300]) == 300
    assert len(calls) == 2
    assert len(cubes.partitions("rides_daily", "lake")) == 100


def test_partitions_are_updated(cubes):
    cubes.add_partitions("rides_daily", "archive", days("2015-01-01", "2015-01-02", location="s3://old"))
    (created, _) = cubes.partitions("rides_daily", "archive")
    assert cubes.alter_partitions("rides_daily", "archive", days("2015-01-01", location="s3://new")) == 1
    assert cubes.alter_partitions("rides_daily", "archive", days("2015-01-02", parameters={"numRows": "5"})) == 1
    one, two = cubes.partitions("rides_daily", "archive")
    assert (one.location, two.location) == ("s3://new", "s3://old")
    assert two.parameters == {"numRows": "5", PARTITION_UPDATE_PERIOD: "DAILY"}
    assert (one.create_time, one.storage) == (created.create_time, created.storage)
    assert cubes.timelines("rides_daily", storage="archive")[0].exists(utc(2015, 1, 2))


def test_a_month_is_not_taken_for_a_quarter(cubes):
    periods_fact(cubes, "string", "MONTHLY", "QUARTERLY")
    month, quarter = (PartitionDesc(one, {"dt": "2015-04"}, {"region": "1"}) for one in ("MONTHLY", "QUARTERLY"))
    cubes.add_partitions("periods", "lake", [quarter])
    with pytest.raises(AlreadyExists):
        cubes.add_partitions("periods", "lake", [month])
    for call in (cubes.drop_partitions, cubes.alter_partitions):
        with pytest.raises(PartitionNotFound) as caught:
            call("periods", "lake", [month])
        assert caught.value.fields["found"] == "QUARTERLY"
    assert cubes.drop_partitions("periods", "lake", [quarter]) == 1


def test_partitions_are_within_the_fact_s_validity(cubes):
    cubes.alter(FACT.changed(start_time="2015-01-15", end_time="now.day-3days"))  # now is 2016-06-15
    for text in ("2015-01-14", "2016-06-12", "2016-06-13"):
        with pytest.raises(OutsideValidity) as caught:
            cubes.add_partitions("rides_daily", "lake", days("2015-01-20", text))
        assert caught.value.fields["time"] == text
        assert caught.value.fields["end"] == "2016-06-12T00:00:00+00:00"
    for text in ("2014-12", "2016-07"):
        with pytest.raises(OutsideValidity):
            cubes.add_partitions("rides_daily", "lake", [PartitionDesc("MONTHLY", {"dt": text})])
    assert cubes.partitions("rides_daily", "lake") == []
    cubes.add_partitions("rides_daily", "lake", days("2015-01-15", "2016-06-11"))
    cubes.add_partitions(
        "rides_daily", "lake", [PartitionDesc("MONTHLY", {"dt": one}) for one in ("2015-01", "2016-06")]
    )
    cubes.alter(FACT.changed(start_time="2016"))
    assert cubes.drop_partitions("rides_daily", "lake", days("2015-01-15", "2015-01-15")) == 1


def test_validity_is_about_the_cube_s_time_dimensions(cubes):
    fact = sample("rides_raw")
    (table,) = fact.storage_tables
    processed = table.changed(
        partition_columns=[Column(name="dt", type="string"), Column(name="pt", type="string")],
        time_partition_columns=["dt", "pt"],
    )
    cubes.create(fact.changed(name="processed", end_time="2015-02", storage_tables=[processed]))
    late = PartitionDesc("HOURLY", {"dt": "2015-01-31-23", "pt": "2015-02-01-02"})
    cubes.add_partitions("processed", "lake", [late])
    with pytest.raises(OutsideValidity):
        cubes.add_partitions(
            "processed", "lake", [PartitionDesc("HOURLY", {"dt": "2015-02-01-00", "pt": "2015-01-31-23"})]
        )


def test_facts_with_several_columns(cubes):
    cubes.add_partitions("rides_raw", "lake", [hour("2015-01-01-00"), hour("2015-01-01-00", "cargo", "2014-12-31-20")])
    values = [one.values for one in cubes.partitions("rides_raw", "lake", "bike_kind = 'cargo'")]
    assert values == [("2015-01-01-00", "2014-12-31-20", "cargo")]
    started, booked = cubes.timelines("rides_raw")
    assert (started.partition_column, booked.partition_column) == ("dt", "bt")
    assert cubes.timelines("rides_raw", time_dimension="booked_time")[0].first() == utc(2014, 12, 31, 20)
    cubes.drop_partitions("rides_raw", "lake", [hour("2015-01-01-00")])
    assert cubes.timelines("rides_raw", time_dimension="dt")[0].exists(utc(2015, 1, 1))  # the other kind holds it
    cubes.drop_partitions("rides_raw", "lake", [hour("2015-01-01-00", "cargo", "2014-12-31-20")])
    assert all(one.is_empty() for one in cubes.timelines("rides_raw"))


def test_what_is_not_there_is_named(cubes):
    for call in (cubes.add_partitions, cubes.alter_partitions, cubes.drop_partitions):
        for name, storage in (("none", "lake"), ("rides_raw", "archive"), ("rides", "lake")):
            with pytest.raises(ModelNotFound):
                call(name, storage, [])
    with pytest.raises(UnknownUpdatePeriod):
        PartitionDesc("DAYLY")


def test_descriptions_are_values():
    times = {"dt": "2015-01-29"}
    one = PartitionDesc("daily", times)
    times["dt"] = "2015-01-30"
    assert one == PartitionDesc(UpdatePeriod.DAILY, {"dt": "2015-01-29"})
    assert hash(one) == hash(PartitionDesc("DAILY", {"dt": "2015-01-29"}))
    with pytest.raises(TypeError):
        one.time["dt"] = "x"


def test_values_stand_in_the_order_of_the_columns():
    on = StorageTable(
        storage="s",
        update_periods=["DAILY"],
        partition_columns=[Column(name=name, type="string") for name in ("a", "dt", "b", "pt")],
        time_partition_columns=["pt", "dt"],
    )
    desc = PartitionDesc("DAILY", {"pt": "2015-01-02", "dt": "2015-01-01"}, {"B": "2", "A": "1"})
    assert values_of(on, desc) == ("1", "2015-01-01", "2", "2015-01-02")


def test_a_storage_table_chooses_the_class_of_its_timelines(cubes):
    name = "cube.storagetable.partition.timeline.cache.DAILY.dt.storage.class"
    description = TableDescription(table_properties={name: "RangesPartitionTimeline"})
    lake, archive = FACT.storage_tables
    cubes.create(FACT.changed(name="ranges", storage_tables=[lake.changed(description=description), archive]))
    cubes.add_partitions("ranges", "lake", days("2015-01-01"))
    found = [type(one).__name__ for one in cubes.timelines("ranges")]
    assert found == ["RangesPartitionTimeline", "EndsAndHolesPartitionTimeline", "EndsAndHolesPartitionTimeline"]


def test_what_is_there_is_passed_over_when_told_to(cubes):
    assert cubes.add_partitions("rides_daily", "lake", days("2015-01-01", "2015-01-02")) == 2
    more = days("2015-01-02", "2015-01-03", "2015-01-03")
    assert cubes.add_partitions("rides_daily", "lake", more, if_not_exists=True) == 1
    assert cubes.add_partitions("rides_daily", "lake", more, if_not_exists=True) == 0
    dump = days("2015-01-28", other={"district": "nl"})
    assert [cubes.add_partitions("stations", "lake", dump, if_not_exists=True) for _ in range(2)] == [1, 0]


@pytest.mark.parametrize("if_not_exists", [True, False])
def test_a_month_in_a_quarters_place_is_told(cubes, if_not_exists):
    cubes.alter(on(sample("rides_daily"), "lake", update_periods=["MONTHLY", "QUARTERLY"]))
    cubes.add_partitions("rides_daily", "lake", [PartitionDesc("MONTHLY", {"dt": "2015-01"})])
    quarter = PartitionDesc("QUARTERLY", {"dt": "2015-01"})
    with pytest.raises(AlreadyExists, match="register them on different storages") as caught:
        cubes.add_partitions("rides_daily", "lake", [quarter], if_not_exists=if_not_exists)
    assert (caught.value.fields["update_period"], caught.value.fields["found"]) == ("QUARTERLY", "MONTHLY")

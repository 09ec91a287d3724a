"""Rows of covers: of exactly the partitions that they consist of, each once, from tables that differ in columns."""

from __future__ import annotations

import datetime as dt
from datetime import UTC

import pyarrow as pa
import pytest
from pyarrow import parquet

from hbstore import connect
from hbstore.cubes import Cover, CoverPartition, Cubes, PartitionDesc, parse_documents
from hbstore.errors import InvalidInput, PartitionNotFound, Uncoverable, UnknownTimeDimension
from hbstore.spark import read_cover
from hbstore.timelines import UpdatePeriod

MODEL = """
kind: storage
name: lake
---
kind: storage
name: vault
---
kind: cube
name: rides
time_dimensions: {{start_time: dt, paid_time: pt}}
measures: [{{name: fare, type: bigint}}]
dim_attributes: [{{name: start_time, type: timestamp}}, {{name: paid_time, type: timestamp}}]
---
kind: fact
name: daily
cube: rides
columns: [{{name: fare, type: bigint}}]
storage_tables:
  - storage: lake
    update_periods: [DAILY, HOURLY]
    partition_columns: [{{name: dt, type: string}}]
    time_partition_columns: [dt]
    description: {{location: "file:{root}/lake", format: parquet}}
  - storage: vault
    update_periods: [MONTHLY]
    partition_columns: [{{name: dt, type: date}}, {{name: country, type: string}}]
    time_partition_columns: [dt]
    description: {{location: "file:{root}/vault", format: parquet}}
---
kind: fact
name: twice
cube: rides
columns: [{{name: fare, type: bigint}}]
storage_tables:
  - storage: lake
    update_periods: [DAILY]
    partition_columns: [{{name: dt, type: string}}, {{name: pt, type: string}}]
    time_partition_columns: [dt, pt]
    description: {{location: "file:{root}/twice", format: parquet}}
  - storage: vault
    update_periods: [DAILY, MONTHLY]
    partition_columns: [{{name: pt, type: date}}, {{name: country, type: string}}]
    time_partition_columns: [pt]
    description: {{location: "file:{root}/mixed", format: parquet}}
"""


def day(number, month=1):
    return dt.datetime(2015, month, number, tzinfo=UTC)


@pytest.fixture
def cubes(url, tmp_path):
    """January by days, but the 3rd; the 2nd by its hours; February as a month of two countries."""
    with connect(url) as store:
        store.create_database("shop")
        cubes = Cubes(store, "shop")
        cubes.create_all(parse_documents(MODEL.format(root=tmp_path), "yaml"))

        def write(path, fare):
            (tmp_path / path).mkdir(parents=True)
            parquet.write_table(pa.table({"fare": [fare]}), tmp_path / path / "a.parquet")

        for number in (1, 4, 5):
            write(f"lake/dt=2015-01-{number:02}", number)
            cubes.add_partitions("daily", "lake", [PartitionDesc("DAILY", {"dt": f"2015-01-{number:02}"})])
        hours = [f"2015-01-02-{hour:02}" for hour in range(24)]
        for number, text in enumerate(hours):
            write(f"lake/dt={text}", 1000 + number)
        cubes.add_partitions("daily", "lake", [PartitionDesc("HOURLY", {"dt": text}) for text in hours])
        for fare, country in ((10_000, "be"), (20_000, "nl")):
            write(f"vault/dt=2015-02-01/country={country}", fare)
            cubes.add_partitions("daily", "vault", [PartitionDesc("MONTHLY", {"dt": "2015-02"}, {"country": country})])
        for fare, text in ((1, "2015-01-01"), (2, "2015-01-02")):
            write(f"twice/dt={text}/pt=2015-01-02", fare)
            cubes.add_partitions("twice", "lake", [PartitionDesc("DAILY", {"dt": text, "pt": "2015-01-02"})])
        yield cubes


def fares(frame):
    return sorted(row.fare for row in frame.collect())


def folders(frame, root):
    return {name.partition(f"{root}/")[2].rpartition("/")[0] for name in frame.inputFiles()}


def test_the_partitions_of_a_cover_are_read_each_once(spark, cubes, tmp_path):
    cover = cubes.cover("daily", day(1), day(3))
    frame = read_cover(spark, cubes.store, cover, database="shop")
    assert fares(frame) == [1, *range(1000, 1024)]
    assert folders(frame, tmp_path) == {"lake/dt=2015-01-01", *(f"lake/dt=2015-01-02-{at:02}" for at in range(24))}
    hour = cubes.cover("daily", day(2) + dt.timedelta(hours=7), day(2) + dt.timedelta(hours=8))
    assert fares(read_cover(spark, cubes.store, hour, database="Shop")) == [1007]
    # A list of partitions will do, in any order and with one twice.
    partitions = [CoverPartition(UpdatePeriod.DAILY, day(at), "lake_daily") for at in (5, 1, 5)]
    assert fares(read_cover(spark, cubes.store, Cover(partitions, []), database="shop")) == [1, 5]


def test_tables_are_read_together_and_lack_columns(spark, cubes, tmp_path):
    cover = cubes.cover("daily", day(4), day(1, 3), partial=True)
    assert [table for _, _, table in cover.partitions] == ["lake_daily", "lake_daily", "vault_daily"]
    frame = read_cover(spark, str(cubes.store.rows.url), cover, database="shop", partial=True)
    assert frame.columns == ["fare", "dt", "country"]
    found = sorted((row.fare, row.country) for row in frame.collect())
    assert found == [(4, None), (5, None), (10_000, "be"), (20_000, "nl")]
    assert folders(frame, tmp_path) == {
        *(f"lake/dt=2015-01-0{at}" for at in (4, 5)),
        *(f"vault/dt=2015-02-01/country={one}" for one in ("be", "nl")),
    }


def test_an_incomplete_cover_is_refused_unless_it_may_be(spark, cubes):
    cover = cubes.cover("daily", day(1), day(5), partial=True)
    with pytest.raises(Uncoverable) as caught:
        read_cover(spark, cubes.store, cover, database="shop")
    assert caught.value.missing == [(day(3), day(4))]
    frame = read_cover(spark, cubes.store, cover, database="shop", partial=True)
    assert fares(frame) == [1, 4, *range(1000, 1024)]
    nothing = cubes.cover("daily", day(3), day(4), partial=True)
    with pytest.raises(InvalidInput, match="no partitions"):
        read_cover(spark, cubes.store, nothing, database="shop", partial=True)


def test_the_time_column_is_named_where_there_are_several(spark, cubes):
    cover = cubes.cover("twice", day(2), day(3), time_dimension="start_time")
    with pytest.raises(UnknownTimeDimension, match="just one time partition column") as caught:
        read_cover(spark, cubes.store, cover, database="shop")
    assert caught.value.fields["partition_columns"] == "dt, pt"
    assert fares(read_cover(spark, cubes.store, cover, database="shop", column="DT")) == [2]
    assert fares(read_cover(spark, cubes.store, cover, database="shop", column="pt")) == [1, 2]
    with pytest.raises(UnknownTimeDimension, match="no such partition column"):
        read_cover(spark, cubes.store, cover, database="shop", column="fare")


def test_a_partition_that_was_dropped_meanwhile_is_named(spark, cubes):
    cover = cubes.cover("daily", day(4), day(6))
    cubes.drop_partitions("daily", "lake", [PartitionDesc("DAILY", {"dt": "2015-01-05"})])
    with pytest.raises(PartitionNotFound, match="dt=2015-01-05"):
        read_cover(spark, cubes.store, cover, database="shop")


def test_partitions_of_another_update_period_are_not_read_for_it(spark, cubes, tmp_path):
    for period, country in (("MONTHLY", "be"), ("DAILY", "nl")):
        text = "2015-01" if period == "MONTHLY" else "2015-01-01"
        desc = PartitionDesc(period, {"pt": text}, {"country": country}, location=f"file:{tmp_path}/lake/dt=2015-01-01")
        cubes.add_partitions("twice", "vault", [desc])
    cover = Cover([CoverPartition(UpdatePeriod.DAILY, day(1), "vault_twice")], [])
    with pytest.raises(InvalidInput, match="another update period") as caught:
        read_cover(spark, cubes.store, cover, database="shop")
    assert caught.value.fields["update_period"] == "MONTHLY"


@pytest.mark.parametrize(
    "wrong", [{"cover": None}, {"cover": []}, {"database": None}, {"column": 5}, {"partial": "no"}, {"store": None}]
)
def test_wrong_arguments_are_named(spark, cubes, wrong):
    arguments = {"store": cubes.store, "cover": Cover([], []), "database": "shop", **wrong}
    with pytest.raises(InvalidInput, match=f"argument={next(iter(wrong))}"):
        read_cover(spark, **arguments)

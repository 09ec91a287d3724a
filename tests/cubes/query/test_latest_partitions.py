"""Dimensions are read by their latest partitions, whatever the type of their time partition column."""

from __future__ import annotations

import datetime as dt
from random import Random

import duckdb
import pytest

from hbstore import connect
from hbstore.cubes import Cubes, PartitionDesc, parse_documents
from hbstore.errors import NoCandidate, UnsupportedQuery
from hbstore.model.objects import Partition
from hbstore.store.partition_store import PartitionStore
from tests.cubes.query.spark_in_duckdb import in_duckdb
from tests.cubes.query.stars import ordered
from tests.cubes.test_stored_cover import CountingRows

MODEL = """
kind: storage
name: lake
---
kind: dimension
name: station
dim_attributes: [{{name: id, type: int}}, {{name: region, type: string}}, {{name: dumped, type: string}}]
---
kind: dimtable
name: stations
dimension: station
columns: [{{name: id, type: int}}, {{name: dumped, type: string}}]
storage_tables:
  - storage: lake
    update_periods: [{period}]
    partition_columns: [{columns}]
    time_partition_columns: [dt]
"""
BEGIN = dt.datetime(2015, 1, 1, tzinfo=dt.UTC)
ALL = "select id, dumped from station"
PARTITION_READS = ("multi_get", "scan", "payloads", "heads", "count", "whole_rows")


def opened(store, kind="date", *others, period="DAILY"):
    store.create_database("shop")
    cubes = Cubes(store, "shop")
    columns = ", ".join(f"{{name: {name}, type: {of}}}" for name, of in (("dt", kind), *others))
    cubes.create_all(parse_documents(MODEL.format(columns=columns, period=period), "yaml"))
    return cubes


def dump(day, region=None, zone=None, period="DAILY"):
    other = {name: text for name, text in (("region", region), ("zone", zone)) if text is not None}
    text = "%Y-%m-%d" if period == "DAILY" else "%Y-%m-%d-%H"
    return PartitionDesc(period, {"dt": (BEGIN + day * dt.timedelta(days=1)).strftime(text)}, other)


@pytest.mark.parametrize("kind", ["string", "date", "timestamp"])
@pytest.mark.parametrize("others", [(), ("region",), ("region", "zone")])
@pytest.mark.parametrize("seed", range(4))
def test_the_newest_dump_of_each_combination_is_read(kind, others, seed):
    random = Random(f"{kind} {others} {seed}")
    period = "HOURLY" if kind == "timestamp" and seed % 2 else "DAILY"
    types = {"region": "string", "zone": "int"}
    with connect("memory://") as store, duckdb.connect() as db:
        cubes = opened(store, kind, *((name, types[name]) for name in others), period=period)
        dumps = {}
        for _ in range(random.choice([1, 3, 12])):
            day = random.randrange(5)
            region = random.choice(["eu", "us", "o'hara"]) if "region" in others else None
            zone = random.choice(["5", "7"]) if "zone" in others else None
            dumps[day, region, zone] = dump(day, region, zone, period)
        for one in random.sample(list(dumps), len(dumps)):
            cubes.add_partitions("stations", "lake", [dumps[one]])
        for one in random.sample(list(dumps), len(dumps) // 3):
            cubes.drop_partitions("stations", "lake", [dumps.pop(one)])
        newest = {}
        for day, region, zone in dumps:
            newest[region, zone] = max(day, newest.get((region, zone), 0))
        columns = "".join(f", {name} {types[name]}" for name in others)
        db.execute("CREATE SCHEMA shop")
        db.execute(f"CREATE TABLE shop.lake_stations (id INT, dumped VARCHAR, dt {kind}{columns})")
        rows = [(one, dumps[one].time["dt"][:10]) for one in dumps]
        if kind == "string":
            rows = [((day, *combination), "latest") for combination, day in newest.items()]
        for (day, region, zone), value in rows:
            values = [one for one in (region, zone) if one is not None]
            places = ", ".join("?" for _ in range(3 + len(values)))
            db.execute(f"INSERT INTO shop.lake_stations VALUES ({places})", [day, f"{region} {zone}", value, *values])
        found = cubes.rewrite(ALL)
        expected = [(day, f"{region} {zone}") for (region, zone), day in newest.items()]
        assert ordered(db.execute(in_duckdb(found.sql)).fetchall()) == ordered(expected)
        read = store.get_partitions_by_filter("shop", "lake_stations", str(found.reads["lake_stations"]))
        assert len(read) == len(newest)


@pytest.mark.parametrize("zoned", [False, True])
@pytest.mark.parametrize(
    ("kind", "text"), [("date", "2015-1-2"), ("date", "2015-01-02 00:00:00"), ("timestamp", "2015-01-02")]
)
def test_a_dump_that_somebody_spells_otherwise_is_read_by_its_value(kind, text, zoned):
    with connect("memory://") as store:
        cubes = opened(store, kind, *((("zone", "int"),) if zoned else ()))
        zone, other = ("05", ("5",)) if zoned else (None, ())
        cubes.add_partitions("stations", "lake", [dump(0, zone=zone), dump(2, zone=zone)])
        store.add_partitions("shop", "lake_stations", [Partition((text, *other))], invalid_values="keep")
        cubes.drop_partitions("stations", "lake", [dump(2, zone=zone)])
        answer = cubes.rewrite(ALL)
        (partition,) = store.get_partitions_by_expr("shop", "lake_stations", answer.reads["lake_stations"])
        assert partition.values == (text, *other)
        cubes.add_partitions("stations", "lake", [dump(1, zone=zone and "5")])
        with pytest.raises(NoCandidate, match=r"have the same values, so that both would be read; drop one of them"):
            cubes.rewrite(ALL)


def test_texts_of_one_value_are_one_combination():
    with connect("memory://") as store, duckdb.connect() as db:
        cubes = opened(store, "date", ("zone", "int"))
        cubes.add_partitions("stations", "lake", [dump(0, zone="5"), dump(1, zone="5"), dump(0, zone="05")])
        db.execute("CREATE SCHEMA shop")
        db.execute("CREATE TABLE shop.lake_stations (id INT, dumped VARCHAR, dt DATE, zone INT)")
        rows = [(1, "first of 5", "2015-01-01", 5), (2, "second of 5", "2015-01-02", 5), (3, "of 05", "2015-01-01", 5)]
        db.executemany("INSERT INTO shop.lake_stations VALUES (?, ?, ?, ?)", rows)
        assert db.execute(in_duckdb(cubes.rewrite(ALL).sql)).fetchall() == [(2, "second of 5")]


@pytest.mark.parametrize(("others", "reads"), [((), {"payloads": 2}), ((("region", "string"),), {"payloads": 1})])
@pytest.mark.parametrize("kind", ["date", "timestamp"])
def test_one_look_up_reads_the_row_of_the_table_once(kind, others, reads):
    with connect("memory://") as store:
        cubes = opened(store, kind, *others)
        region = "eu" if others else None
        cubes.add_partitions("stations", "lake", [dump(0, region), dump(1, region)])
        rows = CountingRows(store.rows)
        assert Cubes(PartitionStore(rows), "shop").rewrite(ALL).sql == cubes.rewrite(ALL).sql
        assert rows.reads.pop(b"Tshop lake_stations") == 1
        assert {name: count for name, count in rows.reads.items() if name in PARTITION_READS} == reads


def test_one_query_as_it_is_written():
    with connect("memory://") as store:
        cubes = opened(store, "date", ("region", "string"))
        cubes.add_partitions("stations", "lake", [dump(0, "eu"), dump(0, "us")])
        rewritten = cubes.rewrite(ALL)
        assert "WHERE `dt` = CAST('2015-01-01' AS DATE)" in " ".join(rewritten.sql.split())
        assert str(rewritten.reads["lake_stations"]) == (
            "(dt = '2015-01-01' and region = 'eu') or (dt = '2015-01-01' and region = 'us')"
        )
        cubes.add_partitions("stations", "lake", [dump(1, "us")])
        assert str(cubes.rewrite(ALL).reads["lake_stations"]) == (
            "(dt = '2015-01-01' and region = 'eu') or (dt = '2015-01-02' and region = 'us')"
        )


def test_a_table_without_partitions_and_one_whose_newest_is_gone():
    with connect("memory://") as store:
        cubes = opened(store)
        with pytest.raises(NoCandidate, match="NO_PARTITIONS: it has no partition latest"):
            cubes.rewrite(ALL)
        cubes.add_partitions("stations", "lake", [dump(0), dump(1)])
        store.drop_partitions("shop", "lake_stations", [("2015-01-02",)])
        with pytest.raises(NoCandidate, match="NO_PARTITIONS: a partition is gone of which latest is a copy"):
            cubes.rewrite(ALL)
        cubes.add_partitions("stations", "lake", [dump(1)])
        assert str(cubes.rewrite(ALL).reads["lake_stations"]) == "dt = '2015-01-02'"


def test_partitions_of_no_dump_are_not_read():
    """A partition that another door added has no `latest`, and so is not read, as in columns of strings."""
    with connect("memory://") as store:
        cubes = opened(store, "date", ("region", "string"))
        cubes.add_partitions("stations", "lake", [dump(0, "eu")])
        store.add_partitions("shop", "lake_stations", [Partition(("2015-01-01", "us"))])
        assert str(cubes.rewrite(ALL).reads["lake_stations"]) == "dt = '2015-01-01' and region = 'eu'"


def test_too_many_combinations_of_different_times():
    with connect("memory://") as store:
        cubes = opened(store, "date", ("region", "string"))
        cubes.add_partitions("stations", "lake", [dump(0, f"r{number}") for number in range(250)])
        assert cubes.rewrite(ALL).sql
        cubes.add_partitions("stations", "lake", [dump(1, "r7")])
        with pytest.raises(UnsupportedQuery, match="too many") as caught:
            cubes.rewrite(ALL)
        assert caught.value.hint

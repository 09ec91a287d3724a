"""The Spark SQL of cube queries, as it is, in a Spark on `hbstore serve`: its rows, and which partitions it reads."""

from __future__ import annotations

from collections import Counter
from urllib.parse import unquote

import pyarrow as pa
import pytest
from pyarrow import parquet

from hbstore import connect
from hbstore.cubes import Cubes, PartitionDesc, parse_documents
from tests.metastore.serving import Serve
from tests.metastore.spark.process import tell

pytestmark = [pytest.mark.spark]
MODEL = """
kind: storage
name: lake
---
kind: storage
name: vault
---
kind: cube
name: rides
time_dimensions: {{start_time: dt}}
measures:
  - {{name: fare, type: bigint, default_aggregate: sum}}
  - {{name: tip, type: bigint, default_aggregate: sum}}
dim_attributes: [{{name: start_time, type: timestamp}}, {{name: station_id, type: int}}, {{name: bike, type: string}}]
join_chains: [{{name: city, paths: [["rides.station_id = station.id"]]}}]
---
kind: dimension
name: station
dim_attributes: [{{name: id, type: int}}, {{name: name, type: string}}]
---
kind: fact
name: daily
cube: rides
weight: 1
columns: [{{name: fare, type: bigint}}, {{name: station_id, type: int}}]
storage_tables:
  - storage: lake
    update_periods: [DAILY, HOURLY]
    partition_columns: [{{name: dt, type: string}}]
    time_partition_columns: [dt]
    description: {{location: "file:{root}/daily", format: parquet}}
  - storage: vault
    update_periods: [MONTHLY]
    partition_columns: [{{name: dt, type: date}}]
    time_partition_columns: [dt]
    description: {{location: "file:{root}/monthly", format: parquet}}
---
kind: fact
name: tips
cube: rides
columns: [{{name: tip, type: bigint}}, {{name: station_id, type: int}}]
storage_tables:
  - storage: lake
    update_periods: [HOURLY]
    partition_columns: [{{name: dt, type: timestamp}}]
    time_partition_columns: [dt]
    description: {{location: "file:{root}/tips", format: parquet}}
---
kind: dimtable
name: stations
dimension: station
columns: [{{name: id, type: int}}, {{name: name, type: string}}]
storage_tables:
  - storage: lake
    update_periods: [DAILY]
    partition_columns: [{{name: dt, type: string}}]
    time_partition_columns: [dt]
    description: {{location: "file:{root}/stations", format: parquet}}
"""
MARCH = [f"2015-03-{day:02}-{hour:02}" for day in (1, 2, 3, 4) for hour in range(24)]
FROM = "from rides where time_range_in(start_time, '{}', '{}')"
QUERIES = {
    "days": f"cube select fare {FROM.format('2015-01-30', '2015-02')}",
    "days and hours and a month": f"cube select city.name, fare {FROM.format('2015-01-29', '2015-03')}",
    "a month": f"cube select station_id, fare {FROM.format('2015-02', '2015-03')}",
    "two facts": f"cube select city.name, fare, tip {FROM.format('2015-01-29-05', '2015-01-29-08')}",
    "many hours": f"cube select fare {FROM.format('2015-03-01-01', '2015-03-05')} options (max_interval = 'HOURLY')",
    "times in cases": "cube select sum(case when station_id = 1 then fare end) as one"
    f" {FROM.format('2015-01-29', '2015-02')}"
    " and (time_range_in(start_time, '2015-01-29', '2015-01-30') or not station_id = 2)",
}
READ = {
    "days": {"daily": {"dt=2015-01-30", "dt=2015-01-31"}},
    "days and hours and a month": {
        "daily": {"dt=2015-01-30", "dt=2015-01-31", *(f"dt=2015-01-29-{hour:02}" for hour in range(24))},
        "monthly": {"dt=2015-02-01"},
        "stations": {"dt=2015-01-01"},
    },
    "a month": {"monthly": {"dt=2015-02-01"}},
    "two facts": {
        "daily": {f"dt=2015-01-29-{hour:02}" for hour in (5, 6, 7)},
        "tips": {f"dt=2015-01-29 0{hour}%3A00%3A00" for hour in (5, 6, 7)},
        "stations": {"dt=2015-01-01"},
    },
    "many hours": {"daily": {f"dt={text}" for text in MARCH[1:]}},
    "times in cases": {
        "daily": {"dt=2015-01-30", "dt=2015-01-31", *(f"dt=2015-01-29-{hour:02}" for hour in range(24))}
    },
}
"""By query, the folders that are read."""

DAYS_WITHIN = 3
"""Days that the range of many hours has within it. The endpoint answers them, too, and Spark leaves them out."""

TABLES = {"daily": "lake_daily", "monthly": "vault_daily", "tips": "lake_tips"}
"""Storage tables of facts, by their folder."""


def write(root, path, **columns):
    folder = root / path
    folder.mkdir(parents=True)
    parquet.write_table(pa.table(columns), folder / "a.parquet")


def fill(cubes, root):
    """Days, but the 29th of January in hours; February as a month, beside days of it; the days and hours of a March."""
    days = ["2015-01-28", "2015-01-30", "2015-01-31", "2015-02-01", "2015-02-02"]
    days += [f"2015-03-{day:02}" for day in (1, 2, 3, 4)]
    hours = [*(f"2015-01-29-{hour:02}" for hour in range(24)), *MARCH]
    for number, text in enumerate([*days, *hours]):
        station = pa.array([1, 2, 3], pa.int32())
        write(root, f"daily/dt={text}", fare=[number, 100 * number, 10_000], station_id=station)
    cubes.add_partitions("daily", "lake", [PartitionDesc("DAILY", {"dt": text}) for text in days])
    cubes.add_partitions("daily", "lake", [PartitionDesc("HOURLY", {"dt": text}) for text in hours])
    for month in ("2015-01", "2015-02", "2015-03"):
        write(root, f"monthly/dt={month}-01", fare=[7, 1_000_000], station_id=pa.array([1, 2], pa.int32()))
    cubes.add_partitions(
        "daily", "vault", [PartitionDesc("MONTHLY", {"dt": month}) for month in ("2015-02", "2015-03")]
    )
    for hour in range(24):
        write(root, f"tips/dt=2015-01-29 {hour:02}%3A00%3A00", tip=[hour], station_id=pa.array([1], pa.int32()))
    cubes.add_partitions("tips", "lake", [PartitionDesc("HOURLY", {"dt": text}) for text in hours[:24]])
    write(root, "stations/dt=2015-01-01", id=pa.array([1, 2], pa.int32()), name=["Utrecht", "Delft"])
    cubes.add_partitions("stations", "lake", [PartitionDesc("DAILY", {"dt": "2015-01-01"})])


def test_the_sql_of_a_query_runs_as_it_is_and_reads_the_chosen_partitions(tmp_path, spark_process):
    url = f"sqlite://{tmp_path}/catalog.db"
    with connect(url) as store:
        store.create_database("shop")
        cubes = Cubes(store, "shop")
        cubes.create_all(parse_documents(MODEL.format(root=tmp_path), "yaml"))
        fill(cubes, tmp_path)
        chosen = {name: cubes.rewrite(text).partitions for name, text in QUERIES.items()}
    with Serve(url, tmp_path, "--log-calls") as server:
        (answers,) = spark_process.run(ask, tmp_path / "spark", server.ready["uri"], url)
    calls = [line for line in server.log("call") if line["method"].startswith("get_partition")]
    assert answers["days"]["by_sql"] == [[1 + 100 + 10_000 + 2 + 200 + 10_000]]
    for name in QUERIES:
        answer, read = answers[name], {}
        assert answer["by_sql"] == answer["by_cube"], name
        assert answer["by_sql"]
        for file in answer["files"]:
            table, folder = unquote(file).partition(f"{tmp_path}/")[2].split("/")[:2]
            read.setdefault(table, set()).add(folder)
        assert read == READ[name]
        facts = {TABLES[table]: len(some) for table, some in read.items() if table in TABLES}
        assert facts == {table: len(some) for table, some in chosen[name].items()}
    asked = {call["table"]: call["method"] for call in calls}
    # Spark pushes no condition on a timestamp: it lists all partitions of such a table, and reads the chosen ones.
    assert asked == {
        **dict.fromkeys(("shop.lake_daily", "shop.vault_daily", "shop.lake_stations"), "get_partitions_by_filter"),
        "shop.lake_tips": "get_partitions",
    }
    answered, wanted = Counter(), Counter({"lake_tips": 24 - 3, "lake_stations": 2, "lake_daily": DAYS_WITHIN})
    for call in calls:
        answered[call["table"].removeprefix("shop.")] += call["partitions"]
    for read in chosen.values():
        wanted.update({table: len(some) for table, some in read.items()})
    assert answered == wanted


def ask(folder, uri, url):
    """In Spark's process: the rows of each query by its SQL and without the endpoint; what the former reads."""
    from hbstore.spark import cube
    from tests.metastore.spark.session import start_session

    spark = start_session(folder, uri)
    found = {}
    with connect(url) as store:
        for name, text in QUERIES.items():
            frame = spark.sql(Cubes(store, "shop").rewrite(text).sql)
            by_cube = cube(spark, store, text, database="shop")
            found[name] = {
                "by_sql": sorted(map(list, frame.collect()), key=str),
                "by_cube": sorted(map(list, by_cube.collect()), key=str),
                "files": frame.inputFiles(),
            }
    spark.stop()
    tell(found)

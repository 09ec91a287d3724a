"""Cube queries on Spark, answered from roll-ups, beside the same questions of the raw rows.

The raw rows of a year are Parquet files, a folder for each day. Spark rolls them up to days and to months. A month is
missing, and days within it and at the ends of the year, so each answer is made of months, days and raw rows. Both sides
are read by `hbstore.spark`, run in turn, and must have the same rows.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Final

from pyspark.sql import Row, SparkSession

from benchmarks.metastore.servers import scratch
from benchmarks.spark_session import spark_session
from benchmarks.timing import Report
from hbstore import connect
from hbstore.cubes import Cubes, PartitionDesc
from hbstore.cubes.concepts import Cube, Storage
from hbstore.cubes.fields import DimAttribute, Expression, ExpressionSpec, Measure
from hbstore.cubes.logical_tables import Column, Fact, StorageTable, TableDescription
from hbstore.spark import cube, read_table
from hbstore.store.partition_store import PartitionStore
from hbstore.times.update_period import UpdatePeriod

ROWS: Final = 20_000_000
DAYS: Final = 365
RUNS: Final = 5
FIRST: Final = date(2014, 1, 1)
MONTH_MISSING: Final = "2014-08"
DAYS_MISSING: Final = frozenset(("2014-01-20", "2014-08-08", "2014-12-24"))
SETTINGS: Final = {"spark.sql.shuffle.partitions": "4", "spark.sql.session.timeZone": "UTC"}
MEASURES: Final = {"amount": "sum", "receipt": "count", "discount": "max"}
ATTRIBUTES: Final = ("region", "channel", "category")
"""Those that roll-ups keep."""
RAW_ROWS: Final = """\
SELECT
  int(pmod(hash(id, 1), 50)) AS region, int(pmod(hash(id, 2), 4)) AS channel, int(pmod(hash(id, 3), 20)) AS category,
  int(pmod(hash(id, 4), 1000000)) AS customer,
  bigint(pmod(hash(id, 5), 10000)) AS amount, id AS receipt, bigint(pmod(hash(id, 6), 100)) AS discount,
  string(date_add(date '{first}', int(id * {days} div {rows}))) AS dt
FROM range({rows})"""
YEAR: Final = ("2014-01-15", "2014-12-28")
QUESTIONS: Final = (
    ("the year by region", "region", "", YEAR),
    ("the year by month, of one channel", "date_trunc('month', sold)", "channel = 1", YEAR),
    ("a quarter, three attributes", "region, channel, category", "", ("2014-07-01", "2014-10-01")),
)
MEASURED: Final = "amount, receipt, discount, price"
MEASURED_RAW: Final = "sum(amount), count(receipt), max(discount), sum(amount) / count(receipt)"


def run() -> Iterator[Report]:
    """The table."""
    with scratch() as folder, spark_session("local[2]", folder, SETTINGS) as spark:
        began = time.perf_counter()
        with connect(f"sqlite://{folder / 'catalog.db'}") as store:
            cubes = _filled(spark, store, folder)
            made = time.perf_counter() - began
            size = sum(file.stat().st_size for file in (folder / "raw").rglob("*.parquet")) / 1e6
            report = Report(
                f"Cube queries on Spark: {ROWS:,} raw rows of a year ({size:,.0f} MB of Parquet, made in {made:.0f} s);"
                " raw: the same from the raw rows"
            )
            for title, attributes, condition, ends in QUESTIONS:
                _ask(report, spark, cubes, title, attributes, condition, ends)
            yield report


def _ask(
    report: Report,
    spark: SparkSession,
    cubes: Cubes,
    title: str,
    attributes: str,
    condition: str,
    ends: tuple[str, str],
) -> None:
    """Time the rewriting alone, and the answer beside that of the raw rows."""
    start, end = ends
    also = f" AND {condition}" if condition else ""
    text = f"cube select {attributes}, {MEASURED} from sales where time_range_in(sold, '{start}', '{end}'){also}"
    in_rows = attributes.replace("sold", "timestamp(dt)")
    raw = f"SELECT {in_rows}, {MEASURED_RAW} FROM raw WHERE true{also} GROUP BY {in_rows}"

    def by_roll_ups(_: int = 0) -> list[Row]:
        return cube(spark, cubes.store, text, database="shop").collect()

    def by_rows(_: int = 0) -> list[Row]:
        read_table(spark, cubes.store, "shop.lake_raw", f"dt >= '{start}' and dt < '{end}'").createOrReplaceTempView(
            "raw"
        )
        return spark.sql(raw).collect()

    if sorted(map(tuple, by_roll_ups())) != sorted(map(tuple, by_rows())):
        raise SystemExit(f"the answers differ: {text}")
    chosen = cubes.rewrite(text).partitions
    note = ", ".join(f"{len(some)} of {table}" for table, some in chosen.items())
    report.compare(f"{title}: rewriting", lambda _: cubes.rewrite(text), target="", runs=50, note=note)
    report.compare(f"{title}: rows", by_roll_ups, by_rows, target="", runs=RUNS)


def _filled(spark: SparkSession, store: PartitionStore, folder: Path) -> Cubes:
    """The cube with its facts, and the files of their partitions."""
    store.create_database("shop")
    cubes = Cubes(store, "shop")
    cubes.create_all([Storage(name="lake"), _cube()])
    days = [str(FIRST + timedelta(number)) for number in range(DAYS)]
    months = sorted({day[:7] for day in days})
    spark.sql(RAW_ROWS.format(first=FIRST, days=DAYS, rows=ROWS)).write.partitionBy("dt").parquet(f"{folder}/raw")
    _fact(cubes, folder, "raw", "DAILY", 100, days)
    rows = spark.read.schema(", ".join([*_columns("customer"), "dt string"])).parquet(f"{folder}/raw")
    rows.createOrReplaceTempView("raw")
    _roll_up(spark, folder, "days", "dt")
    _fact(cubes, folder, "days", "DAILY", 1, [day for day in days if day not in DAYS_MISSING])
    _roll_up(spark, folder, "months", "left(dt, 7)")
    _fact(cubes, folder, "months", "MONTHLY", 0.1, [month for month in months if month != MONTH_MISSING])
    return cubes


def _cube() -> Cube:
    attributes = [*ATTRIBUTES, "customer"]
    return Cube(
        name="sales",
        time_dimensions={"sold": "dt"},
        measures=tuple(Measure(name=name, type="bigint", default_aggregate=kind) for name, kind in MEASURES.items()),
        dim_attributes=(
            DimAttribute(name="sold", type="timestamp"),
            *(DimAttribute(name=name, type="int") for name in attributes),
        ),
        expressions=(Expression(name="price", type="double", specs=(ExpressionSpec(expression="amount / receipt"),)),),
    )


def _columns(*others: str) -> list[str]:
    return [*(f"{name} int" for name in (*ATTRIBUTES, *others)), *(f"{name} bigint" for name in MEASURES)]


def _fact(cubes: Cubes, folder: Path, name: str, period: str, weight: float, times: list[str]) -> None:
    """A fact, and partitions of it."""
    raw = name == "raw"
    named = [column.split() for column in _columns(*(["customer"] if raw else []))]
    fact = Fact(
        name=name,
        cube="sales",
        weight=weight,
        properties={"cube.fact.is.aggregated": "false"} if raw else {},
        columns=tuple(Column(name=column, type=kind) for column, kind in named),
        storage_tables=(
            StorageTable(
                storage="lake",
                update_periods=(UpdatePeriod[period],),
                partition_columns=(Column(name="dt", type="string"),),
                time_partition_columns=("dt",),
                description=TableDescription(location=f"file:{folder}/{name}", format="parquet"),
            ),
        ),
    )
    cubes.create(fact)
    cubes.add_partitions(name, "lake", [PartitionDesc(period, {"dt": time}) for time in times])


def _roll_up(spark: SparkSession, folder: Path, name: str, time: str) -> None:
    """The files of a fact: each period is one of them."""
    attributes = ", ".join(ATTRIBUTES)
    measures = ", ".join(f"{kind}({name}) {name}" for name, kind in MEASURES.items())
    rolled_up = spark.sql(f"SELECT {attributes}, {measures}, {time} dt FROM raw GROUP BY {attributes}, {time}")
    rolled_up.repartition("dt").write.partitionBy("dt").parquet(f"{folder}/{name}")

"""Random queries of a random star on Spark: the rows that it reads from files are those of the cube's own rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

from pyspark.errors import ArithmeticException
from pyspark.sql import functions as f

from hbstore.errors import NoCandidate
from hbstore.spark import cube
from tests.cubes.query import stars
from tests.cubes.query.comparison import ANSWERED, PARTIAL, REFUSED
from tests.cubes.query.questions import question

ANSI = "spark.sql.ansi.enabled"
LISTED_AT_ONCE = {"spark.sql.sources.parallelPartitionDiscovery.threshold": "10000"}
"""A star has thousands of folders with a file or none, which jobs list more slowly than a thread."""


def compare(spark, place, seed, queries):
    """How many queries of a star were answered, as the rows say, and how many were refused."""
    random = Random(seed)
    place.mkdir()
    special = replace(stars.Kind.of(random), unreadable=0.0)
    world = stars.world(random, f"sqlite://{place}/catalog.db", f"file:{place}", special)
    write_files(world)
    seen = Counter()
    for number in range(queries):
        asked, missing = question(random, world.kind), ()
        try:
            found, kind = answer(spark, world, asked.text), ANSWERED
        except NoCandidate as refusal:
            if not refusal.missing:
                seen[REFUSED] += 1
                continue
            missing = world.cubes.rewrite(asked.text, now=stars.NOW, partial=True).missing
            found, kind = answer(spark, world, asked.text, partial=True), PARTIAL
        expected = world.rows(asked.sql(missing))
        if not asked.order:
            found, expected = sorted(found, key=repr), sorted(expected, key=repr)
        assert found == expected, (seed, number, asked.text, asked.sql(missing))
        seen[kind] += 1
    world.close()
    return seen


def write_files(world: stars.World) -> None:
    """Each table's rows as Parquet; those of partitions that the table lacks lie beside the others."""
    store = world.cubes.store
    for name in store.table_names("shop"):
        table = store.get_table("shop", name)
        folder = Path(table.location.removeprefix("file:"))
        folder.mkdir(parents=True)
        times = ", ".join(f"{one.name}::TIMESTAMPTZ AS {one.name}" for one in table.columns if one.type == "timestamp")
        copied = f"COPY (SELECT *{f' REPLACE ({times})' if times else ''} FROM shop.{name}) TO "
        if not table.partition_columns:
            world.db.execute(f"{copied} '{folder}/rows.parquet' (FORMAT parquet)")
            continue
        by = ", ".join(one.name for one in table.partition_columns)
        world.db.execute(f"{copied} '{folder}' (FORMAT parquet, PARTITION_BY ({by}), OVERWRITE_OR_IGNORE)")
        for partition in store.get_partitions_by_filter("shop", name, None):
            Path(partition.location.removeprefix("file:")).mkdir(parents=True, exist_ok=True)


def answer(spark, world, text, **options):
    """The rows of an answer; Spark divides by 0 only if it is told to, and then it gives NULL, as DuckDB does."""
    try:
        return rows_of(cube(spark, world.cubes.store, text, database="shop", now=stars.NOW, **options))
    except ArithmeticException as error:
        assert error.getCondition() == "DIVIDE_BY_ZERO"  # noqa: PT017  other errors are wrong
    spark.conf.set(ANSI, "false")
    try:
        return rows_of(cube(spark, world.cubes.store, text, database="shop", now=stars.NOW, **options))
    finally:
        spark.conf.unset(ANSI)


def rows_of(frame):
    """The rows of an answer; times are collected as they are in UTC, whatever the zone of this process is."""
    frame = frame.toDF(*(f"c{at}" for at in range(len(frame.columns))))
    times = [name for name, kind in frame.dtypes if kind == "timestamp"]
    return stars.plain(frame.withColumns({name: f.col(name).cast("timestamp_ntz") for name in times}).collect())

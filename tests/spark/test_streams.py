"""Streams into partitions: each row once, however often a query is started again, and named errors for what is bad."""

from __future__ import annotations

import json
import os
import shutil
import time
from datetime import date, timedelta

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import functions as f

from hbstore import Column, Table, connect
from hbstore.errors import (
    CorruptCheckpoint,
    InvalidInput,
    InvalidPartitionValue,
    InvalidUrl,
    StreamConflict,
    TableNotFound,
)
from hbstore.publishing import Manifest, PartitionWrite, Publisher
from hbstore.spark import read_table, stream_to_table, write_batch
from hbstore.spark.streams.digest import digest_of
from hbstore.store.stream_batches import Stream
from hbstore.timelines import UpdatePeriod

COLUMNS = [Column("ds", "date"), Column("hour", "int")]
SCHEMA = "id long, name string, ds date, hour int"
EPOCH = 1_357_000_000
NOW = {"availableNow": True}
TIMED = {"cube.storagetable.time.partcols": "ds", "cube.storagetable.update.periods": "DAILY"}


@pytest.fixture
def store(tmp_path):
    with connect("memory://") as store:
        store.create_database("shop")
        store.create_table(table(tmp_path))
        yield store


def table(tmp_path, name="sales", columns=COLUMNS, **parameters):
    provider = {"spark.sql.sources.provider": "parquet"}
    data = [Column("id", "bigint"), Column("name", "string")]
    return Table("shop", name, columns, data, location=f"file:{tmp_path}/{name}", parameters=provider | parameters)


class Source:
    """A folder of JSON files, of which a stream takes one for each batch."""

    def __init__(self, spark, folder):
        self._spark = spark
        self.folder = folder
        self.folder.mkdir()
        self.ids = []

    def add(self, files=1, rows=10):
        """Files with rows of three days, and an hour for each day."""
        for _ in range(files):
            start = len(self.ids)
            self.ids += range(start, start + rows)
            at = start // rows
            hidden = self.folder / f".{at}"
            hidden.write_text("".join(line(one) for one in range(start, start + rows)))
            os.utime(hidden, (EPOCH + at, EPOCH + at))  # a stream takes the older file first
            hidden.rename(self.folder / f"{at:03}.json")

    def stream(self, schema=SCHEMA):
        reader = self._spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).option("latestFirst", "false")
        return reader.json(str(self.folder))


def line(number, **others):
    ds = date(2013, 1, 1) + timedelta(days=number % 3)
    row = {"id": number, "name": f"n{number}", "ds": f"{ds:%Y-%m-%d}", "hour": number % 3 + 5}
    return json.dumps(row | others) + "\n"


@pytest.fixture
def source(spark, tmp_path):
    return Source(spark, tmp_path / "source")


@pytest.fixture
def run(store, source, tmp_path):
    """Starts a query, has it write what is there, and gives it."""

    def started(stream=None, into=store, name="shop.sales", checkpoint="checkpoint", **options):
        stream = source.stream() if stream is None else stream
        query = stream_to_table(stream, into, name, checkpoint=str(tmp_path / checkpoint), trigger=NOW, **options)
        query.awaitTermination()
        return query

    return started


def ids(spark, store, name="shop.sales"):
    return sorted(row.id for row in read_table(spark, store, name).collect())


def batches(store, query, sink="shop.sales"):
    row = store.publications.row("shop", "sales")
    return [number for number, _ in store.publications.batches(row, Stream(str(query.id), sink)).digests]


def files(tmp_path):
    return sorted(str(path) for path in (tmp_path / "sales").rglob("*.parquet"))


def forget(tmp_path, number):
    """Have Spark write a batch again."""
    for name in (str(number), f".{number}.crc"):
        (tmp_path / "checkpoint/commits" / name).unlink()


def test_a_query_goes_on_where_it_ended(spark, store, source, run):
    source.add(files=3)
    first = run()
    assert ids(spark, store) == source.ids
    assert batches(store, first) == [0, 1, 2]
    source.add(files=2)
    second = run()
    assert second.id == first.id
    assert ids(spark, store) == source.ids
    assert batches(store, second) == [0, 1, 2, 3, 4]
    assert store.partition_names("shop", "sales") == [f"ds=2013-01-0{day}/hour={day + 4}" for day in (1, 2, 3)]
    counts = [int(one.parameters["numRows"]) for one in store.get_partitions_by_filter("shop", "sales", None)]
    assert sum(counts) == len(source.ids)


def test_a_batch_that_spark_writes_again_changes_nothing(spark, store, source, run, tmp_path):
    source.add(files=2)
    query = run()
    before = files(tmp_path)
    forget(tmp_path, 1)
    run()
    assert files(tmp_path) == before
    source.add()
    run()
    assert ids(spark, store) == source.ids
    assert batches(store, query) == [0, 1, 2]


def test_other_rows_under_the_same_number_are_a_conflict(spark, store, source, run, tmp_path):
    source.add(files=2)
    run()
    before = files(tmp_path)
    forget(tmp_path, 1)
    changed = source.folder / "001.json"
    changed.write_text(changed.read_text().replace("n15", "m15"))
    with pytest.raises(StreamingQueryException, match=r"StreamConflict.*with other rows"):
        run()
    assert files(tmp_path) == before
    assert ids(spark, store) == source.ids


def test_a_batch_of_ones_own_query_is_written_once(spark, store, tmp_path):
    def rows(name):
        columns = f.col("id"), f.lit(name).alias("name"), f.lit("2013-01-01").alias("ds"), f.lit(5).alias("hour")
        return spark.range(10).select(*columns)

    options = {"query_id": "q", "sink_id": "s"}
    written = write_batch(rows("a"), store, "shop.sales", batch_id=7, **options)
    assert (written.partitions, written.rows) == (("ds=2013-01-01/hour=5",), 10)
    assert write_batch(rows("a").repartition(3), store, "shop.sales", batch_id=7, **options) is None
    with pytest.raises(StreamConflict, match="with other rows"):
        write_batch(rows("b"), store, "shop.sales", batch_id=7, **options)
    with pytest.raises(StreamConflict, match="older"):
        write_batch(rows("a"), store, "shop.sales", batch_id=6, **options)
    assert write_batch(rows("a"), store, "shop.sales", batch_id=7, query_id="q", sink_id="other").rows == 10
    assert write_batch(rows("a").limit(0), store, "shop.sales", batch_id=8, **options).rows == 0
    assert len(ids(spark, store)) == 20
    assert not [path for path in (tmp_path / "sales/_hbstore").rglob("*") if path.is_file()]


def test_static_values_are_part_of_what_a_batch_is(spark, store, source, run, tmp_path):
    source.add()
    stream = source.stream().drop("ds")
    query = run(stream, static={"ds": "2013-02-01"}, sink_id="days")
    assert store.partition_names("shop", "sales") == [f"ds=2013-02-01/hour={hour}" for hour in (5, 6, 7)]
    assert batches(store, query, "days") == [0]
    forget(tmp_path, 0)
    with pytest.raises(StreamingQueryException, match="StreamConflict"):
        run(stream, static={"ds": "2013-02-02"}, sink_id="days")
    assert ids(spark, store) == source.ids


def test_all_values_static_are_one_partition(store, source, run):
    source.add(files=2)
    run(source.stream().drop("ds", "hour"), static={"ds": "2013-02-01", "hour": 1})
    (one,) = store.get_partitions_by_filter("shop", "sales", None)
    assert (one.values, one.parameters["numRows"]) == (("2013-02-01", "1"), "20")


def test_timelines_and_a_store_that_is_opened_for_each_batch(spark, source, run, tmp_path):
    url = f"sqlite:///{tmp_path}/catalog.db"
    with connect(url) as store:
        store.create_database("shop")
        store.create_table(table(tmp_path, "timed", **TIMED))
        source.add(files=2)
        run(into=url, name="shop.timed")
        (timeline,) = store.timelines.of("shop.timed")
        assert list(map(UpdatePeriod.DAILY.format, timeline.iterate())) == ["2013-01-01", "2013-01-02", "2013-01-03"]
        assert ids(spark, store, "shop.timed") == source.ids


def test_a_batch_waits_for_a_job_that_died_with_its_partitions(spark, store, source, run, tmp_path):
    place = f"file:{tmp_path}/sales/ds=2013-01-01/hour=5"
    dead = Manifest("dead", f"{tmp_path}/sales/_hbstore/dead", (PartitionWrite(("2013-01-01", "5"), place),))
    row = Publisher(store).lease("shop.sales", dead)
    store.publications.extend(row, "dead", time.time() + 3)
    source.add()
    run()
    assert ids(spark, store) == source.ids


def test_a_batch_with_values_that_do_not_fit_changes_nothing_and_is_written_once_mended(spark, store, source, run):
    source.add()
    broken = source.folder / "000.json"
    whole = broken.read_text()
    broken.write_text(whole.replace("2013-01-02", "someday"))
    schema = "id long, name string, ds string, hour int"
    with pytest.raises(StreamingQueryException, match=InvalidPartitionValue.__name__):
        run(source.stream(schema))
    assert store.partition_names("shop", "sales") == []
    broken.write_text(whole)
    run(source.stream(schema))
    assert ids(spark, store) == source.ids


def test_what_cannot_be_written_is_refused_at_once(spark, store, source, run, tmp_path):
    store.create_table(Table("shop", "nowhere", COLUMNS, [Column("id", "bigint"), Column("name", "string")]))
    with pytest.raises(InvalidInput, match="missing=name"):
        run(source.stream().drop("name"))
    with pytest.raises(InvalidInput, match="no location"):
        run(name="shop.nowhere")
    with pytest.raises(InvalidInput, match="not a stream"):
        run(spark.range(1))
    with pytest.raises(InvalidInput, match="not a partition column"):
        run(static={"name": "a"})
    with pytest.raises(TableNotFound):
        run(name="shop.nothing")
    with pytest.raises(InvalidUrl, match="in memory"):
        run(into="memory://")
    assert not (tmp_path / "checkpoint").exists()


def truncate(path):
    path.write_text(path.read_text()[:-9])


DAMAGES = [
    ("metadata", lambda path: path.unlink()),
    ("metadata", lambda path: path.write_text("")),
    ("metadata", truncate),
    ("metadata", lambda path: path.write_text('{"id": 7}')),
    ("offsets/1", lambda path: path.write_text("")),
    ("offsets/1", lambda path: path.write_text("v1\n")),
    ("offsets/1", truncate),
    ("commits/1", truncate),
]


def test_a_half_written_checkpoint_is_named(spark, store, source, run, tmp_path):
    source.add(files=2)
    run()
    for number, (file, damage) in enumerate(DAMAGES):
        place = tmp_path / f"damaged{number}"
        shutil.copytree(tmp_path / "checkpoint", place)
        damage(place / file)
        with pytest.raises(CorruptCheckpoint):  # a file's checksum, or that it is missing, tells it
            run(checkpoint=place.name)
        checksum = (place / file).with_name(f".{file.rpartition('/')[2]}.crc")
        checksum.unlink(missing_ok=True)
        with pytest.raises(CorruptCheckpoint, match=f"file={file}"):
            run(checkpoint=place.name)
    shutil.copytree(tmp_path / "checkpoint", tmp_path / "whole")
    run(checkpoint="whole")
    assert ids(spark, store) == source.ids


def test_a_checkpoint_whose_batch_was_only_begun_is_none(spark, store, source, run, tmp_path):
    source.add()
    run()
    forget(tmp_path, 0)
    (tmp_path / "checkpoint/commits/.0.tmp").write_text("")
    run()
    assert ids(spark, store) == source.ids


SOME = [(1, "a", None, [1, None]), (2, "b", "c", []), (2, "b", "c", []), (3, None, "a", None)]
NESTED = "id int, one string, other string, list array<int>"


def digest(spark, rows, schema=NESTED, static=None, parts=1):
    return digest_of(spark.createDataFrame(rows, schema).repartition(parts), static or {})


def test_the_digest_is_of_the_rows_and_not_of_their_order(spark):
    assert digest(spark, SOME) == digest(spark, SOME[::-1], parts=3)
    assert digest(spark, SOME).startswith("4-")
    added = [(*row, None) for row in SOME]
    assert digest(spark, added, f"{NESTED}, more int") == digest(spark, SOME)


@pytest.mark.parametrize(
    "rows",
    [
        SOME[:3],
        [*SOME, SOME[0]],
        [*SOME[:2], SOME[0], SOME[3]],
        [(1, None, "a", [1, None]), *SOME[1:]],
        [(1, "a", None, [1]), *SOME[1:]],
        [(1, "a", None, [None, 1]), *SOME[1:]],
        [*SOME[:3], (3, None, "a", [])],
    ],
)
def test_other_rows_have_another_digest(spark, rows):
    assert digest(spark, rows) != digest(spark, SOME)


def test_the_digest_takes_every_type(spark):
    maps = spark.sql(
        "SELECT map('a', 1, 'b', NULL) AS m, named_struct('x', 1.5D) AS s, X'00FF' AS b, DATE'2013-01-01' AS d"
    )
    others = spark.sql("SELECT map('a', 1) AS m, named_struct('x', 1.5D) AS s, X'00FF' AS b, DATE'2013-01-01' AS d")
    assert digest_of(maps, {}) == digest_of(maps, {})
    assert digest_of(maps, {}) != digest_of(others, {})
    assert digest_of(maps, {}) != digest_of(maps, {"ds": "2013-01-01"})

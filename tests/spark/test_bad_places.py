"""Places that files cannot go to: full disks, values that are no names of folders, tables that are moved meanwhile."""

from __future__ import annotations

import resource
from contextlib import contextmanager
from dataclasses import replace

import pytest
from pyspark import SparkContext
from pyspark.errors import StreamingQueryException
from pyspark.sql import functions as f

from hbstore import Column, Partition, Table, connect
from hbstore.errors import CommitStateUnknown, ConcurrentChange, FileOperationFailed, StoreFull, WriteFailed
from hbstore.spark import read_table, stream_to_table, write_table
from hbstore.spark import writes as writing

NOW = {"availableNow": True}
DAY = {"ds": "2013-01-01"}


@pytest.fixture
def root(tmp_path):
    return tmp_path / "sales"


@pytest.fixture
def store(tmp_path, root):
    with connect(f"sqlite://{tmp_path}/catalog.db") as store:
        store.create_database("shop")
        columns = [Column("ds", "string")]
        data = [Column("id", "bigint"), Column("name", "string")]
        provider = {"spark.sql.sources.provider": "parquet"}
        store.create_table(Table("shop", "sales", columns, data, location=f"file:{root}", parameters=provider))
        yield store


def rows(spark, number=10, ds="2013-01-01"):
    return spark.range(number).select(
        "id", f.sha2(f.col("id").cast("string"), 512).alias("name"), f.lit(ds).alias("ds")
    )


@contextmanager
def full_disk(bytes_of_a_file=20_000):
    """No file of Java's can grow any further, as on a disk without room."""
    java = SparkContext._gateway.proc.pid
    before = resource.prlimit(java, resource.RLIMIT_FSIZE)
    resource.prlimit(java, resource.RLIMIT_FSIZE, (bytes_of_a_file, before[1]))
    try:
        yield
    finally:
        resource.prlimit(java, resource.RLIMIT_FSIZE, before)


def seen(spark, store):
    return sorted(row.id for row in read_table(spark, store, "shop.sales").collect())


def files(root):
    return [path for path in root.rglob("*") if path.is_file()]


@pytest.mark.parametrize("mode", ["append", "overwrite"])
def test_a_full_disk_changes_nothing(spark, store, root, mode):
    write_table(rows(spark), store, "shop.sales")
    before = files(root)
    with full_disk(), pytest.raises(WriteFailed, match="File too large") as caught:
        write_table(rows(spark, 5000), store, "shop.sales", mode)
    assert "write again" in caught.value.hint
    assert files(root) == before
    assert seen(spark, store) == list(range(10))
    assert store.publications.of(store.publications.row("shop", "sales")) == []
    write_table(rows(spark, 5000), store, "shop.sales", "overwrite")
    assert seen(spark, store) == list(range(5000))


def test_a_full_disk_under_the_store_leaves_whole_writes(spark, store, root):
    """Which of the writes fails, and before or after it was decided, depends on how SQLite fills its pages."""
    write_table(rows(spark), store, "shop.sales")
    with store.rows._connections.mine() as sqlite:
        (pages,) = sqlite.execute("PRAGMA page_count").fetchone()
        sqlite.execute(f"PRAGMA max_page_count = {pages}")
    long = f.concat(f.lit("x" * 60), f.sha2(f.col("id").cast("string"), 512))
    written, failed = 10, None
    for _ in range(50):
        many = spark.range(written, written + 40).select("id", f.lit("a").alias("name"), long.alias("ds"))
        try:
            write_table(many, store, "shop.sales")
        except (StoreFull, CommitStateUnknown) as error:
            failed = error
            break
        written += 40
    assert failed is not None
    with store.rows._connections.mine() as sqlite:
        sqlite.execute("PRAGMA max_page_count = 100000")
    written += 40 * isinstance(failed, CommitStateUnknown)
    assert seen(spark, store) == list(range(written))
    assert not [path for path in files(root) if path.name.startswith(".") and not path.name.endswith(".crc")]
    write_table(rows(spark), store, "shop.sales")
    assert len(seen(spark, store)) == written + 10


def test_a_stream_ends_on_a_full_disk_and_goes_on_later(spark, store, root, tmp_path):
    (tmp_path / "source").mkdir()
    rows(spark, 5000).coalesce(1).write.mode("append").json(str(tmp_path / "source"))
    stream = spark.readStream.schema("id long, name string, ds string").json(str(tmp_path / "source"))

    def run():
        query = stream_to_table(stream, store, "shop.sales", checkpoint=str(tmp_path / "checkpoint"), trigger=NOW)
        query.awaitTermination()

    with full_disk(), pytest.raises(StreamingQueryException, match=r"WriteFailed.*File too large"):
        run()
    assert files(root) == []
    assert store.partition_names("shop", "sales") == []
    run()
    assert seen(spark, store) == list(range(5000))


LONG = "x" * 300
"""More than a file system takes for a name."""


@pytest.mark.parametrize("static", [None, {"ds": LONG}])
def test_a_value_that_is_no_folders_name(spark, store, root, static):
    frame = rows(spark, ds=LONG)
    with pytest.raises((WriteFailed, FileOperationFailed), match="ds=xxx") as caught:
        write_table(frame.drop("ds") if static else frame, store, "shop.sales", static=static)
    assert caught.value.hint
    assert files(root) == []
    assert store.partition_names("shop", "sales") == []
    assert store.publications.of(store.publications.row("shop", "sales")) == []


def test_a_table_that_is_moved_while_a_job_writes(spark, store, root, tmp_path, monkeypatch):
    write_table(rows(spark), store, "shop.sales")
    real = writing.listed

    def late(*given):
        monkeypatch.setattr(writing, "listed", real)
        table = store.get_table("shop", "sales")
        store.alter_table(replace(table, location=f"file:{tmp_path}/moved"))
        return real(*given)

    monkeypatch.setattr(writing, "listed", late)
    with pytest.raises(ConcurrentChange, match="the location of the table changed"):
        write_table(rows(spark), store, "shop.sales")
    assert seen(spark, store) == list(range(10))
    assert not list((root / "_hbstore").iterdir())
    write_table(rows(spark, ds="2013-01-02"), store, "shop.sales")
    assert len(seen(spark, store)) == 20
    assert (tmp_path / "moved/ds=2013-01-02").is_dir()


def test_a_table_in_a_place_that_cannot_be_written(spark, store, root, tmp_path):
    (tmp_path / "file").write_text("no folder")
    store.create_table(replace(store.get_table("shop", "sales"), name="odd", location=f"file:{tmp_path}/file/below"))
    with pytest.raises(WriteFailed) as caught:
        write_table(rows(spark), store, "shop.odd")
    assert caught.value.fields["reason"]
    store.add_partitions("shop", "odd", [Partition(["2013-01-02"], location=f"file:{root}/ok")])
    assert store.partition_names("shop", "odd") == ["ds=2013-01-02"]

"""Partitions whose values are spelled otherwise: what Spark shows of its own table, hbstore shows of them."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as f

import hbstore
from hbstore.cubes import Cover, CoverPartition
from hbstore.keys.partition_names import escape_name
from hbstore.keys.row_key import text_cell
from hbstore.keys.types import parse_type, read_value
from hbstore.repair import sync_partitions
from hbstore.spark import read_cover, read_table, register_source
from hbstore.spark.analysis.whole import PartitionColumns
from hbstore.spark.formats import PROVIDER
from hbstore.timelines import UpdatePeriod
from tests.spellings import SPELLINGS, spelling
from tests.strategies import TYPE_TEXTS

ANSI = "spark.sql.ansi.enabled"
TEXTS = 25
"""Of each kind in a table: as they are in the list, and random ones."""
ROWS = 3
"""In each partition."""
NANOSECONDS = re.compile(r"[.][0-9]{7}")


@dataclass(frozen=True, slots=True)
class Respelled:
    """A table with a partition for each of some texts, in a store.

    Attributes:
        kind: the type of its partition column p.
        texts: each row's text.
        values: what Spark shows of p in a table of its own, by row, as texts.
        url: the store's.
    """

    kind: str
    texts: list
    values: dict
    url: str

    def may_differ(self, row):
        """A text may depend on the session, or be a year above 9999: Spark has a value, hbstore has none."""
        return self.values[row] is not None and read_value(parse_type(self.kind), self.texts[row]) is None


@pytest.fixture(scope="module", params=TYPE_TEXTS)
def table(spark, tmp_path_factory, request):
    """A `Respelled`, and Spark's own table ``respelled``, which cannot be read in ANSI mode."""
    kind, random, top = request.param, Random(request.param), tmp_path_factory.mktemp("respelled")
    some = random.sample(SPELLINGS, TEXTS) + [spelling(random) for _ in range(TEXTS)]
    texts = list({text_cell(parse_type(kind), text): text for text in some if text}.values())
    for row, text in enumerate(texts):
        (top / f"p={escape_name(text)}").mkdir()
        pq.write_table(pa.table({"row": [row] * ROWS}), top / f"p={escape_name(text)}" / "part.parquet")
    url = f"sqlite://{tmp_path_factory.mktemp('store') / 'catalog.db'}"
    with hbstore.connect(url) as store:
        store.create_database("shop")
        data, keys, parquet = hbstore.Column("row", "bigint"), hbstore.Column("p", kind), {PROVIDER: "parquet"}
        store.create_table(hbstore.Table("shop", "t", [keys], [data], location=f"file:{top}", parameters=parquet))
        store.add_partitions("shop", "t", [hbstore.Partition([text]) for text in texts], invalid_values="keep")
    before = spark.conf.get(ANSI)
    spark.conf.set(ANSI, "false")
    spark.sql(f"CREATE TABLE respelled (row BIGINT, p {kind}) USING parquet PARTITIONED BY (p) LOCATION 'file:{top}'")
    spark.sql("MSCK REPAIR TABLE respelled")
    yield Respelled(kind, texts, dict(shown(spark.table("respelled"), kind)), url)
    spark.sql("DROP TABLE respelled")
    spark.conf.set(ANSI, before)


def shown(frame, kind):
    """What a table shows of its partition column, by row. Spark fills its own values of a char with blanks."""
    value = f.rtrim("p") if kind.startswith("char") else f.col("p").cast("string")
    return sorted(map(tuple, frame.select("row", value).collect()))


def test_values_are_read_as_spark_reads_its_own(spark, table):
    rows = shown(read_table(spark, table.url, "shop.t"), table.kind)
    assert rows == [(row, value) for row, value in sorted(table.values.items()) for _ in range(ROWS)]


def test_statistics_are_those_of_the_values(spark, table):
    # Spark's times have microseconds.
    kept = [row for row, text in enumerate(table.texts) if not table.may_differ(row) and not NANOSECONDS.search(text)]
    columns = PartitionColumns(hbstore.Table("shop", "t", [hbstore.Column("p", table.kind)]))
    for row in kept:
        columns.add([table.texts[row]], ROWS)
    ((_, summary),) = columns.summaries()
    rows = spark.table("respelled").where(f.col("row").isin(kept))
    numbers = f.count(f.lit(1)), f.count_if(f.col("p").isNull()), f.count_distinct("p")
    expected = tuple(rows.agg(*numbers).first())
    if table.kind.startswith("char"):  # without Spark's blanks
        expected = (*expected[:2], len({table.texts[row] for row in kept}))
    assert (summary.rows, summary.nulls, summary.distinct) == expected


def test_the_source_shows_the_values(spark, table):
    register_source(spark)
    partitions = spark.read.format("hbstore").options(url=table.url, table="shop.t").load()
    by_name = dict(map(tuple, partitions.select("partition_name", f.col("p").cast("string")).collect()))
    assert len(by_name) == len(table.texts)
    for row, text in enumerate(table.texts):
        value = by_name[f"p={escape_name(text)}"]
        if table.kind.startswith("char"):
            value = value.rstrip(" ")
        assert value == table.values[row] or (value is None and table.may_differ(row))


@pytest.fixture
def written(tmp_path):
    """Registers the folders of a column that pyarrow writes, one for each value: the store's URL."""

    def write(kind, values):
        rows = pa.table({"row": range(len(values)), "p": pa.array(values)})
        pq.write_to_dataset(rows, tmp_path / "t", partition_cols=["p"])
        url = f"sqlite://{tmp_path / 'catalog.db'}"
        with hbstore.connect(url) as store:
            store.create_database("shop")
            data, keys = hbstore.Column("row", "bigint"), hbstore.Column("p", kind)
            location, parquet = f"file:{tmp_path / 't'}", {PROVIDER: "parquet"}
            store.create_table(hbstore.Table("shop", "t", [keys], [data], location=location, parameters=parquet))
            assert sync_partitions(store, "shop.t").added == len(values)
        return url

    return write


def test_folders_of_arrow_are_read(spark, written):
    values = ["café", "a b", "x|y", "a/b", "50%", "%41", "caf%C3%A9", "😀", None]
    url = written("string", values)
    assert sorted(map(tuple, read_table(spark, url, "shop.t").collect())) == list(enumerate(values))
    assert [row.row for row in read_table(spark, url, "shop.t", "p = 'café'").collect()] == [0]


def test_covers_hold_the_times_of_respelled_values(spark, written):
    url = written("date", [dt.datetime(2024, 1, 8), dt.datetime(2024, 1, 9)])  # noqa: DTZ001  without a zone
    day = UpdatePeriod.DAILY
    cover = Cover([CoverPartition(day, day.parse("2024-01-09"), "t")], [])
    rows = read_cover(spark, url, cover, database="shop", column="p").collect()
    assert [tuple(row) for row in rows] == [(1, dt.date(2024, 1, 9))]

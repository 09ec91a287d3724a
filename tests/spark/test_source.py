"""The format ``hbstore``: columns, tasks, writing, errors."""

from __future__ import annotations

import datetime as dt
import pickle
import re
from decimal import Decimal
from importlib.util import spec_from_file_location

import pytest
from pyspark.sql import functions as f
from pyspark.sql import types as spark_types

import hbstore
from hbstore.keys.row_key import NULL_PARTITION
from hbstore.spark import register_source
from hbstore.spark.source.source import HbstoreSource
from tests.spark.every_type import LAST, NOON, ODD, SPARK_TYPES, TICK, TYPES, created

pytestmark = pytest.mark.spark

OWN = ["location", "parameters", "create_time", "num_rows", "total_size", "num_files", "partition_name"]


def test_columns_are_typed_and_what_is_null_is_null(source, every_type):
    frame = source(every_type)
    assert {one.name: one.dataType.simpleString() for one in frame.schema.fields if one.name in TYPES} == SPARK_TYPES
    assert frame.columns == [*TYPES, *OWN]
    found = {row.partition_name: row for row in frame.collect()}
    with hbstore.connect(every_type) as store:
        assert sorted(found) == sorted(store.partition_names("shop", "sales"))
        for one, name in zip(
            store.get_partitions_by_filter("shop", "sales", None), store.partition_names("shop", "sales"), strict=True
        ):
            assert found[name].location == one.location
            for (column, (kind, _, _)), text in zip(TYPES.items(), one.values, strict=True):
                assert repr(found[name][column]) == repr(expected(kind, text)), (column, text)


def expected(kind, text):
    """What a text is in a column, by the words of docs/spark.md."""
    known = {
        "05": 5, "+7": 7, "0007": 7, "2147483648": None, "2013-1-2": dt.date(2013, 1, 2), "1.555": Decimal("1.56"),
        "1E+2": Decimal("100.00"), "1.5": Decimal("1.50"), "TRUE": True, "false": False, "yes": True, "-0.0": 0.0,
        "2013-01-01T12:00:00.000001": NOON + TICK, "2013-01-01 12:00:00.000000999": NOON,
        "2013-01-01 12:00:00.000001001": NOON + TICK, "9999-12-31 23:59:59.999999999": LAST,
        "1969-12-31 23:59:59.9": dt.datetime(1969, 12, 31, 23, 59, 59, 900_000),  # noqa: DTZ001
        "2013-02-30": None,
    }  # fmt: skip
    if text != NULL_PARTITION and (kind == "string" or "char" in kind):
        return text
    if text == NULL_PARTITION or text.startswith("kept"):
        return None
    if text in known:
        return known[text]
    if kind == "timestamp":
        return None if text == "noon" else dt.datetime.fromisoformat(text)
    if kind == "float":
        return None if text == "x" else spark_types.Row(float(text))[0] if text in ("NaN", "Infinity") else FLOATS[text]
    readers = {"date": dt.date.fromisoformat, "boolean": lambda _: None, "double": float}
    return readers.get(kind, Decimal if kind.startswith("decimal") else int)(text)


FLOATS = {"0.1": 0.10000000149011612, "1e-40": 9.999946101114759e-41}


def test_columns_of_its_own_give_way_to_partition_columns(source, url, make_table):
    store = make_table(LOCATION="string", num_rows="int", hbstore_num_rows="int")
    store.add_partitions("shop", "sales", [hbstore.Partition(("Berlin", "1", "2"), parameters={"numRows": "3"})])
    (row,) = source(url).select("LOCATION", "num_rows", "hbstore_num_rows", "hbstore_hbstore_num_rows").collect()
    assert tuple(row) == ("Berlin", 1, 2, 3)
    assert source(url).columns[3] == "hbstore_location"


def test_statistics_parameters_and_times(source, url, make_table):
    store = make_table(n="int")
    given = [
        {"numRows": "7", "totalSize": str(2**63 - 1), "numFiles": "0", "é": ""},
        {"numRows": "-1", "totalSize": str(2**63), "numFiles": "many"},
        {},
    ]
    store.add_partitions(
        "shop",
        "sales",
        [hbstore.Partition((str(n),), parameters=one, create_time=1_390_000_000) for n, one in enumerate(given)],
    )
    rows = source(url).orderBy("n").collect()
    assert [row.parameters for row in rows] == given
    counts = [(row.num_rows, row.total_size, row.num_files) for row in rows]
    assert counts == [(7, 2**63 - 1, 0), (None, None, None), (None, None, None)]
    unix = source(url).select(f.unix_timestamp("create_time")).distinct().collect()
    assert [row[0] for row in unix] == [1_390_000_000]


# Tasks


def test_many_tasks_read_everything_once(source, url, make_table):
    store = make_table(n="int", p="string")
    store.add_partitions("shop", "sales", [hbstore.Partition((str(n), None)) for n in range(3_000)])
    assert source(url).rdd.getNumPartitions() == 1
    frame = source(url, rows_per_task=400)
    assert 8 <= frame.rdd.getNumPartitions() <= 16
    assert sorted(row.n for row in frame.collect()) == list(range(3_000))
    assert source(url, filter="n < 0").collect() == []


def test_a_deep_filter_reaches_the_tasks(url, make_table):
    store = make_table(n="int")
    store.add_partitions("shop", "sales", [hbstore.Partition((str(n),)) for n in range(5)])
    deep = "n = 1"
    for depth in range(450):
        deep = f"n = {depth} and n = 7 or n < 3 and ({deep})"
    data = HbstoreSource({"url": url, "table": "shop.sales", "filter": deep})
    (task,) = pickle.loads(pickle.dumps(data.reader(data.schema()).partitions()))  # noqa: S301  as Spark sends it
    assert [batch["n"].to_pylist() for batch in data.reader(data.schema()).read(task)] == [[1]]


def test_a_table_that_was_made_anew_meanwhile_is_an_error(url, make_table):
    store = make_table(n="int")
    store.add_partitions("shop", "sales", [hbstore.Partition(("1",))])
    data = HbstoreSource({"url": url, "table": "shop.sales"})
    reader = data.reader(data.schema())
    (task,) = reader.partitions()
    assert sum(batch.num_rows for batch in reader.read(task)) == 1
    make_table(n="int")
    with pytest.raises(hbstore.HbstoreError, match="dropped and created again"):
        list(reader.read(task))


def test_a_pyspark_without_filters_for_sources_is_too_old(spark, tmp_path, monkeypatch):
    (tmp_path / "version.py").write_text('__version__: str = "4.0.5"\n')
    spec = spec_from_file_location("pyspark", tmp_path / "__init__.py")
    monkeypatch.setattr("hbstore.extras.find_spec", lambda _: spec)
    with pytest.raises(hbstore.MissingPackage, match=r'the format "hbstore": installed=4\.0\.5, needed=4\.1 or later'):
        register_source(spark)


# Writing


def written(frame, url, **options):
    frame.write.format("hbstore").options(url=url, table="shop.sales", **options).mode("append").save()


@pytest.mark.usefixtures("source")
def test_rows_become_partitions_with_the_texts_of_register_partitions(spark, url, make_table):
    store = make_table(**{f"p{at}": "string" for at in range(9)})
    columns = [
        "string(id) p0", "if(id = 1, '', null) p1", "tinyint(id) p2", "id = 1 p3", "date'0987-01-02' p4",
        "cast(id / 4 as decimal(20,10)) p5", "double(id) * 1e10 p6", "float(id) / 8 p7",
        "timestamp_ntz'2013-01-01 05:00:00.12' p8", "concat('/at/', id) location",
        "map('numRows', string(id)) parameters",
    ]  # fmt: skip
    frame = spark.range(0, 20, numPartitions=3).selectExpr(*columns)
    written(frame, url)
    ours = store.get_partitions_by_filter("shop", "sales", None)
    assert len(ours) == 20
    store = make_table(**{f"p{at}": "string" for at in range(9)})
    hbstore.spark.register_partitions(frame, url, "shop.sales")
    theirs = store.get_partitions_by_filter("shop", "sales", None)
    assert [(one.values, one.location, one.parameters) for one in ours] == [
        (one.values, one.location, one.parameters) for one in theirs
    ]


def test_what_is_read_can_be_written(source, url, make_table, tmp_path):
    store = make_table(s="string", location="int")
    store.add_partitions("shop", "sales", [hbstore.Partition((text, "1")) for text in [*ODD, None]])
    other = f"sqlite://{tmp_path}/other.db"
    with hbstore.connect(other) as copy:
        created(copy, {"S": "string", "location": "int"})
        written(source(url).select("location", "s"), other, batch=3)
        values = [one.values for one in store.get_partitions_by_filter("shop", "sales", None)]
        assert [one.values for one in copy.get_partitions_by_filter("shop", "sales", None)] == values


@pytest.mark.usefixtures("source")
def test_writing_again_passes_over_what_is_there_unless_told_otherwise(spark, url, make_table):
    store = make_table(n="int")
    frame = spark.range(0, 10, numPartitions=1).selectExpr("int(id) n")
    written(frame, url)
    written(frame, url)
    assert store.count_partitions("shop", "sales") == 10
    more = spark.range(5, 30, numPartitions=1).selectExpr("int(id) n").orderBy(f.desc("n"))
    with pytest.raises(Exception, match=r"AlreadyExists: .*n=5.*added_all_the_same=20"):
        written(more, url, batch=5, if_not_exists="false")
    assert store.count_partitions("shop", "sales") == 30


# Errors


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"filter": "ds ="}, "FilterSyntaxError.*expected=a literal"),
        ({"filter": "x = 1"}, "UnknownColumnError.*partition columns are n"),
        ({"filter": "n = 'x'"}, "FilterTypeError"),
        ({"path": "/x"}, "InvalidInput.*unknown=path"),
        ({"table": "shop.other"}, "TableNotFound.*shop.other"),
        ({"table": "other.sales"}, "DatabaseNotFound"),
        ({"table": "sales"}, "InvalidInput.*database.table"),
        ({"table": ""}, "InvalidInput.*missing=table"),
        ({"url": "memory://"}, "InvalidUrl.*memory"),
        ({"url": "some.db"}, "InvalidUrl.*absolute path"),
        ({"url": "/nowhere/some.db"}, "StoreUnavailable"),
        ({"rows_per_task": "0"}, "InvalidInput.*option=rows_per_task, value=0"),
        ({"plan": "maybe"}, "InvalidInput.*option=plan, value=maybe"),
    ],
)
def test_mistakes_are_named_before_a_job_starts(options, text, url, make_table):
    make_table(n="int")
    with pytest.raises(hbstore.HbstoreError) as raised:
        HbstoreSource({"url": url, "table": "shop.sales"} | options).schema()
    assert re.match(text, f"{type(raised.value).__name__} {raised.value}")


def test_spark_shows_the_name_and_the_words_of_an_error(spark, source, url, make_table):
    make_table(n="int")
    with pytest.raises(Exception, match=r"hbstore\.errors\.FilterSyntaxError: the filter does not parse"):
        source(url, filter="n =")
    with pytest.raises(Exception, match=r"hbstore\.errors\.InvalidInput: the schema differs from the table's columns"):
        spark.read.format("hbstore").options(url=url, table="shop.sales").schema("n string").load().collect()
    frame = spark.range(3).selectExpr("'x' n")
    with pytest.raises(Exception, match=r"hbstore\.errors\.InvalidPartitionValue: .*column=n, type=int, value='x'"):
        written(frame, url)
    with pytest.raises(Exception, match=r"hbstore\.errors\.InvalidInput: .*missing=n, unknown=id"):
        written(spark.range(3), url)
    with pytest.raises(Exception, match=r"hbstore\.errors\.InvalidInput: .*mode=overwrite"):
        frame.write.format("hbstore").options(url=url, table="shop.sales").mode("overwrite").save()


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        ("n timestamp", "type=timestamp.*timestamp_ntz"),
        ("n array<int>", "type=array<int>"),
        ("n int, N int", "two columns of the same name.*column=N"),
        ("n int, location int", "column=location, type=int"),
        ("n int, parameters map<string,int>", "column=parameters"),
    ],
)
@pytest.mark.usefixtures("spark")
def test_columns_that_cannot_be_written_are_named(columns, text, url, make_table):
    make_table(n="int")
    schema = spark_types._parse_datatype_string(columns)
    with pytest.raises(hbstore.InvalidInput, match=text):
        HbstoreSource({"url": url, "table": "shop.sales"}).writer(schema, overwrite=False)


@pytest.mark.hbase
def test_hbase_from_several_processes(spark, source, hbase_url, make_table):
    store = make_table(hbase_url, n="int", p="string")
    frame = spark.range(0, 2_000, numPartitions=3).selectExpr("int(id) n", "if(id % 2 = 0, null, 'odd') p")
    written(frame, hbase_url, batch=300)
    assert store.count_partitions("shop", "sales") == 2_000
    read = source(hbase_url, rows_per_task=300)
    assert read.rdd.getNumPartitions() >= 7
    assert sorted(row.n for row in read.collect()) == list(range(2_000))
    odd = source(hbase_url, rows_per_task=300, pushdown="true").where("p = 'odd' and n >= 1000")
    assert sorted(row.n for row in odd.collect()) == list(range(1_001, 2_000, 2))
    assert read.where("p is null and n = 10").collect()[0].location == f"/warehouse/sales/n=10/p={NULL_PARTITION}"

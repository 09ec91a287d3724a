"""DESCRIBE EXTENDED of a column: what was found out of its values, Spark's numbers first, then the metastore's."""

from __future__ import annotations

import pytest

from hbstore import Column, Partition, Table, connect
from hbstore.ddl import execute
from hbstore.errors import PartitionNotFound
from hbstore.metastore.protocol import THRIFT, struct_kind
from hbstore.model.service_objects import ColumnStatistic

DATA = [Column("Id", "bigint", "a number"), Column("id.min", "int"), Column("name", "string")]
SPARK = "spark.sql.statistics.colStats."
UNKNOWN = dict.fromkeys(("min", "max", "num_nulls", "distinct_count", "avg_col_len", "max_col_len"), "NULL")


@pytest.fixture
def store():
    with connect("memory://") as store:
        store.create_database("shop")
        parameters = {
            f"{SPARK}id.{name}": text
            for name, text in {"version": "2", "min": "1", "max": "9", "nullCount": "2", "distinctCount": "7"}.items()
        }
        table = Table(
            "shop", "sales", [Column("ds", "string")], DATA, parameters={**parameters, f"{SPARK}id.min.min": "5"}
        )
        store.create_table(table)
        store.add_partitions("shop", "sales", [Partition(["a"]), Partition(["b"])])
        yield store


def facts(store, what):
    (result,) = execute(store, f"DESCRIBE {what}", "shop")
    assert result.columns == ("info_name", "info_value")
    return dict(result.rows)


def statistic(column, kind, of, **fields):
    made = getattr(THRIFT, of[0].upper() + of[1:].replace("Stats", "ColumnStatsData"))(**fields)
    data = struct_kind(THRIFT.ColumnStatisticsData).write(THRIFT.ColumnStatisticsData(**{of: made}))
    return ColumnStatistic(column, kind, data)


def test_of_a_table_what_spark_has_found_out(store):
    named = {"col_name": "Id", "data_type": "bigint", "comment": "a number"}
    assert facts(store, "sales ID") == named
    known = {"min": "1", "max": "9", "num_nulls": "2", "distinct_count": "7"}
    assert facts(store, "EXTENDED sales id") == named | UNKNOWN | known
    assert list(facts(store, "FORMATTED sales id"))[3:] == list(UNKNOWN)
    assert facts(store, "EXTENDED sales `id.min`")["min"] == "5"
    assert facts(store, "EXTENDED sales ds") == {"col_name": "ds", "data_type": "string", "comment": "NULL"} | UNKNOWN


def test_of_a_table_what_the_metastore_has_where_spark_has_nothing(store):
    texts = statistic("name", "string", "stringStats", maxColLen=12, avgColLen=3.5, numNulls=0, numDVs=4)
    numbers = statistic("id", "bigint", "longStats", lowValue=-5, highValue=50, numNulls=5, numDVs=6)
    store.column_statistics.write_table("shop", "sales", [texts, numbers])
    known = {"num_nulls": "0", "distinct_count": "4", "avg_col_len": "3.5", "max_col_len": "12"}
    assert UNKNOWN | known == {
        name: text for name, text in facts(store, "EXTENDED sales NAME").items() if name in UNKNOWN
    }
    assert facts(store, "EXTENDED sales id")["max"] == "9"


DATE, DECIMAL = THRIFT.Date, THRIFT.Decimal


@pytest.mark.parametrize(
    ("kind", "of", "fields", "expected"),
    [
        ("bigint", "longStats", {"lowValue": -5, "highValue": 0}, {"min": "-5", "max": "0"}),
        ("double", "doubleStats", {"lowValue": -0.5, "highValue": float("inf")}, {"min": "-0.5", "max": "inf"}),
        ("timestamp", "longStats", {"lowValue": -1}, {"min": "1969-12-31 23:59:59 UTC"}),
        ("timestamp", "longStats", {"lowValue": 2**62}, {"min": f"{2**62} seconds since 1970"}),
        ("date", "dateStats", {"highValue": DATE(daysSinceEpoch=31)}, {"max": "1970-02-01"}),
        ("date", "dateStats", {"highValue": DATE(daysSinceEpoch=2**40)}, {"max": f"{2**40} days since 1970"}),
        ("decimal(4,2)", "decimalStats", {"lowValue": DECIMAL(unscaled=b"\xff", scale=2)}, {"min": "-0.01"}),
        ("boolean", "booleanStats", {"numTrues": 3, "numFalses": 0}, {"num_trues": "3", "num_falses": "0"}),
        ("binary", "binaryStats", {"maxColLen": 3, "avgColLen": 1.0}, {"max_col_len": "3", "avg_col_len": "1.0"}),
        ("string", "stringStats", {}, {}),
    ],
)
def test_of_a_partition_what_the_metastore_has(store, kind, of, fields, expected):
    store.column_statistics.write_partitions(
        "shop", "sales", {("a",): [statistic("id", kind, of, numNulls=1, **fields)]}
    )
    found = facts(store, "EXTENDED sales PARTITION (ds = 'a') id")
    assert {name: text for name, text in found.items() if name not in {"col_name", "data_type", "comment"}} == (
        UNKNOWN | {"num_nulls": "1"} | expected
    )
    other = facts(store, "EXTENDED sales PARTITION (ds = 'b') id")
    assert {name: text for name, text in other.items() if name in UNKNOWN} == UNKNOWN
    with pytest.raises(PartitionNotFound):
        facts(store, "EXTENDED sales PARTITION (ds = 'c') id")

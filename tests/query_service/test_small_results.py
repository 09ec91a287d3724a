"""Small results are as Spark would write them, whichever way they are written."""

from __future__ import annotations

import secrets

import pytest
from pyspark.sql.types import ArrayType, DateType, MapType, StructType, TimeType

from hbstore import ReadFailed
from hbstore.query_service.formats import arrow, csv, json_page, ndjson
from hbstore.query_service.messages import Done
from hbstore.query_service.query import QuerySession
from hbstore.query_service.results import Results
from hbstore.query_service.small_results import _arrow_type

pytestmark = [pytest.mark.spark]

COLUMNS = {
    "numbers": "true, 5y, 300s, 7, 9223372036854775807l, float(0.1), double('NaN'), double('-Infinity'), -0.0d",
    "decimals": "1.5bd, cast(-12.34 as decimal(10, 2)), cast('12345678901234567890.5' as decimal(38, 18))",
    "texts": "'ä😀', '', cast('x' as varchar(3)), cast('y' as char(3)), X'00FF', X''",
    "collated": "'A' collate UNICODE_CI",
    "times": """date'0001-01-01', date'9999-12-31', timestamp'1582-10-04 01:02:03.456789',
        timestamp'2021-03-14 12:00:00', timestamp_micros(9223372036854775807), timestamp_micros(-1),
        timestamp_ntz'2020-01-01 00:00:00.000001'""",
    "arrays": "array(1, null), array(), array(array('a', null), null), array(timestamp'2013-01-01 00:00:00')",
    "maps": """map('k', 1.5d, 'l', null), map(1, 'x'), map(date'2013-01-01', timestamp'2013-01-01 00:00:00'),
        map(named_struct('a', 1), array(map(1, 2)))""",
    "structs": """named_struct('a', 1, 'B c', 'x', 'A', 2),
        named_struct('a', named_struct('a', timestamp'2013-01-01 00:00:00'))""",
    "texts of others": """interval '1' day, interval '1-2' year to month, make_interval(1, 2, 3), null, array(null),
        parse_json('{"a": [1, "x"]}'), named_struct(), map('a', parse_json('1')), array(interval 3 day)""",
    "nulls": """cast(null as int), cast(null as timestamp), cast(null as array<int>), cast(null as struct<a:int>),
        cast(null as decimal(38, 0)), cast(null as map<string, int>), cast(null as string)""",
    "names": "1 as a, 2 as A, 3 as a, 4 as `a b`, 5 as `x.y`, 6 as ``, 7 as c0, 8 as `c``1`",
}
WAYS = {
    "by a job": "select {} from range(1000) where id = {}",
    "of the driver": "select {} from values (7) as (id) where id = {}",
    "of one row": "select {} where 7 = {}",
}
LARGE = "select {} from range(1001) where id = {}"
"""What may have too many rows, and so is written by Spark."""


def jobs(spark, id_):
    return sum(one.progress.stages for one in spark.of(id_) if hasattr(one, "progress"))


def seen(spark, text, session=None):
    """What users see of a statement's result, in all formats, and its types in Arrow."""
    end, id_ = spark.ask(text, session=session)
    assert isinstance(end, Done), end
    results = Results(str(spark.results))
    columns = end.result.columns

    def batches():
        return (batch for batch, _ in results.batches(id_))

    fetched = [
        b"".join(json_page(columns, results.batches(id_), lambda _: "next")),
        b"".join(ndjson(columns, batches())),
        b"".join(csv(columns, batches())),
        b"".join(arrow(columns, batches())),
    ]
    types = [[str(kind) for kind in batch.schema] for batch in batches()]
    return end.result.model_copy(update={"size": 0}), types, fetched


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "+09:00"])
@pytest.mark.parametrize("columns", COLUMNS)
def test_each_way_gives_what_spark_writes(spark, columns, zone):
    session = QuerySession(id=secrets.token_hex(16), settings={"spark.sql.session.timeZone": zone}, fresh=True)
    expected = seen(spark, LARGE.format(COLUMNS[columns], 7), session)
    assert expected[0].rows == 1
    session = session.model_copy(update={"fresh": False})
    for way in WAYS.values():
        assert seen(spark, way.format(COLUMNS[columns], 7), session) == expected


def test_no_rows_have_their_types(spark):
    columns = ", ".join(COLUMNS.values())
    expected = seen(spark, LARGE.format(columns, 5000))
    assert expected[0].rows == 0
    for way in WAYS.values():
        assert seen(spark, way.format(columns, 5000)) == expected


def test_rows_keep_their_order(spark):
    end, id_ = spark.ask("select id from range(0, 20000, 1, 8) order by id % 7, id desc limit 1000")
    assert isinstance(end, Done)
    assert len(spark.files(id_)) == 1
    expected = [number for remainder in range(7) for number in range(19_999, -1, -1) if number % 7 == remainder]
    batches = Results(str(spark.results)).batches(id_)
    assert [value for batch, _ in batches for value in batch.column(0).to_pylist()] == expected[:1000]


@pytest.mark.parametrize("text", ["select 1, 'x'", "values (1), (2)", "show databases", "set spark.sql.ansi.enabled"])
def test_what_the_driver_has_takes_no_job(spark, text):
    end, id_ = spark.ask(text)
    assert isinstance(end, Done)
    assert len(spark.files(id_)) == 1
    assert jobs(spark, id_) == 0


def test_few_rows_that_are_too_large_for_the_driver_are_written_by_spark(spark):
    end, id_ = spark.ask("select sha2(string(id), 256) || repeat('x', 100000) from range(0, 50, 1, 2) order by rand()")
    assert isinstance(end, Done), end
    assert end.result.rows == 50
    assert len(spark.files(id_)) > 0


@pytest.mark.parametrize("text", [LARGE.format("cast(X'FF41' as string)", 7), "select cast(X'FF41' as string)"])
def test_a_text_that_is_not_utf_8_is_refused_by_its_reader(spark, text):
    with pytest.raises(ReadFailed, match="not UTF-8"):
        seen(spark, text)


@pytest.mark.parametrize("way", WAYS.values())
def test_structs_with_parts_of_one_name_are_left_to_spark(spark, way):
    text = "named_struct('a', 1, 'a', 2)"
    ends = [spark.ask(one.format(text, 7))[0] for one in (way, LARGE)]
    assert len({(type(end), str(getattr(end, "result", None))) for end in ends}) == 1


@pytest.mark.parametrize(
    "kind", [TimeType(), ArrayType(TimeType()), StructType().add("a", MapType(DateType(), TimeType()))]
)
def test_other_types_are_left_to_spark(kind):
    assert _arrow_type(kind) is None

"""Results that Spark wrote, in the formats in which users fetch them."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from hbstore.query_service.formats import arrow, csv, json_page
from hbstore.query_service.messages import Done
from hbstore.query_service.results import Results

pytestmark = [pytest.mark.spark]
EVERY_TYPE = """
select true, 9007199254740993l, 5y, float(0.1), double('-Infinity'), -0.0d, 12.50bd, 'a "b", c',
  date'0001-01-01', timestamp'2013-01-01 05:00:00', timestamp_micros(9223372036854775807),
  timestamp_ntz'2013-01-01 05:00:00.000001', X'00FF', array(1, null), map('k', 1.5d), map(1, 'x'),
  named_struct('a', 1, 'at', timestamp'2013-01-01 00:00:00'), interval '1' day, null, cast('' as string)"""
ITS_VALUES = [
    *(True, "9007199254740993", 5, 0.1, "-Infinity", -0.0, "12.50", 'a "b", c'),
    *("0001-01-01", "2013-01-01T05:00:00Z", "+294247-01-10T04:00:54.775807Z"),
    *("2013-01-01T05:00:00.000001", "AP8=", [1, None], {"k": 1.5}, [[1, "x"]]),
    *({"a": 1, "at": "2013-01-01T00:00:00Z"}, "INTERVAL '1' DAY", None, ""),
]


@pytest.fixture
def ask(spark):
    """Runs a statement; its columns, where its rows are, and its id."""

    def run(text):
        end, id_ = spark.ask(text)
        assert isinstance(end, Done), end
        return end.result, Results(str(spark.results)), id_

    return run


def document(result, results, id_, **page):
    batches = results.batches(id_, **page)
    return json.loads(b"".join(json_page(result.columns, batches, lambda at: at.token(id_))))


def test_values_of_every_type(ask):
    result, results, id_ = ask(EVERY_TYPE)
    [row] = document(result, results, id_)["rows"]
    assert row == ITS_VALUES
    assert str(row[5]) == "-0.0"
    [header, line] = b"".join(csv(result.columns, (batch for batch, _ in results.batches(id_)))).splitlines()
    assert header.count(b",") >= len(row) - 1
    assert line.startswith(b'true,9007199254740993,5,0.1,-Infinity,-0.0,12.50,"a ""b"", c",0001-01-01,2013-01-01T05:')
    assert line.endswith(b"INTERVAL '1' DAY,,\"\"")
    assert results.size(id_) >= result.size > 0


def test_the_order_of_rows_over_files_and_pages(ask):
    result, results, id_ = ask("select id, sha2(string(id), 256) as hash from range(300000) order by id desc")
    assert len(results._complete(id_)) > 1
    found = [batch for batch, _ in results.batches(id_)]
    assert [one for batch in found for one in batch.column(0).to_pylist()] == list(range(299_999, -1, -1))
    _, behind = list(results.batches(id_, rows=123_456))[-1]
    assert document(result, results, id_, start=behind, rows=2)["rows"][0][0] == 299_999 - 123_456


def test_a_result_without_rows_has_its_types(ask):
    result, results, id_ = ask("select 1 as n, array('a') as n where false")
    assert document(result, results, id_)["rows"] == []
    stream = b"".join(arrow(result.columns, (batch for batch, _ in results.batches(id_))))
    schema = pa.ipc.open_stream(stream).schema
    assert schema.names == ["n", "n"]
    assert schema.types[0] == pa.int32()
    assert pa.types.is_list(schema.types[1])

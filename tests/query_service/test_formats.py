"""Formats: what readers of JSON, CSV and Arrow find is what the result holds."""

from __future__ import annotations

import csv as csv_module
import io
import json
import re
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hbstore.errors import ReadFailed
from hbstore.query_service.formats import MEDIA_TYPES, arrow, csv, json_page, ndjson
from hbstore.query_service.page_tokens import Position
from hbstore.query_service.query import ResultColumn
from hbstore.query_service.results import Results
from hbstore.query_service.texts import distinct, plain
from tests.files.warehouses import world
from tests.query_service.columns import same, tables, value_of, value_of_text
from tests.query_service.written import ID, parquet_bytes, write

NAMES = st.sampled_from(["a", "a_2", 'q"u,o\n\\', "", "é"])


def named(batch, *names):
    names = names or [f"n{at}" for at in range(batch.num_columns)]
    return [ResultColumn(name=name, type=str(kind)) for name, kind in zip(names, batch.schema.types, strict=True)]


def cut(batch, ends):
    """A batch in several, of which some are empty."""
    ends = [0, *sorted(ends), batch.num_rows]
    return [batch.slice(first, last - first) for first, last in pairwise(min(end, batch.num_rows) for end in ends)]


def all_bytes(chunks):
    chunks = list(chunks)
    assert all(isinstance(chunk, bytes) and chunk for chunk in chunks)
    return b"".join(chunks)


def values_of(batch):
    return [list(row) for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)]


ENDS = st.lists(st.integers(0, 8), max_size=3)


@given(tables(), ENDS, st.data())
def test_pages_of_json_hold_the_values(batch, ends, data):
    names = data.draw(st.lists(NAMES, min_size=batch.num_columns, max_size=batch.num_columns))
    columns = named(batch, *names)
    page = all_bytes(json_page(columns, [(one, Position(7, 9)) for one in cut(batch, ends)], lambda at: f"{at.row}"))
    document = json.loads(page.decode())
    assert list(document) == ["columns", "rows", "next"]
    assert document["columns"] == [{"name": column.name, "type": column.type} for column in columns]
    assert document["next"] == "9"
    kinds = batch.schema.types
    found = [[value_of(kind, one) for kind, one in zip(kinds, row, strict=True)] for row in document["rows"]]
    assert same(found, values_of(batch))


@given(tables(), ENDS, st.data())
def test_lines_of_json_hold_the_values_by_distinct_names(batch, ends, data):
    names = data.draw(st.lists(NAMES, min_size=batch.num_columns, max_size=batch.num_columns))
    lines = all_bytes(ndjson(named(batch, *names), cut(batch, ends))).decode().split("\n")
    assert lines.pop() == ""
    found = [json.loads(line) for line in lines]
    assert [list(row) for row in found] == [distinct(names)] * batch.num_rows
    kinds = batch.schema.types
    rows = [[value_of(kind, one) for kind, one in zip(kinds, row.values(), strict=True)] for row in found]
    assert same(rows, values_of(batch))


def fields(text):
    """RFC 4180, letter by letter: rows of fields, None where nothing is between commas, not even quotes."""
    rows, row, at = [], [], 0
    while at < len(text):
        if text[at] == '"':
            value, at = "", at + 1
            while text[at] != '"' or text[at + 1] == '"':
                value, at = value + text[at], at + (2 if text[at] == '"' else 1)
            at += 1
        else:
            end = min(text.index(stop, at) for stop in (",", "\r\n") if stop in text[at:])
            value, at = text[at:end] or None, end
            assert '"' not in (value or "")
        row.append(value)
        if text.startswith("\r\n", at):
            rows, row, at = [*rows, row], [], at + 2
        else:
            assert text[at] == ","
            at += 1
    assert not row
    return rows


def of_csv(kind, text):
    if text is None or pa.types.is_string(kind):
        return text
    if pa.types.is_nested(kind) or pa.types.is_boolean(kind):
        return value_of(kind, json.loads(text))
    if pa.types.is_integer(kind):
        return int(text)
    return value_of(kind, float(text)) if pa.types.is_floating(kind) else value_of_text(kind, text)


@given(tables(), ENDS, st.data())
def test_csv_holds_the_values(batch, ends, data):
    names = data.draw(st.lists(NAMES, min_size=batch.num_columns, max_size=batch.num_columns))
    text = all_bytes(csv(named(batch, *names), cut(batch, ends))).decode()
    header, *rows = fields(text)
    assert header == names
    kinds = batch.schema.types
    assert same([[of_csv(kind, one) for kind, one in zip(kinds, row, strict=True)] for row in rows], values_of(batch))
    if batch.num_columns > 1:  # it passes over the empty line of a NULL
        found = list(csv_module.reader(io.StringIO(text, newline=""), strict=True))
        assert found == [[field or "" for field in row] for row in [header, *rows]]


@given(tables(), ENDS, st.data())
def test_arrow_holds_the_very_columns(batch, ends, data):
    names = data.draw(st.lists(NAMES, min_size=batch.num_columns, max_size=batch.num_columns))
    stream = all_bytes(arrow(named(batch, *names), cut(batch, ends)))
    with pa.ipc.open_stream(stream) as reader:
        assert reader.schema.names == names
        assert reader.schema.types == batch.schema.types
        table = reader.read_all()
    table.validate(full=True)
    found = [column.to_pylist() for column in table.columns]
    assert same(found, [column.to_pylist() for column in batch.columns])


@pytest.mark.parametrize("rows", [None, 0])
def test_results_without_rows(rows):
    batch = pa.record_batch({"c0": pa.array([], pa.int32()), "c1": pa.array([], pa.string())})
    columns, batches = named(batch, "n", "n"), [] if rows is None else [batch, batch]
    page = all_bytes(json_page(columns, [(one, None) for one in batches], str))
    assert json.loads(page) == {
        "columns": [{"name": "n", "type": "int32"}, {"name": "n", "type": "string"}],
        "rows": [],
        "next": None,
    }
    assert all_bytes(ndjson(columns, batches)) == b""
    assert all_bytes(csv(columns, batches)) == b"n,n\r\n"
    if batches:
        table = pa.ipc.open_stream(all_bytes(arrow(columns, batches))).read_all()
        assert (table.num_rows, table.schema.types) == (0, [pa.int32(), pa.string()])


def test_statements_without_columns():
    nothing = pa.RecordBatch.from_arrays([], schema=pa.schema([]))
    for batches in ([], [nothing]):
        assert json.loads(all_bytes(json_page([], [(one, None) for one in batches], str)))["rows"] == []
        assert all_bytes(ndjson([], batches)) == b""
        assert pa.ipc.open_stream(all_bytes(arrow([], batches))).read_all().num_columns == 0
    assert all_bytes(csv([], [nothing])) == b""


def test_what_a_csv_looks_like():
    batch = pa.record_batch(
        {
            "c0": pa.array([0, 1_500_000, None], pa.timestamp("us", "UTC")),
            "c1": pa.array(["a", "", None]),
            "c2": pa.array([1.5, float("-inf"), -0.0]),
            "c3": pa.array([b"", b"ab", None]),
            "c4": pa.array([["x"], [], None]),
        }
    )
    assert all_bytes(csv(named(batch), [batch])).decode().splitlines() == [
        "n0,n1,n2,n3,n4",
        '1970-01-01T00:00:00Z,a,1.5,"","[""x""]"',
        '1970-01-01T00:00:01.500000Z,"",-Infinity,YWI=,[]',
        ",,-0.0,,",
    ]


def iso(time):
    """Numpy's calendar is the same, but it writes years in its own way."""
    year, rest = re.fullmatch(r"(-?\d+)(-\d\d-\d\d.*)", str(time)).groups()
    return f"{int(year):{'04' if 0 <= int(year) <= 9999 else '+05'}}{rest}"


@given(st.integers(-(2**63) + 1, 2**63 - 1))  # the least is none of numpy's
@example(2**63 - 1)
@example(253_402_300_800_000_000)
@example(-62_135_596_800_000_001)
@example(-62_167_219_200_000_001)
def test_moments_of_any_year(moment):
    [text] = plain(pa.array([moment], pa.timestamp("us", "UTC"))).to_pylist()
    assert text == iso(np.datetime64(moment, "us")).removesuffix(".000000") + "Z"


@given(st.integers(-(2**31), 2**31 - 1))
@example(2_932_897)
@example(-719_163)
@example(-719_529)
def test_dates_of_any_year(days):
    [text] = plain(pa.array([days], pa.date32())).to_pylist()
    assert text == iso(np.datetime64(days, "D"))


def test_times_of_a_day():
    assert plain(pa.array([0, 86_399_000_001, None], pa.time64("us"))).to_pylist() == [
        "00:00:00",
        "23:59:59.000001",
        None,
    ]


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("form", [ndjson, csv, arrow])
def test_texts_that_are_not_utf8_are_named(form, nested):
    texts = pa.array([b"fine", b"\xff"]).view(pa.string())
    batch = pa.record_batch({"c0": [1, 2], "c1": pa.ListArray.from_arrays([0, 1, 2], texts) if nested else texts})
    with pytest.raises(ReadFailed, match="not UTF-8") as raised:
        list(form(named(batch, "a", "the text"), [batch]))
    assert raised.value.fields["column"] == "the text"


@pytest.mark.parametrize("form", [ndjson, csv, arrow])
def test_files_of_other_columns_are_named(form):
    batch = pa.record_batch({"c0": [1], "c1": [2]})
    for batches, columns in (([batch], named(batch)[:1]), ([batch], [*named(batch), *named(batch)])):
        with pytest.raises(ReadFailed, match="other columns"):
            list(form(columns, batches))


def test_types_that_spark_does_not_write_are_named():
    with pytest.raises(ReadFailed, match="without a text"):
        plain(pa.array([1], pa.duration("s")))


def test_every_format_has_a_media_type():
    assert list(MEDIA_TYPES) == ["json", "ndjson", "csv", "arrow"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("formats")


@given(batch=tables(), page=st.integers(1, 5), row_group=st.integers(1, 4), files=st.integers(1, 3))
def test_pages_by_their_tokens_are_the_whole(folder, batch, page, row_group, files):
    here = world("local", folder)
    results = Results(here.warehouse.root)
    results.remove(ID)
    table = pa.Table.from_batches([batch])
    size = -(-table.num_rows // files)
    write(here, results, [parquet_bytes(table.slice(at * size, size), row_group) for at in range(files)])
    columns = named(batch)
    whole = json.loads(all_bytes(json_page(columns, results.batches(ID), str)))
    assert whole["next"] is None
    rows, token = [], Position().token(ID)
    while token is not None:
        batches = results.batches(ID, start=Position.of_token(token, ID), rows=page)
        document = json.loads(all_bytes(json_page(columns, batches, lambda at: at.token(ID))))
        assert 0 < len(document["rows"]) <= page or not table.num_rows
        rows += document["rows"]
        token = document["next"]
    assert rows == whole["rows"]
    kinds = batch.schema.types
    found = [[value_of(kind, one) for kind, one in zip(kinds, row, strict=True)] for row in rows]
    assert same(found, values_of(batch))

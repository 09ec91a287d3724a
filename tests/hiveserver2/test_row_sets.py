"""Pages as clients read them: with another reader of Thrift, of every type, with NULL and slices."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore.errors import ReadFailed
from hbstore.hiveserver2.row_sets import row_set, table_schema
from hbstore.query_service.query import ResultColumn
from tests.hiveserver2.reading import row_set_of, schema_of
from tests.query_service.columns import SCALARS, or_null

SPARK = {
    pa.bool_(): ("boolean", 1, True),
    pa.int8(): ("tinyint", 2, 0),
    pa.int16(): ("smallint", 3, 0),
    pa.int32(): ("int", 4, 0),
    pa.int64(): ("bigint", 5, 0),
    pa.float32(): ("float", 6, 0.0),
    pa.float64(): ("double", 6, 0.0),
    pa.string(): ("string", 7, ""),
    pa.binary(): ("binary", 8, b""),
    pa.date32(): ("date", 7, ""),
    pa.timestamp("us", "UTC"): ("timestamp", 7, ""),
    pa.timestamp("us"): ("timestamp_ntz", 7, ""),
}
"""For a type of Arrow: what Spark calls it, the field of TColumn, and what stands in the place of NULL."""
COLUMNS = [*SCALARS, (pa.int16(), st.integers(-(2**15), 2**15 - 1))]


def told(kind):
    return SPARK.get(kind) or (f"decimal({kind.precision},{kind.scale})", 7, "")


def expected(kind, value):
    """What a client should see, computed value by value."""
    if value is None:
        return None
    if kind == pa.float32():
        return value if math.isnan(value) else float(str(pa.scalar(value, kind).cast(pa.string())))
    if kind == pa.date32():
        return f"{value.year:04}-{value:%m-%d}"
    if pa.types.is_timestamp(kind):
        fraction = f".{value.microsecond:06}".rstrip("0") if value.microsecond else ""
        return f"{value.year:04}-{value:%m-%d %H:%M:%S}{fraction}"
    if pa.types.is_decimal(kind):
        return format(value, "f")
    return value


@st.composite
def pages(draw):
    """Columns, of which some begin in the middle of their buffers, and their values."""
    kinds = draw(st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=4))
    before, rows, behind = draw(st.integers(0, 9)), draw(st.integers(0, 20)), draw(st.integers(0, 2))
    columns, arrays, values = [], [], []
    for at, (kind, one) in enumerate(kinds):
        whole = draw(st.lists(or_null(one), min_size=before + rows + behind, max_size=before + rows + behind))
        arrays.append(pa.array(whole, kind).slice(before, rows))
        columns.append(ResultColumn(name=f"c{at}", type=told(kind)[0]))
        values.append(whole[before : before + rows])
    return columns, arrays, values


@given(pages(), st.integers(0, 2**62))
def test_every_value_arrives(page, start):
    columns, arrays, values = page
    first, found = row_set_of(row_set(start, columns, arrays, "UTC"))
    assert first == start
    assert len(found) == len(columns)
    for array, whole, (field, read, fillers) in zip(arrays, values, found, strict=True):
        _, wanted, filler = told(array.type)
        assert field == wanted
        assert repr(read) == repr([expected(array.type, value) for value in whole])
        assert all(one == filler and type(one) is type(filler) for one in fillers)


def test_a_page_without_rows_has_its_columns():
    columns = [ResultColumn(name="n", type=told(kind)[0]) for kind, _ in COLUMNS]
    _, found = row_set_of(row_set(9, columns, [pa.array([], kind) for kind, _ in COLUMNS], "UTC"))
    assert [(field, values) for field, values, _ in found] == [(told(kind)[1], []) for kind, _ in COLUMNS]


@pytest.mark.parametrize("rows", [7, 8, 9, 16, 17])
def test_bits_of_nulls(rows):
    column = [ResultColumn(name="n", type="int")]
    for null in range(rows):
        values = [None if at == null else at for at in range(rows)]
        _, [(_, read, _)] = row_set_of(row_set(0, column, [pa.array(values, pa.int32())], "UTC"))
        assert read == values
    _, [(_, read, _)] = row_set_of(row_set(0, column, [pa.nulls(rows, pa.int32())], "UTC"))
    assert read == [None] * rows


@pytest.mark.parametrize("type", ["void", "variant", "interval", "array<void>"])
def test_types_that_results_keep_as_texts(type):
    column = [ResultColumn(name="n", type=type)]
    for kind in (pa.string(), pa.large_string()):
        _, [(field, values, _)] = row_set_of(row_set(0, column, [pa.array([None, "x"], kind)], "UTC"))
        assert (field, values) == (7, [None, "x"])


def test_bytes_that_are_no_text():
    broken = pa.Array.from_buffers(
        pa.string(),
        3,
        [None, pa.py_buffer(bytes([0, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0])), pa.py_buffer(b"a\xffbc")],
    )
    _, [(_, values, _)] = row_set_of(row_set(0, [ResultColumn(name="n", type="string")], [broken], "UTC"))
    assert values == ["a", "�b", "c"]
    [nested] = [pa.ListArray.from_arrays(pa.array([0, 3], pa.int32()), broken)]
    _, [(_, values, _)] = row_set_of(row_set(0, [ResultColumn(name="n", type="array<string>")], [nested], "UTC"))
    assert values == ['["a","�b","c"]']


def test_floats_are_their_shortest_texts():
    floats = pa.array([0.1, 16777216.0, 1e-45, -0.0, math.inf, math.nan], pa.float32())
    _, [(_, values, _)] = row_set_of(row_set(0, [ResultColumn(name="f", type="float")], [floats], "UTC"))
    assert repr(values) == repr([0.1, 16777216.0, 1e-45, -0.0, math.inf, math.nan])


def test_files_with_other_columns_than_the_query():
    with pytest.raises(ReadFailed) as caught:
        row_set(0, [ResultColumn(name="n", type="int")], [], "UTC")
    assert caught.value.fields == {"columns": 1, "stored": 0}


def test_the_schema():
    types = ["decimal(10,2)", "char(5)", "varchar(7)", "int", "array<decimal(3,1)>", "variant", "void", "timestamp"]
    columns = [ResultColumn(name="é n", type=one) for one in types]
    assert schema_of(table_schema(columns)) == [
        ("é n", 15, {"precision": 10, "scale": 2}, 0, ""),
        ("é n", 19, {"characterMaximumLength": 5}, 1, ""),
        ("é n", 18, {"characterMaximumLength": 7}, 2, ""),
        ("é n", 3, {}, 3, ""),
        ("é n", 10, {}, 4, ""),
        ("é n", 7, {}, 5, ""),
        ("é n", 16, {}, 6, ""),
        ("é n", 8, {}, 7, ""),
    ]

"""What JDBC drivers make of a value of each type: all drivers say the same, over each transport."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest

from tests.hiveserver2.clients.jdbc import columns, plain, rows, statement

pytestmark = [pytest.mark.spark, pytest.mark.slow]

LONG = 2147483647
VALUES = [  # expression, type, java.sql.Types, precision, scale, getObject, getString
    ("true", "boolean", 16, 1, 0, True, "true"),
    ("1Y", "tinyint", -6, 3, 0, 1, "1"),
    ("-2S", "smallint", 5, 5, 0, -2, "-2"),
    ("3", "int", 4, 10, 0, 3, "3"),
    ("9223372036854775807", "bigint", -5, 19, 0, 9223372036854775807, "9223372036854775807"),
    ("float(0.1)", "float", 6, 7, 7, 0.1, "0.1"),
    ("2.5D", "double", 8, 15, 15, 2.5, "2.5"),
    ("double('-Infinity')", "double", 8, 15, 15, -math.inf, "-Infinity"),
    ("CAST(1.20 AS DECIMAL(10,2))", "decimal", 3, 10, 2, Decimal("1.20"), "1.20"),
    ("CAST(-1 AS DECIMAL(38,18))", "decimal", 3, 38, 18, Decimal(-1), "-1.000000000000000000"),
    ("'Grüße, 世界 🚲\\n'", "string", 12, LONG, 0, "Grüße, 世界 🚲\n", "Grüße, 世界 🚲\n"),
    ("''", "string", 12, LONG, 0, "", ""),
    ("X'00617F'", "binary", -2, LONG, 0, b"\x00a\x7f", "\x00a\x7f"),
    ("DATE '2024-02-29'", "date", 91, 10, 0, "Date: 2024-02-29", "2024-02-29"),
    ("DATE '0001-01-01'", "date", 91, 10, 0, "Date: 0001-01-01", "0001-01-01"),
    (
        *("TIMESTAMP '2024-01-01 00:00:00.12'", "timestamp", 93, 29, 9),
        *("Timestamp: 2024-01-01 00:00:00.12", "2024-01-01 00:00:00.12"),
    ),
    (
        *("TIMESTAMP_NTZ '2024-01-01 00:00:00'", "timestamp", 93, 29, 9),
        *("Timestamp: 2024-01-01 00:00:00.0", "2024-01-01 00:00:00.0"),
    ),
    ("INTERVAL '1-2' YEAR TO MONTH", "interval_year_month", 1111, 11, 0, "HiveIntervalYearMonth: 1-2", "1-2"),
    (
        *("INTERVAL '1 02:03:04.5' DAY TO SECOND", "interval_day_time", 1111, 29, 0),
        *("HiveIntervalDayTime: 1 02:03:04.500000000", "1 02:03:04.500000000"),
    ),
    ("array(1, NULL)", "array", 2003, LONG, 0, "[1,null]", "[1,null]"),
    ("array('a', 'ü')", "array", 2003, LONG, 0, '["a","ü"]', '["a","ü"]'),
    ("map('k', 1.50)", "map", 2000, LONG, 0, '{"k":1.50}', '{"k":1.50}'),
    ("map(1, DATE '2024-01-01')", "map", 2000, LONG, 0, "{1:2024-01-01}", "{1:2024-01-01}"),
    ("named_struct('a', 1, 'b', 'x')", "struct", 2002, LONG, 0, '{"a":1,"b":"x"}', '{"a":1,"b":"x"}'),
    ("make_interval(1, 2, 0, 25)", "string", 12, LONG, 0, "1 years 2 months 25 days", "1 years 2 months 25 days"),
    ("NULL", "void", 0, 0, 0, None, None),
]
TYPES = {
    **dict.fromkeys(("boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "string", "binary")),
    **dict.fromkeys(("date", "timestamp", "timestamp_ntz", "decimal(10,2)", "array<int>", "map<string,int>")),
    **dict.fromkeys(("struct<a:int>",)),
}
"""As keys, in order: types whose NULLs are asked for."""


@pytest.mark.every_driver
def test_each_type(connection):
    expressions = ", ".join(f"{value[0]} AS c{at}" for at, value in enumerate(VALUES))
    with statement(connection) as one:
        result = one.executeQuery(f"SELECT {expressions}")
        told = result.getMetaData()
        assert told.getColumnCount() == len(VALUES)
        assert result.next()
        for at, (text, kind, code, precision, scale, value, string) in enumerate(VALUES, 1):
            said = (told.getColumnTypeName(at), told.getColumnType(at), told.getPrecision(at), told.getScale(at))
            assert said == (kind, code, precision, scale), text
            assert told.getColumnLabel(at) == told.getColumnName(at) == f"c{at - 1}"
            got = plain(result.getObject(at))
            assert (got, type(got)) == (value, type(value)), text
            assert result.wasNull() == (value is None)
            assert result.getString(at) == string, text
        assert not result.next()


@pytest.mark.every_driver
def test_the_getter_of_each_type(connection):
    text = "SELECT true, 1Y, 2S, 3, 4L, float(1.5), 2.5D, 1.20, DATE '2024-02-29', TIMESTAMP '2024-01-01 01:02:03.004'"
    getters = {
        "getBoolean": (1, True),
        "getByte": (2, 1),
        "getShort": (3, 2),
        "getInt": (4, 3),
        "getLong": (5, 4),
        "getFloat": (6, 1.5),
        "getDouble": (7, 2.5),
        "getBigDecimal": (8, Decimal("1.20")),
        "getDate": (9, "Date: 2024-02-29"),
        "getTimestamp": (10, "Timestamp: 2024-01-01 01:02:03.004"),
    }
    with statement(connection) as one:
        result = one.executeQuery(text)
        assert result.next()
        for getter, (at, value) in getters.items():
            assert plain(getattr(result, getter)(at)) == value, getter
        for at in range(2, 8):  # each number is also told as each other
            for getter in ("getByte", "getShort", "getInt", "getLong"):
                assert getattr(result, getter)(at) == int(getters[list(getters)[at - 1]][1])
        stream = one.executeQuery("SELECT X'6162' AS bytes")
        assert stream.next()
        assert bytes(stream.getBinaryStream("bytes").readAllBytes()) == b"ab"


@pytest.mark.every_driver
def test_nulls_of_each_type(connection):
    nulls = ", ".join(f"CAST(NULL AS {kind}) AS c{at}" for at, kind in enumerate(TYPES))
    with statement(connection) as one:
        result = one.executeQuery(f"SELECT {nulls}")
        assert result.next()
        for at in range(1, len(TYPES) + 1):
            assert result.getObject(at) is None
            assert result.wasNull()
            assert result.getString(at) is None
        assert (result.getBoolean(1), result.getInt(4), result.getDouble(7)) == (False, 0, 0.0)
        assert result.wasNull()


@pytest.mark.parametrize("expression", ["id", "string(id)", "double(id)", "id % 2 = 0", "binary(string(id))"])
def test_nulls_between_values(connection, expression):
    """The bits of NULLs go over the bytes of a page of rows."""
    text = f"SELECT id, {expression}, if(id % 3 = 0, NULL, {expression}) FROM range(0, 50, 1, 1) ORDER BY id"
    with statement(connection) as one:
        got = rows(one.executeQuery(text))
    assert [row[0] for row in got] == list(range(50))
    assert [row[2] for row in got] == [None if row[0] % 3 == 0 else row[1] for row in got]


def test_names_of_columns_may_repeat(connection):
    with statement(connection) as one:
        result = one.executeQuery("SELECT 1 AS a, 'x' AS a, 2 AS `ü b`")
        assert columns(result) == [("a", "int"), ("a", "string"), ("ü b", "int")]
        assert rows(result) == [(1, "x", 2)]


def test_a_variant_is_its_json(connection):
    with statement(connection) as one:
        result = one.executeQuery("""SELECT parse_json('{"a": [1, null]}') AS v""")
        assert columns(result) == [("v", "string")]
        assert rows(result) == [('{"a":[1,null]}',)]

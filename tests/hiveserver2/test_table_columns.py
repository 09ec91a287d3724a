"""Columns of tables as queries see them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore import Column, Table
from hbstore.hiveserver2.table_heads import table_columns

OWN = [Column("amount", "int", "in cents")]
DS = [Column("ds", "date")]
SCHEMA = "spark.sql.sources.schema"


def field(name, type_, **metadata):
    return {"name": name, "type": type_, "nullable": True, "metadata": metadata}


FIELDS = [
    field("Amount", "long", comment="in cents"),
    field("code", "string", __CHAR_VARCHAR_TYPE_STRING="char(5)"),
    field("parts", {"type": "array", "elementType": "short", "containsNull": True}),
    field("byKey", {"type": "map", "keyType": "byte", "valueType": "decimal(10,2)", "valueContainsNull": True}),
    field("a struct", {"type": "struct", "fields": [field("In", "integer"), field("at", "timestamp_ntz")]}),
    field("own", {"type": "udt", "pyClass": "x.Y", "sqlType": {"type": "array", "elementType": "double"}}),
    field("ds", "date"),
]
COLUMNS = (
    Column("Amount", "bigint", "in cents"),
    Column("code", "char(5)"),
    Column("parts", "array<smallint>"),
    Column("byKey", "map<tinyint,decimal(10,2)>"),
    Column("a struct", "struct<In:int,at:timestamp_ntz>"),
    Column("own", "array<double>"),
    *DS,
)
WRITTEN = json.dumps({"type": "struct", "fields": FIELDS})


def table(**parameters):
    named = {name.replace("__", "."): value for name, value in parameters.items()}
    return Table("shop", "sales", DS, OWN, parameters=named)


def test_a_table_of_hive():
    assert table_columns(table()) == (*OWN, *DS)


def test_what_spark_wrote():
    assert table_columns(table(**{SCHEMA: WRITTEN})) == COLUMNS


def test_what_older_sparks_wrote_in_parts():
    parts = [WRITTEN[at : at + 100] for at in range(0, len(WRITTEN), 100)]
    parameters = {f"{SCHEMA}.part.{number}": part for number, part in enumerate(parts)}
    assert table_columns(table(**parameters, **{f"{SCHEMA}.numParts": str(len(parts))})) == COLUMNS


DAMAGED = ["{", "[]", "null", "1", "{}", '{"fields": 5}', '{"fields": [5]}', '{"fields": [{"name": "a"}]}', "[" * 10**5]


@pytest.mark.parametrize(
    "text",
    [
        *DAMAGED,
        json.dumps({"fields": [field("\ud800", "int")]}),
        '{"fields": [{"name": "a", "type": {"type": "new"}}]}',
    ],
)
def test_what_does_not_parse_leaves_the_tables_own(text):
    assert table_columns(table(**{SCHEMA: text})) == (*OWN, *DS)


@pytest.mark.parametrize("parts", ["2", "x", "-1"])
def test_missing_parts_leave_the_tables_own(parts):
    given_ = {f"{SCHEMA}.numParts": parts, f"{SCHEMA}.part.0": WRITTEN}
    assert table_columns(table(**given_)) == (*OWN, *DS)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(), max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "fields", "name", "metadata", "elementType"]), inner, max_size=4)
    ),
)


@given(JSON)
def test_any_json_gives_columns(value):
    found = table_columns(table(**{SCHEMA: json.dumps(value)}))
    assert all(f"{one.name}{one.type}{one.comment}".encode() for one in found)
    assert found[-1] == DS[0]

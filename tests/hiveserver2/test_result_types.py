"""Types as clients are told of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore.hiveserver2.result_types import STRING, TYPES, result_type
from hbstore.texts.hive_types import check_type

NUMBERS = {
    "boolean": (0, 16, 1, None, None),
    "tinyint": (1, -6, 3, 0, 10),
    "smallint": (2, 5, 5, 0, 10),
    "int": (3, 4, 10, 0, 10),
    "bigint": (4, -5, 19, 0, 10),
    "float": (5, 6, 7, 7, 10),
    "double": (6, 8, 15, 15, 10),
    "string": (7, 12, 2**31 - 1, None, None),
    "timestamp": (8, 93, 29, 9, None),
    "timestamp_ntz": (8, 93, 29, 9, None),
    "timestamp with local time zone": (8, 93, 29, 9, None),
    "binary": (9, -2, 2**31 - 1, None, None),
    "array<decimal(10,2)>": (10, 2003, None, None, None),
    "map<string,int>": (11, 2000, None, None, None),
    "struct<decimal:int>": (12, 2002, None, None, None),
    "decimal(10,2)": (15, 3, 10, 2, 10),
    "decimal": (15, 3, 10, 0, 10),
    "numeric( 12 )": (15, 3, 12, 0, 10),
    "void": (16, 0, None, None, None),
    "date": (17, 91, 10, None, None),
    "varchar(7)": (18, 12, 7, None, None),
    "char(5)": (19, 1, 5, None, None),
    "interval year": (20, 1111, None, None, None),
    "interval month": (20, 1111, None, None, None),
    "interval year to month": (20, 1111, None, None, None),
    "interval_year_month": (20, 1111, None, None, None),
    "interval day": (21, 1111, None, None, None),
    "interval hour to second": (21, 1111, None, None, None),
    "interval second": (21, 1111, None, None, None),
    "interval_day_time": (21, 1111, None, None, None),
}
"""TTypeId, java.sql.Types, size, digits, radix."""


@pytest.mark.parametrize("text", NUMBERS)
def test_what_is_told_of_a_type(text):
    for one in (text, text.upper(), f" {text} "):
        told = result_type(one)
        assert (told.type_id, told.sql_type, told.size, told.digits, told.radix) == NUMBERS[text]


OTHERS = ["variant", "interval", "time(6)", "string collate UTF8_LCASE", "uniontype<int,string>", "geometry(4326)", ""]


@pytest.mark.parametrize("text", [*OTHERS, "<derived from deserializer>", "`", "(10,2)", "decimals(10,2)"])
def test_what_hive_does_not_have_is_a_string(text):
    assert result_type(text) is STRING


@given(st.text(max_size=20) | st.text("decimal(),0123456789 <>interval", max_size=20))
def test_any_text_is_told_of(text):
    assert result_type(text).type_id in {one.type_id for one in TYPES}


def test_clients_of_hive_2_know_every_number():
    assert all(0 <= one.type_id <= 21 for one in TYPES)
    assert len({one.type_id for one in TYPES}) == len(TYPES)


def test_names_are_types_of_hive():
    for one in TYPES:
        if one.sql_type not in (2000, 2002, 2003) and one.length is None and one.name not in ("varchar", "char"):
            check_type(one.name)

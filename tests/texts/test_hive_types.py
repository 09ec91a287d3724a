"""Types of columns as Hive writes them: those that are, those that are not, and what the error says."""

from __future__ import annotations

import pytest

from hbstore.errors import InvalidType
from hbstore.texts.hive_types import check_type

DEEP = 20_000


@pytest.mark.parametrize(
    "text",
    [
        *("tinyint", "smallint", "int", "INTEGER", "bigint", "float", "double", "boolean", "string", "binary", "date"),
        *("timestamp", "Timestamp  With Local Time Zone", "timestamp with local time zone('Europe/Berlin')"),
        *("interval_year_month", "interval_day_time", "void", "decimal", "decimal(38)", "Decimal( 10 , 2 )"),
        *("numeric(5,5)", "varchar(65535)", "CHAR (255)", " int ", "<derived from deserializer>"),
        *("array<int>", "Map<String, ARRAY<date>>", "map<array<int>,int>", "uniontype<int,string>", "struct<>"),
        "struct<Amount:int,a b:date,`a:b,c<d>`:int,`back``quote`:int,count(1):bigint,größe:int,1:int,array:array<int>>",
        "array<" * DEEP + "int" + ">" * DEEP,
        "struct<a:" * DEEP + "int" + ">" * DEEP,
    ],
)
def test_types_that_hive_and_spark_write(text):
    check_type(text)


@pytest.mark.parametrize(
    ("text", "position", "found", "expected"),
    [
        ("intt", 1, "intt", "int"),
        ("in", 1, "in", "int"),
        ("array<Strng>", 7, "Strng", "string"),
        ("struct<a:int,b:map<int,long>>", 24, "long", "bigint"),
        ("text", 1, "text", "string"),
        ("timestamp_ntz", 1, "timestamp_ntz", "timestamp"),
        ("arrai<int>", 1, "arrai", "array"),
        ("money", 1, "money", "a type"),
        ("int(5)", 1, "int", "int without numbers"),
        ("varchar", 1, "varchar", "varchar(n)"),
        ("varchar(0)", 1, "varchar", "varchar(n) with n from 1 to 65,535"),
        ("char(256)", 1, "char", "char(n) with n from 1 to 255"),
        ("char(2,1)", 1, "char", "char(n) with n from 1 to 255"),
        ("decimal(39)", 1, "decimal", "decimal(p,s) with p from 1 to 38 and s from 0 to p"),
        ("decimal(2,3)", 1, "decimal", "decimal(p,s) with p from 1 to 38 and s from 0 to p"),
        ("", 1, "the end", "a type"),
        ("array<int", 10, "the end", "'>'"),
        ("array<int>>", 11, ">", "the end"),
        ("array<>", 7, ">", "a type"),
        ("struct<a>", 9, ">", "':'"),
        ("struct<a:b:int>", 10, "b", "a type"),
        ("struct<`a:int>", 8, "`", "a field's name or '>'"),
        ("int;", 4, ";", "'(' or the end"),
        ("array<" * DEEP + "intt" + ">" * DEEP, 6 * DEEP + 1, "intt", "int"),
        ("array<" * DEEP, 6 * DEEP + 1, "the end", "a type"),
    ],
)
def test_other_texts_are_refused_where_they_go_wrong(text, position, found, expected):
    with pytest.raises(InvalidType) as caught:
        check_type(text)
    fields = caught.value.fields
    assert (fields["position"], fields["found"], fields["expected"]) == (position, found, expected)


def test_the_error_shows_the_place_and_names_what_is_near():
    with pytest.raises(InvalidType) as caught:
        check_type("map<string,array<intt>>")
    assert str(caught.value).endswith("Did you mean int\nmap<string,array<intt>>\n                 ^")

"""What expressions mean for a table: ranges where the filter language says it, computed values, or an error."""

from __future__ import annotations

import struct
from datetime import date

import pytest

from hbstore.errors import ExpressionUnreadable, UnknownColumnError
from hbstore.filters.tree import Holds, Integer, SpecValue
from hbstore.hive_expressions.conversions import common_type
from hbstore.hive_expressions.meaning import meaning_of
from hbstore.hive_expressions.nodes import ConstantNode
from hbstore.hive_expressions.reading import read_expression
from hbstore.keys.types import parse_type
from tests.hive_expressions.writing import Listed, Raw, call, column, constant, string, written, zigzag

COLUMNS = {
    name: parse_type(text)
    for name, text in {
        "s": "string",
        "i": "int",
        "l": "bigint",
        "d": "date",
        "m": "timestamp",
        "f": "float",
        "g": "double",
        "b": "boolean",
    }.items()
}
S, INT, L, D, G = (column(name, COLUMNS[name].name) for name in "sildg")
DAY = 86_400_000


def meaning(root, columns=COLUMNS):
    return meaning_of(read_expression(written(root)), columns)


def tree(root):
    found = meaning(root)
    assert not found.unread
    return found.tree


def sql_date(milliseconds):
    """A java.sql.Date: its number, a marker, eight bytes."""
    return constant(Raw(b"\x0c\1" + struct.pack(">q", milliseconds)), "date")


@pytest.mark.parametrize(
    ("root", "text"),
    [
        (call("<", constant(5), INT), "i > 5"),
        (call("=", INT, constant(5.0)), "i = 5"),
        (call("=", INT, constant("5")), "i = 5"),
        (call("<>", INT, constant("__HIVE_DEFAULT_PARTITION__", "int")), "i != '__HIVE_DEFAULT_PARTITION__'"),
        (call("=", G, constant(5)), "g = 5.0"),
        (call("=", D, constant("2026-01-02")), "d = date '2026-01-02'"),
        (call("=", D, sql_date(20_455 * DAY)), "d = date '2026-01-02'"),
        (call("=", column("b", "boolean"), constant(True)), "b = true"),
        (column("b", "boolean"), None),
        (call("not", column("b", "boolean")), "not b = true"),
        (call("in", INT, constant(1), constant(2)), "i in (1, 2)"),
        (call("between", constant(False), INT, constant(1), constant(2)), "i between 1 and 2"),
        (call("between", constant(True), INT, constant(1), constant(2)), "i not between 1 and 2"),
        (call("like", S, constant("a\\_b%")), "s like 'a\\_b%'"),
        (call("<=>", S, constant(None)), "s is null"),
        (call("<=>", S, constant("a")), "s is not null and s = 'a'"),
        (
            call("or", call("=", S, constant("a")), call("=", S, constant("b")), call("=", INT, constant(1))),
            "s = 'a' or s = 'b' or i = 1",
        ),
    ],
)
def test_what_the_filter_language_says(root, text):
    if text is None:
        with pytest.raises(ExpressionUnreadable):  # Hive 2.3's root is a function
            meaning(root)
    else:
        assert str(tree(root)) == text


@pytest.mark.parametrize(
    ("root", "name", "text"),
    [
        (call("=", INT, constant("05", "int")), "i", "05"),
        (call("=", constant("a%2Fb", "int"), INT), "i", "a/b"),
        (call("=", INT, constant("__HIVE_DEFAULT_PARTITION__", "int")), "i", "__HIVE_DEFAULT_PARTITION__"),
        (call("=", D, constant("2026-01-02 00%3A00%3A00", "date")), "d", "2026-01-02 00:00:00"),
        (call("=", column("m", "timestamp"), constant("2026", "timestamp")), "m", "2026"),
        (call("=", column("b", "boolean"), constant("true", "boolean")), "b", "true"),
        (call("=", G, constant("2.5", "double")), "g", "2.5"),
    ],
)
def test_texts_of_partition_names(root, name, text):
    assert tree(root) == SpecValue(name, text)


@pytest.mark.parametrize(
    ("root", "true", "false", "unknown"),
    [
        (call("=", S, constant(5)), ["5", "05", "5.0", " 5"], ["6", "-5"], [None, "", "a"]),
        (call("<>", S, constant(5)), ["6"], ["5", "05"], [None, "a"]),
        (call("=", L, constant(9007199254740992.0)), ["9007199254740993"], ["5"], [None]),
        (call("=", INT, constant(5.5)), [], ["5", "6"], [None]),
        (call("<", INT, constant(5.5)), ["5"], ["6"], [None]),
        (
            call("=", call("UDFToInteger", S, type_name="int"), constant(5)),
            ["5", "05", "5.7", "+5."],
            ["6"],
            [None, "a", "1e3", " 5"],
        ),
        (
            call(">", call("ToDate", S, type_name="date"), sql_date(20_455 * DAY)),
            ["2026-1-3", " 2026-01-03 10:00:00"],
            ["2026-01-02"],
            [None, "2026-02-30", "2026-01-03x"],
        ),
        (call("is null", call("UDFToInteger", S, type_name="int")), ["a", None], ["5"], []),
        (call("in", S, constant("a"), constant(None)), ["a"], [], ["b", None]),
        (call("=", S, constant(None)), [], [], ["a", None]),
        (call("between", constant(True), S, constant("a"), constant(None)), [], [], ["b", None, "A"]),
        (call("between", constant(False), S, constant("b"), constant(None)), [], ["a"], ["c", None]),
    ],
)
def test_what_is_computed(root, true, false, unknown):
    found = tree(root)
    assert isinstance(found, Holds)
    for expected, texts in ((True, true), (False, false), (None, unknown)):
        assert [found.condition.matches(text) for text in texts] == [expected] * len(texts)


@pytest.mark.parametrize(
    ("root", "words"),
    [
        (call("=", call("upper", S, type_name="string"), constant("A")), "does not compute this function"),
        (call("=", S, L), "several columns"),
        (call("=", constant(1), constant(1)), "no column"),
        (call("=", column("i", "bigint"), constant("5")), "another type in the table"),
        (call("=", call("UDFToDouble", column("b", "boolean"), type_name="double"), constant(1.0)), "cast"),
        (call("like", S, constant("a\\\\%")), "two backslashes"),
        (call("rlike", S, constant("^a")), "does not compute this function"),
        (call("=", column("m", "timestamp"), constant(Raw(b"\x0d\1" + bytes(12)), "timestamp")), "time zone"),
        (call("=", D, sql_date(20_455 * DAY + 11 * DAY // 24)), "either of two"),
        (call("=", D, sql_date(-200_000 * DAY)), "another calendar"),
        (call("<", INT, constant("5", "int")), "not of its type"),
        (call("=", INT, constant("5", "date")), "not of its type"),
        (call("in", INT, constant("5", "int")), "not of its type"),
        (call("in", S, constant(1)), "IN are of another type"),
        (call("in", INT, constant("1")), "IN are of another type"),
        (call("in", call("UDFToInteger", S, type_name="int"), constant("1")), "IN are of another type"),
        (call("=", D, constant("2026-02-30")), "in different ways"),
        (call("=", S, constant(Raw(b"\3\1" + string("\ud800")), "string")), "not of its type"),
        (call("=", S, constant("a"), constant("b")), "number of arguments"),
        (call("between", S, S, constant("a"), constant("b")), "BETWEEN"),
        (call("=", S, constant("a", "binary")), "cannot be the type"),
    ],
)
def test_what_is_refused_names_its_part(root, words):
    with pytest.raises(ExpressionUnreadable, match=words) as caught:
        meaning(root)
    assert caught.value.fields["part"]
    left_out = meaning(call("and", root, call("=", INT, constant(5))))
    assert str(left_out.tree) == "i = 5"
    assert len(left_out.unread) == 1
    for whole in (
        call("or", root, call("=", INT, constant(5))),
        call("not", call("and", root, call("=", INT, constant(5)))),
    ):
        with pytest.raises(ExpressionUnreadable, match=words):
            meaning(whole)


@pytest.mark.parametrize(
    ("one", "other", "common"),
    [
        ("decimal(5,2)", "decimal(7,4)", "decimal(7,4)"),
        ("decimal(38,0)", "decimal(38,10)", None),  # more than 38 digits
        ("int", "decimal(4,2)", "decimal(12,2)"),
        ("int", "float", "float"),
        ("decimal(5,2)", "float", None),
        ("date", "float", None),
    ],
)
def test_the_type_in_which_two_are_compared(one, other, common):
    for pair in ((one, other), (other, one)):
        if common is None:
            with pytest.raises(ExpressionUnreadable):
                common_type(*map(parse_type, pair))
        else:
            assert common_type(*map(parse_type, pair)) == parse_type(common)


def test_a_column_that_is_none():
    with pytest.raises(UnknownColumnError):
        meaning(call("and", call("=", column("amount"), constant("a")), call("=", INT, constant(5))))


@pytest.mark.parametrize(
    ("hours", "day"),
    [
        (0, date(2026, 1, 2)),
        (-11.9, date(2026, 1, 2)),
        (9.9, date(2026, 1, 2)),
        (-5.5, date(2026, 1, 2)),
        (8, date(2026, 1, 2)),
    ],
)
def test_dates_of_time_zones(hours, day):
    """A client so many hours behind UTC begins its day so much later."""
    root = read_expression(written(call("=", D, sql_date(int((20_455 + hours / 24) * DAY)))))
    constant_node = root.children[1]
    assert isinstance(constant_node, ConstantNode)
    assert constant_node.value == day


def test_char():
    columns = {"c": parse_type("char(4)")}
    found = meaning(call("=", column("c", "string"), constant("x")), {"c": parse_type("string")})
    assert str(found.tree) == "c = 'x'"
    with pytest.raises(ExpressionUnreadable):  # the client's type of it is another
        meaning(call("=", column("c", "varchar(4)"), constant("x")), columns)


def test_columns_whose_types_the_client_leaves_open():
    """SHOW PARTITIONS of Hive 4 writes string for each column, and Hive evaluates with the table's types."""
    for name, kind, value in (("i", "int", 5), ("c", "char(4)", "x"), ("d", "date", "2026-01-02")):
        columns = {name: parse_type(kind)}
        texts = {str(meaning(call("<", column(name, one), constant(value)), columns).tree) for one in (kind, "string")}
        assert len(texts) == 1


@pytest.mark.parametrize("kryo5", [False, True])
def test_structs_of_constants(kryo5):
    values = [
        Listed((Raw(b"\3\1" + string(text)), Raw(b"\2" + zigzag(number)))) for text, number in (("a", 1), ("b", 2))
    ]
    root = call("in", call("struct", S, INT), *[constant(one, "struct") for one in values])
    found = meaning_of(read_expression(written(root, kryo5=kryo5)), COLUMNS).tree
    rows = "(struct(s, i)) in (const struct('a', 1), const struct('b', 2))"
    assert str(found) == f"{rows} and s is not null and i is not null"


def test_long_lists():
    root = call("in", INT, *[constant(number) for number in range(5_000)])
    assert tree(root).literals[-1] == Integer(4_999)

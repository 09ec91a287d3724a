from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore.ddl import parse_statements
from hbstore.ddl.statements import Describe, ShowPartitions, TableName
from hbstore.errors import DdlSyntaxError, FilterSyntaxError
from tests.ddl.strategies import STATEMENTS


@given(st.lists(STATEMENTS, max_size=3))
def test_statements_are_printed_as_text_that_parses_to_them(statements):
    assert parse_statements(";\n".join(map(str, statements))) == statements


PIECES = ["alter table t ", "add ", "partition (", "ds", "=", "'", "a", ")", ";", "--", "\n", "show partitions where "]


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_any_text_parses_or_is_an_error_that_says_where(text):
    fault = None
    try:
        parse_statements(text)
    except (DdlSyntaxError, FilterSyntaxError) as error:
        fault = error
    if fault is not None:
        line, column = fault.fields["line"], fault.fields["column"]
        assert 1 <= line <= text.count("\n") + 1
        assert 1 <= column <= len(text.split("\n")[line - 1]) + 1
        assert fault.highlight.endswith("^")


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("show partitions sales", "SHOW PARTITIONS sales"),
        ("Show Partitions `shop`.`sales`", "SHOW PARTITIONS shop.sales"),
        ("desc formatted t partition (ds=1) c", "DESCRIBE EXTENDED t PARTITION (ds = '1') c"),
        ("show schemas like 'a*'", "SHOW DATABASES LIKE 'a*'"),
        ("show tables from x 'a'", "SHOW TABLES IN x LIKE 'a'"),
        ("truncate table t partition (a = TRUE)", "TRUNCATE TABLE t PARTITION (a = 'true')"),
        (
            "alter table t add partition (ds=date '2013-01-01'), partition (ds=NULL)",
            "ALTER TABLE t ADD PARTITION (ds = '2013-01-01') PARTITION (ds = NULL)",
        ),
        (
            'alter table t add partition (n=05, d=-1.50, e=1e3) location "/a b"',
            "ALTER TABLE t ADD PARTITION (n = '05', d = '-1.50', e = '1e3') LOCATION '/a b'",
        ),
        (
            "alter table t drop partition (ds == 1, hr <> 2, hr >= 3)",
            "ALTER TABLE t DROP PARTITION (ds = '1', hr != '2', hr >= '3')",
        ),
        (
            "alter table a exchange partition ((ds=1)) with table b",
            "ALTER TABLE a EXCHANGE PARTITION (ds = '1') WITH TABLE b",
        ),
        ("analyze table t compute statistics for all columns", "ANALYZE TABLE t COMPUTE STATISTICS FOR ALL COLUMNS"),
        (
            "analyze table t partition (ds=1) compute statistics for columns a, `b c`",
            "ANALYZE TABLE t PARTITION (ds = '1') COMPUTE STATISTICS FOR COLUMNS a, `b c`",
        ),
        ("msck repair table t", "MSCK REPAIR TABLE t ADD PARTITIONS"),
        ("msck table t sync partitions", "MSCK TABLE t SYNC PARTITIONS"),
        (
            "alter table t drop partition (ds like 'a%' and hr in (1, date '2013-01-01'), n between 1 and 2 AND z = 3)",
            "ALTER TABLE t DROP PARTITION (ds LIKE 'a%', hr IN ('1', '2013-01-01'), n BETWEEN '1' AND '2', z = '3')",
        ),
        ("alter table t partition (a=1) set location '/x'", "ALTER TABLE t PARTITION (a = '1') SET LOCATION '/x'"),
        ("show tblproperties t (a.b)", "SHOW TBLPROPERTIES t ('a.b')"),
        ("show columns from t in d", "SHOW COLUMNS IN d.t"),
        (
            "show partitions t where a = 'limit 5' order  by a, `limit` desc limit 5",
            "SHOW PARTITIONS t WHERE a = 'limit 5' ORDER BY a, `limit` DESC LIMIT 5",
        ),
        (
            "show partitions t where limit = 5 and border_by = 1 limit 05;",
            "SHOW PARTITIONS t WHERE limit = 5 and border_by = 1 LIMIT 5",
        ),
    ],
)
def test_spellings(text, printed):
    assert [str(one) for one in parse_statements(text)] == [printed]


def test_keywords_are_names_where_no_keyword_can_stand():
    assert parse_statements("describe table.location date") == [Describe(TableName("location", "table"), column="date")]
    assert parse_statements("show partitions where where x = 1") == [ShowPartitions(TableName("where"), None, "x = 1")]


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        (r"'it\'s'", "it's"),
        (r'"it\"s"', 'it"s'),
        ('"it\'s"', "it's"),
        (r"'\\n'", r"\n"),
        (r"'a\nb\tc\rd\be'", "a\nb\tc\rd\be"),
        (r"'\0\Z'", "\0\x1a"),
        (r"'\101\u00e9\x'", "Aéx"),
        (r"'50\%\_'", r"50\%\_"),
        (r"'\ud83d\ude00'", "\U0001f600"),
        ("'a;b--c'", "a;b--c"),
    ],
)
def test_strings_have_hives_escapes(literal, value):
    (statement,) = parse_statements(f"show tables like {literal}")
    assert statement.pattern == value


def test_bracketed_comments_are_passed_over():
    text = "/* it's; */ show/**/partitions t /* ** / */ where a = '/*' /* 'b; */ and b = 2 /* c */;/* use d;"
    first, *others = parse_statements(text + " */ use e")
    assert (first.filter.split(), [str(one) for one in others]) == (["a", "=", "'/*'", "and", "b", "=", "2"], ["USE e"])
    with pytest.raises(DdlSyntaxError):
        parse_statements(text)


def test_comments_and_empty_statements_are_passed_over():
    text = """-- it's; nothing
      ;; show partitions t -- what; 'is'
        where a = 'x;--' -- don't; 'stop
          and b = 2;
      use d;;--"""
    first, second = parse_statements(text)
    assert (first.filter.split(), str(second)) == (["a", "=", "'x;--'", "and", "b", "=", "2"], "USE d")
    assert parse_statements("") == parse_statements("-- nothing") == []


@pytest.mark.parametrize(
    ("text", "place", "found", "expected"),
    [
        (
            "show partition t",
            (1, 6),
            "partition",
            "COLUMNS, CREATE, DATABASES, PARTITIONS, SCHEMAS, TABLE, TABLES or TBLPROPERTIES",
        ),
        ("use d;\n alter table t\n drop", (3, 6), "the end", "IF or PARTITION"),
        ("use a b", (1, 7), "b", "';' or the end"),
        ("describe", (1, 9), "the end", "EXTENDED, FORMATTED or a name"),
        ("alter table my-table add", (1, 15), '"-"', "ADD, DROP, EXCHANGE, PARTITION, SET, UNSET or '.'"),
        ("alter table t add partition (ds<1)", (1, 32), '"<"', "'='"),
        ("truncate table t partition (ds=1", (1, 33), "the end", "')' or ','"),
        ("show partitions t where ", (1, 25), "the end", "a filter"),
        ("show tables like '\\udc00'", (1, 18), '"\'"', "a string"),
        ("show partitions t limit " + "9" * 19, (1, 25), "9" * 19, "a whole number of at most 18 digits"),
    ],
)
def test_errors_say_where_and_what_was_expected(text, place, found, expected):
    with pytest.raises(DdlSyntaxError) as caught:
        parse_statements(text)
    fields = caught.value.fields
    assert (fields["line"], fields["column"]) == place
    assert (fields["found"], fields["expected"]) == (found, expected)
    line, caret = caught.value.highlight.split("\n")
    assert line == text.split("\n")[place[0] - 1].rstrip()
    assert caret == " " * (place[1] - 1) + "^"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("alter table t add partition (ds = 2013-01-01)", "Write values in quotes: ds = '2013-01-01'"),
        ("alter table t add partition (ds = ‘a’)", "Write strings in straight quotes: 'text'"),
        ("alter table t add partition (ds = 'a)", "The ' is not closed, or cannot stand here"),
        ("describe 'a'", "The ' is not closed, or cannot stand here"),
        ("select 1", "hbstore runs only these statements; Spark SQL runs all others"),
        ("use a; insert into b", "hbstore runs only these statements; Spark SQL runs all others"),
        ("alter table t add partition (ds = 'a' and hour = 2)", "Write commas between conditions"),
        ("use -", "Put other names into back-quotes: `my table`"),
    ],
)
def test_hints(text, hint):
    with pytest.raises(DdlSyntaxError) as caught:
        parse_statements(text)
    assert caught.value.hint == hint


def test_a_filters_error_has_its_place_in_the_whole_text():
    with pytest.raises(FilterSyntaxError) as caught:
        parse_statements("use d;\nshow partitions t where a = 1\n  andd b = 2")
    assert (caught.value.fields["line"], caught.value.fields["column"]) == (3, 3)
    assert caught.value.highlight == "  andd b = 2\n  ^"
    with pytest.raises(FilterSyntaxError) as caught:
        parse_statements("explain partitions t where a = 'x; use d")
    assert caught.value.fields["column"] == 32


def test_texts_have_a_cap(monkeypatch):
    monkeypatch.setattr("hbstore.ddl.parser.MAX_LENGTH", 10)
    with pytest.raises(DdlSyntaxError, match="too long"):
        parse_statements("show databases")

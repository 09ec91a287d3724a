"""Each construct of the language, as pairs of lines: the filter, and the tree it parses to as that prints."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from hbstore.errors import InvalidInput
from hbstore.filters.parser import parse_filter
from hbstore.filters.tree import (
    And,
    Between,
    Boolean,
    Comparison,
    Date,
    In,
    Integer,
    IsNull,
    Like,
    Not,
    Number,
    Operator,
    Or,
    StructIn,
    Text,
    TimeRangeIn,
    Timestamp,
)
from hbstore.texts.like import ONE, RUN, LikePattern

PAIRS = r"""
ds='2013-01-01'
ds = '2013-01-01'

ds == "2013-01-01"
ds = '2013-01-01'

a != 1 and b <> 2
a != 1 and b != 2

a < 1 and b <= 2 and c > 3 and d >= 4
a < 1 and b <= 2 and c > 3 and d >= 4

TIME_RANGE_IN(dt, '2015-01-29', "2015-02-10")and region="eu"
time_range_in(dt, '2015-01-29', '2015-02-10') and region = 'eu'

not Time_Range_In  ( `a b` ,' now.day - 3days','NOW ') or time_range_in = 5 and time_range_in in ('x', 'y')
not time_range_in(`a b`, ' now.day - 3days', 'NOW ') or (time_range_in = 5 and time_range_in in ('x', 'y'))

10 < p1
p1 > 10

10 <= p1 or 10 > p1 or 10 >= p1 or 10 = p1 or 10 <> p1
p1 >= 10 or p1 < 10 or p1 <= 10 or p1 = 10 or p1 != 10

'x' = a and 2019-01-01 < b
a = 'x' and b > date '2019-01-01'

a = -5 or a = +5 or a = -9223372036854775809
a = -5 or a = 5 or a = -9223372036854775809

a = 10.5 or a = -.5 or a = 5. or a = 1e3 or a = 1.5E-3
a = 10.5 or a = -0.5 or a = 5.0 or a = 1E+3 or a = 0.0015

a = TRUE or a = False
a = true or a = false

a in (2019-01-01, DATE '2019-01-02', date "2019-1-3", DATE 2019-01-04, date'2019-01-05')
a in (date '2019-01-01', date '2019-01-02', date '2019-01-03', date '2019-01-04', date '2019-01-05')

a = TIMESTAMP '2019-01-01 00:00:00' or a = timestamp"2019-01-01 00:00:00.50" or a = Timestamp 2019-01-01 10:20:30
a = timestamp '2019-01-01 00:00:00' or a = timestamp '2019-01-01 00:00:00.5' or a = timestamp '2019-01-01 10:20:30'

date = '2019-01-01' and timestamp > '2019' and DATE in (2019-01-01) and struct = 1 and const = 2
date = '2019-01-01' and timestamp > '2019' and DATE in (date '2019-01-01') and struct = 1 and const = 2

date = date '2019-01-01' and date '2019-01-02' > date
date = date '2019-01-01' and date < date '2019-01-02'

a like 'x%' and b not like "%y_" and c LIKE 'don\_t'
a like 'x%' and b not like '%y_' and c like 'don\_t'

a between 1 and 2 and b NOT BETWEEN 'x' AND 'y' or c = 3
(a between 1 and 2 and b not between 'x' and 'y') or c = 3

(a) in (1) and (a) not in (1, 2) and a in ('x', "y") and a NOT IN (1,2,3)
a in (1) and a not in (1, 2) and a in ('x', 'y') and a not in (1, 2, 3)

a in (1, 'x', 2019-01-01, true, 1.5)
a in (1, 'x', date '2019-01-01', true, 1.5)

((a)) = 1 and (b) between 1 and 2 and (c) is null and 5 < (d)
a = 1 and b between 1 and 2 and c is null and d > 5

(STRUCT(ds,hour)) IN (CONST STRUCT('2013',5), CONST STRUCT('2014',6))
(struct(ds, hour)) in (const struct('2013', 5), const struct('2014', 6))

struct (ds) not in (struct('x'), const  struct ( "y" ))
(struct(ds)) not in (const struct('x'), const struct('y'))

a is null or b IS NOT NULL
a is null or b is not null

not a = 1
not a = 1

NOT a in (1) and not not b is null
not a in (1) and not not b is null

not (a = 1 and b = 2) or not (c = 3)
not (a = 1 and b = 2) or not c = 3

a = 1 or b = 2 and c = 3
a = 1 or (b = 2 and c = 3)

(a = 1 or b = 2) and c = 3
(a = 1 or b = 2) and c = 3

(a = 1 and b = 2) and c = 3
a = 1 and b = 2 and c = 3

a = 1 and (b = 2 and (c = 3 and d = 4))
a = 1 and b = 2 and c = 3 and d = 4

((a = 1 or b = 2) or (c = 3 or d = 4)) and ((e = 5))
(a = 1 or b = 2 or c = 3 or d = 4) and e = 5

(((a = 1)))
a = 1

`a` = 1 and `a b` = 2 and `a``b` = 3 and `and` = 4 and `1st` = 5 and ```` = 6 and `'x'` in (7, 8)
a = 1 and `a b` = 2 and `a``b` = 3 and `and` = 4 and `1st` = 5 and ```` = 6 and `'x'` in (7, 8)

größe = 1 and _x = 2 and straße_1 in ('ü')
größe = 1 and _x = 2 and straße_1 in ('ü')

a = 'C:\' and b = "it's" and c = 'say "x"' and d = ''
a = 'C:\' and b = "it's" and c = 'say "x"' and d = ''

android = 1 and order_ = 2 and island = 3 and notes = 4 and inn = 5 and likely = 6
android = 1 and order_ = 2 and island = 3 and notes = 4 and inn = 5 and likely = 6

a='__HIVE_DEFAULT_PARTITION__'
a = '__HIVE_DEFAULT_PARTITION__'
"""

PARSED = [tuple(pair.split("\n")) for pair in PAIRS.strip().split("\n\n")]


@pytest.mark.parametrize(("text", "printed"), PARSED)
def test_parses_to(text, printed):
    assert str(parse_filter(text)) == printed


@pytest.mark.parametrize(("_text", "printed"), PARSED)
def test_printed_text_is_stable(_text, printed):
    assert str(parse_filter(printed)) == printed


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a = 'x'", Comparison("a", Operator.EQ, Text("x"))),
        ("A >= -5", Comparison("A", Operator.GE, Integer(-5))),
        ("a < 1.50", Comparison("a", Operator.LT, Number(Decimal("1.50")))),
        ("a <> true", Comparison("a", Operator.NE, Boolean(value=True))),
        ("2019-02-28 <= a", Comparison("a", Operator.GE, Date(date(2019, 2, 28)))),
        ("a > timestamp '1970-01-02 00:00:01.5'", Comparison("a", Operator.GT, Timestamp((86_401, 500_000_000)))),
        ("a not between 1 and 'x'", Between("a", Integer(1), Text("x"), negated=True)),
        ("(a) in (1, 'x')", In("a", (Integer(1), Text("x")))),
        ("a not in (1)", In("a", (Integer(1),), negated=True)),
        ("struct(a, b) in (struct(1, 2))", StructIn(("a", "b"), ((Integer(1), Integer(2)),))),
        ("a like '%x_'", Like("a", LikePattern((RUN, "x", ONE)))),
        ("a is not null", IsNull("a", negated=True)),
        ("time_range_in(a, \"2015\", ' now.day ')", TimeRangeIn("a", "2015", " now.day ")),
        ("not a is null and a is null", And((Not(IsNull("a")), IsNull("a")))),
        ("a is null or (a is null or a is null)", Or((IsNull("a"),) * 3)),
    ],
)
def test_tree(text, tree):
    assert parse_filter(text) == tree


def test_numbers_are_kept_as_written():
    parsed = parse_filter("a = 1.50")
    assert isinstance(parsed, Comparison)
    assert isinstance(parsed.literal, Number)
    assert str(parsed.literal.value) == "1.50"


@pytest.mark.parametrize("text", [None, "", " ", "\n\t  "])
def test_blank_text_is_every_partition(text):
    assert parse_filter(text) is None


def test_space_anywhere():
    assert str(parse_filter("\n( a\t=\n1\r\n)\n")) == "a = 1"
    assert str(parse_filter("a>=1 AND(b)in('x')OR`c`=2")) == "(a >= 1 and b in ('x')) or c = 2"


def test_like_dialects():
    assert parse_filter("a like 'x.*'", "hive2") == Like("a", LikePattern(("x", RUN)))
    assert parse_filter("a like '%+[.'", "hive2") == Like("a", LikePattern(("%+[", ONE)))
    assert parse_filter("a like 'x.*'", "sql") == Like("a", LikePattern(("x.*",)))
    assert str(parse_filter("a like '50%.*'", "hive2")) == r"a like '50\%%'"


def test_line_ends_inside_strings():
    assert parse_filter("a = 'x\ny'") == Comparison("a", Operator.EQ, Text("x\ny"))


def test_letters_that_python_folds_to_ascii_are_not_keywords():
    assert parse_filter("li\u212ae = 1 and \u0131n = 2 and i\u017f = 3") is not None


@pytest.mark.parametrize("wrong", [5, 0, False, b"ds = 1", b"", [], {}])
def test_a_filter_is_a_text_or_none(wrong):
    with pytest.raises(InvalidInput, match=f"argument=text, type={type(wrong).__name__}"):
        parse_filter(wrong)

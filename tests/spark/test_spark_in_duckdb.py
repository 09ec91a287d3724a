"""What tests of cube queries take for Spark's meaning is that of Spark: functions, literals, and random expressions."""

from __future__ import annotations

import re
from random import Random

import duckdb
import pytest

from tests.cubes.query import stars
from tests.cubes.query.spark_in_duckdb import MACROS, PREFIX, define, in_duckdb
from tests.cubes.query.terms import (
    DATE,
    DAYS,
    FORMATS,
    NUMBER,
    PARTS,
    TEXT,
    TIME,
    TRUTH,
    UNITS,
    WORDS,
    Term,
    Terms,
    said,
)

ROWS = 2_000
"""One for each day and hour, through five years."""

EXPRESSIONS = 150
"""Random ones."""

START, STEP = 1_362_000_000, 90_061
TIMES = ("year", "quarter", "month", "day", "dayofmonth", "dayofweek", "dayofyear", "weekday", "weekofyear", "hour")
TIMES += ("minute", "dayname", "monthname", "last_day", "to_date", "date", "unix_timestamp")
CALLS = [
    *(f"{name}({of})" for name in TIMES for of in ("t", "d")),
    *(f"date_trunc('{unit}', {of})" for unit in (*UNITS, "YYYY", "yy", "MM", "mon", "DD", "WEEK") for of in ("t", "d")),
    *(
        f"trunc({of}, '{unit}')"
        for unit in ("year", "YY", "quarter", "MM", "mon", "month", "week")
        for of in ("t", "d")
    ),
    *(f"date_part('{part}', {of})" for part in (*PARTS, "quarter", "minute") for of in ("t", "d")),
    *(f"extract({part} from t)" for part in (*PARTS, "quarter", "minute")),
    *(f"date_format({of}, '{form}')" for form in (*FORMATS, "EEEE", "MMMM", "HH:mm:ss") for of in ("t", "d")),
    *(f"from_unixtime(unix_timestamp(t), '{form}')" for form in FORMATS),
    *(f"next_day({of}, '{day}')" for day in (*DAYS, "we", "Thursday", "SAT") for of in ("t", "d")),
    *(
        f"{name}({of}, {number})"
        for name in ("date_add", "date_sub", "add_months")
        for number in (-1, 3, 30, "k")
        for of in "td"
    ),
    *(f"from_utc_timestamp(t, '{zone}')" for zone in ("Asia/Tokyo", "Asia/Kolkata", "America/New_York")),
    *(f"convert_timezone('UTC', '{zone}', cast(t as timestamp_ntz))" for zone in ("Asia/Tokyo", "Asia/Kolkata")),
    *("t + interval 6 hours", "t - interval '6' hours", "make_date(year(t), month(t), 1)", "datediff(t, d)"),
    *("cast(t as date)", "cast(d as string)", "cast(t as string)", "cast(d as timestamp)"),
    *("to_timestamp(date_format(t, 'yyyy'), 'yyyy')", "to_timestamp(date_format(t, 'yyyy-MM'), 'yyyy-MM')"),
    "to_timestamp(date_format(t, 'yyyy-MM-dd'), 'yyyy-MM-dd')",
    "to_timestamp(concat(date_format(t, 'yyyy-MM-dd'), '-', date_format(t, 'HH')), 'yyyy-MM-dd-HH')",
    *("t >= '2015-01-10'", "t < '2015-02-10 06:00:00'", "d = '2015-01-20'", "d <= t", "t > date '2016-02-29'"),
    *("upper(x)", "lower(x)", "length(x)", "concat(x, k)", "concat(x, '-', y)", "x || y", "replace(x, 'o', \"'\")"),
    *(
        "substr(x, 2, 3)",
        "substring(x, 2, 3)",
        "left(x, 2)",
        "array(x, y)[pmod(k, 2)]",
        "element_at(array(x, y), 2)",
        "map('b', 1, 'eu', 2)[y]",
    ),
    *("abs(k)", "pmod(k, 3)", "k % 3", "k div 3", "k / 4", "-k", "greatest(k, 2)", "least(k, 2)", "k / nullif(k, 0)"),
    *("x like 'o%'", 'x like "%\'%"', "x <=> y", "x in ('eu', null)", "not x = y or b", "coalesce(x, y, 'z')"),
    *(
        "k = 1 is null",
        "b and (k > 1 or x = y)",
        "k between -1 and 2",
        "if(b, x, y)",
        "case k when 1 then 'a' else x end",
        "nullif(x, 'eu')",
    ),
]


@pytest.fixture(scope="module")
def rows(spark, tmp_path_factory):
    """The same rows in Spark and in DuckDB: times, dates, texts, numbers and truths, some of them NULL."""
    file = tmp_path_factory.mktemp("rows") / "rows.parquet"
    moment = f"make_timestamp(({START} + id * {STEP}) * 1000000)"
    word = f"([{', '.join(map(said, WORDS))}])[(id // {{}}) % {len(WORDS)} + 1]"
    columns = {
        "t": f"CASE WHEN id % 50 > 0 THEN {moment} END",
        "d": f"CASE WHEN id % 40 > 0 THEN CAST({moment} - to_days(3) AS DATE) END",
        "k": "CAST(CASE WHEN id % 11 > 0 THEN id % 13 - 6 END AS INT)",
        "b": "CASE WHEN id % 3 > 0 THEN id % 2 = 0 END",
        "x": f"CASE WHEN id % 9 > 0 THEN {word.format(1)} END",
        "y": f"CASE WHEN id % 10 > 0 THEN {word.format(9)} END",
    }
    made = ", ".join(f"{meaning} AS {name}" for name, meaning in columns.items())
    with duckdb.connect() as db:
        define(db)
        db.execute(f"CREATE TABLE v AS SELECT id, {made} FROM range({ROWS}) r(id)")
        db.execute(f"COPY (SELECT * REPLACE (CAST(t AS TIMESTAMPTZ) AS t) FROM v) TO '{file}' (FORMAT parquet)")
        spark.read.parquet(str(file)).createOrReplaceTempView("v")
        yield spark, db


def by_spark(spark, texts):
    """The values of expressions in each row, by Spark."""
    columns = [f"{text} as c{at}" for at, text in enumerate(texts)]
    frame = spark.sql(f"select {', '.join(columns)} from v order by id")
    times = [name for name, kind in frame.dtypes if kind == "timestamp"]
    frame = frame.selectExpr(*(f"cast({c} as timestamp_ntz) {c}" if c in times else c for c in frame.columns))
    return list(zip(*stars.plain(frame.collect()), strict=True))


def by_duckdb(db, meanings):
    """The same by DuckDB."""
    return list(
        zip(*stars.plain(db.execute(f"SELECT {', '.join(meanings)} FROM v ORDER BY id").fetchall()), strict=True)
    )


def in_select(text):
    """An expression of Spark in DuckDB."""
    return re.sub(r"^SELECT ", "", in_duckdb(f"select {text}"))


def different(texts, values, others):
    """The expressions of which two have different values, each with the first of these."""
    return {
        text: next(pair for pair in zip(ours, theirs, strict=True) if pair[0] != pair[1])
        for text, ours, theirs in zip(texts, values, others, strict=True)
        if ours != theirs
    }


def test_functions_and_operators_are_those_of_spark(rows):
    spark, db = rows
    assert not different(CALLS, by_spark(spark, CALLS), by_duckdb(db, map(in_select, CALLS)))
    named = " ".join(map(in_select, CALLS)).lower()
    assert not [call for call in MACROS if f"{PREFIX}{call.partition('(')[0]}(" not in named]


LITERALS = (
    *(r"'o''brien'", r'"a""b"', r"""'a""b'""", r"'o\'b'", r"'a\\b'", r"'\n\t\q'", r"'\u0041\101\277'", r"'a''\'b'"),
    *(r"'\%\_'", "''''", """"it''s\"""", r"r'\n'", r'R"a\b"', "'a' 'b'", "''", "'--'", "'/* */'", "'a`b'"),
)


def test_literals_are_those_of_spark(rows):
    spark, db = rows
    selected = f"select {', '.join(LITERALS)}"
    assert list(spark.sql(selected).collect()[0]) == list(db.execute(in_duckdb(selected)).fetchone())


@pytest.mark.parametrize("seed", range(2))
def test_random_expressions_mean_what_spark_computes(rows, seed):
    spark, db = rows
    random = Random(seed)
    leaves = {
        TEXT: [Term("x", "x", TEXT), Term("`y`", "y", TEXT)],
        NUMBER: [Term("k", "k", NUMBER)],
        TRUTH: [Term("b", "b", TRUTH)],
        TIME: [Term("t", "t", TIME)],
        DATE: [Term("d", "d", DATE)],
    }
    terms = Terms(random, leaves)
    made = [terms.varying(random.choice((TEXT, NUMBER, TRUTH, TIME, DATE, "float")), 3) for _ in range(EXPRESSIONS)]
    texts = [term.text for term in made]
    values = by_spark(spark, texts)
    assert not different(texts, values, by_duckdb(db, [term.meaning for term in made]))
    assert not different(texts, values, by_duckdb(db, map(in_select, texts)))

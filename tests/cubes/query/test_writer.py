"""The condition on a partition column: it holds for the values of just the partitions that are meant."""

from __future__ import annotations

import duckdb
import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from hbstore.cubes.descriptions import value_text
from hbstore.cubes.query.partition_conditions import partition_condition
from hbstore.keys.types import parse_type
from hbstore.timelines import UpdatePeriod

DAY = UpdatePeriod.DAILY.parse_index("2015-01-01")
PERIODS = {
    "string": [UpdatePeriod.HOURLY, UpdatePeriod.DAILY, UpdatePeriod.WEEKLY, UpdatePeriod.MONTHLY, UpdatePeriod.YEARLY],
    "date": [UpdatePeriod.DAILY, UpdatePeriod.WEEKLY, UpdatePeriod.MONTHLY],
    "timestamp": [UpdatePeriod.MINUTELY, UpdatePeriod.HOURLY, UpdatePeriod.DAILY, UpdatePeriod.WEEKLY],
}
runs_of_a_period = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 40)), max_size=6)


@pytest.fixture(scope="module")
def db():
    with duckdb.connect() as db:
        yield db


@given(data=st.data(), kind=st.sampled_from(sorted(PERIODS)))
def test_it_holds_for_just_these_values(db, data, kind):
    column_type = parse_type(kind)
    runs, chosen, others = [], set(), set()
    for period in PERIODS[kind]:
        at = start = period.floor_index(UpdatePeriod.DAILY.moment(DAY))
        for gap, length in data.draw(runs_of_a_period):
            at += gap + 1
            runs.append((period, at, at + length))
            chosen |= {value_text(column_type, period, index) for index in range(at, at + length)}
            at += length
        others |= {value_text(column_type, period, index) for index in range(start - 2, at + 3)}
    condition = partition_condition(exp.column("dt"), column_type, data.draw(st.permutations(runs)))
    text = sqlglot.transpile(condition.sql("spark"), read="spark", write="duckdb")[0]
    values = sorted(chosen | others)
    cast = {"string": "dt", "date": "CAST(dt AS DATE)", "timestamp": "CAST(dt AS TIMESTAMP)"}[kind]
    rows = db.execute(
        f"SELECT text FROM (SELECT dt AS text, {cast} AS dt FROM unnest($1) AS values(dt)) WHERE {text}", [values]
    ).fetchall()
    assert {row[0] for row in rows} == chosen


def test_a_year_of_minutes_with_holes_is_one_range():
    minute = UpdatePeriod.MINUTELY
    start = minute.parse_index("2015-01-01-00-00")
    runs = [(minute, start + at * 100, start + at * 100 + 99) for at in range(5_256)]
    condition = partition_condition(exp.column("dt"), parse_type("string"), runs)
    assert isinstance(condition, exp.And)
    (without,) = condition.find_all(exp.In)
    assert len(without.expressions) == 5_255

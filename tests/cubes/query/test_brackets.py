"""What takes the place of a name stays of one piece: an alias, an expression of the model, an aggregate made of parts.

The oracle is the question itself, with what the name stands for written in its place, in brackets. Both are rewritten,
read again by sqlglot's own Spark dialect, and compared as trees without brackets: then only their structure counts.
"""

from __future__ import annotations

import pytest
import sqlglot
from hypothesis import example, given
from hypothesis import strategies as st
from sqlglot import exp

from hbstore.cubes.dialect import QueryDialect
from hbstore.cubes.fields import Expression, ExpressionSpec
from hbstore.errors import UnsupportedQuery
from tests.cubes.small_cube import MODEL, fact, opened, partitions, stations, table

RANGE = "time_range_in(start_time, '2015-01-01', '2015-01-03')"
DAYS = partitions("DAILY", ["2015-01-01", "2015-01-02"])
OF_MEASURES = [
    *("fare - minutes", "fare > 9 or minutes > 0", "fare > 9 and minutes > 0", "not fare > 9", "-fare", "fare"),
    *("fare / minutes", "fare is null", "fare between 1 and 2", "fare in (1, 2)", "fare || 'x'", "fare % 7 + 1"),
    *("case when fare > 1 then fare else 0 end", "sum(fare) filter (where station_id > 1)", "fare div 2"),
    *("fare > 9 = true", "fare & 3 | 4", "fare like '1%'", "avg(tip) - 1", "cast(fare as int) - 1", "fare <=> 2"),
]
OF_ROWS = [
    *("station_id - 1", "station_id > 9 or station_id = 0", "not station_id > 9", "-station_id", "station_id"),
    *("station_id is not null", "station_id between 1 and 2", "station_id || 'x'", "city.name || 'x'"),
    "name like 'a%'",
]
MEANT = OF_MEASURES + OF_ROWS
PLACES = [
    *("10 - {0}", "{0} - 10", "10 / {0}", "{0} * 2", "-{0}", "not {0}", "{0} and true", "{0} or false", "{0} = true"),
    *("{0} is null", "{0} between 1 and 3", "2 between {0} and 3", "{0} in (1, 2)", "3 in ({0}, 4)", "{0} || 'x'"),
    *("'x' || {0}", "{0} like 'a%'", "case when {0} then 1 else {0} end", "cast({0} as string)", "abs({0})", "({0})"),
    *("{0} & 7", "~{0}", "{0} <=> 3", "{0} not in (1, 2)", "{0} is not null", "{0} % 3", "substring({0}, 1)"),
    *("if({0}, 1, 2)", "{0} - {0}", "extract(year from {0})", "position('a' in {0})", "{0}"),
]


@st.composite
def places(draw):
    """A text with `{0}` in places of one name, up to three levels deep."""
    text = draw(st.sampled_from(PLACES))
    for _ in range(draw(st.integers(0, 2))):
        text = draw(st.sampled_from(PLACES)).replace("{0}", f"({text})")
    return text


def expressions():
    """The texts above as expressions of the model: of_3, and over_5, in which another one stands in a place."""
    texts = {f"of_{at}": text for at, text in enumerate(MEANT)}
    texts |= {f"over_{at}": place.replace("{0}", f"of_{at % len(MEANT)}") for at, place in enumerate(PLACES)}
    return [
        Expression(name=name, type="string", specs=[ExpressionSpec(expression=text)]) for name, text in texts.items()
    ]


@pytest.fixture(scope="module")
def cubes():
    """Two days of sums, of which one column holds counts, and stations."""
    days = fact("sums", "minutes fare tip station_id name", table("lake", "DAILY"))
    cube = MODEL[2].changed(
        properties={"cube.measure.tip.count": "minutes"},
        measures=[_counting(one) for one in MODEL[2].measures],
        expressions=expressions(),
    )
    with opened(*MODEL[:2], cube, *MODEL[3:4], days, stations(table("lake", "DAILY"))) as cubes:
        cubes.add_partitions("sums", "lake", DAYS)
        cubes.add_partitions("stations", "lake", DAYS[:1])
        yield cubes


def _counting(measure):
    return measure.changed(default_aggregate="count") if measure.name == "minutes" else measure.changed(start_time=None)


def structure(rewritten):
    """The tree of a written query without its brackets."""
    return without_brackets(sqlglot.parse_one(rewritten.sql, read=QueryDialect))


def without_brackets(tree):
    """A tree, changed so that it has none."""
    for node in [*tree.walk()]:
        if isinstance(node, exp.Paren) and node.parent is not None:
            node.replace(node.this)
    return tree.unnest()


def same(cubes, text, other):
    """Whether both questions are one; both may be refused."""
    asked = []
    for one in (text, other):
        try:
            asked.append(structure(cubes.rewrite(one)))
        except UnsupportedQuery as error:
            asked.append(error.text)
    return asked[0] == asked[1]


@given(st.sampled_from(OF_MEASURES), places(), places())
def test_an_alias_in_having_and_order_by(cubes, meant, having, order):
    order = f"1 + ({order})"  # as what is selected is ordered by under its alias
    text = f"select name, {meant} as x from rides where {RANGE} having ({having}) = 1 order by {order} desc"
    assert same(cubes, text.replace("{0}", "x"), text.replace("{0}", f"({meant})")), (meant, having, order)


@given(st.sampled_from(range(len(MEANT))), places())
def test_an_expression_of_the_model(cubes, at, place):
    text = f"select {place} as x from rides where {RANGE}"
    assert same(cubes, text.replace("{0}", f"of_{at}"), text.replace("{0}", f"({MEANT[at]})"))


@pytest.mark.parametrize("at", range(len(PLACES)))
def test_an_expression_of_the_model_within_another(cubes, at):
    text = f"select {{}} as x from rides where {RANGE}"
    meant = PLACES[at].replace("{0}", f"({MEANT[at % len(MEANT)]})")
    assert same(cubes, text.format(f"over_{at}"), text.format(meant))


@example(len(OF_MEASURES), "{0}")  # brackets in SELECT hide nothing from ORDER BY
@given(st.sampled_from(range(len(OF_MEASURES), len(MEANT))), places())
def test_an_expression_of_the_model_in_conditions_of_rows_and_groups(cubes, at, place):
    text = f"select {place} as x, fare from rides where {RANGE} and ({place}) = 1 group by {place} order by {place}"
    assert same(cubes, text.replace("{0}", f"of_{at}"), text.replace("{0}", f"({MEANT[at]})"))


@given(places())
def test_an_aggregate_that_is_made_of_parts(cubes, place):
    """The mean of tips is a quotient of sums: as a call of a function in its place, the rest is the same."""
    written = structure(cubes.rewrite(f"select {place.replace('{0}', 'avg(tip)')} as x from rides where {RANGE}"))
    mean = structure(cubes.rewrite(f"select avg(tip) as x from rides where {RANGE}")).expressions[0].this
    assert isinstance(mean, exp.Div)
    meant = without_brackets(sqlglot.parse_one(place.replace("{0}", "the_mean"), read=QueryDialect))
    meant = meant.transform(lambda node: mean.copy() if isinstance(node, exp.Column) else node)
    assert written.expressions[0].this == meant

"""HAVING: conditions on groups, with and without measures, against DuckDB over the cube's own rows."""

from __future__ import annotations

from random import Random

import pytest

from hbstore.cubes.query.options import QueryOptions
from hbstore.cubes.query.rewriting import rewrite
from hbstore.errors import UnsupportedQuery
from tests.cubes.query import stars

RANGE = "time_range_in(ts, '2015-01-01', '2015-03-10')"
ROWS = "base LEFT JOIN shop.lake_customers c ON base.customer = c.id where ts < '2015-03-10'"


@pytest.fixture(scope="module")
def world():
    """The first star that has rows, and a fact with all fields and hours."""
    for seed in range(36, 136):  # that of 36 has them today, and trying those before takes a quarter of a minute
        made = stars.world(Random(seed))
        if made.whole and made.rows("select count(*) from base")[0][0] > 100:
            yield made
            made.close()
            return
        made.close()


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("select region from rides {} having region = 'eu'", "select distinct region from {} and region = 'eu'"),
        (
            "select distinct region from rides {} having region = 'eu'",
            "select distinct region from {} and region = 'eu'",
        ),
        (
            "select region, bike from rides {} group by region, bike having not bike = 'a' order by region",
            "select distinct region, bike from {} and bike != 'a'",
        ),
        (
            "select upper(region) as r, cust.name as n from rides {} having r = 'EU' and n is not null order by n",
            "select distinct upper(region), c.name from {} and region = 'eu' and c.name is not null",
        ),
        (
            "select label from rides {} having label like 'e%'",
            "select distinct region || '-' || bike from {} and region || '-' || bike like 'e%'",
        ),
        (
            "select to_date(ts) as d from rides {} having month(d) = 2 or d is null",
            "select distinct ts::date from {} and month(ts) = 2",
        ),
        (
            "select region from rides {} having revenue > 500 and region = 'eu'",
            "select region from {} and region = 'eu' group by region having sum(revenue) > 500",
        ),
        (
            "select region from rides {} having count(*) > 3 order by revenue desc limit 1",
            "select region from {} group by region having count(*) > 3 order by sum(revenue) desc nulls last limit 1",
        ),
        (
            "select region, sum(revenue) as revenue from rides {} having sum(revenue) > 100 order by sum(revenue)",
            "select region, sum(revenue) from {} group by region having sum(revenue) > 100",
        ),
        # A field that is grouped by comes before an alias of its name, as in Spark.
        (
            "select upper(region) as region, max(low) as m from rides {} group by region having region = 'eu'",
            "select upper(region), max(low) from {} and region = 'eu' group by region",
        ),
        (
            "select upper(region) as region, max(low) as m from rides {} group by upper(region) having region = 'EU'",
            "select upper(region), max(low) from {} and region = 'eu' group by region",
        ),
        # A time that is selected, and functions of it elsewhere.
        (
            "select ts as d, revenue from rides {} having month(d) = 2",
            "select ts, sum(revenue) from {} and month(ts) = 2 group by ts",
        ),
        (
            "select distinct ts from rides {} order by date_trunc('month', ts)",
            "select distinct ts from {}",
        ),
        # A number in brackets is a place, too.
        (
            "select bike, region, max(low) from rides {} group by (1), (region) order by (2) desc, (bike) limit 2",
            "select bike, region, max(low) from {} group by bike, region order by region desc, bike limit 2",
        ),
        (
            "select region, bike as region2, max(low) as bike from rides {} having max(bike) = 'b' and bike <= 'b'",
            "select region, bike, max(low) from {} group by region, bike having max(bike) = 'b'",
        ),
    ],
)
def test_groups_that_meet_a_condition(world, ours, theirs):
    written = rewrite(world.cubes._model, ours.format(f"where {RANGE}"), stars.NOW, QueryOptions()).sql
    rows = world.rows(theirs.format(ROWS))
    assert stars.ordered(world.run(written)) == stars.ordered(rows)
    assert rows  # or the question tells nothing


@pytest.mark.parametrize("select", ["1 as c", "'x' as c, 1 as d", "1 as c, revenue", "count(*) as c"])
@pytest.mark.parametrize("where", ["", "and bike = 'none'"])
def test_constants_of_no_rows(world, select, where):
    """No rows come once as none, and are one group where something is aggregated."""
    text = f"select {select} from rides where {RANGE} {where} having c is not null"
    rows = world.run(world.cubes.rewrite(text).sql)
    assert len(rows) == (not where or "revenue" in select or "count" in select)


@pytest.mark.parametrize(
    ("key", "alias", "by"),
    [("date_trunc('month', ts)", "", ""), ("upper(bike)", "as b", "group by b"), ("label", "", "group by 1")],
)
def test_keys_in_brackets(world, key, alias, by):
    """Brackets around a key make no other one of it."""
    text = f"select {{}} {alias}, n from rides where {RANGE} {by} having n > 0 order by {key}, n"
    bracketed, plain = (world.run(world.cubes.rewrite(text.format(one)).sql) for one in (f"({key})", key))
    assert bracketed == plain
    assert plain


def test_a_dimension_alone(world):
    written = world.cubes.rewrite("select city from customer having city = 1").sql
    assert world.run(written) == [(1,)]
    written = world.cubes.rewrite("select city, count(1) as n from customer having n > 1 or city is null").sql
    assert stars.ordered(world.run(written)) == [(1, 2), (None, 1)]


def test_a_field_that_is_not_grouped_by_is_named(world):
    with pytest.raises(UnsupportedQuery, match="neither aggregated nor grouped by") as caught:
        world.cubes.rewrite(f"select region from rides where {RANGE} having bike = 'a'")
    assert caught.value.fields["field"] == "bike"
    with pytest.raises(UnsupportedQuery, match=r"neither aggregated nor grouped by: .*field=ts"):
        world.cubes.rewrite(f"select year(ts), revenue from rides where {RANGE} group by bike")


@pytest.mark.parametrize(
    ("alias", "columns"), [("bike", (4, 5)), ("`column 4`", (5, 6)), ("`Column 5`", (4, 6)), ("`column 0`", (5, 6))]
)
def test_aggregates_in_order_by_stand_in_a_query_around_groups_that_meet_a_condition(world, alias, columns):
    """Spark finds no aggregates in ORDER BY beside a HAVING with others; two columns may have one name.

    The names of the query within are none that a column of the answer has.
    """
    text = f"select bike as {alias}, cust.name, region as name, revenue as r from rides where {RANGE}"
    text += " having count(*) > 2 order by max(low) - r, upper(bike) desc limit 5"
    written = world.cubes.rewrite(text).sql
    plain = f"select bike, c.name, region, sum(revenue) from {ROWS} group by bike, c.name, region having count(*) > 2"
    plain += " order by max(low) - sum(revenue) nulls first, upper(bike) desc limit 5"
    assert world.run(written) == world.rows(plain)
    assert "ORDER BY\n  `column {}` ASC,\n  `column {}` DESC".format(*columns) in written

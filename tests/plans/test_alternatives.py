"""Alternatives: the plan is among them, and what each costs is the planner's own reckoning."""

from __future__ import annotations

import pytest

from hbstore import Column, Partition, Table, connect
from hbstore.console.plans.reasons import why_checked, why_not, why_taken
from hbstore.plans.alternatives import MOST_SCANS, alternatives
from hbstore.plans.bind import bind
from hbstore.plans.estimate import Estimator
from hbstore.plans.execute import measure
from hbstore.plans.planner import plan_filter
from hbstore.plans.statistics import Statistics
from hbstore.rows.interface import Costs
from hbstore.store.reader import filter_tree
from hbstore.times.clock import Now

DAYS, HOURS, REGIONS = range(1, 29), range(24), ("cn", "eu", "in", "jp", "us")


@pytest.fixture(scope="module")
def shop():
    with connect("memory://") as store:
        store.create_database("shop")
        columns = [Column("ds", "date"), Column("hour", "int"), Column("region", "string")]
        store.create_table(Table("shop", "sales", partition_columns=columns))
        store.create_table(Table("shop", "empty", partition_columns=columns))
        store.add_partitions(
            "shop",
            "sales",
            [Partition((f"2013-01-{d:02d}", str(hour), region)) for d in DAYS for hour in HOURS for region in REGIONS],
        )
        yield store


def ways(shop, text, costs=None):
    """The alternatives of a filter by their names, and the name of the plan's."""
    row = shop.table_row("shop", "sales")
    schema, statistics, costs = row.definition.schema, Statistics((28, 28 * 24, 28 * 24 * 5)), costs or shop.rows.costs
    tree = filter_tree(text, "sql")
    plan = plan_filter(tree, schema, statistics, costs)
    found = alternatives(plan, bind(tree, schema, Now()), Estimator(schema, statistics, costs))
    return {one.way: one for one in found}, next(one.way for one in found if one.taken)


@pytest.mark.parametrize(
    ("text", "taken", "others"),
    [
        (None, "whole table", set()),
        ("hour = 5", "skip scan", {"whole table"}),
        ("ds = '2013-01-05' and hour = 3 and region = 'eu'", "single keys", {"one range", "whole table"}),
        ("ds = '2013-01-05'", "one range", {"whole table"}),
        ("region = 'eu'", "whole table", {"skip scan"}),
        ("region like '%n'", "whole table", {"skip scan"}),
        ("ds > '2014-01-01' and ds < '2013-01-01'", "nothing", {"whole table"}),
    ],
)
def test_the_ways_that_were_weighed(shop, text, taken, others):
    found, name = ways(shop, text)
    assert name == taken
    assert others <= set(found) - {taken}
    if not others:
        assert set(found) == {taken}


def test_dear_seeks_take_one_range_and_dear_rows_a_skip_scan(shop):
    text = "ds >= '2013-01-03' and ds < '2013-01-20' and hour = 5"
    seeks, name = ways(shop, text, Costs(seek=1, get=1, read=1e-6, check=1e-6))
    assert name == "one range"
    assert seeks["skip scan"].estimate.seconds > seeks["one range"].estimate.seconds
    rows, name = ways(shop, text, Costs(seek=1e-6, get=1e-6, read=1, check=1))
    assert name != "one range"
    assert rows["one range"].estimate.seconds > rows[name].estimate.seconds


def test_an_estimate_is_made_of_what_is_done(shop):
    costs = Costs(seek=1.0, get=0.1, read=0.01, check=0.001)  # beside which what is done here is nothing
    for text in ("hour = 5", "ds = '2013-01-02' and hour in (3, 9) and region = 'eu'", "region = 'eu'", "hour > 3"):
        for one in ways(shop, text, costs)[0].values():
            done = one.estimate
            seconds = done.seeks * costs.seek + done.gets * costs.get + done.checked * costs.check
            assert done.seconds == pytest.approx(seconds, rel=1e-3)


@pytest.mark.parametrize(
    "text", ["hour = 5", "ds = '2013-01-02' and hour in (3, 9)", "ds between '2013-01-20' and '2013-01-24'", None]
)
def test_estimated_rows_are_those_that_running_reads(shop, text):
    for one in ways(shop, text)[0].values():
        assert one.estimate.rows == pytest.approx(measure(one.plan, shop.rows)[1].rows_read, rel=0.1), one.way


def test_of_a_long_plan_only_what_is_quickly_planned_is_weighed(shop):
    text = " or ".join(
        f"(ds = '2013-01-{d:02d}' and hour = {hour} and region = '{region}')"
        for d in DAYS
        for hour in range(0, 24, 2)
        for region in ("eu", "in", "us", "zz")
    )
    found, name = ways(shop, text, Costs(seek=1e-3, get=1e-9, read=1e-6, check=1e-3))
    assert (len(found[name].plan.scans), name) == (1344, "single keys")
    assert len(found[name].plan.scans) > MOST_SCANS
    assert set(found) == {"single keys", "one range", "whole table"}


def test_without_statistics_nothing_is_estimated(shop):
    explained = shop.table("shop.empty").explain("hour = 5")
    assert "not known" in str(explained)
    assert explained.to_dict()["alternatives"] == [{"way": "whole table", "taken": True, "scans": "1 scan"}]
    assert why_taken(explained.alternatives, explained.estimator).startswith("Nothing is known of the table's rows")


def test_reasons_name_what_another_way_does_more_of(shop):
    explained = shop.table("shop.sales").explain("hour = 5")
    ours, whole = explained.alternatives
    assert ours.way == "skip scan"
    costs = explained.estimator.costs
    assert why_not(whole, ours, costs).endswith("it checks 3,432 rows instead of 146")
    assert why_not(ours, ours, costs) == ""
    reason = why_taken(explained.alternatives, explained.estimator)
    assert reason.startswith("A skip scan visits about 28 values")
    assert "(whole table)" in reason
    nothing = shop.table("shop.sales").explain("hour > 3 and hour < 3")
    assert why_taken(nothing.alternatives, nothing.estimator) == "No partition can match, so nothing is read."


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("ds = '2013-01-02'", ""),
        ("region like '%n'", "Keys are sorted by ds first: rows with the right region lie apart, below each ds."),
        ("ds like '2013-01%3'", "A pattern, or what is computed from ds, is no range of keys: each value is checked."),
        ("ds = '2013-01-02' or ds = '2013-01-03' and region like '%n'", "Several ranges"),
    ],
)
def test_why_a_residual_is_checked(shop, text, why):
    said = why_checked(shop.table("shop.sales").plan(text).get_plans()[0])
    assert said.startswith(why)
    assert bool(said) == bool(why)

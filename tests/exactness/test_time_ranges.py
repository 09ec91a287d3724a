"""Time ranges in filters on tables of times: every answer equals the naive evaluation."""

from __future__ import annotations

import datetime as dt
from itertools import product
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hbstore.filters.tree import Comparison, IsNull, Operator, Text
from hbstore.keys.row_key import NULL_PARTITION
from tests.exactness.comparison import compare, compare_with_budget, compare_with_lies
from tests.exactness.strategies import ends_of_ranges
from tests.exactness.worlds import World, load
from tests.filters.strategies import time_ranges, trees

DAYS = [dt.date(2012, 12, 20) + dt.timedelta(days=number) for number in range(0, 400, 3)]
TEXTS = {
    "date": [*map(str, DAYS), "0001-01-01", "9999-12-31", "latest"],
    "timestamp": [f"{day} 06:30:0{day.day % 10}.{day.day:02}" for day in DAYS]
    + ["2013-01-01", "2013-01-01 00:00:05", "2013-01-01 00:00:05.5", "2013-01-01 00:00:05.499999999", "x"],
    "string": [
        *map(str, DAYS),
        *(f"2013-01-0{1 + hour // 12}-{hour:02}" for hour in range(24)),
        *(f"{year}-W{week:02}" for year in (2012, 2013, 2014) for week in (1, 2, 3, 51, 52)),
        *(f"{year}-{month:02}" for year in (2012, 2013, 2014) for month in (1, 2, 12)),
        *("2012", "2013", "2014", "2013-01-01T05:00:00", "2013-W", "2013-1", "latest", "", "9999-12-31-23-59-59"),
    ],
    "bigint": [*map(str, range(2008, 2018)), "0", "1", "5", "9999", "10000", "-5", "x"],
}
ROWS = {
    kind: World.of([("dt", kind), ("region", "string")], list(product([*texts, NULL_PARTITION], ("eu", "us"))))
    for kind, texts in TEXTS.items()
}
NESTED = {
    kind: World.of([("region", "string"), ("dt", kind)], [(region, text) for text, region in world.partitions])
    for kind, world in ROWS.items()
}


@pytest.mark.parametrize("worlds", [ROWS, NESTED], ids=["leading", "second"])
@pytest.mark.parametrize("kind", TEXTS)
def test_every_answer_equals_the_naive_evaluation(stores, kind, worlds):
    world = worlds[kind]
    tables = [load(store, world, "refreshed") for store in stores]
    column = st.just("dt")
    ranges = time_ranges(column, ends_of_ranges, st.nothing())
    others = st.one_of(
        st.builds(Comparison, st.just("region"), st.sampled_from(Operator), st.just(Text("eu"))),
        st.builds(Comparison, column, st.sampled_from(Operator), st.sampled_from(TEXTS[kind][:5]).map(Text)),
        st.builds(IsNull, column),
    )

    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), report_multiple_bugs=False)
    @given(trees(st.one_of(ranges, ranges, others), max_leaves=5), st.integers(0, 2**32))
    def check(tree, seed):
        random = Random(seed)
        for store, table in zip(stores, tables, strict=True):
            compare(store, world, table, tree, random)
            compare_with_budget(store, world, table, tree, random.randint(1, 8))
            compare_with_lies(store, world, table, tree, random)

    check()

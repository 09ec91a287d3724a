"""Splits of a plan: together they are the plan, each is small, and small tables are not cut."""

from __future__ import annotations

from itertools import chain, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hbstore
from hbstore.keys.row_key import table_prefix
from hbstore.plans.execute import fetch
from hbstore.plans.scan_plan import ScanKind
from hbstore.plans.statistics import Statistics
from hbstore.spark.source.splits import splits, within
from tests.strategies import partition_values, tables

UNKNOWN = Statistics()
FILTERS = ("", "p0 is not null", "p0 is null", "p1 is not null", "p0 is not null and p1 is null", "p1 like '%a%'")


def payloads(plan, rows):
    return list(chain.from_iterable(fetch(plan, rows)))


def filled(table, values):
    store = hbstore.connect("memory://")
    store.create_database(table.database)
    store.create_table(table)
    partitions = [hbstore.Partition(one) for one in values]
    store.add_partitions(table.database, table.name, partitions, True, invalid_values="keep")
    return store


@given(st.data(), st.integers(1, 7), st.sampled_from(FILTERS))
def test_splits_are_the_plan_cut_into_pieces(data, size, text):
    table = data.draw(tables(min_columns=2, max_columns=3))
    store = filled(table, data.draw(st.lists(partition_values(table), max_size=30)))
    plan = store.plan(table.database, table.name, text)
    cut = splits(plan, store.rows, UNKNOWN, size)
    pieces = [payloads(within(plan, one), store.rows) for one in cut]
    assert list(chain.from_iterable(pieces)) == payloads(plan, store.rows)
    assert all(left[1] == right[0] for left, right in pairwise(cut))
    assert all(pieces) or len(pieces) == 1, "no task without rows"
    if all(scan.kind is not ScanKind.SKIP for scan in plan.get_plans()):
        assert all(len(piece) <= size for piece in pieces)


@pytest.fixture(scope="module")
def skewed():
    """20 countries, of which one has most of the days."""
    table = hbstore.Table(
        "d", "t", partition_columns=[hbstore.Column("country", "string"), hbstore.Column("day", "int")]
    )
    days = [(f"c{country:02d}", str(day)) for country in range(20) for day in range(50)]
    return filled(table, [*days, *(("c07", str(day)) for day in range(50, 2_000))])


def test_large_tables_become_as_few_splits_as_may_be(skewed):
    plan = skewed.plan("d", "t")
    cut = splits(plan, skewed.rows, UNKNOWN, 100)
    assert 29 <= len(cut) <= 60  # 2,950 partitions
    # Any two neighbours are more than one task should read.
    counts = [len(payloads(within(plan, one), skewed.rows)) for one in cut]
    assert all(left + right > 100 for left, right in pairwise(counts))


def test_a_skip_scan_is_cut_between_the_values_that_it_skips_over(skewed):
    plan = skewed.plan("d", "t", "day < 20")
    assert [scan.kind for scan in plan.get_plans()] == [ScanKind.SKIP]
    for size, counts in ((40, [40] * 10), (10, [20] * 20)):  # two countries each; one, though that is more
        cut = splits(plan, skewed.rows, UNKNOWN, size)
        pieces = [payloads(within(plan, one), skewed.rows) for one in cut]
        assert [len(piece) for piece in pieces] == counts
        assert list(chain.from_iterable(pieces)) == payloads(plan, skewed.rows)


def test_gets_share_splits(skewed):
    plan = skewed.plan("d", "t", " or ".join(f"(country = 'c07' and day = {7 * day})" for day in range(200)))
    assert {scan.kind for scan in plan.get_plans()} == {ScanKind.GET}
    assert len(splits(plan, skewed.rows, UNKNOWN, 50)) == 4


def test_a_table_that_is_known_to_be_small_is_one_split_and_not_counted(skewed, monkeypatch):
    monkeypatch.setattr(type(skewed.rows), "count", lambda *_: pytest.fail("counted"))
    plan = skewed.plan("d", "t")
    prefix = table_prefix("d", "t")
    assert splits(plan, skewed.rows, Statistics((20, 3_000)), 3_000) == [(prefix, prefix[:-1] + b"\x01")]
    assert splits(skewed.plan("d", "t", "day = 1 and day = 2"), skewed.rows, UNKNOWN, 10) == [(b"", b"")]

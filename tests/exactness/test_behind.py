"""The rest of a plan behind a key: pages one behind the other are the whole listing."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hbstore.model.structs import partition_values
from hbstore.plans.behind import behind
from hbstore.plans.execute import fetch
from hbstore.plans.scan_plan import ScanKind
from hbstore.store.puts import partition_key
from tests.exactness.strategies import filters, worlds
from tests.exactness.worlds import DATABASE, STATISTICS_STATES, World, load

_WORLD = World.of(
    [("ds", "date"), ("hour", "int"), ("region", "string")],
    [(f"2013-01-{day:02}", str(hour), one) for day in range(1, 21) for hour in range(20) for one in ("eu", "us")],
)


def pages(store, table, filter, size):
    """All pages of a listing, each asked for behind the last partition of the one before."""
    after = None
    while True:
        page = store.read_payloads(DATABASE, table, filter, _listed, max_parts=size, after=after)
        if not page:
            return
        yield page
        after = partition_values(page[-1])


def _listed(_row, _plan, batches):
    return [one for batch in batches for one in batch]


@settings(deadline=None, max_examples=25, report_multiple_bugs=False, suppress_health_check=list(HealthCheck))
@given(st.data(), worlds(), st.sampled_from(STATISTICS_STATES), st.integers(1, 7))
def test_pages_are_the_whole_listing(stores, data, world, state, size):
    tree = data.draw(filters(world))
    table = load(stores[0], world, state)
    whole = [one.payload for one in stores[0].get_partitions_by_filter(DATABASE, table, tree)]
    found = list(pages(stores[0], table, tree, size))
    assert [one for page in found for one in page] == whole
    assert {len(page) for page in found[:-1]} <= {size}


@pytest.mark.parametrize("filter", [None, "hour = 5", "hour in (5, 7) and region = 'eu'", "ds in ('2013-01-03')"])
def test_pages_go_on_behind_each_partition(stores, filter):
    table = load(stores[0], _WORLD, "refreshed")
    whole = [one.payload for one in stores[0].get_partitions_by_filter(DATABASE, table, filter)]
    row, plan = stores[0].table_row(DATABASE, table), stores[0].plan(DATABASE, table, filter)
    for at, payload in enumerate(whole):
        rest = behind(plan, partition_key(row, partition_values(payload)))
        assert [one for batch in fetch(rest, row.unpacked(stores[0].rows)) for one in batch] == whole[at + 1 :]


def test_a_skip_scan_goes_on_skipping(stores):
    days = [(f"2013-01-0{day}", str(number)) for day in range(1, 6) for number in range(400)]
    world = World.of([("ds", "date"), ("number", "int")], days)
    table = load(stores[0], world, "refreshed")
    row, plan = stores[0].table_row(DATABASE, table), stores[0].plan(DATABASE, table, "number = 5")
    assert [scan.kind for scan in plan.scans] == [ScanKind.SKIP]
    rest = behind(plan, partition_key(row, ("2013-01-04", "5")))
    assert [scan.kind for scan in rest.scans] == [ScanKind.SCAN, ScanKind.SKIP]
    found = [partition_values(one) for batch in fetch(rest, row.unpacked(stores[0].rows)) for one in batch]
    assert found == [("2013-01-05", "5")]

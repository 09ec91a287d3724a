"""What a query sees of facts that other processes are about to create or to drop."""

from __future__ import annotations

from hbstore.cubes.entries import Entry, State
from tests.cubes.small_cube import CUBE, fact, opened

QUERY = "cube select fare from rides where time_range_in(start_time, '2015-01', '2015-02')"


def test_a_query_finishes_facts_that_dead_writers_left_and_passes_over_those_that_leave():
    with opened(*CUBE) as cubes:
        store = cubes.store
        for name, state in (("begun", State.PENDING), ("proposed", State.PROPOSED), ("leaving", State.LEAVING)):
            store.documents.create("shop", "fact", name, Entry(fact(name, "fare"), state).text)
        assert store.table_names("shop") == []
        found = cubes.rewrite(QUERY, partial=True)
        assert [one.table for one in found.candidates] == ["lake_begun", "lake_proposed"]
        assert sorted(store.table_names("shop")) == ["lake_begun", "lake_proposed"]

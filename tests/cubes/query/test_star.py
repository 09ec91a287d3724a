"""What a query sees of facts that other processes are about to create or to drop."""

from __future__ import annotations

import datetime as dt

from hbstore import connect
from hbstore.cubes import Cubes, parse_documents
from hbstore.cubes.entries import Entry, State

MODEL = """
kind: storage
name: lake
---
kind: cube
name: rides
time_dimensions: {start_time: dt}
measures: [{name: fare, type: double, default_aggregate: sum}]
dim_attributes: [{name: start_time, type: timestamp}]
"""
FACT = """
kind: fact
name: {}
cube: rides
columns: [{{name: fare, type: double}}]
storage_tables:
  - storage: lake
    update_periods: [DAILY]
    partition_columns: [{{name: dt, type: string}}]
    time_partition_columns: [dt]
"""
QUERY = "cube select fare from rides where time_range_in(start_time, '2015-01', '2015-02')"


def test_a_query_finishes_facts_that_dead_writers_left_and_passes_over_those_that_leave():
    with connect("memory://") as store:
        store.create_database("shop")
        cubes = Cubes(store, "shop", lambda: dt.datetime(2015, 3, 1, tzinfo=dt.UTC))
        cubes.create_all(parse_documents(MODEL, "yaml"))
        for name, state in (("begun", State.PENDING), ("proposed", State.PROPOSED), ("leaving", State.LEAVING)):
            (fact,) = parse_documents(FACT.format(name), "yaml")
            store.documents.create("shop", "fact", name, Entry(fact, state).text)
        assert store.table_names("shop") == []
        found = cubes.rewrite(QUERY, partial=True)
        assert [one.table for one in found.candidates] == ["lake_begun", "lake_proposed"]
        assert sorted(store.table_names("shop")) == ["lake_begun", "lake_proposed"]

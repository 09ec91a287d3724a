"""What a query reads of the model: each table once."""

from __future__ import annotations

import pytest

from hbstore.cubes import Cubes
from hbstore.cubes.fields import JoinChain
from hbstore.store.partition_store import PartitionStore
from tests.cubes.small_cube import CUBE, NOW, fact, opened, partitions, stations, table
from tests.cubes.test_stored_cover import CountingRows

QUERY = "cube select fare from rides where time_range_in(start_time, '2015-01', '2015-02')"


@pytest.mark.parametrize("kind", ["string", "date"])
def test_a_dimension_that_several_chains_lead_to_is_looked_up_once(kind):
    daily = fact("daily", "fare station_id bike")
    with opened(*CUBE, daily, stations(table("lake", "DAILY", kind=kind))) as cubes:
        cubes.add_partitions("daily", "lake", partitions("DAILY", ["2015-01-01"]))
        cubes.add_partitions("stations", "lake", partitions("DAILY", ["2015-01-01"]))
        cube = cubes.cube("rides")
        depot = JoinChain(name="depot", paths=[["rides.bike = station.name"]])
        cubes.alter(cube.changed(join_chains=[*cube.join_chains, depot]))
        where, reads = "time_range_in(start_time, '2015-01-01', '2015-01-02')", []
        cubes.rewrite(f"select fare from rides where {where}")  # which builds the timelines
        for names in ("city.name", "city.name, depot.name"):
            rows = CountingRows(cubes.store.rows)
            asked = Cubes(PartitionStore(rows), "shop", lambda: NOW)
            sql = asked.rewrite(f"select {names}, fare from rides where {where}").sql
            assert sql.count("`lake_stations`") == names.count("name")
            reads.append(rows.reads)
    assert reads[0] == reads[1]

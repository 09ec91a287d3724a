"""A query service whose Spark is a script, with a cube, and a query that has succeeded."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest

from hbstore.cubes import Cubes, PartitionDesc
from hbstore.query_service.messages import Cancelled
from hbstore.query_service.query import Request
from tests.console.finishing import succeeded
from tests.console.rides import ASKED, DAYS, rides


@pytest.fixture(scope="module")
def service(queries, catalog):
    """The query service; the database `shop` has a cube with a month of days."""
    cubes = Cubes(catalog.store, "shop")
    cubes.create_all(rides())
    cubes.add_partitions("daily", "lake", [PartitionDesc("DAILY", {"dt": str(day)}) for day in DAYS])
    return queries[0]


@pytest.fixture(autouse=True)
def _end(service):
    """Let the queries of each test end with it."""
    yield
    for query in service.list():
        if not query.state.is_final:
            service.runner.heard(Cancelled(query.id))


@pytest.fixture
def still(tabs):
    """A tab without scripts."""
    return tabs(java_script_enabled=False)


@pytest.fixture(scope="module")
def month(service):
    """A cube query that has succeeded: a month of days with two measures."""
    wave = [1_000 + 400 * math.sin(number / 3) + 25 * number for number in range(31)]
    fares = [None if number in (11, 12, 13) else 600 + 300 * math.cos(number / 4) for number in range(31)]
    plan = service.explain(Request(text=ASKED, database="shop")).to_dict()
    return succeeded(
        service,
        ["day", "minutes", "fare"],
        [pa.array(DAYS), [round(one) for one in wave], [one and round(one, 2) for one in fares]],
        text=ASKED,
        database="shop",
        name="Rides in January",
        plan=plan,
    )

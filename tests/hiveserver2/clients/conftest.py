"""`hbstore serve --sql-port` with a cube and tables, a JVM for each driver, and connections over each transport."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest

import hbstore.client
from hbstore import connect
from hbstore.cubes import Cubes, PartitionDesc
from hbstore.cubes.logical_tables import TableDescription
from hbstore.model.constraints import Constraint, ConstraintKind, References
from tests.cubes.small_cube import CUBE, fact, table
from tests.hiveserver2.clients.jdbc import RELEASES, TRANSPORTS, Driver, driver
from tests.metastore.serving import Serve

TABLES = """
CREATE TABLE shop.sales (id INT COMMENT 'of the sale', amount DECIMAL(10,2), ds STRING) USING parquet PARTITIONED BY(ds)
INSERT INTO shop.sales PARTITION (ds = '2015-01-01') VALUES (1, 1.50), (2, NULL)
INSERT INTO shop.sales PARTITION (ds = '2015-01-02') VALUES (3, 3.50)
CREATE TABLE shop.empty (id BIGINT, what ARRAY<STRING>) USING parquet
CREATE VIEW shop.seen AS SELECT id FROM shop.sales
"""
KEYS = [
    Constraint(ConstraintKind.PRIMARY_KEY, ["id"], "sales_key"),
    Constraint(ConstraintKind.FOREIGN_KEY, ["id"], "itself", references=References("shop", "sales", ["id"])),
    Constraint(ConstraintKind.DEFAULT, ["amount"], "free", "0"),
]
CUBE_QUERY = (
    "cube select bike, minutes from rides where time_range_in(start_time, '2015-01-01', '2015-01-03') order by bike"
)


IN_TURN = ("asking", "cursor")
"""Fixtures with a driver, or a way to connect, as their parameter."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Each statement goes once to hbstore: the next test has the next driver. Those marked `every_driver` have all."""
    left_out = [item for item in items if item.path.parent == Path(__file__).parent and not _is_its_turn(item)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in set(left_out)]


def _is_its_turn(item):
    name = next((name for name in IN_TURN if name in getattr(item, "fixturenames", ())), None)
    if name is None or item.get_closest_marker("every_driver"):
        return True
    (fixture,) = item.session._fixturemanager.getfixturedefs(name, item)
    names = [name for name in vars(item.module) if name.startswith("test_")]  # in the order of the file
    return item.callspec.indices[name] == names.index(item.originalname) % len(fixture.params)


@dataclass(frozen=True, slots=True)
class Place:
    """A server.

    Attributes:
        url: of its SQL port, for JDBC.
        serve: its process.
    """

    url: str
    serve: Any = None

    @property
    def port(self):
        """The number of its SQL port."""
        return urlsplit(self.url.removeprefix("jdbc:")).port


@pytest.fixture(scope="session")
def place(tmp_path_factory):
    """A server whose database shop has tables, a view, and the cube rides: two days, each with a row."""
    folder = tmp_path_factory.mktemp("clients")
    options = ["--http-port", "0", "--sql-port", "0", "--results", str(folder / "results")]
    spark = ["--spark-master", "local[2]", "--spark-conf", "spark.sql.shuffle.partitions=2"]
    with Serve(f"sqlite://{folder}/store.db", folder, *options, *spark) as server:
        with hbstore.client.connect(server.ready["http"]) as asking:
            asking.query("CREATE DATABASE shop COMMENT 'what is sold'").wait()
            with connect(f"sqlite://{folder}/store.db") as store:
                cubes = Cubes(store, "shop")
                where = TableDescription(location=str(folder / "rides"), format="parquet")
                rides = fact("rides_daily", "minutes bike", table("lake", "DAILY").changed(description=where))
                cubes.create_all([*CUBE, rides])
                asking.query(
                    "INSERT INTO shop.lake_rides_daily VALUES (1, 'a', '2015-01-01'), (2, 'b', '2015-01-02')"
                ).wait()
                days = [PartitionDesc("DAILY", {"dt": f"2015-01-0{day}"}) for day in (1, 2)]
                cubes.add_partitions("rides_daily", "lake", days, if_not_exists=True)
            for text in TABLES.strip().splitlines():
                asking.query(text).wait()
            with connect(f"sqlite://{folder}/store.db") as store:
                store.hive.constraints.add("shop", "sales", KEYS)
        yield Place(server.ready["sql"], server)


@pytest.fixture(scope="session")
def drivers(tmp_path_factory):
    """A JVM for each release of the driver that a test asks for, started at the first time."""
    folder = tmp_path_factory.mktemp("drivers")
    with ExitStack() as stack:
        started: dict[str, Driver] = {}

        def of(release):
            if release not in started:
                started[release] = stack.enter_context(driver(release, folder))
            return started[release]

        yield of


@pytest.fixture(scope="module", params=[*zip(RELEASES, TRANSPORTS, strict=True)], ids="-".join)
def asking(request, drivers, place):
    """A connection of each driver, each over another transport: `driver`, `url` and `connection`."""
    release, transport = request.param
    java = drivers(release)
    url = f"{place.url}/default{TRANSPORTS[transport]}"
    connection = java.connect(url)
    yield SimpleNamespace(driver=java, release=release, transport=transport, url=url, connection=connection)
    connection.close()


@pytest.fixture
def connection(asking):
    """The connection, in the database default."""
    asking.connection.setSchema("default")
    return asking.connection

"""A store with a cube, and the endpoint over it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from hbstore import connect
from hbstore.cubes import Cubes, PartitionDesc
from tests.cubes.rides import rides
from tests.metastore.serving import Serve
from tests.query_service.listening import listening

SETTINGS = {
    # What leaves results without the file that says that they are complete, if hbstore lets it.
    "spark__hadoop__mapreduce__fileoutputcommitter__marksuccessfuljobs": "false",
    "spark__driver__maxResultSize": "1m",
}
DAYS = ("2015-01-28", "2015-01-29", "2015-01-30")


@dataclass
class Place:
    """Where a store is, and its endpoint."""

    url: str
    uri: str
    folder: Path


@pytest.fixture(scope="package")
def place(tmp_path_factory):
    """A store whose database shop has the cube rides: three days, whose fares are 1 and 10, 2 and 20, 3 and 30."""
    folder = tmp_path_factory.mktemp("query_service")
    url = f"sqlite://{folder}/catalog.db"
    with connect(url) as store:
        store.create_database("shop")
        cubes = Cubes(store, "shop")
        cubes.create_all(rides(folder / "daily"))
        for number, day in enumerate(DAYS, 1):
            path = folder / "daily" / f"dt={day}"
            path.mkdir(parents=True)
            rows = {"fare": [number, 10 * number], "bike": ["a", "b"]}
            parquet.write_table(pa.table(rows), path / "a.parquet")
        cubes.add_partitions("daily", "lake", [PartitionDesc("DAILY", {"dt": day}) for day in DAYS])
    with Serve(url, folder) as server:
        yield Place(url, server.ready["uri"], folder)


@pytest.fixture(scope="package")
def spark(place):
    """An engine over that store, which nobody harms."""
    with listening(place.url, place.uri, place.folder, **SETTINGS) as spark:
        spark.ready()
        yield spark

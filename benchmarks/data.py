"""The tables that the figures speak of: 250 ds x 16 hours x 25 regions with payloads of about 777 bytes."""

from __future__ import annotations

import datetime as dt
import random
import time
from collections.abc import Iterator, Sequence
from typing import TypeVar

from hbstore import Column, Partition, PartitionStore, StorageDescriptor, Table
from hbstore.model.objects import SerDe

DAYS = [(dt.date(2013, 1, 1) + dt.timedelta(days=day)).isoformat() for day in range(250)]
HOURS = range(16)
REGIONS = [f"r{number:02d}" for number in range(25)]
BATCH = 1_000
T = TypeVar("T")
_FORMAT = "org.apache.hadoop.hive.ql.io.parquet."


def sales_table(name: str = "sales") -> Table:
    """Three partition columns; the storage descriptor of a Parquet table with ten columns."""
    return Table(
        "bench",
        name,
        partition_columns=[Column("ds", "string"), Column("hour", "int"), Column("region", "string")],
        columns=[Column(f"amount_{number}", "double") for number in range(10)],
        location=f"hdfs://namenode:8020/warehouse/bench.db/{name}",
        storage=StorageDescriptor(
            input_format=f"{_FORMAT}MapredParquetInputFormat",
            output_format=f"{_FORMAT}MapredParquetOutputFormat",
            serde=SerDe(library=f"{_FORMAT}serde.ParquetHiveSerDe", parameters={"serialization.format": "1"}),
        ),
    )


def sales_partitions() -> list[Partition]:
    """100,000 partitions in key order."""
    parameters = {"numRows": "100000", "totalSize": "12345678", "transient_lastDdlTime": "1390000000"}
    return [
        Partition((day, str(hour), region), parameters=parameters, create_time=1_390_000_000)
        for day in DAYS
        for hour in HOURS
        for region in REGIONS
    ]


def load(store: PartitionStore, table: Table, partitions: list[Partition]) -> float:
    """Create the table, add the partitions in batches of 1,000, and return how many were added a second."""
    store.create_database("bench", if_not_exists=True)
    store.drop_table("bench", table.name, if_exists=True)
    store.create_table(table)
    began = time.perf_counter()
    for batch in batches(partitions):
        store.add_partitions("bench", table.name, batch)
    return len(partitions) / (time.perf_counter() - began)


def batches(partitions: Sequence[T]) -> Iterator[Sequence[T]]:
    """Batches of 1,000."""
    for at in range(0, len(partitions), BATCH):
        yield partitions[at : at + BATCH]


class Filters:
    """Filters with new literals each time, from a fixed seed, so that no plan is cached."""

    def __init__(self) -> None:
        self._random = random.Random(1)

    def triple(self) -> tuple[str, int, str]:
        """A day, an hour and a region that exist."""
        pick = self._random
        return pick.choice(DAYS), pick.choice(HOURS), pick.choice(REGIONS)

    def point(self) -> str:
        """One partition."""
        day, hour, region = self.triple()
        return f"ds = '{day}' and hour = {hour} and region = '{region}'"

    def hundred(self) -> str:
        """Four hours of a day: 100 contiguous partitions."""
        day, hour, _ = self.triple()
        first = min(hour, 12)
        return f"ds = '{day}' and hour >= {first} and hour < {first + 4}"

    def triples(self, count: int = 200) -> str:
        """ORed triples."""
        return " or ".join(f"({self.point()})" for _ in range(count))

    def lists(self, count: int = 5_000) -> str:
        """Three ORed lists as programs write them, of which one day and one region are there: 4,384 hits."""
        pick, (day, _, region) = self._random, self.triple()
        days = ", ".join(f"'{year}-01-01'" for year in pick.sample(range(2100, 9999), count - 1))
        hours = ", ".join(map(str, pick.sample(range(24, 100_000), count)))
        regions = ", ".join(f"'x{number}'" for number in pick.sample(range(100_000), count - 1))
        return f"ds in ({days}, '{day}') or hour in ({hours}) or region in ({regions}, '{region}')"

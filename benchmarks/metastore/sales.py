"""The table that all servers hold: 250 ds x 16 hours x 25 regions, each partition about 777 bytes in a reply."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

from benchmarks.data import DAYS, HOURS, REGIONS
from benchmarks.metastore.calls import STRUCTS

DATABASE = "bench"
TABLE = "sales"
KEYS = (("ds", "string"), ("hour", "int"), ("region", "string"))
_FORMAT = "org.apache.hadoop.hive.ql.io.parquet"
_COLUMNS = [
    STRUCTS.FieldSchema(name=name, type="double")
    for name in ("amount", "price", "tax", "discount", "weight", "volume", "margin")
]
CREATED = 1_390_000_000


@dataclass(frozen=True, slots=True, order=True)
class Spec:
    """The values of one partition."""

    ds: str
    hour: int
    region: str

    @property
    def name(self) -> str:
        """As ``ds=2013-01-01/hour=5/region=r03``."""
        return f"ds={self.ds}/hour={self.hour}/region={self.region}"


def specs(days: int = len(DAYS), hours: int = len(HOURS)) -> list[Spec]:
    """The partitions of the first days, in key order: 400 for each day of 16 hours, 100,000 in all."""
    return [Spec(*values) for values in product(DAYS[:days], range(hours), REGIONS)]


def database(warehouse: str) -> Any:
    """The Database, for create_database."""
    return STRUCTS.Database(name=DATABASE, description="", locationUri=f"{warehouse}/{DATABASE}.db", parameters={})


def table(warehouse: str, name: str = TABLE) -> Any:
    """The Table, for create_table."""
    return STRUCTS.Table(
        tableName=name,
        dbName=DATABASE,
        owner="bench",
        createTime=CREATED,
        lastAccessTime=0,
        retention=0,
        sd=_storage(f"{warehouse}/{DATABASE}.db/{name}"),
        partitionKeys=[STRUCTS.FieldSchema(name=column, type=kind) for column, kind in KEYS],
        parameters={"EXTERNAL": "TRUE", "spark.sql.sources.provider": "parquet"},
        tableType="EXTERNAL_TABLE",
    )


def partition(spec: Spec, warehouse: str, name: str = TABLE) -> Any:
    """A Partition with a location of its own, for add_partitions_req."""
    return STRUCTS.Partition(
        values=[spec.ds, str(spec.hour), spec.region],
        dbName=DATABASE,
        tableName=name,
        createTime=CREATED,
        lastAccessTime=0,
        sd=_storage(f"{warehouse}/{DATABASE}.db/{name}/{spec.name}"),
        parameters={"numFiles": "1", "totalSize": "12345678", "transient_lastDdlTime": str(CREATED)},
    )


def _storage(location: str) -> Any:
    return STRUCTS.StorageDescriptor(
        cols=_COLUMNS,
        location=location,
        inputFormat=f"{_FORMAT}.MapredParquetInputFormat",
        outputFormat=f"{_FORMAT}.MapredParquetOutputFormat",
        compressed=False,
        numBuckets=0,
        serdeInfo=STRUCTS.SerDeInfo(
            serializationLib=f"{_FORMAT}.serde.ParquetHiveSerDe", parameters={"serialization.format": "1"}
        ),
        bucketCols=[],
        sortCols=[],
        parameters={},
        skewedInfo=STRUCTS.SkewedInfo(skewedColNames=[], skewedColValues=[], skewedColValueLocationMaps={}),
        storedAsSubDirectories=False,
    )

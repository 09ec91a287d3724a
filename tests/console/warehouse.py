"""A table that is worth a picture: sixty days, all hours, twelve regions, with holes; and tables with odd names."""

from __future__ import annotations

import datetime as dt

from hbstore import Column, Partition, Table

RIDES = "/databases/shop/tables/rides"
REGIONS = ("at", "br", "ca", "de", "es", "fr", "in", "it", "jp", "mx", "uk", "us")
HOSTILE = "<script>alert('ds')</script>\" javascript:alert(1) 'ö\u202e"
FIRST = dt.date(2015, 1, 1)


def add_rides(store):
    """The table of the pictures; 16,236 partitions: three days are missing, and the last is not over."""
    columns = [Column("ds", "date", "the day of the ride, in UTC"), Column("hour", "int"), Column("region", "string")]
    table = Table(
        "shop",
        "rides",
        columns,
        [Column("price", "decimal(10,2)", "in euros"), Column("distance", "double"), Column("rider", "string")],
        location="s3://shop/rides",
        owner="ann",
        parameters={"comment": "every ride that was paid for"},
        create_time=1_420_000_000,
    )
    store.create_table(table)
    partitions = []
    for day in range(60):
        for hour in range(24 if day < 59 else 9):
            for region in REGIONS if day not in (20, 21, 40) else ():
                size = 1 + (7 * day + 3 * hour + len(partitions)) % 97
                said = {"numRows": f"{1_000 * size}", "totalSize": f"{45_000 * size}", "numFiles": "4"}
                values = ((FIRST + dt.timedelta(days=day)).isoformat(), str(hour), region)
                when = 1_420_074_000 + 86_400 * day + 3_600 * hour
                partitions.append(Partition(values, parameters=said, create_time=when))
    store.table("shop.rides").add(partitions)


def add_odd_tables(store):
    """Tables that are empty, not partitioned, or full of text that a page must not run."""
    keys = [Column("ds", "date"), Column("hour", "int")]
    store.create_table(Table("shop", "empty", keys))
    store.create_table(Table("shop", "plain", columns=[Column("price", "double")], location="s3://shop/plain"))
    columns = [Column("a", "string", HOSTILE), Column("b", "string")]
    said = {HOSTILE: HOSTILE}
    store.create_table(
        Table("shop", "hostile", columns, [Column(HOSTILE, "string", HOSTILE)], location=HOSTILE, parameters=said)
    )
    store.table("shop.hostile").add(
        [Partition((value, HOSTILE), parameters=said, location=HOSTILE) for value in (HOSTILE, None, "x" * 3_000)]
    )

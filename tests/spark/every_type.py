"""A table with a partition column of every type: what is stored in it, and what that is compared with."""

from __future__ import annotations

import datetime as dt
import random
from decimal import Decimal
from math import inf, nan

import hbstore
from hbstore.keys.row_key import NULL_PARTITION

ODD = [
    "a b",
    "a/b=c",
    "100%",
    "é 中 🎉",
    "'quoted\"",
    "line\nbreak",
    "[x]{y}",
    "\\",
    "a_b",
    "A\0b",
    NULL_PARTITION[:-1],
]
NOON = dt.datetime(2013, 1, 1, 12)  # noqa: DTZ001  partition values have no zone
LAST = dt.datetime.max  # noqa: DTZ901
TICK = dt.timedelta(microseconds=1)
TYPES = {
    "s": ("string", ["", *ODD, "2013-01-01"], ["", "a", "z", "é", NULL_PARTITION, *ODD]),
    "v": ("varchar(5)", ["", "abc", "%_\\", "kept, as it is too long"], ["", "abc", "abd", "kept"]),
    "c": ("char(3)", ["a", "ab ", "kept"], ["a", "ab", "ab ", "b"]),
    "t": ("tinyint", ["-128", "05", "127", "kept"], [-128, 0, 5, 127]),
    "h": ("smallint", ["-32768", "0", "32767"], [-1, 0, 32767]),
    "i": ("int", ["-1", "+7", "0007", "2147483647", "2147483648"], [-1, 0, 7, 2147483647]),
    "l": ("bigint", [str(-(2**63)), "1", str(2**63 - 1)], [-(2**63), 0, 1, 2**63 - 1]),
    "d": ("date", ["0001-01-01", "2013-1-2", "9999-12-31", "2013-02-30"], [dt.date(1, 1, 1), dt.date(2013, 1, 2)]),
    "ts": (
        "timestamp",
        [
            "2013-01-01 12:00:00",
            "2013-01-01T12:00:00.000001",
            "2013-01-01 12:00:00.000000999",
            "2013-01-01 12:00:00.000001001",
            "1969-12-31 23:59:59.9",
            "9999-12-31 23:59:59.999999999",
            "noon",
        ],
        [NOON, NOON + TICK, NOON - TICK, LAST, dt.datetime(1969, 12, 31, 23, 59, 59, 900_000)],  # noqa: DTZ001
    ),
    "b": ("boolean", ["TRUE", "false", "yes"], [True, False]),
    "f": ("float", ["0.1", "-0.0", "NaN", "Infinity", "1e-40", "x"], [0.10000000149011612, 0.0, nan, inf, 1.5]),
    "e": ("double", ["0.1", "-1e300", "NaN", "-Infinity", "5"], [0.1, -0.0, nan, -inf, 5.0]),
    "m": ("decimal(10,2)", ["1.5", "1E+2", "-0.01", "1.555"], [Decimal("1.50"), Decimal("100.00"), Decimal("-0.01")]),
    "n": ("decimal(38,0)", ["0", str(10**37)], [Decimal(0), Decimal(10**37)]),
}
"""For each partition column its type, texts that are stored in it, and values that it is compared with."""
SPARK_TYPES = {
    "s": "string", "v": "string", "c": "string", "t": "tinyint", "h": "smallint", "i": "int", "l": "bigint",
    "d": "date", "ts": "timestamp_ntz", "b": "boolean", "f": "float", "e": "double", "m": "decimal(10,2)",
    "n": "decimal(38,0)",
}  # fmt: skip


def created(store, columns):
    partitioned = [hbstore.Column(name, kind) for name, kind in columns.items()]
    store.create_database("shop", if_not_exists=True)
    store.create_table(hbstore.Table("shop", "sales", partition_columns=partitioned, location="/warehouse/sales"))


def fill(url):
    """Partitions with each text of a column, the null partition in the others, and more at random."""
    with hbstore.connect(url) as store:
        created(store, {name: kind for name, (kind, _, _) in TYPES.items()})
        pick = random.Random(5)
        rows = [
            [text if name == column else None for name in TYPES] for column in TYPES for text in TYPES[column][1]
        ] + [[pick.choice([*TYPES[name][1], None]) for name in TYPES] for _ in range(150)]
        partitions = [hbstore.Partition(row) for row in rows]
        store.add_partitions("shop", "sales", partitions, True, invalid_values="keep")

"""SELECTs whose filters the endpoint's log has to show: what Spark sends of a condition, and what is scanned for it."""

from __future__ import annotations

from dataclasses import dataclass

from tests.metastore.spark.statement import does, rows, topic

SMALL = "pruning.small"
"""Five days with three hours each, and the null partition."""

WIDE = "pruning.wide"
"""Two days with 150 hours each: skipping from day to day is cheaper than reading through."""

MANY = (*(f"2020-01-{one % 28 + 2:02d}-{one:04d}" for one in range(1499)), "2020-01-04")
"""1,500 values, of which one is a partition's."""


@dataclass(frozen=True, slots=True)
class Pruned:
    """A condition that Spark pushes.

    Attributes:
        table: SMALL or WIDE.
        condition: as SQL has it.
        sent: the filter on the wire.
        scans: what the endpoint scans for it, as the log says it.
        partitions: how many are answered.
    """

    table: str
    condition: str
    sent: str
    scans: tuple[str, ...]
    partitions: int


PRUNED = (
    Pruned(
        SMALL,
        "ds = '2020-01-03' AND hr = 6 AND day = DATE'2020-01-03'",
        'ds = "2020-01-03" and hr = 6 and day = "2020-01-03"',
        ("get ds = '2020-01-03' × hr = 6 × day = '2020-01-03'",),
        1,
    ),
    Pruned(SMALL, "ds = '2020-01-03'", 'ds = "2020-01-03"', ("scan ds = '2020-01-03'",), 3),
    Pruned(
        SMALL,
        "ds = '2020-01-03' AND hr > 0",
        'ds = "2020-01-03" and hr > 0',
        ("scan ds = '2020-01-03' × hr ∈ [1, ∞)",),
        2,
    ),
    Pruned(
        SMALL,
        "ds BETWEEN '2020-01-02' AND '2020-01-03' AND hr = 6",
        'ds >= "2020-01-02" and ds <= "2020-01-03" and hr = 6',
        ("scan ds ∈ ['2020-01-02', '2020-01-03'+) | hr = 6",),
        2,
    ),
    Pruned(
        SMALL,
        "ds IN ('2020-01-01', '2020-01-03', '2020-01-05', 'x', 'y')",
        '(ds) in ("2020-01-01", "2020-01-03", "2020-01-05", "x", "y")',
        ("scan ds ∈ ['2020-01-01', 'y'+) | ds in ('2020-01-01', '2020-01-03', '2020-01-05', 'x', 'y')",),
        9,
    ),
    Pruned(
        SMALL,
        f"ds IN ({', '.join(map(repr, MANY))})",
        f'(ds >= "{min(MANY)}" and ds <= "{max(MANY)}")',
        (f"scan ds ∈ ['{min(MANY)}', '{max(MANY)}'+)",),
        9,
    ),
    Pruned(SMALL, "hr = 6", "hr = 6", ("scan all | hr = 6",), 5),
    Pruned(
        SMALL,
        "hr = 6 AND day < DATE'2020-01-03'",
        'hr = 6 and day < "2020-01-03"',
        ("scan all | hr = 6 and day < '2020-01-03'",),
        2,
    ),
    Pruned(
        SMALL,
        "ds LIKE '2020-01-0%' AND hr = 12",
        'ds like "2020-01-0.*" and hr = 12',
        ("scan ds ∈ ['2020-01-0…', '2020-01-0…'+) | hr = 12",),
        5,
    ),
    Pruned(SMALL, "ds LIKE '%-03'", 'ds like ".*-03"', ("scan ds is a value | ds like '%-03'",), 3),
    Pruned(SMALL, "ds LIKE '%01-0%'", 'ds like ".*01-0.*"', ("scan ds is a value | ds like '%01-0%'",), 15),
    Pruned(
        SMALL,
        "ds > '2020-01-04' OR hr = 0",
        '(ds > "2020-01-04" or hr = 0)',
        ("scan all | ds > '2020-01-04' or hr = 0",),
        7,
    ),
    Pruned(
        SMALL,
        "NOT ds = '2020-01-03' AND NOT hr IN (0, 6)",
        'ds != "2020-01-03" and (hr) not in (0, 6)',
        (
            (
                "scan ds is a value | (ds < '2020-01-03' or ds > '2020-01-03') "
                "and (hr < 0 or hr >= 1 and hr < 6 or hr >= 7)"
            ),
        ),
        4,
    ),
    Pruned(
        SMALL,
        "ds = '2020-01-02' AND concat(ds, '!') = '2020-01-02!' AND x < 100",
        'ds = "2020-01-02"',
        ("scan ds = '2020-01-02'",),
        3,
    ),
    Pruned(WIDE, "hr = 6", "hr = 6", ("skip all | each ds: hr = 6",), 2),
    Pruned(
        WIDE,
        "ds IN ('a', 'b') AND hr = 6",
        '(ds) in ("a", "b") and hr = 6',
        ("get ds = 'a' × hr = 6", "get ds = 'b' × hr = 6"),
        2,
    ),
    Pruned(
        WIDE,
        "(ds = 'a' AND hr = 3) OR (ds = 'b' AND hr >= 148)",
        '((ds = "a" and hr = 3) or (ds = "b" and hr >= 148))',
        ("get ds = 'a' × hr = 3", "scan ds = 'b' × hr ∈ [148, ∞)"),
        3,
    ),
)
UNPRUNED = ("ds IS NULL", "hr <=> 6", "ds LIKE '2020-01-0_' AND length(ds) > 3")
"""Conditions of which Spark pushes nothing: it lists all partitions."""

HOURS = " ".join(f"PARTITION (ds = '{ds}', hr = {hr})" for ds in "ab" for hr in range(150))

STATEMENTS = topic(
    "pruning",
    does("CREATE DATABASE pruning"),
    does(f"CREATE TABLE {SMALL} (x INT, ds STRING, hr INT, day DATE) USING parquet PARTITIONED BY (ds, hr, day)"),
    does(
        f"INSERT INTO {SMALL} SELECT id, concat('2020-01-0', id % 5 + 1), cast(id % 3 * 6 AS INT), "
        "to_date(concat('2020-01-0', id % 5 + 1)) FROM range(15)"
    ),
    does(f"INSERT INTO {SMALL} VALUES (15, NULL, NULL, NULL)"),
    does(f"CREATE TABLE {WIDE} (x INT) PARTITIONED BY (ds STRING, hr INT) STORED AS PARQUET"),
    does(f"ALTER TABLE {WIDE} ADD {HOURS}"),
    does(f"INSERT INTO {WIDE} VALUES (1, 'a', 6), (2, 'b', 6), (3, 'a', 3), (4, 'b', 149)"),
    *(rows(f"SELECT * FROM {one.table} WHERE {one.condition}") for one in PRUNED),
    *(rows(f"SELECT * FROM {SMALL} WHERE {one}") for one in UNPRUNED),
    does("DROP DATABASE pruning CASCADE"),
)

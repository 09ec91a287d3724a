"""Statements for Hive itself: conditions on partitions of all types, drops by them, and what fills a table."""

from __future__ import annotations

from itertools import cycle

COLUMNS = "s STRING, i INT, l BIGINT, d DATE, n DECIMAL(10,2), v VARCHAR(5)"
ROWS = [
    ("a", "1", "10", "2026-01-01", "1.5", "ab"),
    ("a", "2", "20", "2026-01-02", "2.25", "x"),
    ("ab", "5", "5000000000", "2026-01-02", "0", "abc"),
    ("b", "12", "10", "2025-12-31", "-3.5", "ab"),
    ("7", "-3", "7", "1999-12-31", "10", "7"),
]
PREDICATES = (
    *(f"s {operator} 'ab'" for operator in ("=", "<>", "<", ">=", "<=>")),
    *(f"i {operator} 5" for operator in ("<>", "<=", ">")),
    "5 < i",
    "s = 'a' AND i = 2",
    "NOT (s = 'a' OR i = 12)",
    "i IN (1, 5, 77)",
    "s NOT IN ('a', 'b')",
    "i BETWEEN 2 AND 5",
    "i NOT BETWEEN 2 AND 5",
    "s LIKE 'a%'",
    "s NOT LIKE '%b'",
    "s RLIKE '^a'",
    "s IS NULL",
    "i IS NOT NULL",
    "l > 4000000000",
    "d = DATE '2026-01-02'",
    "d < '2026-01-01'",
    "n = 1.5",
    "v IN ('x', 'abc')",
    "s = 7",
    "i = '5'",
    "CAST(s AS INT) = 7",
    "CAST(i AS STRING) = '12'",
    "CAST(d AS STRING) LIKE '2026%'",
    "(s, i) IN (('a', 1), ('b', 12), ('b', 1))",
    "s = 'a' AND id = 2",
    "s = v",
    "s = 'a' AND upper(v) = 'X'",
)
"""Each operator, and each type, once; tests/hive_expressions asks Hive's classes what they mean on all types."""
FEWER = ("s = 7", "CAST(s AS INT) = 7")
"""A Hive Metastore also lists partitions for which these are NULL, and Hive reads them."""
MORE = "s = 'a' AND upper(v) = 'X'"
"""hbstore does not read the second part, and Hive filters the rows."""
NOT_SHOWN = ("CAST(d AS STRING) LIKE '2026%'", "s RLIKE '^a'", "s = v", MORE)
"""hbstore does not read these, or a part, and SHOW PARTITIONS fails, as Hive filters no names."""
SHOWN_OTHERWISE = ("WHERE CAST(s AS INT) = 7", "WHERE (s, i) IN (('a', 1), ('b', 12), ('b', 1))", "ORDER BY n")
"""A Hive Metastore lists what is NULL as well, no structs, and sorts decimals as text."""
DROPS = (
    "(i = 1)",
    "(i < 0)",
    "(s = 'a', i > 1)",
    "(s <> 'ab')",
    "(i >= 5)",
    "(s <= 'ab')",
    "(d < '2026-01-01')",
    "(n = 1.5)",
    "(v = 'ab')",
    "(l > 4000000000)",
    "(i = 1), PARTITION (s = 'b')",
    "(s = 'a'), PARTITION (i = 1)",
    "(i = 77)",  # which is an error, but for the second form
    "(i = 77)",
)


def shows(table):
    """Statements that list partitions by conditions, in an order, a few of them."""
    show = f"SHOW PARTITIONS expressions.{table}"
    return [
        *(f"{show} WHERE {one}" for one in PREDICATES if "id" not in one.split()),
        f"{show} WHERE i > 1 ORDER BY i DESC",
        f"{show} WHERE s LIKE 'a%' ORDER BY d DESC, i LIMIT 2",
        f"{show} WHERE i BETWEEN 1 AND 12 LIMIT 2",
        f"{show} ORDER BY n",
        f"{show} ORDER BY s DESC LIMIT 2",
        f"{show} LIMIT 3",
        f"{show} PARTITION (s = 'a') LIMIT 1",
        f"{show} WHERE id = 2",
        f"{show} WHERE none = 2",
    ]


def spec(row):
    """A partition as a statement names it."""
    names = [one.split()[0] for one in COLUMNS.split(", ")]
    return ", ".join(f"{name}='{value}'" for name, value in zip(names, row, strict=True))


def load(table, folder):
    """Statements that make a table of all types whose partitions have a file each."""
    statements = [f"CREATE TABLE expressions.{table} (id INT) PARTITIONED BY ({COLUMNS})"]
    for number, row in enumerate(ROWS):
        file = folder / f"{table}-{number}"
        file.write_text(f"{number}\n")
        statements.append(f"LOAD DATA LOCAL INPATH '{file}' INTO TABLE expressions.{table} PARTITION ({spec(row)})")
    return statements


def drops():
    """Statements that fill a table, drop partitions of it in two forms by turns, and list what is left after each."""
    statements = [
        "CREATE DATABASE IF NOT EXISTS expressions",
        f"CREATE TABLE expressions.drops (id INT) PARTITIONED BY ({COLUMNS})",
    ]
    fill = " ".join(f"PARTITION ({spec(row)})" for row in ROWS)
    forms = cycle(("DROP PARTITION {}", "DROP IF EXISTS PARTITION {} PURGE"))
    for drop, form in zip(DROPS, forms, strict=False):
        statements += [
            f"ALTER TABLE expressions.drops ADD IF NOT EXISTS {fill}",
            f"ALTER TABLE expressions.drops {form.format(drop)}",
            "SHOW PARTITIONS expressions.drops",
        ]
    return statements

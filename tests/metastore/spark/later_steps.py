"""What Spark says to a metastore through Hive's client of a version, and the right answers."""

from __future__ import annotations

from dataclasses import dataclass

UPPER = "org.apache.hadoop.hive.ql.udf.generic.GenericUDFUpper"


@dataclass(frozen=True, slots=True)
class Step:
    """A statement and what it has to answer.

    Attributes:
        sql: the statement.
        rows: all its rows, in any order.
        among: rows that have to be among those that it answers; then ``rows`` is nothing.
        error: Spark's name of the error that it has to end with.
        filter: what Spark sends for partitions, of a SELECT with a condition on them; LIKE as for clients of Hive 3.
        pruned: how many partitions come back for that.
    """

    sql: str
    rows: tuple = ()
    among: tuple = ()
    error: str | None = None
    filter: str | None = None
    pruned: int = 0


def does(sql, *rows):
    return Step(sql, rows)


def holds(sql, *among):
    return Step(sql, among=among)


def fails(sql, error):
    return Step(sql, error=error)


def prunes(condition, text, partitions, *amounts):
    query = f"SELECT amount FROM shop.sales WHERE {condition}"
    return Step(query, tuple((one,) for one in amounts), filter=text, pruned=partitions)


NAMES = (
    "ds=2026-01-01/hour=1",
    "ds=2026-01-01/hour=2",
    "ds=2026-01-02/hour=1",
    "ds=2026-01-03/hour=7",
    "ds=b.c/hour=3",
)
NULL = "ds=__HIVE_DEFAULT_PARTITION__/hour=1"

DATABASES = (
    does("CREATE DATABASE shop COMMENT 'of two' WITH DBPROPERTIES (a = 'b')"),
    does("SHOW DATABASES", ("default",), ("shop",)),
    does("ALTER DATABASE shop SET DBPROPERTIES (a = 'c')"),
    holds("DESCRIBE DATABASE EXTENDED shop", ("Comment", "of two"), ("Properties", "((a,c))")),
    fails("CREATE DATABASE shop", "SCHEMA_ALREADY_EXISTS"),
)
INSERTS = (
    does("CREATE TABLE shop.sales (amount INT, ds STRING, hour INT) USING parquet PARTITIONED BY (ds, hour)"),
    does(
        "INSERT INTO shop.sales VALUES (1, '2026-01-01', 1), (2, '2026-01-01', 2), (3, '2026-01-02', 1), "
        "(4, 'b.c', 3), (5, NULL, 1)"
    ),
    does("INSERT INTO shop.sales PARTITION (ds = '2026-01-03', hour = 7) VALUES (6)"),
    does("SHOW PARTITIONS shop.sales", *((one,) for one in (*NAMES, NULL))),
    does("SHOW PARTITIONS shop.sales PARTITION (ds = '2026-01-01')", (NAMES[0],), (NAMES[1],)),
)
FILTERS = (
    prunes("ds = '2026-01-01' AND hour = 2", 'ds = "2026-01-01" and hour = 2', 1, 2),
    prunes("ds >= '2026-01-02' AND hour IN (1, 2)", 'ds >= "2026-01-02" and (hour) in (1, 2)', 1, 3),
    prunes("ds LIKE '2026-01-0%'", 'ds like "2026-01-0.*"', 4, 1, 2, 3, 6),
    prunes("ds LIKE '%c'", 'ds like ".*c"', 1, 4),
    prunes("ds != '2026-01-01' AND hour > 1", 'ds != "2026-01-01" and hour > 1', 2, 4, 6),
    prunes("ds = 'b.c' OR hour = 7", '(ds = "b.c" or hour = 7)', 2, 4, 6),
    prunes("ds = 'none'", 'ds = "none"', 0),
)
OVERWRITES = (
    does("INSERT OVERWRITE shop.sales PARTITION (ds = '2026-01-02', hour = 1) VALUES (30)"),
    does("INSERT OVERWRITE shop.sales PARTITION (ds = '2026-01-01', hour) VALUES (20, 2)"),
    does("SELECT amount FROM shop.sales", *((one,) for one in (1, 20, 30, 4, 5, 6))),
)
PARTITIONS = (
    does("ALTER TABLE shop.sales ADD PARTITION (ds = 'x', hour = 8) PARTITION (ds = 'x', hour = 9)"),
    fails("ALTER TABLE shop.sales ADD PARTITION (ds = 'x', hour = 9)", "PARTITIONS_ALREADY_EXIST"),
    does("ALTER TABLE shop.sales PARTITION (ds = 'x', hour = 9) RENAME TO PARTITION (ds = 'y', hour = 9)"),
    does("ALTER TABLE shop.sales DROP PARTITION (ds = 'x', hour = 8), PARTITION (ds = '2026-01-01', hour = 2)"),
    fails("ALTER TABLE shop.sales DROP PARTITION (ds = 'x', hour = 8)", "PARTITIONS_NOT_FOUND"),
    does("ALTER TABLE shop.sales DROP IF EXISTS PARTITION (ds = 'x', hour = 8)"),
    does(
        "SHOW PARTITIONS shop.sales",
        *((one,) for one in (NAMES[0], *NAMES[2:], NULL, "ds=y/hour=9")),
    ),
    does("MSCK REPAIR TABLE shop.sales"),
)
OF_HIVE = (
    does("CREATE TABLE shop.logs (x INT) PARTITIONED BY (day DATE) STORED AS ORC"),
    does("INSERT INTO shop.logs PARTITION (day) VALUES (1, DATE'2026-01-01'), (2, DATE'2026-01-02')"),
    does("INSERT OVERWRITE TABLE shop.logs PARTITION (day = '2026-01-01') VALUES (7)"),
    does("SELECT x FROM shop.logs WHERE day < DATE'2026-01-02'", (7,)),
    does("TRUNCATE TABLE shop.logs PARTITION (day = '2026-01-02')"),
    does("SELECT x FROM shop.logs", (7,)),
)
STATISTICS = (
    does("ANALYZE TABLE shop.sales COMPUTE STATISTICS FOR COLUMNS amount"),
    holds("DESCRIBE EXTENDED shop.sales amount", ("min", "1"), ("max", "30"), ("distinct_count", "5")),
    does("ANALYZE TABLE shop.sales PARTITION (ds = '2026-01-02', hour = 1) COMPUTE STATISTICS"),
    holds(
        "DESCRIBE EXTENDED shop.sales PARTITION (ds = '2026-01-02', hour = 1)",
        ("Partition Values", "[ds=2026-01-02, hour=1]", ""),
    ),
)
TABLES = (
    does("ALTER TABLE shop.sales ADD COLUMNS (note STRING)"),
    does("ALTER TABLE shop.sales SET TBLPROPERTIES ('k' = 'v')"),
    does("SHOW TBLPROPERTIES shop.sales ('k')", ("k", "v")),
    does("SELECT amount, note FROM shop.sales WHERE ds = 'b.c'", (4, None)),
    does("ALTER TABLE shop.logs RENAME TO shop.lines"),
    does("SELECT x FROM shop.lines WHERE day = '2026-01-01'", (7,)),
    fails("SELECT x FROM shop.logs", "TABLE_OR_VIEW_NOT_FOUND"),
)
VIEWS = (
    does("CREATE VIEW shop.late AS SELECT amount FROM shop.sales WHERE hour > 5"),
    does("SELECT * FROM shop.late", (6,)),
    does("SHOW VIEWS IN shop", ("shop", "late", False)),
    does("SHOW TABLES IN shop", ("shop", "late", False), ("shop", "lines", False), ("shop", "sales", False)),
    does("DROP VIEW shop.late"),
    does(f"CREATE FUNCTION shop.up AS '{UPPER}'"),
    does("SELECT shop.up('abc')", ("ABC",)),
    does("SHOW USER FUNCTIONS IN shop", ("spark_catalog.shop.up",)),
    does("DROP FUNCTION shop.up"),
    does("SHOW USER FUNCTIONS IN shop"),
    does("DROP TABLE shop.lines PURGE"),
    does("DROP DATABASE shop CASCADE"),
    does("SHOW DATABASES", ("default",)),
)
STEPS = (*DATABASES, *INSERTS, *FILTERS, *OVERWRITES, *PARTITIONS, *OF_HIVE, *STATISTICS, *TABLES, *VIEWS)

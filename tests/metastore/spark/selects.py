"""SELECT with every form of condition on partition columns of every type: those that Spark pushes, and the others."""

from tests.metastore.spark.statement import does, none, ordered, rows, topic

FIVE = ", ".join(str(one) for one in (1, 3, 5, 7, 9))
MANY_INTS = ", ".join(str(one) for one in range(3, 4503, 3))
"""1,500 values."""
MANY_TEXTS = ", ".join(f"'2020-01-{one % 31 + 1:02d}-{one}'" for one in range(1499)) + ", '2020-01-05'"

MAKING = (
    does("CREATE DATABASE selects"),
    does("USE selects"),
    does(
        "CREATE TABLE s (id BIGINT, ds STRING, hr INT, big BIGINT, day DATE) USING parquet "
        "PARTITIONED BY (ds, hr, big, day)"
    ),
    does(
        "INSERT INTO s SELECT id, concat('2020-01-', lpad(id % 6 + 1, 2, '0')), cast(id % 4 * 3 AS INT), "
        "id % 3 * 5000000000, date_add(DATE'1969-12-30', cast(id % 5 AS INT)) FROM range(12)"
    ),
    does("INSERT INTO s VALUES (100, NULL, 1, 1, DATE'2020-02-29'), (101, '2020-01-01', NULL, NULL, NULL)"),
    ordered("SHOW PARTITIONS s"),
)

CONDITIONS = (
    "ds = '2020-01-03'",
    "ds == '2020-01-03' AND hr = 6",
    "'2020-01-03' = ds",
    "ds != '2020-01-03'",
    "ds <> '2020-01-03' AND hr <> 6",
    "ds < '2020-01-03'",
    "ds <= '2020-01-02' OR ds > '2020-01-05'",
    "'2020-01-03' > ds",
    "ds BETWEEN '2020-01-02' AND '2020-01-04'",
    "ds NOT BETWEEN '2020-01-02' AND '2020-01-04'",
    "ds IN ('2020-01-02', '2020-01-04', 'never', '2020-01-06', '2020-01-05')",
    "ds NOT IN ('2020-01-02', '2020-01-04')",
    f"ds IN ({MANY_TEXTS})",
    "hr = 0",
    "hr = -1",
    "hr > 3",
    "hr >= 3 AND hr < 9",
    "hr BETWEEN 3 AND 6",
    f"hr IN ({FIVE})",
    f"hr IN ({MANY_INTS})",
    f"hr NOT IN ({FIVE})",
    f"NOT hr IN ({MANY_INTS})",
    "hr = 3L",
    "hr = '3'",
    "hr > 2147483647",
    "hr < 3000000000",
    "hr = 3.0",
    "big = 5000000000",
    "5000000000 = big",
    "big > 5000000000",
    "big IN (0, 10000000000)",
    "big < hr",
    "day = DATE'1970-01-01'",
    "day = '1970-01-01'",
    "day < DATE'1970-01-01'",
    "day >= '1970-01-02'",
    "day BETWEEN DATE'1969-12-31' AND DATE'1970-01-01'",
    "day IN (DATE'1969-12-30', DATE'2020-02-29')",
    "day NOT IN (DATE'1969-12-30', DATE'2020-02-29')",
    "day != DATE'1969-12-30'",
    "year(day) = 1970",
    "day > TIMESTAMP'1970-01-01 12:00:00'",
    "(ds = '2020-01-01' AND hr = 0) OR (ds = '2020-01-02' AND hr >= 2)",
    "ds = '2020-01-01' OR hr = 3 OR big = 0",
    "(ds = '2020-01-01' OR ds = '2020-01-02') AND (hr = 0 OR hr = 9) AND day > DATE'1969-12-30'",
    "NOT (ds = '2020-01-01')",
    "NOT (ds = '2020-01-01' OR hr = 3)",
    "NOT (ds = '2020-01-01' AND hr = 0)",
    "NOT (hr > 3)",
    "ds IS NULL",
    "ds IS NOT NULL AND hr = 3",
    "hr IS NULL",
    "NOT (ds IS NULL) AND day IS NULL",
    "hr <=> NULL",
    "hr <=> 3",
    "ds = '__HIVE_DEFAULT_PARTITION__'",
    "ds LIKE '2020-01-0%'",
    "ds LIKE '%-03'",
    "ds LIKE '%01-0%'",
    "ds LIKE '2020-01-03'",
    "ds LIKE '2020-01-0_'",
    "ds LIKE '%'",
    "ds NOT LIKE '%3'",
    "ds LIKE '2020%3'",
    "ds RLIKE '0[12]$'",
    "startswith(ds, '2020-01-01') OR endswith(ds, '6')",
    "contains(ds, '-0') AND hr > 3",
    "concat(ds, '!') = '2020-01-03!'",
    "hr + 1 = 4",
    "ds = '2020-01-03' AND id > 5",
    "ds = '2020-01-03' OR id = 100",
    "ds = '2020-01-03' AND (id > 5 OR hr = 0)",
    "1 = 1",
    "coalesce(hr, 3) = 3",
    "CASE WHEN hr = 3 THEN ds = '2020-01-04' ELSE ds = '2020-01-01' END",
    "hr IN (SELECT 3)",
    "ds = (SELECT min(ds) FROM s)",
)
EMPTY = ("ds = '__HIVE_DEFAULT_PARTITION__'", "hr = -1", "hr > 2147483647", "hr <=> NULL AND ds = 'x'")


def selecting(condition):
    """The rows that a condition selects, of which there are some unless EMPTY names it."""
    sql = f"SELECT * FROM s WHERE {condition}"
    return none(sql) if condition in EMPTY else rows(sql)


MORE = (
    rows("SELECT count(*) FROM s"),
    rows("SELECT DISTINCT ds FROM s"),
    rows("SELECT max(day), min(hr) FROM s"),
    ordered("SELECT ds, count(*) FROM s WHERE hr > 0 GROUP BY ds ORDER BY ds DESC"),
    rows("SELECT a.id, b.id FROM s a JOIN s b ON a.ds = b.ds AND a.id < b.id WHERE a.hr = 3"),
)

OTHER_TYPES = (
    does(
        "CREATE TABLE odd (id INT, flag BOOLEAN, amount DECIMAL(6, 2), at TIMESTAMP, small SMALLINT, f DOUBLE) "
        "USING parquet PARTITIONED BY (flag, amount, at, small, f)"
    ),
    does(
        "INSERT INTO odd VALUES (1, true, 1.50, TIMESTAMP'2020-01-01 10:00:00', 1, 0.5), "
        "(2, false, -20.25, TIMESTAMP'2020-01-01 10:00:00.123', -2, 1e10), (3, NULL, NULL, NULL, NULL, NULL)"
    ),
    ordered("SHOW PARTITIONS odd"),
    rows("SELECT * FROM odd"),
    rows("SELECT id FROM odd WHERE flag"),
    rows("SELECT id FROM odd WHERE flag = false"),
    rows("SELECT id FROM odd WHERE amount = 1.5"),
    rows("SELECT id FROM odd WHERE amount < 0"),
    rows("SELECT id FROM odd WHERE at = TIMESTAMP'2020-01-01 10:00:00'"),
    rows("SELECT id FROM odd WHERE at > '2020-01-01 10:00:00'"),
    rows("SELECT id FROM odd WHERE small = -2"),
    rows("SELECT id FROM odd WHERE small > -1 AND flag"),
    rows("SELECT id FROM odd WHERE f > 1"),
    rows("SELECT id FROM odd WHERE flag IS NULL"),
    does("CREATE TABLE hive_s (id BIGINT) PARTITIONED BY (ds STRING, hr INT) STORED AS ORC"),
    does("INSERT INTO hive_s SELECT id, ds, hr FROM s"),
    rows("SELECT * FROM hive_s WHERE ds = '2020-01-03' AND hr > 1"),
    rows("SELECT * FROM hive_s WHERE ds IN ('2020-01-01', '2020-01-02') OR hr = 3"),
    rows("SELECT * FROM hive_s WHERE ds LIKE '%5' OR ds IS NULL"),
    does("CREATE TABLE vc (id INT) PARTITIONED BY (p VARCHAR(10), c CHAR(3)) STORED AS PARQUET"),
    does("INSERT INTO vc VALUES (1, 'abc', 'x'), (2, 'abcd', 'yyy')"),
    ordered("SHOW PARTITIONS vc"),
    rows("SELECT * FROM vc WHERE p = 'abc'"),
    rows("SELECT * FROM vc WHERE c = 'x'"),
    rows("SELECT * FROM vc WHERE p > 'abc' OR c < 'y'"),
    does("USE default"),
    does("DROP DATABASE selects CASCADE"),
)

STATEMENTS = topic("selects", *MAKING, *map(selecting, CONDITIONS), *MORE, *OTHER_TYPES)

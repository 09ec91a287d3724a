"""Partitions by hand: ADD, DROP, RENAME, SHOW, DESCRIBE, SET LOCATION."""

from tests.metastore.spark.statement import does, fails, folders, none, ordered, rows, topic

ADDING = (
    does("CREATE DATABASE partitions"),
    does("USE partitions"),
    does("CREATE TABLE p (x INT, ds STRING, hr INT) USING parquet PARTITIONED BY (ds, hr)"),
    does("ALTER TABLE p ADD PARTITION (ds = '2020-01-02', hr = 10)"),
    does("ALTER TABLE p ADD PARTITION (ds = '2020-01-01', hr = 9) PARTITION (ds = '2020-01-01', hr = 10)"),
    ordered("SHOW PARTITIONS p"),
    fails("PARTITIONS_ALREADY_EXIST", "ALTER TABLE p ADD PARTITION (ds = '2020-01-01', hr = 9)"),
    does("ALTER TABLE p ADD IF NOT EXISTS PARTITION (ds = '2020-01-01', hr = 9) PARTITION (ds = '2020-01-03', hr = 1)"),
    does("ALTER TABLE p ADD PARTITION (DS = '2020-01-03', HR = 2)"),
    does("ALTER TABLE p ADD PARTITION (hr = 3, ds = '2020-01-03')"),
    does("ALTER TABLE p ADD PARTITION (ds = '2020-01-04', hr = 1) LOCATION '$WAREHOUSE/places/of p'"),
    does(
        "ALTER TABLE p ADD PARTITION (ds = '2020-01-04', hr = 2) LOCATION '$WAREHOUSE/places/two' "
        "PARTITION (ds = '2020-01-04', hr = 3)"
    ),
    does("ALTER TABLE p ADD PARTITION (ds = NULL, hr = 1)"),
    fails("PARTITIONS_NOT_FOUND", "ALTER TABLE p DROP PARTITION (ds = '2019-01-01', hr = 1)"),
    fails("INVALID_PARTITION_SPEC", "ALTER TABLE p ADD PARTITION (ds = '', hr = 1)"),
    fails("_LEGACY_ERROR_TEMP_1232", "ALTER TABLE p ADD PARTITION (ds = '2020-01-05')"),
    fails("PARTITIONS_NOT_FOUND", "ALTER TABLE p ADD PARTITION (ds = '2020-01-05', nope = 1)"),
    fails("CAST_INVALID_INPUT", "ALTER TABLE p ADD PARTITION (ds = '2020-01-05', hr = 'five')"),
    folders("$WAREHOUSE/partitions.db/p"),
    folders("$WAREHOUSE/places"),
)

SHOWING = (
    ordered("SHOW PARTITIONS p"),
    ordered("SHOW PARTITIONS p PARTITION (ds = '2020-01-03')"),
    ordered("SHOW PARTITIONS p PARTITION (hr = 1)"),
    ordered("SHOW PARTITIONS p PARTITION (ds = '2020-01-01', hr = 9)"),
    ordered("SHOW PARTITIONS p PARTITION (DS = '2020-01-01')"),
    ordered("SHOW PARTITIONS p PARTITION (ds = NULL)"),
    none("SHOW PARTITIONS p PARTITION (ds = 'no such')"),
    fails("PARTITIONS_NOT_FOUND", "SHOW PARTITIONS p PARTITION (nope = 1)"),
    rows("DESCRIBE p PARTITION (ds = '2020-01-01', hr = 9)"),
    rows("DESCRIBE EXTENDED p PARTITION (ds = '2020-01-01', hr = 9)"),
    rows("DESCRIBE FORMATTED p PARTITION (ds = '2020-01-04', hr = 1)"),
    rows("DESCRIBE FORMATTED p PARTITION (ds = NULL, hr = 1)"),
    fails("PARTITIONS_NOT_FOUND", "DESCRIBE EXTENDED p PARTITION (ds = 'no such', hr = 9)"),
    fails("_LEGACY_ERROR_TEMP_1232", "DESCRIBE EXTENDED p PARTITION (ds = '2020-01-01')"),
    rows("SHOW TABLE EXTENDED LIKE 'p' PARTITION (ds = '2020-01-01', hr = 9)"),
    rows("SHOW TABLE EXTENDED LIKE 'p' PARTITION (ds = '2020-01-04', hr = 1)"),
    fails("PARTITIONS_NOT_FOUND", "SHOW TABLE EXTENDED LIKE 'p' PARTITION (ds = 'no such', hr = 9)"),
)

FILLING = (
    does("INSERT INTO p PARTITION (ds = '2020-01-04', hr = 1) VALUES (1)"),
    does("INSERT INTO p VALUES (2, '2020-01-04', 2), (3, '2020-01-04', 3), (4, '2020-01-01', 9), (5, NULL, 1)"),
    rows("SELECT * FROM p"),
    folders("$WAREHOUSE/places"),
    does("ALTER TABLE p PARTITION (ds = '2020-01-01', hr = 9) SET LOCATION '$WAREHOUSE/places/moved'"),
    rows("DESCRIBE FORMATTED p PARTITION (ds = '2020-01-01', hr = 9)"),
    none("SELECT * FROM p WHERE ds = '2020-01-01'"),
    does("INSERT INTO p VALUES (6, '2020-01-01', 9)"),
    rows("SELECT * FROM p WHERE ds = '2020-01-01'"),
    does(
        "ALTER TABLE p PARTITION (ds = '2020-01-01', hr = 9) "
        "SET LOCATION '$WAREHOUSE/partitions.db/p/ds=2020-01-01/hr=9'"
    ),
    rows("SELECT * FROM p WHERE ds = '2020-01-01'"),
    fails(
        "PARTITIONS_NOT_FOUND",
        "ALTER TABLE p PARTITION (ds = 'no such', hr = 9) SET LOCATION '$WAREHOUSE/places/nowhere'",
    ),
)

RENAMING = (
    does("ALTER TABLE p PARTITION (ds = '2020-01-01', hr = 9) RENAME TO PARTITION (ds = '2021-12-31', hr = 23)"),
    none("SELECT * FROM p WHERE ds = '2020-01-01'"),
    rows("SELECT * FROM p WHERE ds = '2021-12-31' AND hr = 23"),
    rows("DESCRIBE FORMATTED p PARTITION (ds = '2021-12-31', hr = 23)"),
    does("ALTER TABLE p PARTITION (ds = '2020-01-03', hr = 2) RENAME TO PARTITION (ds = '2020-01-03', hr = 22)"),
    rows("SELECT * FROM p WHERE ds = '2020-01-04'"),
    rows("DESCRIBE FORMATTED p PARTITION (ds = '2020-01-03', hr = 22)"),
    does("ALTER TABLE p PARTITION (ds = '2020-01-04', hr = 3) RENAME TO PARTITION (ds = 'a b/c=d%e', hr = -3)"),
    rows("SELECT * FROM p WHERE ds = 'a b/c=d%e'"),
    fails(
        "PARTITIONS_ALREADY_EXIST",
        "ALTER TABLE p PARTITION (ds = '2020-01-01', hr = 10) RENAME TO PARTITION (ds = '2021-12-31', hr = 23)",
    ),
    fails(
        "PARTITIONS_NOT_FOUND",
        "ALTER TABLE p PARTITION (ds = '2020-01-01', hr = 9) RENAME TO PARTITION (ds = '2020-02-01', hr = 9)",
    ),
    ordered("SHOW PARTITIONS p"),
    folders("$WAREHOUSE/partitions.db/p"),
    folders("$WAREHOUSE/places"),
)

DROPPING = (
    does("ALTER TABLE p DROP PARTITION (ds = '2020-01-01', hr = 10)"),
    does("ALTER TABLE p DROP PARTITION (ds = '2020-01-03', hr = 1), PARTITION (ds = '2020-01-03', hr = 22)"),
    does(
        "ALTER TABLE p DROP IF EXISTS PARTITION (ds = '2020-01-03', hr = 1), "
        "PARTITION (ds = '2020-01-03', hr = 3) PURGE"
    ),
    does("ALTER TABLE p DROP PARTITION (ds = '2020-01-04')"),
    does("ALTER TABLE p DROP PARTITION (ds = NULL, hr = 1)"),
    ordered("SHOW PARTITIONS p"),
    folders("$WAREHOUSE/partitions.db/p"),
    folders("$WAREHOUSE/places"),
    does("ALTER TABLE p DROP IF EXISTS PARTITION (ds = 'no such', hr = 1)"),
    fails(
        "PARTITIONS_NOT_FOUND",
        "ALTER TABLE p DROP PARTITION (ds = '2021-12-31', hr = 23), PARTITION (ds = 'no such', hr = 1)",
    ),
    rows("SELECT * FROM p WHERE ds = '2021-12-31'"),
    does("ALTER TABLE p ADD PARTITION (ds = '2020-01-04', hr = 2)"),
    none("SELECT * FROM p WHERE ds = '2020-01-04'"),
)

HIVE = (
    does("CREATE TABLE h (x INT) PARTITIONED BY (day DATE, n BIGINT, ok BOOLEAN) STORED AS ORC"),
    does(
        "ALTER TABLE h ADD PARTITION (day = DATE'2020-01-01', n = 9000000000, ok = true) "
        "PARTITION (day = '2020-01-02', n = 05, ok = false)"
    ),
    ordered("SHOW PARTITIONS h"),
    does("INSERT INTO h VALUES (1, DATE'2020-01-01', 9000000000, true), (2, DATE'2020-01-02', 5, false)"),
    rows("SELECT * FROM h"),
    ordered("SHOW PARTITIONS h"),
    ordered("SHOW PARTITIONS h PARTITION (ok = true)"),
    rows("DESCRIBE FORMATTED h PARTITION (day = '2020-01-02', n = 5, ok = false)"),
    rows("SHOW TABLE EXTENDED LIKE 'h' PARTITION (day = '2020-01-02', n = 5, ok = false)"),
    does(
        "ALTER TABLE h PARTITION (day = '2020-01-02', n = 5, ok = false) "
        "RENAME TO PARTITION (day = '2020-01-03', n = -5, ok = true)"
    ),
    rows("SELECT * FROM h WHERE day > DATE'2020-01-01'"),
    does("ALTER TABLE h DROP PARTITION (ok = true, n = -5)"),
    ordered("SHOW PARTITIONS h"),
    does("ALTER TABLE h PARTITION (day = '2020-01-01', n = 9000000000, ok = true) SET SERDEPROPERTIES ('k' = 'v')"),
    rows("DESCRIBE FORMATTED h PARTITION (day = '2020-01-01', n = 9000000000, ok = true)"),
    folders("$WAREHOUSE/partitions.db/h"),
)

ERRORS = (
    does("CREATE TABLE several (x INT, ds STRING) USING parquet PARTITIONED BY (ds)"),
    does("ALTER TABLE several ADD PARTITION (ds = 'b')"),
    fails("PARTITIONS_ALREADY_EXIST", "ALTER TABLE several ADD PARTITION (ds = 'a') PARTITION (ds = 'b')"),
    ordered("SHOW PARTITIONS several"),
    does("CREATE TABLE flat (x INT) USING parquet"),
    fails("INVALID_PARTITION_OPERATION.PARTITION_SCHEMA_IS_EMPTY", "SHOW PARTITIONS flat"),
    fails("_LEGACY_ERROR_TEMP_1251", "ALTER TABLE flat ADD PARTITION (x = 1)"),
    fails("TABLE_OR_VIEW_NOT_FOUND", "ALTER TABLE missing ADD PARTITION (x = 1)"),
    does("USE default"),
    does("DROP DATABASE partitions CASCADE"),
    folders("$WAREHOUSE"),
    folders("$WAREHOUSE/places"),
)

STATEMENTS = topic("partitions", *ADDING, *SHOWING, *FILLING, *RENAMING, *DROPPING, *HIVE, *ERRORS)

"""A day's statements of Hive 4 on one database: tables, partitions, rows, statistics, views, functions."""

from __future__ import annotations

UPPER = "org.apache.hadoop.hive.ql.udf.generic.GenericUDFUpper"

DEFINITIONS = (
    "CREATE DATABASE shop COMMENT 'of two' WITH DBPROPERTIES ('a' = 'b')",
    "CREATE DATABASE shop",
    "ALTER DATABASE shop SET DBPROPERTIES ('a' = 'c')",
    "DESCRIBE DATABASE EXTENDED shop",
    "SHOW DATABASES",
    "USE shop",
    "CREATE TABLE sales (amount INT COMMENT 'each') PARTITIONED BY (ds STRING, hour INT) STORED AS TEXTFILE",
    "CREATE EXTERNAL TABLE outside (x INT) PARTITIONED BY (p DATE) STORED AS ORC",
    "CREATE TABLE sales_too LIKE sales",
    "SHOW TABLES",
    "SHOW CREATE TABLE sales",
    "DESCRIBE FORMATTED sales",
    "DESCRIBE outside",
)
PARTITIONS = (
    "ALTER TABLE sales ADD PARTITION (ds = 'a', hour = 1) PARTITION (ds = 'a', hour = 2)",
    "ALTER TABLE sales ADD PARTITION (ds = 'b', hour = 1)",
    "ALTER TABLE sales ADD PARTITION (ds = 'a', hour = 1)",
    "ALTER TABLE sales ADD IF NOT EXISTS PARTITION (ds = 'a', hour = 1) PARTITION (ds = 'c d/e', hour = 9)",
    "ALTER TABLE sales PARTITION (ds = 'b', hour = 1) RENAME TO PARTITION (ds = 'b', hour = 2)",
    "SHOW PARTITIONS sales",
    "SHOW PARTITIONS sales PARTITION (ds = 'a')",
    "SHOW PARTITIONS sales LIMIT 2",
    "DESCRIBE FORMATTED sales PARTITION (ds = 'a', hour = 1)",
    "SHOW TABLE EXTENDED LIKE 'sales' PARTITION (ds = 'a', hour = 1)",
)
ROWS = (
    "INSERT INTO sales PARTITION (ds = 'a', hour = 1) VALUES (1), (2)",
    "INSERT INTO sales PARTITION (ds, hour) VALUES (3, 'a', 2), (4, 'd', 4), (5, NULL, 1)",
    "INSERT OVERWRITE TABLE sales PARTITION (ds = 'd', hour) VALUES (40, 4), (50, 5)",
    "SHOW PARTITIONS sales",
    "SELECT amount, ds, hour FROM sales WHERE ds = 'a' AND hour = 1",
    "SELECT amount FROM sales WHERE ds IS NULL",
    "SELECT amount FROM sales WHERE ds = 'd' AND hour > 4",
    "SELECT ds, sum(amount) FROM sales WHERE ds IN ('a', 'd') GROUP BY ds",
    "EXPLAIN DEPENDENCY SELECT amount FROM sales WHERE ds = 'a'",
    "INSERT INTO outside PARTITION (p = '2026-01-02') VALUES (7)",
    "SELECT x FROM outside WHERE p = DATE '2026-01-02'",
    "MSCK REPAIR TABLE sales",
    "TRUNCATE TABLE sales PARTITION (ds = 'd', hour = 5)",
    "SELECT amount FROM sales WHERE ds = 'd'",
)
STATISTICS = (
    "ANALYZE TABLE sales PARTITION (ds = 'a', hour) COMPUTE STATISTICS",
    "ANALYZE TABLE sales PARTITION (ds = 'a', hour = 1) COMPUTE STATISTICS FOR COLUMNS amount",
    "DESCRIBE FORMATTED sales PARTITION (ds = 'a', hour = 1) amount",
    "DESCRIBE FORMATTED sales PARTITION (ds = 'a', hour = 1)",
    "DESCRIBE FORMATTED sales",
)
CHANGES = (
    "ALTER TABLE sales ADD COLUMNS (note STRING)",
    "ALTER TABLE sales SET TBLPROPERTIES ('k' = 'v')",
    "SHOW TBLPROPERTIES sales ('k')",
    "ALTER TABLE sales CHANGE COLUMN note remark STRING COMMENT 'free'",
    "ALTER TABLE sales PARTITION (ds = 'a', hour = 1) SET FILEFORMAT TEXTFILE",
    "SELECT amount, remark FROM sales WHERE ds = 'a'",
    "ALTER TABLE sales EXCHANGE PARTITION (ds = 'x', hour = 1) WITH TABLE sales_too",
    "ALTER TABLE sales RENAME TO sold",
    "SELECT amount FROM sold WHERE ds = 'd' AND hour = 4",
    "SELECT amount FROM sales",
)
OTHERS = (
    "CREATE VIEW late AS SELECT amount FROM sold WHERE hour > 1",
    "SELECT amount FROM late WHERE amount > 3",
    "SHOW VIEWS",
    "DROP VIEW late",
    f"CREATE FUNCTION up AS '{UPPER}'",
    "SELECT shop.up('abc')",
    "DROP FUNCTION up",
    "ALTER TABLE sold DROP PARTITION (hour > 3)",
    "ALTER TABLE sold DROP PARTITION (ds = 'none')",
    "SHOW PARTITIONS sold",
    "DROP TABLE sales_too",
    "DROP DATABASE shop",
    "DROP DATABASE shop CASCADE",
    "SHOW DATABASES",
)
STATEMENTS = (*DEFINITIONS, *PARTITIONS, *ROWS, *STATISTICS, *CHANGES, *OTHERS)

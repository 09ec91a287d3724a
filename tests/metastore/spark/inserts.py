"""INSERT INTO and INSERT OVERWRITE: static and dynamic partitions, both modes of overwriting, all kinds of tables."""

from tests.metastore.spark.statement import does, fails, folders, none, ordered, rows, topic

KINDS = {
    "spark": "CREATE TABLE {} (x INT, y STRING, ds STRING, hr INT) USING parquet PARTITIONED BY (ds, hr)",
    "hive_text": "CREATE TABLE {} (x INT, y STRING) PARTITIONED BY (ds STRING, hr INT) STORED AS TEXTFILE",
}


def into(table, mode):
    """What one kind of table goes through in one mode of overwriting."""
    return (
        does(KINDS[table.removesuffix(f"_{mode}")].format(table)),
        does(f"INSERT INTO {table} VALUES (1, 'a', 'd1', 1), (2, 'b', 'd1', 2), (3, 'c', 'd2', 1)"),
        does(f"INSERT INTO {table} PARTITION (ds = 'd3', hr = 7) VALUES (4, 'd')"),
        does(f"INSERT INTO {table} PARTITION (ds = 'd1', hr) VALUES (5, 'e', 2), (6, 'f', 3)"),
        does(f"INSERT INTO {table} PARTITION (ds, hr) SELECT 7, 'g', 'd2', 1"),
        does(f"INSERT INTO {table} PARTITION (ds, hr) SELECT 8, 'h', CAST(NULL AS STRING), 4"),
        ordered(f"SHOW PARTITIONS {table}"),
        rows(f"SELECT * FROM {table}"),
        does(f"INSERT OVERWRITE {table} PARTITION (ds = 'd3', hr = 7) VALUES (40, 'dd')"),
        rows(f"SELECT * FROM {table} WHERE ds = 'd3'"),
        does(f"INSERT OVERWRITE {table} PARTITION (ds = 'd1', hr) VALUES (50, 'ee', 2)"),
        ordered(f"SHOW PARTITIONS {table}"),
        rows(f"SELECT * FROM {table} WHERE ds = 'd1'"),
        does(f"INSERT OVERWRITE {table} PARTITION (ds, hr) VALUES (60, 'ff', 'd2', 1), (61, 'gg', 'd9', 9)"),
        ordered(f"SHOW PARTITIONS {table}"),
        rows(f"SELECT * FROM {table}"),
        does(f"INSERT OVERWRITE {table} PARTITION (ds = 'd5', hr = 5) SELECT 1, 'x' WHERE 1 = 0"),
        none(f"SELECT * FROM {table} WHERE ds = 'd5'"),
        does(f"INSERT INTO {table} PARTITION (ds, hr) SELECT 1, 'x', 'd6', 6 WHERE 1 = 0"),
        ordered(f"SHOW PARTITIONS {table}"),
        folders(f"$WAREHOUSE/inserts.db/{table}"),
    )


STATEMENTS = topic(
    "inserts",
    does("CREATE DATABASE inserts"),
    does("USE inserts"),
    does("SET spark.sql.sources.partitionOverwriteMode = STATIC"),
    *into("spark_static", "static"),
    *into("hive_text_static", "static"),
    does("SET spark.sql.sources.partitionOverwriteMode = DYNAMIC"),
    *into("spark_dynamic", "dynamic"),
    does("CREATE TABLE parquet_dynamic (x INT, y STRING) PARTITIONED BY (ds STRING, hr INT) STORED AS PARQUET"),
    does("INSERT INTO parquet_dynamic VALUES (1, 'a', 'd1', 1), (2, 'b', 'd1', 2), (3, 'c', 'd2', 1)"),
    does("INSERT OVERWRITE parquet_dynamic PARTITION (ds = 'd1', hr) VALUES (5, 'e', 2), (6, 'f', 3)"),
    does("INSERT OVERWRITE parquet_dynamic PARTITION (ds, hr) VALUES (7, 'g', 'd2', 1), (8, 'h', 'd3', 1)"),
    ordered("SHOW PARTITIONS parquet_dynamic"),
    rows("SELECT * FROM parquet_dynamic"),
    folders("$WAREHOUSE/inserts.db/parquet_dynamic"),
    does("RESET spark.sql.sources.partitionOverwriteMode"),
    # As `hbstore spark-conf` has it: the other two partitions are kept.
    does(KINDS["spark"].format("plain")),
    does("INSERT INTO plain VALUES (1, 'a', 'd1', 1), (2, 'b', 'd2', 2), (3, 'c', 'd3', 3)"),
    does("INSERT OVERWRITE plain VALUES (10, 'aa', 'd1', 1)"),
    ordered("SHOW PARTITIONS plain PARTITION (ds = 'd2')"),
    rows("SELECT * FROM plain WHERE ds = 'd3'"),
    rows("SELECT * FROM plain"),
    does("CREATE TABLE whole (x INT, y STRING) USING parquet"),
    does("INSERT INTO whole VALUES (1, 'a')"),
    does("INSERT INTO whole (y, x) VALUES ('b', 2)"),
    does("INSERT INTO whole (x) VALUES (3)"),
    rows("SELECT * FROM whole"),
    fails("UNSUPPORTED_OVERWRITE.TABLE", "INSERT OVERWRITE whole SELECT x * 10, y FROM whole WHERE x < 3"),
    does("INSERT OVERWRITE TABLE whole VALUES (9, 'z')"),
    rows("SELECT * FROM whole"),
    does("CREATE TABLE whole_text (x INT, y STRING) STORED AS TEXTFILE"),
    does("INSERT INTO whole_text SELECT * FROM whole"),
    does("INSERT OVERWRITE whole_text VALUES (7, 'seven'), (8, NULL)"),
    rows("SELECT * FROM whole_text"),
    folders("$WAREHOUSE/inserts.db/whole"),
    folders("$WAREHOUSE/inserts.db/whole_text"),
    does("FROM spark_static INSERT INTO whole SELECT x, y INSERT INTO whole_text SELECT x, ds"),
    rows("SELECT * FROM whole UNION ALL SELECT * FROM whole_text"),
    does("INSERT INTO spark_static BY NAME SELECT 'ds by name' AS ds, 3 AS hr, 'why' AS y, 11 AS x"),
    rows("SELECT * FROM spark_static WHERE ds LIKE 'ds%'"),
    rows("SELECT * FROM spark_static WHERE ds IN ('d9', 'd2')"),
    fails("INSERT_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS", "INSERT INTO spark_static VALUES (1, 'a')"),
    fails("PARTITIONS_NOT_FOUND", "INSERT INTO spark_static PARTITION (y = 'a', hr) VALUES (1, 'b', 2)"),
    fails("CAST_INVALID_INPUT", "INSERT INTO spark_static PARTITION (ds = 'a', hr = 'five') VALUES (1, 'b')"),
    fails(
        "CAST_OVERFLOW_IN_TABLE_INSERT", "INSERT INTO spark_static SELECT 1 / (id - id), 'a', 'never', 1 FROM range(2)"
    ),
    none("SHOW PARTITIONS spark_static PARTITION (ds = 'never')"),
    does("SET hive.exec.max.dynamic.partitions = 3"),
    fails(None, "INSERT INTO hive_text_static SELECT id, 'a', 'many', id FROM range(5)"),
    does("RESET hive.exec.max.dynamic.partitions"),
    ordered("SHOW PARTITIONS hive_text_static"),
    does(
        "LOAD DATA LOCAL INPATH '$WAREHOUSE/inserts.db/whole_text' "
        "INTO TABLE hive_text_static PARTITION (ds = 'L', hr = 1)"
    ),
    rows("SELECT * FROM hive_text_static WHERE ds = 'L'"),
    does("INSERT OVERWRITE LOCAL DIRECTORY '$OUTSIDE/inserts/copy' STORED AS TEXTFILE SELECT * FROM whole"),
    does("LOAD DATA INPATH '$OUTSIDE/inserts/copy' OVERWRITE INTO TABLE whole_text"),
    rows("SELECT * FROM whole_text"),
    does("USE default"),
    does("DROP DATABASE inserts CASCADE"),
    folders("$WAREHOUSE"),
)

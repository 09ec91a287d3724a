"""External tables: data made elsewhere, partitions in folders of any name, and what dropping leaves behind."""

from tests.metastore.spark.statement import does, fails, folders, none, ordered, rows, topic

STATEMENTS = topic(
    "external",
    does("CREATE DATABASE external_db"),
    does("USE external_db"),
    does("INSERT OVERWRITE DIRECTORY '$OUTSIDE/external/north' USING parquet SELECT 1 AS x, 'n' AS y"),
    does("INSERT OVERWRITE DIRECTORY '$OUTSIDE/external/deep/ly/south west' USING parquet SELECT 2 AS x, 's' AS y"),
    does("INSERT OVERWRITE DIRECTORY '$OUTSIDE/external/t/region=east' USING parquet SELECT 3 AS x, 'e' AS y"),
    does(
        "CREATE EXTERNAL TABLE t (x INT, y STRING) PARTITIONED BY (region STRING) STORED AS PARQUET "
        "LOCATION '$OUTSIDE/external/t'"
    ),
    none("SELECT * FROM t"),
    does("ALTER TABLE t ADD PARTITION (region = 'north') LOCATION '$OUTSIDE/external/north'"),
    does("ALTER TABLE t ADD PARTITION (region = 'south') LOCATION '$OUTSIDE/external/deep/ly/south west'"),
    does("ALTER TABLE t ADD PARTITION (region = 'east')"),
    does("ALTER TABLE t ADD PARTITION (region = 'nowhere') LOCATION '$OUTSIDE/external/not/made/yet'"),
    ordered("SHOW PARTITIONS t"),
    rows("SELECT * FROM t"),
    rows("SELECT * FROM t WHERE region = 'south'"),
    rows("DESCRIBE FORMATTED t PARTITION (region = 'south')"),
    rows("DESCRIBE FORMATTED t"),
    does("INSERT INTO t PARTITION (region = 'north') VALUES (4, 'n')"),
    does("INSERT INTO t VALUES (5, 'w', 'west')"),
    does("INSERT OVERWRITE t PARTITION (region = 'south') VALUES (6, 's')"),
    rows("SELECT * FROM t"),
    folders("$OUTSIDE/external"),
    does("ALTER TABLE t PARTITION (region = 'north') RENAME TO PARTITION (region = 'arctic')"),
    does("ALTER TABLE t PARTITION (region = 'east') RENAME TO PARTITION (region = 'orient')"),
    rows("DESCRIBE FORMATTED t PARTITION (region = 'arctic')"),
    rows("DESCRIBE FORMATTED t PARTITION (region = 'orient')"),
    rows("SELECT * FROM t"),
    does("ALTER TABLE t DROP PARTITION (region = 'west')"),
    does("ALTER TABLE t DROP PARTITION (region = 'south')"),
    ordered("SHOW PARTITIONS t"),
    folders("$OUTSIDE/external"),
    does("ALTER TABLE t RENAME TO renamed"),
    rows("SELECT * FROM renamed"),
    rows("DESCRIBE FORMATTED renamed PARTITION (region = 'orient')"),
    does("DROP TABLE renamed"),
    does(
        "CREATE TABLE spark_one (x INT, y STRING, region STRING) USING parquet "
        "PARTITIONED BY (region) LOCATION '$OUTSIDE/external/t'"
    ),
    none("SHOW PARTITIONS spark_one"),
    does("MSCK REPAIR TABLE spark_one"),
    ordered("SHOW PARTITIONS spark_one"),
    rows("SELECT * FROM spark_one"),
    does("DROP TABLE spark_one"),
    does("CREATE EXTERNAL TABLE text_one (line STRING) STORED AS TEXTFILE LOCATION '$OUTSIDE/external/text'"),
    does("INSERT INTO text_one VALUES ('a line'), ('another')"),
    rows("SELECT * FROM text_one"),
    fails("_LEGACY_ERROR_TEMP_3087", "ALTER TABLE text_one SET TBLPROPERTIES ('EXTERNAL' = 'FALSE')"),
    rows("DESCRIBE FORMATTED text_one"),
    does("DROP TABLE text_one"),
    does("USE default"),
    does("DROP DATABASE external_db CASCADE"),
    folders("$OUTSIDE/external"),
)

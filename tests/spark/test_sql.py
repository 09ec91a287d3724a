"""Statements from Spark: those about the store's tables change and show the store, all others are Spark's own."""

from __future__ import annotations

import logging
import shutil

import pytest
from pyspark.errors import AnalysisException, ParseException

from hbstore import Column, Database, Partition, Table, connect
from hbstore.errors import (
    AlreadyExists,
    DatabaseNotFound,
    DdlSyntaxError,
    FilterSyntaxError,
    InvalidInput,
    PartitionNotFound,
    StoreUnavailable,
    TableNotFound,
    TableNotPartitioned,
)
from hbstore.keys.partition_names import parse_partition_name
from hbstore.publishing.publisher import Publisher
from hbstore.spark import sql

COLUMNS = [Column("ds", "string"), Column("hour", "int")]
NAMES = ["ds=a/hour=1", "ds=a/hour=10", "ds=a/hour=9", "ds=b/hour=1"]
PARQUET = {"spark.sql.sources.provider": "parquet"}


@pytest.fixture(scope="module")
def written(spark, tmp_path_factory):
    """A folder with one row of the table's."""
    folder = tmp_path_factory.mktemp("written") / "rows"
    spark.createDataFrame([(1,)], "n int").coalesce(1).write.parquet(str(folder))
    return folder


@pytest.fixture
def root(tmp_path):
    return tmp_path / "warehouse"


@pytest.fixture
def shop(spark, written, tmp_path, root):
    """A session of its own whose settings name a store with shop.sales and attic.old; the session and the store."""
    with connect(f"sqlite://{tmp_path}/store.db") as store:
        for database, name in (("shop", "sales"), ("attic", "old")):
            place = f"file:{root}/{database}.db"
            store.create_database(Database(database, location=place))
            numbers = [Column("n", "int", "a number")]
            store.create_table(Table(database, name, COLUMNS, numbers, location=f"{place}/{name}", parameters=PARQUET))
        store.create_table(Table("shop", "flat", columns=[Column("n", "int")], location=f"file:{root}/shop.db/flat"))
        store.add_partitions("shop", "sales", [Partition(parse_partition_name(name).values()) for name in NAMES])
        for name in NAMES:
            shutil.copytree(written, root / "shop.db/sales" / name)
        session = spark.newSession()
        session.conf.set("spark.hbstore.url", f"sqlite://{tmp_path}/store.db")
        session.conf.set("spark.hbstore.warehouse", str(root))
        yield session, store
        for name in ("shop", "attic", "elsewhere"):
            session.sql(f"DROP DATABASE IF EXISTS {name} CASCADE")
        session.sql("DROP TABLE IF EXISTS default.own")


def rows(frame):
    return [tuple(row) for row in frame.collect()]


def names(store, table=("shop", "sales")):
    return sorted(store.partition_names(*table))


def files(root, table="shop.db/sales"):
    return sorted({str(one.parent.relative_to(root / table)) for one in (root / table).rglob("*.parquet")})


# What is whose


def test_statements_about_tables_of_the_store_are_run_there(shop, root):
    session, store = shop
    assert rows(sql(session, "SHOW PARTITIONS shop.sales")) == [(name,) for name in NAMES]
    assert rows(sql(session, "/* why */ show partitions shop.sales where hour > 5;")) == [(NAMES[1],), (NAMES[2],)]
    done = sql(session, "ALTER TABLE shop.sales DROP PARTITION (ds = 'a', hour >= 9)")
    assert (done.columns, done.collect()) == ([], [])
    assert names(store) == files(root) == [NAMES[0], NAMES[3]]
    sql(session, "ALTER TABLE shop.sales ADD PARTITION (ds = 'c', hour = 1)")
    assert (root / "shop.db/sales/ds=c/hour=1").is_dir()
    sql(
        session,
        f"ALTER TABLE shop.sales PARTITION (ds = 'c', hour = 1) SET LOCATION '{root}/shop.db/sales/ds=c/hour=1'",
    )
    sql(session, "ALTER TABLE shop.sales PARTITION (ds = 'c', hour = 1) RENAME TO PARTITION (ds = 'c', hour = 2)")
    sql(session, "ALTER TABLE attic.old EXCHANGE PARTITION ((ds = 'a'), (ds = 'c')) WITH TABLE shop.sales")
    assert (names(store), names(store, ("attic", "old"))) == ([NAMES[3]], [NAMES[0], "ds=c/hour=2"])
    assert files(root, "attic.db/old") == [NAMES[0]]
    sql(session, "TRUNCATE TABLE shop.sales PARTITION (ds = 'b')")
    assert (names(store), files(root)) == ([NAMES[3]], [])
    (root / "shop.db/sales/ds=d/hour=4").mkdir(parents=True)
    assert rows(sql(session, "MSCK REPAIR TABLE shop.sales")) == [("added", "ds=d/hour=4")]


def test_columns_are_those_that_spark_has(shop):
    session, _ = shop
    session.sql("CREATE TABLE own (n INT COMMENT 'a number', ds STRING, hour INT) USING csv PARTITIONED BY (ds, hour)")
    for ours, sparks in (
        ("SHOW PARTITIONS shop.sales", "SHOW PARTITIONS own"),
        ("DESCRIBE shop.sales", "DESCRIBE own"),
        ("DESCRIBE shop.sales n", "DESCRIBE own n"),
        ("SHOW COLUMNS IN shop.sales", "SHOW COLUMNS IN own"),
        ("SHOW TBLPROPERTIES shop.sales", "SHOW TBLPROPERTIES own"),
        ("SHOW TABLES IN shop", "SHOW TABLES"),
        ("SHOW TABLE EXTENDED IN shop LIKE 's*'", "SHOW TABLE EXTENDED LIKE 'own'"),
        ("SHOW DATABASES", "SHOW DATABASES"),
        (
            "ALTER TABLE shop.sales DROP IF EXISTS PARTITION (ds = 'z')",
            "ALTER TABLE own DROP IF EXISTS PARTITION (ds = 'z')",
        ),
    ):
        found, expected = sql(session, ours), session.sql(sparks)
        assert [(one.name, one.dataType) for one in found.schema] == [
            (one.name, one.dataType) for one in expected.schema
        ]
    for text in ("DESCRIBE {}", "SHOW COLUMNS IN {}", "SHOW TBLPROPERTIES {} ('z')"):
        sparks = [
            tuple(str(value).replace("spark_catalog.default.own", "shop.sales") for value in row)
            for row in rows(session.sql(text.format("own")))
        ]
        assert [tuple(map(str, row)) for row in rows(sql(session, text.format("shop.sales")))] == sparks
    ((database, table, temporary, information),) = rows(sql(session, "SHOW TABLE EXTENDED IN shop LIKE 's*'"))
    assert (database, table, temporary) == ("shop", "sales", False)
    assert "partitionColumns: ds string, hour int\n" in information
    assert any("scan" in line for (line,) in rows(sql(session, "EXPLAIN PARTITIONS shop.sales WHERE hour = 1")))
    (row,) = rows(sql(session, "SHOW TABLE EXTENDED IN shop LIKE 'sales' PARTITION (ds = 'a', hour = 1)"))
    assert "ds=a/hour=1" in row[3]


def test_analyze_gathers_statistics(shop, root, caplog):
    session, store = shop
    found = sql(session, "ANALYZE TABLE shop.sales PARTITION (ds = 'a') COMPUTE STATISTICS FOR COLUMNS n")
    (row,) = found.collect()
    assert row.asDict() == {
        "table": "shop.sales",
        "partitions": 3,
        "rows": 3,
        "files": 3,
        "bytes": sum(one.stat().st_size for one in root.glob("shop.db/sales/ds=a/*/*.parquet")),
    }
    places = [tuple(parse_partition_name(name).values()) for name in NAMES]
    statistics = dict(store.column_statistics.read_partitions("shop", "sales", places, ["n"]))
    assert sorted(statistics) == sorted(places[:3])
    assert "numRows" not in store.get_partition("shop", "sales", ("b", "1")).parameters
    shutil.rmtree(root / "shop.db/sales/ds=b")
    with caplog.at_level(logging.WARNING, "hbstore.spark"):
        assert rows(sql(session, "ANALYZE TABLE shop.sales COMPUTE STATISTICS"))[0][1:4] == (4, 3, 3)
    assert "ds=b/hour=1 has no folder" in caplog.text
    with pytest.raises(PartitionNotFound):
        sql(session, "ANALYZE TABLE shop.sales PARTITION (ds = 'z') COMPUTE STATISTICS")
    session.sql("CREATE TABLE own (n INT) USING parquet")
    assert sql(session, "ANALYZE TABLE own COMPUTE STATISTICS FOR ALL COLUMNS").columns == []


def test_properties_are_set_where_the_table_is(shop):
    session, store = shop
    sql(session, "ALTER TABLE shop.sales SET TBLPROPERTIES ('comment' = 'ours', owner.team = 7)")
    found = store.get_table("shop", "sales").parameters
    assert (found["comment"], found["owner.team"], found["spark.sql.sources.provider"]) == ("ours", "7", "parquet")
    sql(session, "ALTER TABLE shop.sales UNSET TBLPROPERTIES ('comment')")
    assert "comment" not in store.get_table("shop", "sales").parameters
    sql(session, "CREATE TABLE named (n INT) USING parquet")
    sql(session, "ALTER TABLE named SET TBLPROPERTIES ('team' = 'theirs')")
    assert ("team", "theirs") in rows(sql(session, "SHOW TBLPROPERTIES named"))
    sql(session, "DROP TABLE named")


def test_everything_else_is_sparks(shop):
    session, _ = shop
    assert rows(sql(session, "SELECT 1 + 1")) == [(2,)]
    assert rows(sql(session, "-- first\n SELECT 'show partitions shop.sales;'")) == [("show partitions shop.sales;",)]
    sql(session, "CREATE TABLE own (n INT, p INT) USING parquet PARTITIONED BY (p)")
    sql(session, "INSERT INTO own PARTITION (p = 1) VALUES (1)")
    sql(session, "ALTER TABLE own ADD COLUMN m INT")
    assert rows(sql(session, "SHOW PARTITIONS own")) == [("p=1",)]
    assert ("m", "int", None) in rows(sql(session, "DESCRIBE own"))
    assert rows(sql(session, "SHOW FUNCTIONS LIKE 'abs'")) == [("abs",)]
    assert sql(session, "DESCRIBE FUNCTION abs").count() > 1
    assert rows(sql(session, "DESC DATABASE default"))[0][0] == "Catalog Name"
    assert sql(session, "EXPLAIN SELECT 1").columns == ["plan"]
    assert sql(session, "SHOW TABLES IN default").collect() == session.sql("SHOW TABLES IN default").collect()


def test_what_needs_no_store_is_run_without_one(spark):
    session = spark.newSession()
    assert rows(sql(session, "SELECT 1")) == [(1,)]
    assert sql(session, "SHOW FUNCTIONS LIKE 'abs'").count() == 1
    with pytest.raises(InvalidInput, match="the store of the statement is unknown") as caught:
        sql(session, "SHOW PARTITIONS shop.sales")
    assert "spark.hbstore.url" in caught.value.hint
    with pytest.raises(StoreUnavailable):
        sql(session, "SHOW PARTITIONS shop.sales", store="sqlite:///nowhere/store.db")


def test_the_store_may_be_given(shop, spark):
    _, store = shop
    for given in (store, store.rows.url):
        assert sql(spark.newSession(), "SHOW PARTITIONS shop.sales", store=given).count() == 4
    with connect("memory://") as other:
        other.create_database("shop")
        other.create_table(Table("shop", "sales", COLUMNS))
        assert sql(shop[0], "SHOW PARTITIONS shop.sales", store=other).count() == 0


def test_a_temporary_view_hides_a_table_of_the_store(shop):
    session, store = shop
    sql(session, "USE shop")
    session.sql("CREATE TEMPORARY VIEW sales AS SELECT 1 AS x")
    assert rows(sql(session, "DESCRIBE sales")) == [("x", "int", None)]
    with pytest.raises(ParseException):
        sql(session, "ALTER TABLE sales DROP PARTITION (ds < 'z')")
    with pytest.raises(AnalysisException):
        sql(session, "TRUNCATE TABLE sales")
    assert sql(session, "SHOW PARTITIONS shop.sales").count() == len(names(store)) == 4
    assert rows(sql(session, "SHOW TABLES IN shop")) == [("shop", "flat", False), ("shop", "sales", False)]


def test_another_catalogs_tables_are_sparks(shop):
    session, store = shop
    session.conf.set("spark.sql.catalog.attic", "no.such.Catalog")
    with pytest.raises(Exception, match=r"no\.such\.Catalog"):
        sql(session, "TRUNCATE TABLE attic.old")
    session.conf.unset("spark.sql.catalog.attic")
    session.conf.set("spark.sql.catalog.other", "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog")
    for name, value in (("url", "jdbc:nowhere:"), ("driver", "org.apache.hive.jdbc.HiveDriver")):
        session.conf.set(f"spark.sql.catalog.other.{name}", value)
    sql(session, "USE other")
    with pytest.raises(Exception, match="Failed JDBC"):
        sql(session, "TRUNCATE TABLE attic.old")
    sql(session, "USE spark_catalog.default")
    with pytest.raises(AnalysisException):
        sql(session, "SHOW PARTITIONS spark_catalog.shop.sales")
    assert len(names(store)) == 4


# Mistakes


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("SHOW PARTITIONS shop.sales WHER hour = 5", DdlSyntaxError, "found=WHER"),
        ("SHOW PARTITIONS shop.sales WHERE hour == = 5", FilterSyntaxError, "column="),
        ("ALTER TABLE shop.sales DROP PARTITION (ds <!> 1)", DdlSyntaxError, "column="),
        ("ALTER TABLE attic.old EXCHANGE PARTITION (ds = 'a') WITH shop.sales", DdlSyntaxError, "expected=TABLE"),
        ("SHOW PARTITIONS shop.nothing WHERE hour = 5", TableNotFound, "nothing"),
        ("EXPLAIN PARTITIONS nowhere.sales", DatabaseNotFound, "nowhere"),
        ("SHOW PARTITIONS shop.flat", TableNotPartitioned, "shop.flat"),
        ("ALTER TABLE shop.sales ADD PARTITION (ds = 'a', hour = 1)", AlreadyExists, "ds=a/hour=1"),
        ("ALTER TABLE shop.sales DROP PARTITION (ds = 'z')", PartitionNotFound, "ds = 'z'"),
        ("SHOW TABLES IN shop; SELECT 1", DdlSyntaxError, "found=SELECT"),
        ("SHOW PARTITIONS shop.nothing", AnalysisException, "TABLE_OR_VIEW_NOT_FOUND"),
        ("SHOW FUNCTION", ParseException, "FUNCTIONS"),
        ("ALTER TABLE shop.sales ADD COLUMN x in", ParseException, "IN"),
        ("SELEC 1", ParseException, "SELEC"),
        ("USE nowhere", AnalysisException, "nowhere"),
    ],
)
def test_a_mistake_is_told_by_whose_statement_it_is(shop, text, error, said):
    session, store = shop
    with pytest.raises(error, match=said):
        sql(session, text)
    assert names(store) == NAMES


def test_an_error_says_that_spark_does_not_know_it_either(shop):
    with pytest.raises(DdlSyntaxError) as caught:
        sql(shop[0], "SHOW PARTITIONS shop.sales WHER hour = 5")
    assert "Spark SQL cannot parse it either" in caught.value.__notes__[0]


# Databases


def test_use_keeps_both_in_step(shop):
    session, _ = shop
    session.sql("CREATE DATABASE elsewhere")
    session.sql("CREATE DATABASE attic")
    assert sql(session, "USE shop").collect() == []  # only the store has it
    assert sql(session, "SHOW PARTITIONS sales").count() == 4
    assert [row[1] for row in rows(sql(session, "SHOW TABLES"))] == ["flat", "sales"]
    assert session.catalog.currentDatabase() == "default"
    sql(session, "USE attic")  # both have it
    assert session.catalog.currentDatabase() == "attic"
    assert rows(sql(session, "SHOW TABLES")) == [("attic", "old", False)]
    assert sql(session, "SHOW PARTITIONS old").count() == 0
    sql(session, "USE shop")
    sql(session, "USE elsewhere")  # only Spark has it
    assert session.catalog.currentDatabase() == "elsewhere"
    with pytest.raises(AnalysisException):
        sql(session, "SHOW PARTITIONS sales")
    sql(session, "USE shop")
    session.sql("USE default")  # behind hbstore's back
    with pytest.raises(AnalysisException):
        sql(session, "SHOW PARTITIONS sales")


def test_lists_show_what_either_has(shop):
    session, _ = shop
    session.sql("CREATE DATABASE shop")
    session.sql("CREATE TABLE shop.own (n INT) USING parquet")
    session.sql("CREATE TABLE shop.sales (n INT) USING parquet")
    session.sql("CREATE TEMPORARY VIEW v AS SELECT 1")
    assert rows(sql(session, "SHOW DATABASES")) == [("attic",), ("default",), ("shop",)]
    assert rows(sql(session, "SHOW DATABASES LIKE 'a*|s*'")) == [("attic",), ("shop",)]
    expected = [("shop", "flat", False), ("shop", "own", False), ("shop", "sales", False), ("", "v", True)]
    assert rows(sql(session, "SHOW TABLES IN shop")) == expected
    extended = rows(sql(session, "SHOW TABLE EXTENDED IN shop LIKE 's*|own'"))
    assert [row[1] for row in extended] == ["own", "sales"]
    assert "partitionColumns: ds string" in extended[1][3]


# What Spark has to know, and what others have begun


def test_spark_lists_a_changed_tables_files_anew(shop, root):
    session, store = shop
    session.sql("CREATE DATABASE shop")
    columns = "n INT, ds STRING, hour INT"
    session.sql(
        f"CREATE TABLE shop.sales ({columns}) USING parquet PARTITIONED BY (ds, hour) LOCATION '{root}/shop.db/sales'"
    )
    session.sql("MSCK REPAIR TABLE shop.sales")
    session.table("shop.sales").cache().count()
    sql(session, "TRUNCATE TABLE shop.sales PARTITION (ds = 'a')")
    assert rows(session.table("shop.sales")) == [(1, "b", 1)]
    sql(session, "ALTER TABLE shop.sales DROP PARTITION (ds = 'b')")
    assert names(store) == NAMES[:3]


def test_what_jobs_have_decided_is_finished_first(shop, monkeypatch):
    session, _ = shop
    finished = []
    monkeypatch.setattr(Publisher, "roll_forward_before_use", lambda _, row: finished.append(str(row.table)))
    sql(session, "ALTER TABLE attic.old EXCHANGE PARTITION (ds = 'a') WITH TABLE shop.sales")
    assert finished == ["attic.old", "shop.sales"]


def test_what_could_not_be_done_is_logged(shop, root, caplog):
    session, _ = shop
    (root / "shop.db/sales/odd").mkdir()
    with caplog.at_level(logging.WARNING, "hbstore.spark"):
        sql(session, "MSCK REPAIR TABLE shop.sales")
    assert "odd is not a partition" in caplog.text


def test_a_change_is_done_though_spark_cannot_read_the_table(shop, caplog):
    session, store = shop
    session.sql("CREATE DATABASE shop")
    session.sql("CREATE TABLE shop.below (n INT) USING parquet")
    session.sql("CREATE VIEW shop.sales AS SELECT n FROM shop.below")
    session.sql("DROP TABLE shop.below")
    with caplog.at_level(logging.WARNING, "hbstore.spark"):
        sql(session, "ALTER TABLE shop.sales DROP PARTITION (ds = 'b')")
    assert names(store) == NAMES[:3]
    assert "Spark cannot read `shop`.`sales`: [TABLE_OR_VIEW_NOT_FOUND]" in caplog.text


def test_files_are_below_sparks_warehouse_by_default(shop, root):
    session, store = shop
    session.conf.unset("spark.hbstore.warehouse")
    sql(session, "ALTER TABLE shop.sales DROP PARTITION (ds = 'b')")  # in the table's own folder
    assert files(root) == NAMES[:3]
    assert store.get_database("shop").location == f"file:{root}/shop.db"

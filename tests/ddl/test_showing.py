"""Statements that show what there is, and how several follow one another."""

from __future__ import annotations

import pytest

from hbstore.ddl import Session, execute
from hbstore.errors import (
    DatabaseNotFound,
    DdlSyntaxError,
    InvalidPartitionValue,
    NeedsSpark,
    PartitionNotFound,
    TableNotFound,
    UnknownColumnError,
)
from hbstore.model.objects import Column, Partition, SerDe, StorageDescriptor, Table
from tests.metastore.writing import column, table_of

COLUMNS = [("amount", "double", None), ("ds", "string", None), ("hour", "int", None)]
PARTITIONED_BY = [
    ("# Partition Information", "", ""),
    ("# col_name", "data_type", "comment"),
    ("ds", "string", None),
    ("hour", "int", None),
]


def test_partitions_are_listed_in_alphabetical_order(shop):
    shop.run("ALTER TABLE sales ADD PARTITION (ds = 'a', hour = 10) PARTITION (ds = 'a/b', hour = 9)")
    names = ["ds=a%2Fb/hour=9", "ds=a/hour=1", "ds=a/hour=10", "ds=a/hour=2", "ds=b/hour=1"]
    assert shop.names() == names
    for rest, found in (
        ("PARTITION (ds = 'a')", names[1:4]),
        ("PARTITION (HOUR = '1')", [names[1], names[4]]),
        ("PARTITION (ds = 'a/b', hour = 9)", names[:1]),
        ("WHERE hour > 8 or ds = 'b'", [names[0], names[2], names[4]]),
        ("WHERE ds like 'a%' and hour in (1, 9)", names[:2]),
        ("PARTITION (ds = 'a') WHERE hour > 1 and hour < 10", [names[3]]),
        ("PARTITION (ds = 'z')", []),
    ):
        assert shop.rows(f"SHOW PARTITIONS shop.sales {rest}") == [(name,) for name in found], rest


def test_partitions_are_listed_in_the_order_of_values_and_up_to_a_limit(shop):
    shop.run("ALTER TABLE sales ADD PARTITION (ds = 'b', hour = 10) PARTITION (ds = 'a', hour = NULL)")
    rows = [name for (name,) in shop.rows("SHOW PARTITIONS sales ORDER BY HOUR DESC, ds")]
    null = "ds=a/hour=__HIVE_DEFAULT_PARTITION__"
    assert rows == ["ds=b/hour=10", "ds=a/hour=2", "ds=a/hour=1", "ds=b/hour=1", null]
    rows = shop.rows("SHOW PARTITIONS sales PARTITION (ds = 'a') WHERE hour > 0 ORDER BY hour LIMIT 1")
    assert rows == [("ds=a/hour=1",)]
    assert shop.rows("SHOW PARTITIONS sales LIMIT 0") == []
    with pytest.raises(InvalidPartitionValue):
        shop.rows("SHOW PARTITIONS sales ORDER BY amount")


def test_databases_and_tables(shop):
    assert shop.rows("SHOW DATABASES LIKE 'sh*|attic'") == [("attic",), ("shop",)]
    assert shop.rows("SHOW TABLES") == [("shop", "sales")]
    assert shop.rows("SHOW TABLES IN attic LIKE 'o*'") == [("attic", "old")]
    assert shop.rows("SHOW TABLES 'x*'") == []
    with pytest.raises(DatabaseNotFound):
        shop.run("SHOW TABLES IN nothing")


def test_use_names_the_database_of_what_follows(shop):
    results = shop.run("use ATTIC; show tables; show partitions shop.sales where ds = 'b'; show partitions old")
    assert [one.rows for one in results] == [(), (("attic", "old"),), (("ds=b/hour=1",),), ()]
    with pytest.raises(DatabaseNotFound):
        shop.run("use nothing")
    session = Session(shop.writing.store)
    assert (list(session.run("use shop")), session.database) != ([], "default")
    assert [one.rows for one in session.run("show tables")] == [(("shop", "sales"),)]


def test_a_table_is_described(shop):
    assert shop.rows("DESCRIBE sales") == COLUMNS + PARTITIONED_BY
    assert shop.rows("DESC shop.sales HOUR") == [("col_name", "hour"), ("data_type", "int"), ("comment", "NULL")]
    rows = shop.rows("DESCRIBE FORMATTED sales")
    assert rows[: len(COLUMNS + PARTITIONED_BY) + 2] == [
        *COLUMNS,
        *PARTITIONED_BY,
        ("", "", ""),
        ("# Detailed Table Information", "", ""),
    ]
    facts = {name: value for name, value, _ in rows}
    assert (facts["Database"], facts["Table"], facts["Owner"], facts["Type"]) == ("shop", "sales", "ann", "MANAGED")
    assert facts["Location"] == shop.writing.location("shop.db/sales")
    assert facts["Created Time"].endswith(" UTC")
    with pytest.raises(UnknownColumnError):
        shop.run("DESCRIBE sales nothing")
    with pytest.raises(TableNotFound):
        shop.run("DESCRIBE nothing")


def test_a_partition_is_described(shop):
    assert shop.rows("DESCRIBE sales PARTITION (ds = 'a', hour = '1')") == COLUMNS + PARTITIONED_BY
    facts = {name: value for name, value, _ in shop.rows("DESCRIBE EXTENDED sales PARTITION (hour = 1, ds = 'a')")}
    assert facts["Partition Values"] == "[ds=a, hour=1]"
    assert facts["Location"] == shop.writing.location("shop.db/sales/ds=a/hour=1")
    with pytest.raises(PartitionNotFound):
        shop.run("DESCRIBE sales PARTITION (ds = 'z', hour = 1)")
    with pytest.raises(PartitionNotFound):
        shop.run("DESCRIBE sales PARTITION (ds = 'a', hour = 01)")


def test_a_flat_table_is_described(shop):
    shop.writing.create_table(table_of("flat", partitionKeys=[], sd=None, parameters={"comment": "plain"}))
    shop.writing.create_table(table_of("wide", partitionKeys=[column("a", comment="first")]))
    assert shop.rows("DESCRIBE flat") == []
    assert ("Comment", "plain", "") in shop.rows("DESCRIBE EXTENDED flat")
    assert shop.rows("DESCRIBE wide a") == [("col_name", "a"), ("data_type", "string"), ("comment", "first")]


def test_tables_and_partitions_with_their_files(shop):
    rows = shop.rows("SHOW TABLE EXTENDED FROM shop LIKE 's*'")
    assert {row[:2] for row in rows} == {("shop", "sales")}
    facts = {name: value for _, _, name, value in rows}
    assert (facts["columns"], facts["partitionColumns"]) == ("amount double", "ds string, hour int")
    assert (facts["totalNumberFiles"], facts["totalFileSize"]) == ("3", str(3 * len("ds=a/hour=1")))
    rows = shop.rows("SHOW TABLE EXTENDED LIKE 'sales' PARTITION (ds = 'a', hour = 2)")
    facts = {name: value for _, _, name, value in rows}
    assert facts["location"] == shop.writing.location("shop.db/sales/ds=a/hour=2")
    assert facts["totalNumberFiles"] == "1"
    assert shop.rows("SHOW TABLE EXTENDED LIKE 'x*'") == []
    with pytest.raises(PartitionNotFound):
        shop.run("SHOW TABLE EXTENDED LIKE 'sales' PARTITION (ds = 'z', hour = 1)")


def test_explaining_is_what_the_store_explains(shop):
    explained = shop.writing.store.explain("shop", "sales", "hour = 1 and ds = 'a'")
    assert shop.rows("EXPLAIN PARTITIONS sales WHERE hour = 1 and ds = 'a'") == [
        (line,) for line in str(explained).split("\n")
    ]
    assert len(shop.rows("EXPLAIN PARTITIONS sales")) > 1


def test_what_reads_all_files_is_done_by_spark(shop):
    for which in ("", " FOR ALL COLUMNS", " FOR COLUMNS amount"):
        with pytest.raises(NeedsSpark, match=r"table=shop\.sales") as caught:
            shop.run(f"ANALYZE TABLE sales COMPUTE STATISTICS{which}")
        assert "hbstore analyze" in caught.value.hint


def test_nothing_is_done_of_a_text_that_does_not_parse(shop):
    with pytest.raises(DdlSyntaxError):
        shop.run("ALTER TABLE sales DROP PARTITION (ds = 'a'); SHOW PARTITION sales")
    assert len(shop.names()) == 3


def test_those_before_a_statement_that_fails_are_done(shop):
    text = "ALTER TABLE sales DROP PARTITION (ds = 'a'); USE nothing; ALTER TABLE sales DROP PARTITION (ds = 'b')"
    with pytest.raises(DatabaseNotFound) as caught:
        shop.run(text)
    assert caught.value.__notes__ == ["statement 2 of 3: hbstore ran the statements before it"]
    assert shop.names() == ["ds=b/hour=1"]


def test_a_table_that_python_made_is_described(shop):
    """Without an owner, formats or a location, as tables have them that no engine made."""
    store = shop.writing.store
    store.create_table(
        Table(
            "shop",
            "made",
            partition_columns=[Column("day", "date")],
            columns=[Column("x", "array<int>", "many")],
            storage=StorageDescriptor(num_buckets=4, serde=SerDe(library="lazy", parameters={"a": "b"})),
            parameters={"EXTERNAL": "TRUE"},
        )
    )
    store.add_partitions("shop", "made", [Partition(("2013-01-01",), parameters={"numRows": "5"}, create_time=60)])
    (result,) = execute(store, "DESCRIBE EXTENDED made PARTITION (day = '2013-01-01')", "shop")
    assert result.rows == (
        ("x", "array<int>", "many"),
        ("day", "date", None),
        ("# Partition Information", "", ""),
        ("# col_name", "data_type", "comment"),
        ("day", "date", None),
        ("", "", ""),
        ("# Detailed Partition Information", "", ""),
        ("Database", "shop", ""),
        ("Table", "made", ""),
        ("Partition Values", "[day=2013-01-01]", ""),
        ("Serde Library", "lazy", ""),
        ("Num Buckets", "4", ""),
        ("Storage Properties", "[a=b]", ""),
        ("Partition Parameters", "[numRows=5]", ""),
        ("Created Time", "1970-01-01 00:01:00 UTC", ""),
        ("Last Access", "UNKNOWN", ""),
    )
    assert ("Type", "EXTERNAL", "") in execute(store, "DESCRIBE EXTENDED made", "shop")[0].rows

"""Statements that change partitions: what the store has and what lies in the folders afterwards."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest

from hbstore.ddl import changes, execute
from hbstore.errors import (
    AlreadyExists,
    DdlRefused,
    FileOperationFailed,
    FilterTypeError,
    InvalidInput,
    InvalidPartitionValue,
    OutsideWarehouse,
    PartitionNotFound,
    TableNotFound,
    TableNotPartitioned,
)
from hbstore.model.objects import Column, Partition, SerDe, StorageDescriptor, Table
from tests.metastore.writing import external, partition_of, table_of

ALL = ["ds=a/hour=1", "ds=a/hour=2", "ds=b/hour=1"]


def files(shop, path="shop.db/sales"):
    return [one for one in shop.writing.tree(path) if not one.endswith("/")]


def test_added_partitions_get_folders(shop):
    text = "ALTER TABLE sales ADD PARTITION (hour = 05, DS = 'c d') PARTITION (ds = NULL, hour = 7)"
    assert shop.changed(text) == 2
    tree = shop.writing.tree("shop.db/sales")
    assert "ds=c d/hour=05/" in tree
    assert "ds=__HIVE_DEFAULT_PARTITION__/hour=7/" in tree
    assert shop.names() == ["ds=__HIVE_DEFAULT_PARTITION__/hour=7", *ALL, "ds=c d/hour=05"]
    assert shop.writing.partition("c d", "05").sd.location == shop.writing.location("shop.db/sales/ds=c d/hour=05")


def test_added_partitions_may_be_elsewhere(shop):
    place = shop.writing.location("far/own place")
    shop.run(f"ALTER TABLE shop.sales ADD PARTITION (ds = 'c', hour = 1) LOCATION '{place}'")
    assert shop.writing.partition("c", "1").sd.location == place
    assert shop.writing.tree("far") == ["own place/"]
    with pytest.raises(FileOperationFailed):
        shop.run("ALTER TABLE sales ADD PARTITION (ds = 'd', hour = 1) LOCATION 'relative'")


def test_all_are_added_or_none(shop):
    with pytest.raises(AlreadyExists):
        shop.run("ALTER TABLE sales ADD PARTITION (ds = 'c', hour = 1) PARTITION (ds = 'a', hour = 1)")
    assert shop.names() == ALL
    assert "ds=c/" not in shop.writing.tree("shop.db/sales")
    text = "ALTER TABLE sales ADD IF NOT EXISTS PARTITION (ds = 'c', hour = 1) PARTITION (ds = 'a', hour = 1)"
    assert shop.changed(text) == 1
    assert shop.changed(text) == 0
    assert shop.names() == [*ALL, "ds=c/hour=1"]


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("ds = 'c'", "leaves out columns: .*missing=hour"),
        ("ds = 'c', hour = 1, minute = 5", "the column is not a partition column"),
        ("ds = 'c', hour = 1, DS = 'd'", "names a column twice: column=DS. Name it once"),
        ("ds = '', hour = 1", "is empty"),
        ("ds = 'c', hour = 'five'", "does not fit its column's type: column=hour, type=int"),
    ],
)
def test_what_cannot_be_added(shop, spec, said):
    before = shop.writing.tree()
    with pytest.raises(InvalidPartitionValue, match=said):
        shop.run(f"ALTER TABLE sales ADD PARTITION ({spec})")
    assert shop.names() == ALL
    assert shop.writing.tree() == before


def test_dropped_partitions_lose_their_files(shop):
    assert shop.changed("ALTER TABLE sales DROP PARTITION (ds = 'a', hour = 1)") == 1
    assert files(shop) == ["ds=a/hour=2/file", "ds=b/hour=1/file"]
    assert shop.names() == ALL[1:]
    assert shop.changed("ALTER TABLE sales DROP PARTITION (ds = 'a'), PARTITION (hour = 1) PURGE") == 2
    assert shop.names() == []
    assert shop.writing.tree("shop.db") == ["sales/"]


@pytest.mark.parametrize(
    ("conditions", "left"),
    [
        ("(ds < 'b')", ALL[2:]),
        ("(ds >= 'a', hour > 1)", [ALL[0], ALL[2]]),
        ("(ds != 'a')", ALL[:2]),
        ("(hour <> '01')", [ALL[0], ALL[2]]),
        ("(ds > 'a'), PARTITION (ds <= 'a', hour == 2)", ALL[:1]),
        ("(DS = 'a')", ALL[2:]),
        ("(ds LIKE 'a%' AND hour = 1)", ALL[1:]),
        ("(hour IN (2, '03'))", [ALL[0], ALL[2]]),
        ("(hour BETWEEN 2 AND 5), PARTITION (ds between 'b' and 'c' and hour in (1))", ALL[:1]),
    ],
)
def test_drop_by_comparison(shop, conditions, left):
    assert shop.changed(f"ALTER TABLE sales DROP PARTITION {conditions}") == len(ALL) - len(left)
    assert shop.names() == left
    assert files(shop) == [f"{name}/file" for name in left]


def test_nothing_is_dropped_where_one_is_not_there(shop):
    text = "PARTITION (ds = 'a'), PARTITION (ds = 'z')"
    with pytest.raises(PartitionNotFound, match=r"partition=\(ds = 'z'\)"):
        shop.run(f"ALTER TABLE sales DROP {text}")
    assert shop.names() == ALL
    assert shop.changed(f"ALTER TABLE sales DROP IF EXISTS {text}") == 2
    assert shop.names() == ALL[2:]


def test_what_is_not_understood_drops_nothing(shop):
    for conditions, error in (
        ("hour < 'noon'", FilterTypeError),
        ("minute = 5", InvalidPartitionValue),
        ("ds = ''", InvalidPartitionValue),
        ("ds IN ('a', '')", InvalidPartitionValue),
        ("hour BETWEEN 1 AND 'noon'", FilterTypeError),
    ):
        with pytest.raises(error):
            shop.run(f"ALTER TABLE sales DROP IF EXISTS PARTITION ({conditions})")
    assert shop.names() == ALL


def test_many_are_dropped_in_batches(shop, monkeypatch):
    monkeypatch.setattr(changes, "BATCH", 2)
    assert shop.changed("ALTER TABLE sales DROP PARTITION (hour > 0)") == 3
    assert shop.names() == []
    assert files(shop) == []


def test_the_null_partition_and_texts_of_another_type_are_dropped_by_their_values(shop):
    odd = [Partition(("c", "noon")), Partition((None, "1")), Partition(('it\'s "c"', "1"))]
    shop.writing.store.add_partitions("shop", "sales", odd, invalid_values="keep")
    assert shop.rows("SHOW PARTITIONS sales PARTITION (hour = 'noon')") == [("ds=c/hour=noon",)]
    assert shop.changed("ALTER TABLE sales DROP PARTITION (ds = 'c', hour = 'noon')") == 1
    assert shop.changed("ALTER TABLE sales DROP PARTITION (ds = NULL)") == 1
    assert shop.changed(r"ALTER TABLE sales DROP PARTITION (ds = 'it\'s \"c\"')") == 1
    assert shop.names() == ALL


def test_files_of_external_tables_stay(shop):
    shop.writing.create_table(external("visits"))
    shop.run("ALTER TABLE visits ADD PARTITION (ds = 'a', hour = 1)")
    shop.writing.write("shop.db/visits/ds=a/hour=1/file")
    assert shop.changed("ALTER TABLE visits DROP PARTITION (ds = 'a') PURGE") == 1
    assert files(shop, "shop.db/visits") == ["ds=a/hour=1/file"]
    with pytest.raises(DdlRefused, match="Cannot truncate non-managed table"):
        shop.run("TRUNCATE TABLE visits")


def test_files_that_cannot_be_deleted_are_noted(shop, tmp_path):
    place = tmp_path / "elsewhere"
    place.mkdir()
    shop.writing.store.add_partitions("shop", "sales", [Partition(("c", "1"), location=f"file:{place}")])
    (result,) = shop.run("ALTER TABLE sales DROP PARTITION (ds = 'c')")
    assert (result.changed, place.exists()) == (1, True)
    assert str(place) in result.notes[0]


def test_a_renamed_partition_takes_its_folder_along(shop):
    assert (
        shop.changed("ALTER TABLE sales PARTITION (ds = 'a', hour = 1) RENAME TO PARTITION (ds = 'c', hour = 3)") == 1
    )
    assert shop.names() == ["ds=a/hour=2", "ds=b/hour=1", "ds=c/hour=3"]
    assert files(shop) == ["ds=a/hour=2/file", "ds=b/hour=1/file", "ds=c/hour=3/file"]
    assert shop.writing.partition("c", "3").sd.location == shop.writing.location("shop.db/sales/ds=c/hour=3")
    shop.run("ALTER TABLE sales PARTITION (ds = 'c', hour = 3) RENAME TO PARTITION (ds = 'c', hour = '03')")
    assert shop.names()[-1] == "ds=c/hour=03"


def test_a_partition_is_said_to_be_elsewhere_and_its_files_stay(shop):
    place = shop.writing.location("shop.db/other")
    assert shop.changed(f"ALTER TABLE sales PARTITION (hour = 1, ds = 'a') SET LOCATION '{place}'") == 1
    assert shop.writing.partition("a", "1").sd.location == place
    assert "shop.db/sales/ds=a/hour=1/file" in [f"shop.db/sales/{one}" for one in files(shop)]
    for text in ("(ds = 'z', hour = 1)", "(ds = 'a')"):
        with pytest.raises((PartitionNotFound, InvalidPartitionValue)):
            shop.run(f"ALTER TABLE sales PARTITION {text} SET LOCATION '{place}'")


def test_what_cannot_be_renamed(shop):
    before = shop.writing.tree()
    for old, new, error in (
        ("ds = 'z', hour = 1", "ds = 'y', hour = 1", PartitionNotFound),
        ("ds = 'a', hour = 1", "ds = 'a', hour = 2", AlreadyExists),
        ("ds = 'a', hour = 1", "ds = 'a', hour = 1", AlreadyExists),
        ("ds = 'a', hour = 1", "ds = 'a', hour = 'x'", InvalidPartitionValue),
        ("ds = 'a'", "ds = 'c'", InvalidPartitionValue),
    ):
        with pytest.raises(error):
            shop.run(f"ALTER TABLE sales PARTITION ({old}) RENAME TO PARTITION ({new})")
    assert shop.names() == ALL
    assert shop.writing.tree() == before


def test_exchanged_partitions_move_with_their_files(shop):
    assert shop.changed("ALTER TABLE attic.old EXCHANGE PARTITION (ds = 'a') WITH TABLE sales") == 2
    assert (shop.names(), shop.names("attic.old")) == (ALL[2:], ALL[:2])
    assert files(shop) == ["ds=b/hour=1/file"]
    assert files(shop, "attic.db/old") == ["ds=a/hour=1/file", "ds=a/hour=2/file"]


def test_several_specs_are_exchanged(shop):
    text = "ALTER TABLE attic.old EXCHANGE PARTITION ((ds = 'a', hour = 1), (ds = 'b')) WITH TABLE sales"
    assert shop.changed(text) == 2
    assert (shop.names(), shop.names("attic.old")) == (ALL[1:2], [ALL[0], ALL[2]])


def test_what_cannot_be_exchanged(shop):
    shop.writing.add_partition(partition_of("b", "1", dbName="attic", table="old"))
    shop.writing.create_table(table_of("narrow", partitionKeys=table_of().partitionKeys[:1]))
    before = shop.writing.tree()
    for target, specs, error in (
        ("attic.old", "(ds = 'a'), (ds = 'b')", AlreadyExists),
        ("attic.old", "(ds = 'a'), (ds = 'a', hour = 1)", AlreadyExists),
        ("attic.old", "(ds = 'a'), (ds = 'z')", PartitionNotFound),
        ("attic.old", "(minute = 5)", InvalidPartitionValue),
        ("narrow", "(ds = 'a')", DdlRefused),
        ("sales", "(ds = 'a')", InvalidInput),
        ("attic.nothing", "(ds = 'a')", TableNotFound),
    ):
        with pytest.raises(error):
            shop.run(f"ALTER TABLE {target} EXCHANGE PARTITION ({specs}) WITH TABLE sales")
    assert (shop.names(), shop.names("attic.old")) == (ALL, ALL[2:])
    assert shop.writing.tree() == before


def test_truncated_partitions_stay_without_their_files(shop):
    assert shop.changed("TRUNCATE TABLE sales PARTITION (ds = 'a')") == 2
    assert (shop.names(), files(shop)) == (ALL, ["ds=b/hour=1/file"])
    assert shop.writing.partition("a", "1").parameters["numFiles"] == "0"
    assert shop.changed("TRUNCATE TABLE sales") == 3
    assert (shop.names(), files(shop)) == (ALL, [])
    with pytest.raises(PartitionNotFound):
        shop.run("TRUNCATE TABLE sales PARTITION (ds = 'z')")


def test_partitions_and_folders_are_made_to_agree(shop):
    shop.writing.write("shop.db/sales/ds=c/hour=1/file")
    shop.writing.write("shop.db/sales/odd/file")
    (shop.writing.root / "shop.db/sales/ds=b").rename(shop.writing.root / "away")
    (result,) = shop.run("MSCK TABLE sales SYNC PARTITIONS")
    assert result.rows == (("to add", "ds=c/hour=1"), ("to drop", "ds=b/hour=1"))
    assert (result.changed, shop.names()) == (0, ALL)
    (result,) = shop.run("MSCK REPAIR TABLE sales")
    assert (result.rows, result.changed) == ((("added", "ds=c/hour=1"),), 1)
    assert "odd is not a partition" in result.notes[0]
    assert shop.rows("MSCK REPAIR TABLE sales DROP PARTITIONS") == [("dropped", "ds=b/hour=1")]
    assert shop.names() == [*ALL[:2], "ds=c/hour=1"]
    shop.run("ALTER TABLE sales DROP PARTITION (ds = 'c')")
    shop.writing.write("shop.db/sales/ds=d/hour=1/file")
    (shop.writing.root / "shop.db/sales/ds=a/hour=1").rename(shop.writing.root / "away" / "a")
    rows = shop.rows("MSCK REPAIR TABLE sales SYNC PARTITIONS")
    assert rows == [("added", "ds=d/hour=1"), ("dropped", "ds=a/hour=1")]


def test_a_table_without_partition_columns(shop):
    shop.writing.create_table(table_of("flat", partitionKeys=[]))
    shop.writing.write("shop.db/flat/file")
    assert shop.changed("TRUNCATE TABLE flat") is None
    assert files(shop, "shop.db/flat") == []
    for text in (
        "ALTER TABLE flat ADD PARTITION (ds = 'a')",
        "ALTER TABLE flat DROP PARTITION (ds = 'a')",
        "TRUNCATE TABLE flat PARTITION (ds = 'a')",
        "ALTER TABLE flat EXCHANGE PARTITION (ds = 'a') WITH TABLE sales",
        "ALTER TABLE sales EXCHANGE PARTITION (ds = 'a') WITH TABLE flat",
        "SHOW PARTITIONS flat",
        "DESCRIBE flat PARTITION (ds = 'a')",
    ):
        with pytest.raises(TableNotPartitioned):
            shop.run(text)


def test_files_are_kept_to_their_places(shop, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    shop.writing.store.add_partitions("shop", "sales", [Partition(("c", "1"), location=f"file:{outside}")])
    with pytest.raises(OutsideWarehouse):
        shop.run("TRUNCATE TABLE sales PARTITION (ds = 'c')")
    assert outside.exists()


def test_nothing_changes_without_a_warehouse(shop):
    for text in (
        "ALTER TABLE sales ADD PARTITION (ds = 'c', hour = 1)",
        "ALTER TABLE sales DROP PARTITION (ds = 'a')",
        "TRUNCATE TABLE sales",
    ):
        with pytest.raises(InvalidInput, match="no warehouse is named"):
            execute(shop.writing.store, text, "shop")
    assert (shop.names(), len(files(shop))) == (ALL, 3)


def test_tables_without_locations_are_where_the_warehouse_has_them(shop):
    store = shop.writing.store
    columns = [Column("ds", "string"), Column("hour", "int")]
    for name in ("here", "there"):
        store.create_table(Table("shop", name, columns))
    far = shop.writing.location("far/b")
    shop.run(f"ALTER TABLE here ADD PARTITION (hour = 1, DS = 'a') PARTITION (ds = 'b', hour = 1) LOCATION '{far}'")
    assert shop.changed("ALTER TABLE there EXCHANGE PARTITION (HOUR = 1) WITH TABLE here") == 2
    assert shop.writing.tree("shop.db/there") == ["ds=a/", "ds=a/hour=1/"]
    found = [one.location for one in store.table("shop.there").partitions()]
    assert found == [shop.writing.location("shop.db/there/ds=a/hour=1"), far]
    assert ("Location", shop.writing.location("shop.db/there"), "") in shop.rows("DESCRIBE EXTENDED there")
    assert store.get_table("shop", "there").location is None


@pytest.mark.parametrize(
    ("condition", "dropped"),
    [
        ("ds NOT LIKE 'a%'", ["ds=b/hour=1"]),
        ("hour NOT IN (2, 3)", ["ds=a/hour=1", "ds=b/hour=1"]),
        ("hour not between 2 and 5 and ds = 'a'", ["ds=a/hour=1"]),
        ("ds not like '%'", []),
    ],
)
def test_what_is_dropped_may_be_said_by_what_it_is_not(shop, condition, dropped):
    shop.run("ALTER TABLE sales ADD PARTITION (ds = NULL, hour = NULL)")  # which no comparison selects
    assert shop.changed(f"ALTER TABLE sales DROP IF EXISTS PARTITION ({condition})") == len(dropped)
    left = [*ALL, "ds=__HIVE_DEFAULT_PARTITION__/hour=__HIVE_DEFAULT_PARTITION__"]
    assert sorted(shop.names()) == sorted(set(left) - set(dropped))


def test_a_table_may_be_said_to_be_elsewhere(shop):
    place = shop.writing.location("far/away")
    before = shop.writing.partition("a", "1").sd.location
    assert shop.changed(f"ALTER TABLE sales SET LOCATION '{place}'") is None
    assert shop.writing.table().sd.location == place
    assert shop.writing.partition("a", "1").sd.location == before
    assert files(shop) == [f"{name}/file" for name in ALL]
    # Spark finds the files of its own tables by another field.
    storage = StorageDescriptor(serde=SerDe(parameters={"path": "s3://old", "other": "x"}))
    shop.writing.store.create_table(Table("shop", "of_spark", columns=[Column("a", "int")], storage=storage))
    shop.run(f"ALTER TABLE of_spark SET LOCATION '{place}'")
    kept = shop.writing.store.get_table("shop", "of_spark")
    assert (kept.location, kept.storage.serde.parameters) == (place, {"path": place, "other": "x"})
    shop.writing.store.create_table(Table("shop", "looking", table_type="VIRTUAL_VIEW"))
    for text in (f"ALTER TABLE looking SET LOCATION '{place}'", "ANALYZE TABLE looking COMPUTE STATISTICS NOSCAN"):
        with pytest.raises(DdlRefused, match="a view has no files"):
            shop.run(text)


def test_files_are_counted_without_being_read(shop):
    store = shop.writing.store
    known = {"numRows": "3", "rawDataSize": "9", "spark.sql.statistics.numRows": "3", "mine": "x"}
    one = store.get_partition("shop", "sales", ("a", "1"))
    store.change_partitions("shop", "sales", put=[replace(one, parameters=known)])

    def counted(*values):
        return dict(store.get_partition("shop", "sales", values).parameters)

    text = "ANALYZE TABLE sales PARTITION (ds = 'a') COMPUTE STATISTICS NOSCAN"
    assert shop.rows(text) == [("shop.sales", 2, 2, 22)]
    assert counted("a", "1") == {
        "mine": "x",
        "numFiles": "1",
        "totalSize": "11",
        "spark.sql.statistics.totalSize": "11",
    }
    assert "spark.sql.statistics.totalSize" not in counted("b", "1")
    assert "spark.sql.statistics.totalSize" not in store.get_table("shop", "sales").parameters
    # What is known of the same files stays.
    one = store.get_partition("shop", "sales", ("a", "1"))
    store.change_partitions("shop", "sales", put=[replace(one, parameters={**one.parameters, "numRows": "3"})])
    shutil.rmtree(shop.writing.root / "shop.db" / "sales" / "ds=b" / "hour=1")
    (result,) = shop.run("ANALYZE TABLE sales COMPUTE STATISTICS NOSCAN")
    assert result.rows == (("shop.sales", 3, 2, 22),)
    assert result.notes == ("ds=b/hour=1 has no folder",)
    assert counted("a", "1")["numRows"] == "3"
    assert counted("b", "1")["numFiles"] == "0"
    assert store.get_table("shop", "sales").parameters["spark.sql.statistics.totalSize"] == "22"
    with pytest.raises(PartitionNotFound):
        shop.run("ANALYZE TABLE sales PARTITION (ds = 'z') COMPUTE STATISTICS NOSCAN")
    flat = table_of("flat", partitionKeys=[])
    shop.writing.create_table(flat)
    shop.writing.write("shop.db/flat/file", "12345")
    assert shop.rows("ANALYZE TABLE flat COMPUTE STATISTICS NOSCAN") == [("shop.flat", 0, 1, 5)]
    parameters = store.get_table("shop", "flat").parameters
    assert (parameters["numFiles"], parameters["totalSize"]) == ("1", "5")

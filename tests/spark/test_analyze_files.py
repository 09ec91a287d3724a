"""Analyzing partitions whose files are in odd places, gone, of several formats or damaged; mistakes."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from hbstore import Column, Partition, StorageDescriptor, Table, connect
from hbstore.errors import (
    FileOperationFailed,
    InvalidInput,
    ReadFailed,
    TableFolderMissing,
    TableNotPartitioned,
    UnknownColumnError,
)
from hbstore.keys.partition_names import partition_name
from hbstore.model.objects import SerDe
from hbstore.spark import analyze_table
from hbstore.spark.analysis import reading as analyze_reading
from hbstore.spark.analysis.reading import FileReading, FolderFiles
from hbstore.spark.formats import FileFormat
from hbstore.spark.listed_files import file_path
from tests.spark.analyzing import (
    COLUMNS,
    DATA,
    STATISTICS,
    VALUES,
    assert_counted,
    on_disk,
    parameters,
    rows_of,
    statistics,
    table_parameters,
)

pytestmark = pytest.mark.spark
PAGE = Path(__file__).parents[2] / "docs" / "statistics.md"


def test_partitions_elsewhere_in_odd_folders_and_in_one_another(spark, store, filled, tmp_path):
    filled(data=DATA[:1], values=VALUES[:1])
    places = ["plain", "plain/below", "with space", "st*r[1]{a}?", "per%20cent", "ümlaut+\u00a0", "co:lon=1"]
    expected = {}
    for number, place in enumerate(places):
        (tmp_path / "other" / place).mkdir(parents=True, exist_ok=True)
        rows_of(spark, 0, 10 + number).select("id").write.mode("append").parquet(f"{tmp_path}/other/{place}")
        values = (f"2014-01-{number + 1:02}", "eu")
        store.add_partitions("shop", "sales", [Partition(values, location=f"{tmp_path}/other/{place}")])
        expected[values] = 10 + number
    shared = ("2014-02-01", "eu")
    store.add_partitions("shop", "sales", [Partition(shared, location=f"file://{tmp_path}/other//with space/")])
    expected |= {shared: 12, ("2014-01-01", "eu"): 10 + 11}  # a folder in a partition's is a part of it
    for columns in (None, ["id"]):
        analyze_table(spark, store, "shop.sales", "ds >= '2014-01-01'", columns=columns)
        assert {
            values: int(one["numRows"]) for values, one in parameters(store).items() if values[0] > "2014"
        } == expected
    assert {
        values: statistics(store, values)["id"].highValue + 1 for values in expected if values[0] != "2014-01-01"
    } == {values: rows for values, rows in expected.items() if values[0] != "2014-01-01"}


def test_paths_are_read_as_java_writes_them(spark):
    odd = "".join(map(chr, [*range(1, 0x180), 0x2028, 0x3000, 0xFEFF, 0x1F600]))
    for character in odd.replace("/", ""):
        path = spark._jvm.org.apache.hadoop.fs.Path("file", "", f"/a{character}b")
        assert file_path(path.toUri().toString()) == f"file:/a{character}b"


def test_partitions_in_several_formats_and_hives_text(spark, store, tmp_path):
    text = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
    storage = StorageDescriptor(serde=SerDe(library=text, parameters={"field.delim": "|"}))
    orc = StorageDescriptor(serde=SerDe(library="org.apache.hadoop.hive.ql.io.orc.OrcSerde"))
    columns = [Column("id", "int"), Column("name", "varchar(10)")]
    store.create_table(Table("shop", "sales", COLUMNS, columns, location=str(tmp_path), storage=storage))
    store.add_partitions("shop", "sales", [Partition(VALUES[0]), Partition(VALUES[1], storage=orc)])
    folders = [tmp_path / partition_name(("ds", "region"), one) for one in VALUES[:2]]
    folders[0].mkdir(parents=True)
    (folders[0] / "000000_0").write_text('1|a"b\n\\N|c\n')
    (folders[0] / "empty").touch()
    rows_of(spark, 5, 9).select("id", "name").write.orc(str(folders[1]))
    for _ in range(2):
        done = analyze_table(spark, store, "shop.sales", columns="all", batch=10)
        assert (done.rows, done.files) == (6, 2 + on_disk(folders[1])[0])
    found = statistics(store, VALUES[0])
    assert (found["id"].numNulls, found["id"].lowValue, found["name"].maxColLen) == (1, 1, 3)
    assert statistics(store, VALUES[1])["id"].highValue == 8
    assert table_parameters(store)["colStats.id.max"] == "8"
    assert store.column_statistics.read_partitions("shop", "sales", VALUES[:1])[VALUES[0]][1].type == "varchar(10)"


def test_folders_that_are_not_there_count_as_empty_and_are_told(spark, store, filled, tmp_path):
    filled()
    shutil.rmtree(tmp_path / "sales/ds=2013-01-01")
    (tmp_path / "sales/ds=2013-01-01/region=eu").mkdir(parents=True)
    done = analyze_table(spark, store, "shop.sales", columns=["id"])
    null = "ds=2013-01-01/region=__HIVE_DEFAULT_PARTITION__"
    assert set(done.missing) == {"ds=2013-01-01/region=us%3D1%2Fa b", null}
    assert (done.partitions, done.rows) == (6, 450)
    assert parameters(store)[VALUES[0]]["numRows"] == parameters(store)[VALUES[1]]["numFiles"] == "0"
    assert (statistics(store, VALUES[0])["id"].numDVs, statistics(store, VALUES[0])["id"].lowValue) == (0, None)
    assert table_parameters(store)["colStats.ds.distinctCount"] == "1"  # of rows, not of partitions
    assert analyze_table(spark, store, "shop.sales", columns=["id"], only_missing=True).partitions == 0


def test_a_table_whose_folder_is_away_is_not_taken_for_empty(spark, store, filled, tmp_path):
    filled(values=VALUES[:1])
    before = parameters(store)
    (tmp_path / "sales").rename(tmp_path / "away")
    with pytest.raises(TableFolderMissing, match="folder does not exist"):
        analyze_table(spark, store, "shop.sales")
    assert parameters(store) == before


@pytest.mark.parametrize("columns", [None, ["id"]])
def test_a_file_that_cannot_be_read_is_named_and_the_rest_is_resumed(spark, store, filled, tmp_path, columns):
    filled()
    folder = tmp_path / "sales" / partition_name(("ds", "region"), VALUES[4])
    bad = folder / "bad file.parquet"
    bad.write_text("this is no Parquet")
    with pytest.raises(ReadFailed) as caught:
        analyze_table(spark, store, "shop.sales", columns=columns, batch=2)
    assert caught.value.fields["partition"] == partition_name(("ds", "region"), VALUES[4])
    assert caught.value.fields["file"].endswith("bad file.parquet")
    assert "not a Parquet file" in caught.value.fields["reason"]
    counted = sum("numRows" in one for one in parameters(store).values())
    assert counted in (2, 4)  # whole batches
    assert table_parameters(store) == {}
    bad.unlink()
    done = analyze_table(spark, store, "shop.sales", columns=columns, only_missing=True)
    assert (done.passed_over, done.partitions, done.whole) == (counted, 6 - counted, True)
    assert_counted(store, tmp_path / "sales")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_cannot_be_listed_is_named(spark, store, filled, tmp_path):
    filled(values=VALUES[:1])
    folder = tmp_path / "sales/ds=2013-01-01/region=eu"
    folder.chmod(0)
    try:
        with pytest.raises(FileOperationFailed, match="cannot be listed"):
            analyze_table(spark, store, "shop.sales")
    finally:
        folder.chmod(0o700)


def test_mistakes_are_named(spark, store, filled, tmp_path):
    odd = [*DATA[:1], Column("tags", "array<string>")]
    filled(data=DATA[:1], values=VALUES[:1])
    store.alter_table(
        Table(
            "shop",
            "sales",
            COLUMNS,
            odd,
            location=f"file:{tmp_path}/sales",
            parameters=store.get_table("shop", "sales").parameters,
        )
    )
    with pytest.raises(InvalidInput, match="the column does not exist"):
        analyze_table(spark, store, "shop.sales", columns=["id", "nothing"])
    with pytest.raises(InvalidInput, match="columns of this type have no statistics"):
        analyze_table(spark, store, "shop.sales", columns=["tags"])
    with pytest.raises(InvalidInput, match="at least one partition"):
        analyze_table(spark, store, "shop.sales", batch=0)
    with pytest.raises(InvalidInput, match="the text is not a table name"):
        analyze_table(spark, store, "sales")
    with pytest.raises(UnknownColumnError):
        analyze_table(spark, store, "shop.sales", "id = 5")
    assert analyze_table(spark, store, "shop.sales", columns="all").columns == ("id",)
    assert analyze_table(spark, store, "shop.sales", columns=["DS", "ID"]).columns == ("id",)
    store.create_table(Table("shop", "plain", columns=DATA))
    with pytest.raises(TableNotPartitioned):
        analyze_table(spark, store, "shop.plain")
    store.create_table(Table("shop", "unsaid", COLUMNS, DATA))
    store.add_partitions("shop", "unsaid", [Partition(VALUES[0])])
    with pytest.raises(InvalidInput, match="format of the table's files is unknown"):
        analyze_table(spark, store, "shop.unsaid")
    store.create_table(Table("shop", "nowhere", COLUMNS, DATA, parameters={"spark.sql.sources.provider": "orc"}))
    store.add_partitions("shop", "nowhere", [Partition(VALUES[0])])
    with pytest.raises(InvalidInput, match="has no location"):
        analyze_table(spark, store, "shop.nowhere")


def test_the_pages_example_runs_with_a_url(spark, url, filled):
    with connect(url) as store:
        store.create_database("shop")
        filled(data=DATA[:2], values=VALUES[:1], into=store)
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names = {"spark": spark}
    exec(code.replace("sqlite:///data/catalog.db", url), names)  # noqa: S102  the page's own text
    assert (names["done"].rows, names["done"].columns) == (30, ("id", "big"))
    with connect(url) as store:
        assert statistics(store, VALUES[0])["id"].highValue == 29


def test_a_table_without_partitions_is_empty(spark, store):
    before = {f"{STATISTICS}numRows": "5", f"{STATISTICS}colStats.id.version": "2", "team": "web"}
    store.create_table(Table("shop", "sales", COLUMNS, DATA, parameters=before))
    assert analyze_table(spark, store, "shop.sales").whole
    assert table_parameters(store) == {"numRows": "0", "totalSize": "0"}
    assert store.get_table("shop", "sales").parameters["team"] == "web"


def test_a_file_that_spark_does_not_list_is_not_passed_over(spark, store, filled, monkeypatch):
    filled(data=DATA[:1], values=VALUES[:1])
    others = {"file:/other/part-0.parquet": "file:/other/part-0.parquet"}
    monkeypatch.setattr(analyze_reading, "listed_files", lambda _: others)
    with pytest.raises(ReadFailed, match="Spark does not find a file") as caught:
        analyze_table(spark, store, "shop.sales", columns="all")
    assert caught.value.fields["partition"] == "ds=2013-01-01/region=eu"
    assert parameters(store)[VALUES[0]] == {}


def test_files_that_came_after_the_folder_was_listed_are_not_counted(spark, store, filled):
    root = filled(data=DATA[:1], values=VALUES[:1]) / partition_name(("ds", "region"), VALUES[0])
    rows_of(spark, 0, 50).select("id").repartition(9).write.mode("append").parquet(str(root))
    listed, *others = sorted(one.name for one in root.glob("*.parquet"))
    assert len(others) > 8
    reading = FileReading(spark, store.get_table("shop", "sales"), (), with_sketches=False)
    folder = FolderFiles("ds=2013-01-01/region=eu", f"file:{root}", (listed,))
    (rows,) = reading.read(FileFormat("parquet"), [folder]).rows
    assert rows == spark.read.parquet(str(root / listed)).count()


def test_a_sessions_own_settings_stay(spark, store, filled):
    filled(data=DATA[:1], values=VALUES[:1])
    name = "spark.sql.sources.parallelPartitionDiscovery.parallelism"
    for setting in (None, "7"):
        if setting is not None:
            spark.conf.set(name, setting)
        analyze_table(spark, store, "shop.sales", columns="all")
        assert spark.conf.get(name, None) == setting
    spark.conf.unset(name)

"""sync_partitions on one table: names of folders, places of partitions, dry runs, refusals, interruptions."""

from __future__ import annotations

import os
import shutil

import pytest

from hbstore import NULL_PARTITION, Column, Partition, PartitionStore, Table
from hbstore.errors import (
    FileOperationFailed,
    InvalidInput,
    InvalidPartitionValue,
    TableFolderMissing,
    TableNotFound,
    TableNotPartitioned,
)
from hbstore.keys.partition_names import partition_name
from hbstore.repair import Walked, sync_partitions
from tests.store.faults import Crash, Fault, FaultyRows

EMPTY = {"add": 0, "drop": 0}


def test_folders_become_partitions(sales):
    sales.folders("ds=a/hour=5", "ds=a/hour=6", "DS=b%3A1/Hour=07", f"ds={NULL_PARTITION}/hour={NULL_PARTITION}")
    repair = sales.sync("add")
    assert (repair.added, repair.dropped, repair.foreign) == (4, 0, ())
    assert repair.names(repair.add)[:2] == [f"ds={NULL_PARTITION}/hour={NULL_PARTITION}", "ds=a/hour=5"]
    assert sales.locations() == {
        (NULL_PARTITION, NULL_PARTITION): f"ds={NULL_PARTITION}/hour={NULL_PARTITION}",
        ("a", "5"): "ds=a/hour=5",
        ("a", "6"): "ds=a/hour=6",
        ("b:1", "07"): "DS=b%3A1/Hour=07",
    }


def test_hidden_and_foreign_folders_stay_out(sales):
    sales.folders("_temporary/ds=a/hour=1", ".hive/hour=1", "_hbstore/x", "ds=a/_SUCCESS", "ds=a/.hour=1")
    sales.folders("ds=a/hour=noon", "ds=a/hours=1", "ds=a/x", "ds=/hour=1", "hour=1/ds=a", "ds=b")
    (sales.root / "ds=a" / "hour=9").write_text("a file")
    repair = sales.sync()
    assert sales.locations() == {}
    assert {one.folder: one.why for one in repair.foreign} == {
        "ds=": "no value",
        "ds=a/hour=noon": "no int",
        "ds=a/hours=1": "not called hour=…",
        "ds=a/x": "not called hour=…",
        "hour=1": "not called ds=…",
    }


def test_names_that_are_not_utf8_are_foreign(sales):
    sales.folders("ds=\udcff/hour=1")
    repair = sales.sync()
    assert [(one.folder, one.why) for one in repair.foreign] == [("ds=\\xff", "no string")]
    assert sales.locations() == {}


def test_two_folders_of_one_partition_are_named(sales):
    sales.folders("ds=a/hour=5", "ds=a/HOUR=5", "ds=a/hour=05")
    repair = sales.sync()
    assert sales.locations() == {("a", "05"): "ds=a/hour=05"}
    assert {one.folder: one.why for one in repair.foreign} == {
        "ds=a/HOUR=5": "the same partition as ds=a/hour=5",
        "ds=a/hour=5": "the same partition as ds=a/HOUR=5",
    }
    sales.store.add_partitions("shop", "sales", [Partition(("a", "5"))])
    repair = sales.sync()
    assert [one.folder for one in repair.foreign] == ["ds=a/HOUR=5"]
    assert len(sales.locations()) == 2


def test_folders_of_one_value_are_partitions_of_their_own(sales):
    sales.folders("ds=a/hour=5", "ds=a/hour=05", "ds=a/hour=5.0")
    assert not sales.sync().foreign
    assert sales.locations() == {("a", text): f"ds=a/hour={text}" for text in ("5", "05", "5.0")}
    assert sales.store.count_partitions("shop", "sales", "hour = 5") == 3


def test_links_are_followed_only_inside_the_table(sales, tmp_path):
    outside = tmp_path / "sales2" / "ds=a" / "hour=1"
    outside.mkdir(parents=True)
    sales.folders("ds=a/hour=1", "ds=b")
    (sales.root / "ds=b" / "hour=2").symlink_to(sales.root / "ds=a" / "hour=1")
    (sales.root / "ds=b" / "hour=3").symlink_to(outside)
    (sales.root / "ds=c").symlink_to(outside.parent)
    (sales.root / "ds=d").symlink_to(sales.root / "nothing")
    (sales.root / "ds=e").symlink_to("ds=e")
    repair = sales.sync()
    assert set(sales.locations()) == {("a", "1"), ("b", "2")}
    assert [one.folder for one in repair.foreign] == ["ds=b/hour=3", "ds=c"]
    assert {one.why for one in repair.foreign} == {"a link to a place outside the table"}


def test_partitions_elsewhere_are_judged_by_their_own_place(sales, tmp_path):
    there, gone = tmp_path / "there", tmp_path / "gone"
    there.mkdir()
    places = {
        "1": f"file:{there}",
        "2": f"file://{gone}",
        "3": "not a location",
        "4": f"file:{sales.root}/odd",
    }
    given = [Partition(("x", hour), location=place) for hour, place in places.items()]
    sales.store.add_partitions("shop", "sales", given)
    sales.folders("ds=x/hour=1", "odd")
    assert sales.sync("add").dropped == 0
    repair = sales.sync("drop")
    assert repair.names(repair.drop) == ["ds=x/hour=2"]
    assert {one.folder for one in repair.foreign} == {"odd", "ds=x/hour=1"}
    assert set(sales.locations()) == {("x", "1"), ("x", "3"), ("x", "4")}
    assert f"the files of the partition are in file:{there}" in repair.foreign[0].why


def test_a_location_in_other_words_is_the_same_place(sales):
    sales.folders("ds=x/hour=1")
    sales.store.add_partitions("shop", "sales", [Partition(("x", "1"), location=f"file://{sales.root}//ds=x/hour=1/")])
    assert not sales.sync().foreign


def test_a_partition_whose_folder_has_another_name_now_moves_there(sales):
    sales.store.add_partitions("shop", "sales", [Partition(("x", "5"))])
    sales.folders("ds=x/HOUR=5")
    assert [one.folder for one in sales.sync("add").foreign] == ["ds=x/HOUR=5"]
    repair = sales.sync("sync")
    assert (repair.added, repair.dropped) == (1, 1)
    assert sales.locations() == {("x", "5"): "ds=x/HOUR=5"}
    assert not sales.sync("sync").add


def test_modes_do_what_they_say(sales):
    sales.store.add_partitions("shop", "sales", [Partition(("gone", "1")), Partition(("kept", "1"))])
    sales.folders("ds=kept/hour=1", "ds=new/hour=1")
    before = sales.locations()
    for mode, expected in (("add", (["new"], [])), ("drop", ([], ["gone"])), ("sync", (["new"], ["gone"]))):
        repair = sales.sync(mode, dry_run=True)
        assert ([one.values[0] for one in repair.add], [one.values[0] for one in repair.drop]) == expected
        assert (repair.added, repair.dropped) == (0, 0)
        assert sales.locations() == before
    assert sales.sync("drop").dropped == 1
    assert set(sales.locations()) == {("kept", "1")}
    assert sales.sync("add").added == 1
    assert set(sales.locations()) == {("kept", "1"), ("new", "1")}


@pytest.mark.parametrize(
    ("spec", "looked_at"),
    [
        ({"ds": "a"}, {"a"}),
        ({"hour": "5"}, {"a", "b", NULL_PARTITION}),
        ({"hour": "05"}, set()),
        ({"DS": "a", "Hour": "5"}, {"a"}),
        ({"ds": NULL_PARTITION}, {NULL_PARTITION}),
    ],
)
def test_a_spec_is_all_that_is_looked_at(sales, spec, looked_at):
    values = ("a", "b", NULL_PARTITION)
    sales.folders(*(f"ds={value}/hour=5" for value in values), "ds=b/other", "other")
    sales.store.add_partitions("shop", "sales", [Partition((value, "7")) for value in values])
    repair = sales.sync(spec=spec)
    assert {one.values[0] for one in repair.add} == looked_at
    dropped = set() if "hour" in {name.lower() for name in spec} else looked_at
    assert {one.values[0] for one in repair.drop} == dropped


def test_a_spec_adds_no_folder_of_a_partition_that_it_leaves_out(sales):
    """As after a rename in an external table, whose folders keep their names."""
    sales.folders("ds=a/hour=5", "ds=a/hour=6")
    sales.store.add_partitions("shop", "sales", [Partition(("b", "5"), location=f"{sales.root}/ds=a/hour=5")])
    repair = sales.sync(spec={"ds": "a"})
    assert [one.values for one in repair.add] == [("a", "6")]
    assert [one.why for one in repair.foreign] == ["the files of the partition ds=b/hour=5, which has another value"]


@pytest.mark.parametrize(
    ("kind", "stored", "asked", "other"),
    [
        ("string", "a b", "a b", "a"),
        ("int", "5", "5", "05"),
        ("bigint", "-5", "-5", "5"),
        ("date", "2013-01-01", "2013-01-01", "2013-01-02"),
        ("timestamp", "2013-01-01 05:00:00", "2013-01-01 05:00:00", "2013-01-01 06:00:00"),
        ("decimal(10,2)", "1.50", "1.50", "1.5"),
        ("double", "0.5", "0.5", "5e-1"),
        ("boolean", "true", "true", "TRUE"),
        ("varchar(3)", "abc", "abc", "ab"),
        ("int", NULL_PARTITION, NULL_PARTITION, "1"),
    ],
)
def test_a_spec_names_texts(sales, kind, stored, asked, other):
    location = f"file:{sales.root}"
    sales.store.create_table(Table("shop", "typed", [Column("p", kind)], location=location))
    sales.store.add_partitions("shop", "typed", [Partition([stored]), Partition([other])])
    sales.folders("else")
    repair = sync_partitions(sales.store, "shop.typed", "drop", spec={"p": asked})
    assert [one.values for one in repair.drop] == [(stored,)]
    sales.folders(*(partition_name(["p"], [value]) for value in (stored, other)))
    repair = sync_partitions(sales.store, "shop.typed", "add", spec={"p": asked})
    assert [one.values for one in repair.add] == [(stored,)]


@pytest.mark.parametrize("spec", [{"hour": "noon"}, {"day": "1"}])
def test_a_spec_that_cannot_be(sales, spec):
    with pytest.raises(InvalidPartitionValue):
        sales.sync(spec=spec)


def test_a_table_without_its_folder_is_not_emptied(sales):
    sales.store.add_partitions("shop", "sales", [Partition(("a", "1"))])
    with pytest.raises(TableFolderMissing, match="is empty"):
        sales.sync("drop")
    shutil.rmtree(sales.root)
    for mode in ("add", "drop", "sync"):
        with pytest.raises(TableFolderMissing, match="folder does not exist"):
            sales.sync(mode)
    assert len(sales.locations()) == 1
    assert sales.sync("sync", force=True).dropped == 1
    assert sales.locations() == {}


@pytest.mark.parametrize("mode", ["add", "drop", "sync"])
def test_a_file_is_no_folder_of_a_table(sales, mode):
    sales.store.add_partitions("shop", "sales", [Partition(("a", "1"))])
    sales.root.rmdir()
    sales.root.write_text("a file")
    for force in (False, True):
        with pytest.raises(TableFolderMissing, match="location is a file"):
            sales.sync(mode, force=force)
    assert len(sales.locations()) == 1


def test_tables_that_cannot_be_repaired(sales):
    sales.store.create_table(Table("shop", "plain", location=f"file:{sales.root}"))
    sales.store.create_table(Table("shop", "nowhere", [Column("ds", "date")]))
    for name, error in (
        ("shop.plain", TableNotPartitioned),
        ("shop.nowhere", InvalidInput),
        ("shop.no", TableNotFound),
        ("shop", InvalidInput),
        ("a.b.c", InvalidInput),
    ):
        with pytest.raises(error):
            sync_partitions(sales.store, name)
    for how in ({"mode": "all"}, {"batch": 0}):
        with pytest.raises(InvalidInput):
            sales.sync(**how)


def test_errors_of_the_system_have_a_name(sales, monkeypatch):
    sales.folders("ds=a/hour=1")
    real = os.scandir

    def refusing(path):
        if str(path).endswith("ds=a"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", refusing)
    with pytest.raises(FileOperationFailed, match=r"location=file:.*/ds=a.*Permission denied"):
        sales.sync()


def test_a_place_that_nobody_can_tell_of_is_not_gone(sales, monkeypatch):
    sales.folders("ds=a/hour=1")
    sales.store.add_partitions("shop", "sales", [Partition(("x", "1"), location="file:/closed/place")])
    real = os.stat

    def refusing(path, *args, **keywords):
        if str(path).startswith("/closed"):
            raise PermissionError(13, "Permission denied", path)
        return real(path, *args, **keywords)

    monkeypatch.setattr(os, "stat", refusing)
    with pytest.raises(FileOperationFailed, match="Permission denied"):
        sales.sync("drop")
    assert set(sales.locations()) == {("x", "1")}


def test_what_others_change_meanwhile_is_not_dropped(sales, monkeypatch):
    sales.store.add_partitions("shop", "sales", [Partition((name, "1")) for name in "abc"])
    sales.folders("other")

    def nothing(*_):
        """No folder is there, and somebody puts a partition again meanwhile."""
        sales.store.change_partitions("shop", "sales", put=[Partition(("a", "1"), parameters={"new": "yes"})])
        sales.store.drop_partitions("shop", "sales", [("b", "1")])
        return Walked([], [])

    monkeypatch.setattr("hbstore.repair.sync.walk", nothing)
    assert sales.sync("drop").dropped == 1
    assert set(sales.locations()) == {("a", "1")}


def test_progress_is_told(sales):
    sales.folders(*(f"ds=a/hour={hour}" for hour in range(5)))
    told = []
    sales.sync(batch=2, progress=lambda *step: told.append(step))
    assert told == [("list", 1, None), ("list", 6, None), ("add", 2, 5), ("add", 4, 5), ("add", 5, 5)]


@pytest.mark.parametrize("at", range(1, 12, 2))
def test_a_death_in_the_middle_is_made_good_by_the_next_run(sales, rows, at):
    sales.store.add_partitions("shop", "sales", [Partition((f"gone{number}", "1")) for number in range(6)])
    sales.folders(*(f"ds=new{number}/hour=1" for number in range(6)))
    faulty = PartitionStore(FaultyRows(rows, Fault.CRASH, at))
    with pytest.raises(Crash):
        sync_partitions(faulty, "shop.sales", "sync", batch=2)
    sales.sync(batch=2)
    assert set(sales.locations()) == {(f"new{number}", "1") for number in range(6)}
    repair = sales.sync()
    assert {"add": len(repair.add), "drop": len(repair.drop)} == EMPTY

"""Renames of tables and partitions with their folders: where processes die, fail or race, no file is lost."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from pyarrow.fs import FileSelector

from hbstore import Column, Database, Partition, Table, connect
from hbstore.errors import AlreadyExists, ConcurrentChange, FileOperationFailed, HbstoreError, StoreBusy
from hbstore.files.warehouse import Warehouse
from hbstore.publishing import Publisher
from hbstore.publishing.folder_move import FolderMove
from hbstore.repair import sync_partitions
from hbstore.store.folder_changes import FolderChanges
from hbstore.store.partition_store import PartitionStore
from hbstore.store.publications_cell import Move
from hbstore.warehouse.databases import create_database
from hbstore.warehouse.new_partitions import add_partitions
from hbstore.warehouse.partition_changes import rename_partition
from hbstore.warehouse.tables import change_table, create_table
from tests.interleaved import Between
from tests.object_store import endpoint, new_bucket, s3_at
from tests.publishing.dying import dying, much_later, recover_later
from tests.store.faults import Crash

ROUNDS = 30
SALES = Table("shop", "sales", [Column("ds", "string")], [Column("id", "int")])


def prepare(store, warehouse):
    """shop.sales with a file in each of its two partitions."""
    create_database(store, warehouse, Database("shop"))
    create_table(store, warehouse, SALES)
    add_partitions(store, warehouse, store.get_table("shop", "sales"), [Partition(("a",)), Partition(("b",))])
    for one in store.get_partitions_by_filter("shop", "sales", None):
        folder = Path(one.location.removeprefix("file:"))
        (folder / "rows").write_text(f"rows of {one.values[0]}")


@pytest.fixture(params=["memory://", "memory://?atomic=false", "sqlite"])
def store(request, tmp_path):
    url = f"sqlite://{tmp_path}/store.db" if request.param == "sqlite" else request.param
    with connect(url, patience=5) as store:
        yield store


@pytest.fixture
def warehouse(tmp_path):
    return Warehouse(str(tmp_path / "warehouse"))


@pytest.fixture
def shop(store, warehouse):
    prepare(store, warehouse)
    return store


def rename_table(store, warehouse, name):
    change_table(store, warehouse, "shop", "sales", replace(store.get_table("shop", "sales"), name=name))


def rename_a(store, warehouse, value):
    table = store.get_table("shop", "sales")
    rename_partition(store, warehouse, table, ("a",), Partition((value,)))


def seen(store):
    """What is read of the shop's only table: its name, and the texts of its files by their partitions."""
    (table,) = store.table_names("shop")
    read = {}
    for one in store.get_partitions_by_filter("shop", table, None):
        file = Path(one.location.removeprefix("file:")) / "rows"
        read[one.values[0]] = file.read_text() if file.exists() else None
    return table, read


A, B = "rows of a", "rows of b"
BEFORE = "sales", {"a": A, "b": B}


def test_a_renamed_table_takes_its_folder_along(shop, warehouse, tmp_path):
    rename_table(shop, warehouse, "sold")
    assert seen(shop) == ("sold", {"a": A, "b": B})
    assert shop.get_table("shop", "sold").location == f"file:{tmp_path}/warehouse/shop.db/sold"
    assert not (tmp_path / "warehouse/shop.db/sales").exists()
    assert shop.publications.of(shop.table_row("shop", "sold")) == []


def test_a_renamed_partition_takes_its_folder_along(shop, warehouse, tmp_path):
    rename_a(shop, warehouse, "c")
    assert seen(shop) == ("sales", {"c": A, "b": B})
    assert not (tmp_path / "warehouse/shop.db/sales/ds=a").exists()
    assert shop.publications.of(shop.table_row("shop", "sales")) == []


RENAMES = {
    "table": (rename_table, "sold", ("sold", {"a": A, "b": B})),
    "partition": (rename_a, "c", ("sales", {"c": A, "b": B})),
}


@pytest.mark.parametrize("kind", RENAMES)
def test_a_process_that_dies_at_any_step(tmp_path, kind):
    """The next process finds all of it under the old name, or under the new one."""
    rename, name, after = RENAMES[kind]
    outcomes = []
    for at in range(100):
        warehouse = Warehouse(str(tmp_path / str(at)))
        with connect("memory://?atomic=false", patience=5) as store:
            prepare(store, warehouse)
            with dying(store, at) as process:
                rename(process.store, warehouse, name)
            with much_later():
                for table in store.table_names("shop"):
                    Publisher(store).roll_forward_before_use(store.table_row("shop", table))
            outcomes.append(seen(store))
            assert outcomes[-1] in (BEFORE, after), at
            (table,) = store.table_names("shop")
            assert store.publications.of(store.table_row("shop", table)) == []
            if not process.died:
                break
    assert outcomes[0] == BEFORE
    assert outcomes[-1] == after


def test_repair_comes_after_a_rename_that_died(shop, warehouse, monkeypatch):
    """Its folder is where nobody looks, and not away."""

    def dies(*_, **__):
        raise Crash

    with monkeypatch.context() as patch:
        patch.setattr(PartitionStore, "rename_table", dies)
        patch.setattr(FolderMove, "undo", dies)
        with pytest.raises(Crash):
            rename_table(shop, warehouse, "sold")
    with much_later():
        assert sync_partitions(shop, "shop.sales", "sync").drop == ()
    assert seen(shop) == BEFORE


STEPS = (
    (FolderChanges, "begin_move"),
    (Warehouse, "move"),
    (PartitionStore, "rename_table"),
    (PartitionStore, "rename_partition"),
    (FolderMove, "undo"),
)
"""What a rename does, before and after each of which another process may come."""


@pytest.mark.parametrize("kind", RENAMES)
@pytest.mark.parametrize("other", ["rename it", "look after it later"])
def test_another_process_at_any_step(tmp_path, kind, other):
    """It renames the same to something else, or takes the first one for dead; one of the two succeeds."""
    rename, name, after = RENAMES[kind]
    elsewhere = ("other", {"a": A, "b": B}) if kind == "table" else ("sales", {"other": A, "b": B})

    def come(store, warehouse):
        with suppress(HbstoreError):
            if other == "rename it":
                rename(store, warehouse, "other")
            else:
                recover_later(store, ("shop", store.table_names("shop")[0]))

    for at in range(100):
        warehouse = Warehouse(str(tmp_path / str(at)))
        with connect("memory://", patience=0.01) as store, pytest.MonkeyPatch.context() as patch:
            prepare(store, warehouse)
            between = Between(at, partial(come, store, warehouse))
            for owner, method in STEPS:
                patch.setattr(owner, method, between.around(getattr(owner, method)))
            with suppress(HbstoreError):
                rename(store, warehouse, name)
            patch.undo()
            with much_later():
                for table in store.table_names("shop"):
                    Publisher(store).roll_forward_before_use(store.table_row("shop", table))
            assert seen(store) in (BEFORE, after, elsewhere), at
            if between.left >= 0:
                break
    assert at > 4


def test_clients_that_rename_one_table_at_once(shop, warehouse):
    """As it was in 26 of 300 rounds on a local disk: the loser moved the folder back over the winner's."""

    def rename(turn, number):
        with suppress(HbstoreError):
            table = shop.get_table("shop", f"t{turn}")
            change_table(
                shop, warehouse, "shop", f"t{turn}", replace(table, name=f"t{turn + 1}" if number % 2 else f"u{turn}")
            )

    change_table(shop, warehouse, "shop", "sales", replace(shop.get_table("shop", "sales"), name="t0"))
    with ThreadPoolExecutor(4) as pool:
        for turn in range(ROUNDS):
            list(pool.map(rename, [turn] * 4, range(4)))
            (name,) = shop.table_names("shop")
            assert seen(shop)[1] == {"a": A, "b": B}, turn
            if name != f"t{turn + 1}":
                change_table(shop, warehouse, "shop", name, replace(shop.get_table("shop", name), name=f"t{turn + 1}"))


def test_a_folder_that_is_there_refuses_a_rename(shop, warehouse, tmp_path):
    (tmp_path / "warehouse/shop.db/sold").mkdir()
    (tmp_path / "warehouse/shop.db/sales/ds=c").mkdir()
    with pytest.raises(FileOperationFailed, match="the new folder already exists"):
        rename_table(shop, warehouse, "sold")
    with pytest.raises(FileOperationFailed, match="the new folder already exists"):
        rename_a(shop, warehouse, "c")
    assert seen(shop) == BEFORE
    assert shop.publications.of(shop.table_row("shop", "sales")) == []
    (tmp_path / "warehouse/shop.db/sales/ds=a").rename(tmp_path / "away")
    with pytest.raises(FileOperationFailed, match="the new folder already exists"):
        rename_a(shop, warehouse, "c")


def test_what_the_catalog_refuses_moves_back(shop, warehouse, monkeypatch):
    def refused(*_, **__):
        raise AlreadyExists("another client was faster", hint="Choose another name")

    monkeypatch.setattr(PartitionStore, "rename_table", refused)
    monkeypatch.setattr(PartitionStore, "rename_partition", refused)
    for rename, name in ((rename_table, "sold"), (rename_a, "c")):
        with pytest.raises(AlreadyExists):
            rename(shop, warehouse, name)
        assert seen(shop) == BEFORE
        assert shop.publications.of(shop.table_row("shop", "sales")) == []


@pytest.mark.parametrize("kind", RENAMES)
def test_what_the_catalog_refuses_moves_back_however_its_place_is_spelt(store, warehouse, monkeypatch, kind):
    """As Python and other metastores write it; or else the note could be neither finished nor abandoned."""
    create_database(store, warehouse, Database("shop"))
    home = f"{warehouse.root}/shop.db/sales/"
    store.create_table(replace(SALES, location=home))
    for value in ("a", "b"):
        partition = Partition((value,), location=f"{home}ds={value}/.")
        store.add_partitions("shop", "sales", [partition])
        folder = Path(partition.location.removeprefix("file:"))
        folder.mkdir(parents=True)
        (folder / "rows").write_text(f"rows of {value}")

    def refuse(*_, **__):
        raise AlreadyExists("it is there", hint="")

    monkeypatch.setattr(PartitionStore, "rename_table", refuse)
    monkeypatch.setattr(PartitionStore, "rename_partition", refuse)
    rename, name, _ = RENAMES[kind]
    with pytest.raises(AlreadyExists):
        rename(store, warehouse, name)
    assert seen(store) == BEFORE
    assert store.publications.of(store.table_row("shop", "sales")) == []


def test_a_table_stays_where_it_is_while_the_folder_of_a_partition_moves(shop, warehouse, tmp_path, monkeypatch):
    """Who gives the rename up holds the table's folder: another one would not keep its process from moving."""
    move = Warehouse.move

    def late(self, *arguments, **options):
        monkeypatch.setattr(Warehouse, "move", move)
        with pytest.raises(ConcurrentChange, match="a partition of the table is being renamed"):
            shop.alter_table(replace(shop.get_table("shop", "sales"), location=f"file:{tmp_path}/other"))
        recover_later(shop, ("shop", "sales"))
        return move(self, *arguments, **options)

    monkeypatch.setattr(Warehouse, "move", late)
    rename_a(shop, warehouse, "c")
    assert seen(shop) == ("sales", {"c": A, "b": B})


@pytest.mark.parametrize("has_location", [True, False])
def test_partitions_do_not_change_while_the_tables_folder_moves(shop, warehouse, tmp_path, has_location):
    """Also of a table without a location, as Python makes it, which is where its name says."""
    if not has_location:
        shop.alter_table(replace(shop.get_table("shop", "sales"), location=None))
    move = Move(f"file:{tmp_path}/warehouse/shop.db/sales", f"file:{tmp_path}/warehouse/shop.db/sold")
    shop.folder_changes.begin_move(shop.table_row("shop", "sales"), "7", move, until=4e9)
    with pytest.raises(ConcurrentChange, match="is being renamed"):
        shop.add_partitions("shop", "sales", [Partition(("c",))])
    with pytest.raises(ConcurrentChange, match="is being renamed"):
        shop.drop_table("shop", "sales")
    with pytest.raises(ConcurrentChange, match="is being renamed"):
        shop.alter_table(replace(shop.get_table("shop", "sales"), location="file:/elsewhere"))
    with pytest.raises(ConcurrentChange):
        rename_table(shop, warehouse, "other")
    assert seen(shop) == BEFORE
    with warehouse.held(move.source), pytest.raises(StoreBusy, match="is moving the folder"):
        Publisher(shop).abandon("shop.sales", "7")
    assert Publisher(shop).abandon("shop.sales", "7") == ()
    rename_table(shop, warehouse, "other")
    assert seen(shop) == ("other", {"a": A, "b": B})


@pytest.fixture
def lake():
    """A store whose table is in S3; its warehouse, and the paths of the files there."""
    bucket, files = new_bucket()
    with s3_at(endpoint()), connect("memory://", patience=5) as store:
        warehouse = Warehouse(f"s3://{bucket}/wh")
        create_database(store, warehouse, Database("shop"))
        create_table(store, warehouse, SALES)
        add_partitions(store, warehouse, store.get_table("shop", "sales"), [Partition(("a",))])
        for number in range(3):
            with files.open_output_stream(f"{bucket}/wh/shop.db/sales/ds=a/{number}") as stream:
                stream.write(b"rows")

        def paths():
            infos = files.get_file_info(FileSelector(bucket, recursive=True))
            return [one.path.removeprefix(f"{bucket}/wh/shop.db/") for one in infos if one.is_file]

        yield store, warehouse, paths


def test_a_table_in_an_object_store_stays_in_its_folder(lake):
    store, warehouse, paths = lake
    before = paths()
    rename_table(store, warehouse, "sold")
    assert store.get_table("shop", "sold").location == f"{warehouse.root}/shop.db/sales"
    assert paths() == before
    create_table(store, warehouse, SALES)
    place = store.get_table("shop", "sales").location
    assert place.startswith(f"{warehouse.root}/shop.db/sales-")
    assert warehouse.exists(place)


def test_a_partition_in_an_object_store_takes_its_files_along(lake):
    store, warehouse, paths = lake
    rename_a(store, warehouse, "c")
    assert store.get_partition("shop", "sales", ("c",)).location.endswith("/ds=c")
    assert paths() == [f"sales/ds=c/{number}" for number in range(3)]


def test_a_rename_of_a_partition_in_an_object_store_that_dies(lake):
    store, warehouse, paths = lake
    for at in range(100):
        with dying(store, at) as process:
            rename_a(process.store, warehouse, "c")
        if not process.died:
            break
        (partition,) = store.get_partitions_by_filter("shop", "sales", None)
        name = partition.values[0]
        assert {f"sales/ds={name}/{number}" for number in range(3)} <= set(paths()), "it is always read whole"
        with much_later(5000):  # who copies is left alone for an hour
            Publisher(store).recover("shop.sales")
        assert paths() == [f"sales/ds={name}/{number}" for number in range(3)], at
        if name == "c":
            rename_partition(store, warehouse, store.get_table("shop", "sales"), ("c",), Partition(("a",)))
    assert at > 2

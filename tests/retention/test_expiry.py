"""Old partitions are dropped with their files, brought back with them, and deleted for good.

Where a process dies in the middle, or others change the table: tests/publishing/test_every_interleaving.py.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from threading import Event

import pytest

from hbstore import (
    Column,
    ConcurrentChange,
    Database,
    FileOperationFailed,
    InvalidInput,
    OutsideWarehouse,
    Partition,
    Table,
    connect,
)
from hbstore.files.warehouse import Warehouse
from hbstore.model.structs import partition_values
from hbstore.retention import expiry
from hbstore.retention.expiry import delete_runs, expire, runs, undo
from hbstore.retention.keeper import keep_once
from hbstore.retention.kept_files import own_trash, parted
from hbstore.rows.interface import CatalogCell
from hbstore.warehouse.databases import create_database
from hbstore.warehouse.new_partitions import add_partitions
from hbstore.warehouse.partition_changes import drop_partitions
from hbstore.warehouse.tables import create_table, drop_table
from tests.files.warehouses import world
from tests.object_store import endpoint, s3_at
from tests.store.timelines import declared

NOW = datetime(2026, 11, 29, 10, tzinfo=UTC)
DAYS = ("2026-11-01", "2026-11-02", "2026-11-28")


@pytest.fixture(params=["local", "copying", "s3"])
def here(request, tmp_path):
    with s3_at(endpoint()):
        yield world(request.param, tmp_path)


@pytest.fixture
def store(here):
    with connect("memory://") as opened:
        create_database(opened, here.warehouse, Database("shop"))
        yield opened


def filled(store, here, name="sales", **parameters):
    """A table of three days, two of which are old, with two files in each, one of them in a folder."""
    columns = [Column("ds", "date")]
    kind = "EXTERNAL_TABLE" if "EXTERNAL" in parameters else "MANAGED_TABLE"
    place = f"{here.warehouse.root}/outer/{name}" if kind == "EXTERNAL_TABLE" else None
    table = Table("shop", name, columns, [Column("id", "int")], table_type=kind, parameters=parameters, location=place)
    create_table(store, here.warehouse, table)
    table = store.get_table("shop", name)
    added = [Partition((day,), parameters={"numRows": day[-1], "owner": "ann"}, create_time=5) for day in DAYS]
    add_partitions(store, here.warehouse, table, added)
    for day in DAYS:
        for file in ("part-0", "more/part-1"):
            here.write(f"{table.location}/ds={day}/{file}", f"{day} {file}".encode())
    return table


def state(store, here):
    """All partitions as they are stored, and all files but those in the trash."""
    names = [(database, name) for database in store.database_names() for name in store.table_names(database)]
    partitions = {name: [one.payload for one in store.get_partitions_by_filter(*name, None)] for name in names}
    return partitions, {path: text for path, text in here.files().items() if "/.Trash/" not in path}


def old_of(store, table, *days):
    return store.get_payloads("shop", table.name, [(day,) for day in days or DAYS[:2]])


def test_what_is_undone_is_as_it_was(store, here):
    table = filled(store, here)
    before = state(store, here)
    (run,) = expire(store, here.warehouse, table, old_of(store, table), NOW)
    assert (run.table, run.partitions, run.files) == ("shop.sales", 2, "trash")
    partitions, files = state(store, here)
    assert len(partitions["shop", "sales"]) == 1
    assert sorted(files) == [path for path in sorted(before[1]) if "2026-11-28" in path]
    undone = undo(store, here.warehouse, run.id)
    assert (undone.restored, undone.left) == (["ds=2026-11-01", "ds=2026-11-02"], {})
    assert state(store, here) == before
    assert runs(store) == []
    assert not [path for path in here.files() if "/.Trash/" in path]


def test_runs_are_deleted_for_good_after_their_time(store, here):
    table = filled(store, here)
    (run,) = expire(store, here.warehouse, table, old_of(store, table), NOW)
    assert delete_runs(store, here.warehouse, NOW - timedelta(seconds=1)) == []
    other = Warehouse(f"{here.warehouse.root}/other")
    assert delete_runs(store, other, NOW + timedelta(days=1)) == [], "its files are another warehouse's"
    assert delete_runs(store, here.warehouse, NOW) == [run]
    assert not [path for path in here.files() if "2026-11-01" in path]
    with pytest.raises(InvalidInput, match="no such run"):
        undo(store, here.warehouse, run.id)


def test_what_is_there_by_now_stays(store, here):
    table = filled(store, here)
    (run,) = expire(store, here.warehouse, table, old_of(store, table), NOW)
    add_partitions(store, here.warehouse, table, [Partition((DAYS[0],))])
    here.write(f"{table.location}/ds={DAYS[0]}/new", b"new")
    here.write(f"{table.location}/ds={DAYS[1]}/stray", b"of no partition")
    undone = undo(store, here.warehouse, run.id)
    assert undone.restored == []
    assert undone.left.keys() == {"ds=2026-11-01", "ds=2026-11-02"}
    assert "there is another folder by now" in undone.left["ds=2026-11-02"]
    assert [one.id for one in runs(store)] == [run.id], "so that it can be tried again"
    assert here.files()[f"{_path(here, table)}/ds={DAYS[0]}/new"] == b"new"


def _path(here, table):
    start = here.warehouse.root.rpartition("/")[0] + "/"
    return table.location.removeprefix(start)


def test_files_of_external_tables_stay(store, here):
    table = filled(store, here, "logs", EXTERNAL="TRUE")
    before = state(store, here)
    (run,) = expire(store, here.warehouse, table, old_of(store, table), NOW)
    assert (run.files, state(store, here)[1]) == ("kept", before[1])
    undo(store, here.warehouse, run.id)
    assert state(store, here) == before


def test_a_table_whose_files_pass_the_trash_cannot_be_undone(store, here):
    table = filled(store, here, **{"auto.purge": "true"})
    (run,) = expire(store, here.warehouse, table, old_of(store, table), NOW)
    assert run.files == "deleted"
    assert not [path for path in here.files() if "2026-11-01" in path]
    with pytest.raises(InvalidInput, match=r"auto\.purge"):
        undo(store, here.warehouse, run.id)


@pytest.mark.parametrize("here", ["local"], indirect=True)
def test_a_partition_whose_place_another_one_has_by_now_stays_dropped(store, here):
    """Else each row of its files would be read twice."""
    table = filled(store, here)
    (run,) = expire(store, here.warehouse, table, old_of(store, table), NOW)
    taken = f"{table.location}/ds={DAYS[0]}"
    store.alter_partitions("shop", "sales", [Partition((DAYS[2],), location=taken)])
    undone = undo(store, here.warehouse, run.id)
    assert undone.restored == [f"ds={DAYS[1]}"]
    assert undone.left == {f"ds={DAYS[0]}": "a partition that is there has its files at its place"}


@pytest.mark.parametrize("here", ["local"], indirect=True)
def test_a_partition_that_can_be_no_more_does_not_keep_the_others_from_coming_back(store, here):
    """As its table keeps timelines by now."""
    create_table(store, here.warehouse, Table("shop", "sales", [Column("ds", "string")], [Column("id", "int")]))
    table = store.get_table("shop", "sales")
    values = [("old",), (DAYS[0],)]
    places = [f"{table.location}/{at}" for at in range(2)]
    added = [Partition(one, location=place) for one, place in zip(values, places, strict=True)]
    add_partitions(store, here.warehouse, table, added)
    here.write(f"{places[0]}/part-0")
    (run,) = expire(store, here.warehouse, table, store.get_payloads("shop", "sales", values), NOW)
    store.alter_table(replace(table, parameters={**table.parameters, **declared("DAILY", "ds")}))
    undone = undo(store, here.warehouse, run.id)
    assert undone.restored == [f"ds={DAYS[0]}"]
    assert "fit none of the table's update periods" in undone.left["ds=old"]
    assert all("/.Trash/" in path for path in here.files()), "so that they can still come back"


def test_where_the_trash_was_emptied_nothing_comes_back(store, here):
    table = filled(store, here)
    (run,) = expire(store, here.warehouse, table, old_of(store, table), NOW)
    here.warehouse.delete(own_trash(here.warehouse), inside=[], purge=True)
    undone = undo(store, here.warehouse, run.id)
    assert (undone.restored, len(undone.left)) == ([], 2)
    assert store.count_partitions("shop", "sales") == 1


def test_partitions_that_never_had_a_folder_come_back(store, here):
    table = filled(store, here)
    days = ("2013-01-01", "2013-01-02")
    places = [Partition((day,), location=f"{table.location}/ds={day}") for day in days]
    store.add_partitions("shop", "sales", places)
    before = state(store, here)
    (run,) = expire(store, here.warehouse, table, old_of(store, table, *days), NOW)
    assert run.files == "none"
    undone = undo(store, here.warehouse, run.id)
    assert (undone.left, state(store, here), runs(store)) == ({}, before, [])


def test_a_partition_whose_folder_holds_one_of_an_earlier_day_comes_back(store, here):
    table = filled(store, here)
    drop_partitions(store, here.warehouse, table, old_of(store, table), delete=True)
    places = [f"{table.location}/all/first", f"{table.location}/all"]
    added = [Partition((day,), location=place) for day, place in zip(DAYS, places, strict=False)]
    add_partitions(store, here.warehouse, table, added)
    for place in places:
        here.write(f"{place}/part-0", place.encode())
    before = state(store, here)
    (run,) = expire(store, here.warehouse, table, old_of(store, table), NOW)
    assert undo(store, here.warehouse, run.id).left == {}
    assert state(store, here) == before


def test_files_that_are_written_after_the_look_come_back(store, here, monkeypatch):
    table = filled(store, here)
    before = state(store, here)
    monkeypatch.setattr(expiry, "_moved", lambda *_: "none")
    (run,) = expire(store, here.warehouse, table, old_of(store, table), NOW)
    assert undo(store, here.warehouse, run.id).left == {}
    assert (state(store, here), runs(store)) == (before, [])
    assert not [path for path in here.files() if "/.Trash/" in path]


def test_a_table_of_the_same_name_gets_nothing(store, here):
    table = filled(store, here)
    (run,) = expire(store, here.warehouse, table, old_of(store, table), NOW)
    drop_table(store, here.warehouse, "shop", "sales", delete=True)
    filled(store, here)
    with pytest.raises(ConcurrentChange, match=r"dropped or renamed.*\.Trash"):
        undo(store, here.warehouse, run.id)
    drop_table(store, here.warehouse, "shop", "sales", delete=True)
    with pytest.raises(ConcurrentChange, match=r"dropped or renamed.*\.Trash"):
        undo(store, here.warehouse, run.id)


def test_a_run_with_a_partition_that_has_changed_is_left(store, here, monkeypatch):
    monkeypatch.setattr(expiry, "AT_ONCE", 1)
    table = filled(store, here)
    old = old_of(store, table)
    changed = store.get_partition("shop", "sales", (DAYS[0],))
    store.alter_partitions("shop", "sales", [Partition(changed.values, location=changed.location)])
    (run,) = expire(store, here.warehouse, table, old, NOW)
    assert (run.partitions, len(runs(store))) == (1, 1)
    drop_partitions(store, here.warehouse, table, old_of(store, table, DAYS[0]), delete=True)
    assert list(expire(store, here.warehouse, table, old, NOW)) == []


def test_a_file_of_the_same_name_and_size_is_not_taken_for_the_old_one(store, here):
    table = filled(store, here)
    if not here.warehouse.renames(table.location):
        pytest.skip("there a copy that broke off looks the same")
    (run,) = expire(store, here.warehouse, table, old_of(store, table, DAYS[0]), NOW)
    for name in ("part-0", "more/part-1"):
        here.write(f"{table.location}/ds={DAYS[0]}/{name}", b"x" * len(f"{DAYS[0]} {name}"))
    assert undo(store, here.warehouse, run.id).restored == []
    assert any(text == f"{DAYS[0]} part-0".encode() for text in here.files().values()), "it is still in the trash"


def test_what_is_too_much_for_one_run_is_halved(store, here, monkeypatch):
    table = filled(store, here)
    create = store.records.create
    monkeypatch.setattr(type(store.records), "create", lambda _, kind, name, text: too_long(create, kind, name, text))

    def too_long(create, kind, name, text):
        if json.loads(text)["partitions"] > 1:
            raise InvalidInput("the record is too large", hint="")
        return create(kind, name, text)

    create = partial(create.__func__, store.records)
    assert [run.partitions for run in expire(store, here.warehouse, table, old_of(store, table), NOW)] == [1, 1]


def test_files_that_others_have_or_that_cannot_move_keep_their_partitions(store, here):
    table = filled(store, here)
    home = table.location
    places = {"2026-11-03": f"{home}/ds=2026-11-28", "2026-11-04": f"{home}/ds=2026-11-28/more", "2026-11-05": home}
    places["2026-11-06"] = "gs://elsewhere/sales" if here.warehouse.root[:3] != "gs:" else "file:/elsewhere"
    store.add_partitions("shop", "sales", [Partition((day,), location=place) for day, place in places.items()])
    living = store.get_partition("shop", "sales", ("2026-11-28",))
    inner = replace(living, values=("2026-11-29",), location=f"{home}/ds={DAYS[0]}/more")
    store.add_partitions("shop", "sales", [inner])
    old = old_of(store, table, *DAYS[:2], *places)
    movable, kept = parted(store, here.warehouse.with_trash(f"{here.warehouse.root}/.Trash"), table, old)
    assert set(kept) == {f"ds={day}" for day in (DAYS[0], "2026-11-03", "2026-11-06")}
    assert {partition_values(payload)[0] for payload in movable} == {DAYS[1], "2026-11-04", "2026-11-05"}
    (run,) = expire(store, here.warehouse, table, movable, NOW)
    assert here.files()[f"{_path(here, table)}/ds=2026-11-28/part-0"] == b"2026-11-28 part-0"
    assert len(undo(store, here.warehouse, run.id).restored) == 3, "also that whose folder is the table's"


def test_a_run_that_cannot_be_deleted_does_not_keep_the_others(store, here, monkeypatch, caplog):
    monkeypatch.setattr(expiry, "AT_ONCE", 1)
    table = filled(store, here)
    first, second = expire(store, here.warehouse, table, old_of(store, table), NOW)
    delete = Warehouse.delete_trash

    def refused(warehouse):
        if warehouse.trash == first.trash:
            raise FileOperationFailed("the trash cannot be removed", hint="")
        delete(warehouse)

    monkeypatch.setattr(Warehouse, "delete_trash", refused)
    assert delete_runs(store, here.warehouse, NOW) == [second]
    assert [run.id for run in runs(store)] == [first.id]
    assert first.trash in caplog.text


def test_files_outside_are_not_moved(store, here):
    table = filled(store, here)
    elsewhere = Warehouse(f"{here.warehouse.root}/shop.db/other", also_under=[])
    with pytest.raises(OutsideWarehouse):
        list(expire(store, elsewhere, table, old_of(store, table), NOW))
    assert (runs(store), store.count_partitions("shop", "sales")) == ([], 3)


def test_a_server_keeps_what_each_table_says(store, here, caplog, monkeypatch):
    filled(store, here, "sales", **{"hbstore.retention": "7d"})
    filled(store, here, "logs", EXTERNAL="TRUE", **{"hbstore.retention": "27d"})
    with monkeypatch.context() as earlier:  # versions took any text
        earlier.setattr("hbstore.store.tables.check_parameters", lambda _: None)
        filled(store, here, "odd", **{"hbstore.retention": "soon"})
    filled(store, here, "forever")

    def counts():
        return {name: store.count_partitions("shop", name) for name in store.table_names("shop")}

    caplog.set_level("INFO", "hbstore.retention")
    keep_once(store, here.warehouse, NOW, Event())
    assert counts() == {"sales": 1, "logs": 2, "odd": 3, "forever": 3}
    assert "shop.odd" in caplog.text
    done = {run.table: f"expired undo {run.id} --warehouse {here.warehouse.root}" for run in runs(store)}
    command = f"hbstore --store {store.rows.url}"
    assert f"shop.logs: dropped 1 old partition; {command} {done['shop.logs']}" in caplog.text
    assert f"shop.sales: dropped 2 old partitions; {command} {done['shop.sales']}" in caplog.text
    keep_once(store, here.warehouse, NOW, Event())
    assert len(runs(store)) == 2
    week_later = NOW + timedelta(days=7, seconds=1)
    keep_once(store, here.warehouse, week_later, Event())
    assert counts() == {"sales": 0, "logs": 1, "odd": 3, "forever": 3}
    assert {run.at for run in runs(store)} == {week_later.isoformat(timespec="seconds")}, "the first runs are gone"
    assert not [path for path in here.files() if "sales" in path and "2026-11-01" in path]
    ended = Event()
    ended.set()
    keep_once(store, here.warehouse, NOW + timedelta(days=900), ended)
    assert counts()["logs"] == 1


@pytest.mark.parametrize("here", ["local"], indirect=True)
def test_a_damaged_table_does_not_keep_a_server_from_the_others(store, here, caplog):
    filled(store, here, "damaged")
    filled(store, here, "sales", **{"hbstore.retention": "7d"})
    row = store.table_row("shop", "damaged")
    store.rows.put_cells([CatalogCell(row.key, "d:def", b"damaged")], row.log.sequence)
    keep_once(store, here.warehouse, NOW, Event())
    assert store.count_partitions("shop", "sales") == 1
    assert "shop.damaged: old partitions are not dropped" in caplog.text
    keep_once(store, here.warehouse, NOW + timedelta(days=7, seconds=1), Event())
    assert all(run.at > NOW.isoformat() for run in runs(store)), "the first run is gone"

"""Tables that get another location while a job writes: nothing half, and nothing that is never finished."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hbstore import PartitionStore
from hbstore.errors import ConcurrentChange, StoreBusy
from hbstore.files.warehouse import Warehouse
from hbstore.publishing import Publisher, held_folder
from hbstore.rows import connect as connect_rows
from tests.publishing.dying import much_later
from tests.publishing.jobs import AFTER, BEFORE, job, prepare, seen


@pytest.fixture(params=["memory://", "memory://?atomic=false"])
def store(request, tmp_path):
    with PartitionStore(connect_rows(request.param)) as store:
        prepare(store, tmp_path / "sales")
        yield store


def move(store, place):
    """Give the table another location; its partitions stay where they are."""
    store.alter_table(replace(store.get_table("shop", "sales"), location=f"file:{place}"))


def leases(store):
    return store.publications.of(store.publications.row("shop", "sales"))


def test_a_job_that_staged_in_the_old_place_changes_nothing(store, tmp_path):
    root = tmp_path / "sales"
    manifest, staged = job(root)
    move(store, tmp_path / "moved")
    with pytest.raises(ConcurrentChange, match="location of the table changed") as caught:
        Publisher(store).publish("shop.sales", manifest, staged)
    assert "write again" in caught.value.hint
    assert seen(store, root) == BEFORE
    assert leases(store) == []
    assert store.publications.manifest(store.publications.row("shop", "sales"), manifest.id) is None
    assert not (root / "_hbstore" / "job1").exists()


def test_what_was_decided_before_is_finished(store, tmp_path, monkeypatch):
    root = tmp_path / "sales"
    with monkeypatch.context() as patch:
        patch.setattr(Publisher, "_show", lambda *_: None)
        Publisher(store).publish("shop.sales", *job(root))
    move(store, tmp_path / "moved")
    assert seen(store, root) == AFTER
    assert leases(store) == []
    assert not (root / "_hbstore" / "job1").exists()


def test_who_finishes_a_write_waits_for_who_is_at_it_in_the_old_place(store, tmp_path, monkeypatch):
    """Else the first one deletes what it replaces when others have gone on, and written files of these names."""
    root, delete = tmp_path / "sales", Warehouse.delete
    monkeypatch.setattr(held_folder, "_SETTLING", 0.0)

    def late(self, location, **options):
        if location.endswith("/old"):
            monkeypatch.setattr(Warehouse, "delete", delete)
            move(store, tmp_path / "moved")
            with pytest.raises(StoreBusy):
                Publisher(store).recover("shop.sales")
        return delete(self, location, **options)

    (tmp_path / "moved").mkdir()
    monkeypatch.setattr(Warehouse, "delete", late)
    Publisher(store).publish("shop.sales", *job(root))
    assert seen(store, root) == AFTER
    assert leases(store) == []


def test_what_a_dead_job_prepared_in_the_old_place_is_cleared_away(store, tmp_path):
    root = tmp_path / "sales"
    dead, staged = job(root)
    Publisher(store).lease("shop.sales", dead)
    for source, target in staged.items():
        Warehouse(f"file:{root}").move(source, target, inside=[])
    move(store, tmp_path / "moved")
    with much_later():
        Publisher(store).publish("shop.sales", *job(tmp_path / "moved", "job2", "d"))
    assert leases(store) == []
    assert not [path for path in root.rglob("*") if path.name.startswith(".") or path.name == "job1"]

"""Beside jobs that write: what they are writing is left alone, what is decided is finished, dead staging is removed."""

from __future__ import annotations

import os
import time

import pytest

from hbstore import Column, Partition, Table
from hbstore.errors import WriteConflict
from hbstore.publishing import Manifest, PartitionWrite
from hbstore.repair import sync_partitions
from hbstore.store.puts import partition_key
from hbstore.timelines.declaration import TIME_PARTITION_COLUMNS, UPDATE_PERIODS

DAY = 24 * 3600


def leased(sales, until, name="job", hour="1"):
    """A job's lease of ds=new/hour=…, with its file in place under a hidden name."""
    row = sales.store.publications.row("shop", "sales")
    location = f"file:{sales.root}/ds=new/hour={hour}"
    hidden = f".{name}-0"
    writes = [PartitionWrite(("new", hour), location, {hidden: "part"}, statistics={"numFiles": 1})]
    manifest = Manifest(name, f"file:{sales.root}/_hbstore/{name}", tuple(writes))
    places = {partition_key(row, ("new", hour)): f"ds=new/hour={hour}"}
    sales.store.publications.lease(row, name, places, manifest.encode(), time.time() + until)
    sales.folders(f"_hbstore/{name}/data", f"ds=new/hour={hour}")
    (sales.root / "ds=new" / f"hour={hour}" / hidden).write_text("rows")
    return row


def aged(folder, seconds):
    """Make a folder and all that is in it so old."""
    then = time.time() - seconds
    for path in [*folder.rglob("*"), folder]:
        os.utime(path, (then, then))


def test_partitions_of_a_living_job_are_left_alone(sales):
    leased(sales, until=60)
    sales.folders("ds=new/hour=2")
    for _ in range(2):
        repair = sales.sync()
        assert repair.busy == ("ds=new/hour=1",)
        assert repair.staging == ()
        assert set(sales.locations()) == {("new", "2")}
    assert (sales.root / "_hbstore" / "job" / "data").is_dir()


def test_what_a_dead_job_prepared_is_cleared_away(sales):
    leased(sales, until=-1)
    assert sales.sync("add", dry_run=True).busy == ("ds=new/hour=1",)
    assert (sales.root / "ds=new" / "hour=1" / ".job-0").exists()
    repair = sales.sync("add")
    assert (repair.busy, repair.added) == ((), 0)
    assert not (sales.root / "ds=new").exists()
    assert not (sales.root / "_hbstore" / "job").exists()


def test_what_is_decided_is_finished_first(sales):
    row = leased(sales, until=60)
    sales.store.publications.decide(row, "job")
    repair = sales.sync("add")
    assert (repair.busy, repair.added) == ((), 0)
    assert set(sales.locations()) == {("new", "1")}
    assert (sales.root / "ds=new" / "hour=1" / "part").read_text() == "rows"
    assert sales.store.publications.of(sales.store.publications.row("shop", "sales")) == []


def test_staging_of_dead_jobs_is_removed_after_a_day(sales):
    leased(sales, until=60)
    sales.folders("_hbstore/young/data", "_hbstore/old/data", "_hbstore/busy/data")
    for name in ("job", "old", "busy"):
        (sales.root / "_hbstore" / name / "data" / "file").write_text("x")
        aged(sales.root / "_hbstore" / name, 2 * DAY)
    aged(sales.root / "_hbstore" / "young", DAY - 600)
    os.utime(sales.root / "_hbstore" / "busy" / "data" / "file")
    found = {one.location.rpartition("/")[2]: one.is_stale for one in sales.sync(dry_run=True).staging}
    assert found == {"young": False, "old": True, "busy": False}
    assert (sales.root / "_hbstore" / "old").exists()
    sales.sync()
    left = {one.name for one in (sales.root / "_hbstore").iterdir()}
    assert left == {"job", "young", "busy"}


def test_staging_that_is_a_link_is_left_alone(sales, tmp_path):
    precious = tmp_path / "precious"
    precious.mkdir()
    sales.folders("_hbstore")
    (sales.root / "_hbstore" / "link").symlink_to(precious)
    aged(precious, 2 * DAY)
    assert sales.sync().staging == ()
    assert precious.exists()


@pytest.mark.parametrize("value", ["2015-01", "yesterday"])
def test_timelines_follow_and_a_folder_without_a_time_is_foreign(sales, value):
    root = sales.root.parent / "s1"
    for name in ("2015-01-29", "2015-01-30", value):
        (root / f"dt={name}").mkdir(parents=True)
    parameters = {TIME_PARTITION_COLUMNS: "dt", UPDATE_PERIODS: "DAILY"}
    table = Table("shop", "s1", [Column("dt", "string")], parameters=parameters, location=f"file:{root}")
    sales.store.create_table(table)
    sales.store.add_partitions("shop", "s1", [Partition(["2015-01-31"])])
    sales.store.timelines.read("shop.s1")
    repair = sync_partitions(sales.store, "shop.s1", "sync")
    assert [one.folder for one in repair.foreign] == [f"dt={value}"]
    assert "fit none of the table's update periods" in repair.foreign[0].why
    assert sales.store.partition_names("shop", "s1") == ["dt=2015-01-29", "dt=2015-01-30"]
    assert sales.store.timelines.check("shop.s1") == []
    assert not sync_partitions(sales.store, "shop.s1", "sync").add


def test_a_lease_is_a_lease(sales):
    """What the tests above rest on: a second job is told of the first."""
    leased(sales, until=60)
    with pytest.raises(WriteConflict):
        leased(sales, until=60, name="other")

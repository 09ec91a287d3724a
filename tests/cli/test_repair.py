"""hbstore repair: what dead writers left, and partitions beside folders."""

from __future__ import annotations

import os
import time

import pytest

import hbstore
from hbstore.publishing import Manifest, PartitionWrite
from hbstore.store.puts import partition_key


@pytest.fixture
def logs(make_logs):
    """The folder of shop.logs, where a partition is gone, one is new, and one folder is foreign."""
    root = make_logs((1, 2), "1")
    for path in ("ds=2013-01-02/hour=1", "ds=2013-01-03/hour=05", "old"):
        (root / path).mkdir(parents=True)
    return root


def held(url):
    with hbstore.connect(url) as store:
        return store.partition_names("shop", "logs")


BEFORE = ["ds=2013-01-01/hour=1", "ds=2013-01-02/hour=1"]


def test_a_dry_run_says_what_would_be_done(run, url, logs):
    assert run("repair", "shop.logs", "--mode", "sync", "--dry-run").stdout == (
        "would add ds=2013-01-03/hour=05\n"
        "would drop ds=2013-01-01/hour=1\n"
        "foreign old: not called ds=…\n"
        "shop.logs: 1 partition to add, 1 partition to drop, 1 foreign folder\n"
    )
    assert held(url) == BEFORE
    assert logs.exists()


@pytest.mark.parametrize(
    ("mode", "after", "counts"),
    [
        ("add", [*BEFORE, "ds=2013-01-03/hour=05"], "1 partition added, 0 partitions dropped"),
        ("drop", BEFORE[1:], "0 partitions added, 1 partition dropped"),
        ("sync", [*BEFORE[1:], "ds=2013-01-03/hour=05"], "1 partition added, 1 partition dropped"),
    ],
)
def test_modes(run, url, logs, mode, after, counts):
    said = run("repair", "Shop.logs", "--mode", mode).stdout
    assert said == f"foreign old: not called ds=…\nshop.logs: {counts}, 1 foreign folder\n"
    assert held(url) == after
    said = run("repair", "shop.logs", "--mode", mode).stdout
    assert "0 partitions added, 0 partitions dropped" in said
    assert logs.exists()


def test_json(run_json, url, logs):
    (logs / "_hbstore" / "job").mkdir(parents=True)
    (logs / "_hbstore" / "young").mkdir()
    os.utime(logs / "_hbstore" / "job", (0, 0))
    found = run_json("repair", "shop.logs", "--mode", "sync", "--dry-run")["tables"][0]
    assert [one["removed"] for one in found["staging"]] == [False, False]
    (found,) = run_json("repair", "shop.logs", "--mode", "sync")["tables"]
    staging = found.pop("staging")
    assert found == {
        "table": "shop.logs",
        "mode": "sync",
        "dry_run": False,
        "add": ["ds=2013-01-03/hour=05"],
        "drop": ["ds=2013-01-01/hour=1"],
        "added": 1,
        "dropped": 1,
        "foreign": [{"folder": "old", "why": "not called ds=…"}],
        "busy": [],
    }
    assert [one["removed"] for one in staging] == [True, False]
    assert [one.name for one in (logs / "_hbstore").iterdir()] == ["young"]
    assert held(url) == ["ds=2013-01-02/hour=1", "ds=2013-01-03/hour=05"]


def test_staging_and_jobs_are_told_of(run, url, logs):
    publish(url, logs, until=60)
    (logs / "_hbstore" / "old").mkdir(parents=True)
    os.utime(logs / "_hbstore" / "old", (time.time() - 50 * 3600,) * 2)
    (logs / "_hbstore" / "young").mkdir()
    (logs / "ds=2013-01-09" / "hour=1").mkdir(parents=True)
    said = run("repair", "shop.logs", "--mode", "add", "--dry-run").stdout
    assert "left alone ds=2013-01-09/hour=1: a job is writing it\n" in said
    assert f"staging file:{logs}/_hbstore/old: would be removed, unchanged for 50 hours\n" in said
    assert f"staging file:{logs}/_hbstore/young: kept, because its job may be alive, unchanged for 0 hours\n" in said
    assert "old: removed" in run("repair", "shop.logs", "--mode", "add").stdout


def test_a_spec(run, url, logs):
    said = run("repair", "shop.logs", "--mode", "sync", "--spec", "DS=2013-01-01").stdout
    assert said.endswith("shop.logs: 0 partitions added, 1 partition dropped, 1 foreign folder\n")
    assert held(url) == BEFORE[1:]
    assert logs.exists()


def test_mistakes(run, logs, url):
    assert "these options need --mode" in run("repair", "shop.logs", "--dry-run", code=2).stderr
    assert "the command names no table" in run("repair", "--mode", "add", code=2).stderr
    assert "the text is not a table name" in run("repair", "logs", "--mode", "add", code=2).stderr
    assert "Invalid value" in run("repair", "shop.logs", "--mode", "all", code=2).stderr
    assert "the table has no location" in run("repair", "shop.returns", "--mode", "add", code=2).stderr
    assert (
        "the column is not a partition column"
        in run("repair", "shop.logs", "--mode", "add", "--spec", "x=1", code=2).stderr
    )
    logs.rename(logs.parent / "away")
    assert "the table's folder does not exist" in run("repair", "shop.logs", "--mode", "drop", code=2).stderr
    assert held(url) == BEFORE
    assert "2 partitions dropped" in run("repair", "shop.logs", "--mode", "drop", "--force").stdout


def publish(url, root, until, *, decide=False):
    """What a job leaves that leased ds=2013-01-09/hour=1, and perhaps decided, and then died."""
    with hbstore.connect(url) as store:
        row = store.publications.row("shop", "logs")
        values = ("2013-01-09", "1")
        write = PartitionWrite(values, f"file:{root}/ds=2013-01-09/hour=1")
        manifest = Manifest("job", f"file:{root}/_hbstore/job", (write,))
        places = {partition_key(row, values): "ds=2013-01-09/hour=1"}
        store.publications.lease(row, "job", places, manifest.encode(), time.time() + until)
        if decide:
            store.publications.decide(row, "job")


def test_without_a_mode_decided_publications_are_finished(run, run_json, url, logs):
    publish(url, logs, until=-1, decide=True)
    assert run("repair", "shop.logs").stdout == (
        "shop.logs: 0 changes finished, 1 publication finished or cleared away\n"
    )
    assert held(url) == [*BEFORE, "ds=2013-01-09/hour=1"]
    assert run_json("repair", "shop.logs")["tables"] == [
        {"table": "shop.logs", "finished": 0, "publications": 0, "miscounted": False}
    ]

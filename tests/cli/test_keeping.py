"""Backups and restores as people run them; tests/rows/test_sqlite_backup.py has what they promise."""

from __future__ import annotations

import re
import shutil
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from hbstore import Column, Partition, Table, connect
from tests import hbase_server
from tests.pauses import until
from tests.store.test_older_stores import SALES, old_file  # noqa: F401  a fixture


def test_a_backup_is_restored(run, run_json, shop, path, tmp_path):
    folder = tmp_path / "backups"
    folder.mkdir()
    told = run("backup", str(folder)).stdout
    (copy,) = folder.iterdir()
    assert re.fullmatch(r"catalog-\d{8}T\d{6}Z\.db", copy.name)
    assert told == f"{copy}: {copy.stat().st_size:,} bytes\n"
    assert run("drop-partition", "shop.sales", "--filter", "hour >= 0").stdout == "48 partitions dropped\n"
    assert "--replace" in run("restore", str(copy), code=2).stderr
    assert run_json("restore", str(copy), "--replace") == {"path": str(path), "bytes": path.stat().st_size}
    assert run("count", "shop.sales").stdout == "48\n"
    assert run("count", "shop.sales", store=str(copy)).stdout == "48\n"
    fresh = tmp_path / "fresh" / "catalog.db"
    fresh.parent.mkdir()
    run("restore", str(copy), store=str(fresh))
    assert [one.name for one in fresh.parent.iterdir()] == ["catalog.db"]
    assert stat.S_IMODE(fresh.stat().st_mode) == 0o600
    assert not list(tmp_path.glob("*-journal"))
    assert shop


def test_a_copy_of_an_open_stores_file_is_told_from_the_store(run, shop, path, tmp_path):
    copy = str(tmp_path / "copied.db")
    with connect(f"sqlite://{path}") as store:
        store.table("shop.sales").add([Partition(("2030-01-01", "0"))])
        shutil.copy(path, copy)  # without the file beside it, which has the partition
    assert run("count", "shop.sales", store=copy).stdout == "48\n"
    assert "was open then, what was written last is missing" in run("check", store=copy, code=1).stdout
    assert "accept it with `hbstore repair`" in run("restore", copy, "--replace", code=3).stderr
    assert run("count", "shop.sales").stdout == "49\n"
    run("repair", store=copy)
    assert run("check", store=copy).stderr.endswith("all well\n")
    run("restore", copy, "--replace")
    assert run("count", "shop.sales").stdout == "48\n"
    assert run("check").stderr.endswith("all well\n")
    assert shop


def test_a_backup_is_no_copy_wherever_it_is_taken(run, shop, tmp_path):
    run("backup", str(tmp_path / "backup.db"))
    taken = str(shutil.copy(tmp_path / "backup.db", tmp_path / "taken.db"))
    assert run("check", store=taken).stderr.endswith("all well\n")
    again = str(shutil.copy(tmp_path / "backup.db", tmp_path / "again.db"))
    run("restore", again, store=str(tmp_path / "restored.db"))
    assert run("check", store=str(tmp_path / "restored.db")).stderr.endswith("all well\n")
    assert shop


def test_a_store_of_an_earlier_version_is_upgraded(run, run_json, old_file):  # noqa: F811
    old = str(old_file)
    with sqlite3.connect(old_file) as store:
        keys = {key for (key,) in store.execute("SELECT key FROM partitions")}
    done = run("upgrade", store=old).stdout
    with sqlite3.connect(old_file) as store:
        moved = keys - {key for (key,) in store.execute("SELECT key FROM partitions")}
    assert 0 < len(moved) < len(keys)
    assert re.fullmatch(r"format 3 before, 6 now: \d+ partitions moved to new keys\n\d+ partitions packed\n", done)
    assert run_json("upgrade", store=old) == {"before": 6, "after": 6, "moved": 0, "packed": 0}
    assert run("upgrade", store=old).stdout.startswith("format 6 already, which this version reads and writes\n")
    assert run("count", "shop.sales", store=old).stdout == f"{len(SALES)}\n"


def test_an_upgrade_packs_what_an_earlier_version_wrote_and_makes_the_file_smaller(run, run_json, shop, path):
    with connect(f"sqlite://{path}") as store:
        store.table("shop.sales").add([Partition((f"2020-01-{day:02d}", "0")) for day in range(1, 32)])
        later_field = b"\x0b\x7f\x00\x00\x00\x10\x00" + b"x" * 4096
        rows = store.table_row("shop", "sales").unpacked(store.rows).whole_rows(b"shop", b"shoq")
        whole = [row._replace(payload=row.payload[:-1] + later_field + b"\0") for row in rows]
        store.rows.write(whole, [], 1)
    with closing(sqlite3.connect(path)) as file:
        file.execute("PRAGMA user_version = 4")
    before = path.stat().st_size
    assert run_json("upgrade") == {"before": 4, "after": 6, "moved": 0, "packed": 79}
    assert path.stat().st_size < before - 79 * 2_000
    assert run("count", "shop.sales").stdout == "79\n"
    assert run("check").stderr.endswith("all well\n")
    assert shop


def test_a_store_in_memory_is_neither_backed_up_nor_restored(run, shop, tmp_path):
    copy = str(tmp_path / "copy.db")
    assert "gone with the command" in run("backup", copy, code=2, store="memory://").stderr
    run("backup", copy)
    assert "gone with the command" in run("restore", copy, code=2, store="memory://").stderr
    assert shop


@pytest.mark.hbase
def test_a_store_in_hbase_is_backed_up_into_a_file_and_comes_back(run, run_json, shop, tmp_path, hbase_server_url):
    """And so a store moves from a file to HBase."""
    copy = tmp_path / "copy.db"
    run("backup", str(copy))
    with hbase_server.own_tables(hbase_server_url) as first, hbase_server.own_tables(hbase_server_url) as second:
        assert run("restore", str(copy), store=first).stdout == f"{first}: restored\n"
        assert run("count", "shop.sales", store=first).stdout == "48\n"
        again = run_json("backup", str(tmp_path), store=first)
        prefix = first.rpartition("/")[2].partition("?")[0]
        assert Path(again["path"]).name.startswith(f"{prefix}-")
        run("restore", again["path"], store=second)
        assert run("count", "shop.sales", store=second).stdout == "48\n"
        assert run("check", store=second).stderr.endswith("all well\n")
        assert "another prefix" in run("restore", str(copy), store=second, code=2).stderr
    assert shop


@pytest.mark.hbase
def test_a_backup_of_hbase_that_is_killed_is_not_there_and_the_next_one_is_whole(run, tmp_path, hbase_server_url):
    with hbase_server.own_tables(hbase_server_url) as url:
        with connect(url) as store:
            store.create_database("shop")
            store.create_table(Table("shop", "sales", [Column("ds", "date"), Column("n", "int")]))
            store.table("shop.sales").add(("2013-01-01", number) for number in range(20_000))
        for kill in range(3):
            folder = tmp_path / str(kill)
            folder.mkdir()
            command = [sys.executable, "-m", "hbstore", "--store", url, "backup", str(folder / "copy.db")]
            with subprocess.Popen(command) as backup:
                until(lambda folder=folder: any(folder.iterdir()))
                backup.kill()
            assert not (folder / "copy.db").exists()
        run("backup", str(tmp_path / "copy.db"), store=url)
        with connect(url) as store:  # a dead backup keeps no writer from writing
            assert store.table("shop.sales").add([("2013-01-02", 0)]) == 1
        assert run("count", "shop.sales", store=f"sqlite://{tmp_path / 'copy.db'}").stdout == "20000\n"

from __future__ import annotations

import platform
import re
import sqlite3

import pytest

import hbstore
from hbstore.release import commit
from hbstore.store.partition_store import PartitionStore
from hbstore.transactions.log import Intent, Log
from tests import hbase_server
from tests.store.faults import Crash, Fault, FaultyRows


def test_check_finds_nothing(run, run_json, shop):
    result = run("check")
    assert result.stdout == ""
    assert result.stderr == "checked 1 database, 2 tables, 48 partitions and all other rows: all well\n"
    assert run_json("check") == {
        "databases": 1,
        "rows": 48,
        "problems": 0,
        "catalog": [],
        "tables": [
            {"table": "shop.returns", "rows": 0, "problems": [], "timelines": []},
            {"table": "shop.sales", "rows": 48, "problems": [], "timelines": []},
        ],
    }
    assert run("check", "shop.returns", "Shop.returns").stderr == "checked 1 table and 0 partitions: all well\n"
    assert "the table does not exist: table=shop.no" in run("check", "shop.sales", "shop.no", code=2).stderr
    assert shop


def test_check_finds_a_damaged_row(run, run_json, path, shop):
    with sqlite3.connect(path) as file:
        file.execute("UPDATE partitions SET payload = x'00' WHERE key = (SELECT max(key) FROM partitions)")
    file.close()
    result = run("check", "shop.sales", code=1)
    assert result.stdout.startswith("shop.sales: the stored bytes cannot be decoded")
    assert len(result.stdout.splitlines()) == 1
    assert result.stderr == "checked 1 table and 48 partitions: 1 problem\n"
    found = run_json("check", code=1)
    assert found["problems"] == 1
    assert found["tables"][1]["problems"][0]["row"] in result.stdout
    listing = run("partitions", "shop.sales", code=3)
    assert "the stored bytes cannot be decoded" in listing.stderr
    assert shop


@pytest.mark.parametrize("cell", ["d:def", "i:log"])
def test_damaged_rows_of_the_catalog_do_not_stop_a_check(run, run_json, path, shop, cell):
    with sqlite3.connect(path) as file:
        file.execute("INSERT OR REPLACE INTO catalog VALUES (?, ?, ?)", (b"Tshop\0returns", cell, b"no table"))
        log = Log(1, last="somebody", state=b"no database").encode()
        file.execute("INSERT OR REPLACE INTO catalog VALUES (?, 'i:log', ?)", (b"Dattic", log))
        file.execute(
            "INSERT OR REPLACE INTO catalog SELECT x'44796172', cell, value FROM catalog WHERE key = x'4473686f70'"
        )
    file.close()
    result = run("check", code=1)
    lines = result.stdout.splitlines()
    assert lines[0].startswith("attic: the stored bytes cannot be decoded")
    assert lines[1].startswith("yar: the name in the definition differs from the name in the row key: name=shop")
    assert lines[2].startswith("shop.returns: ")
    assert result.stderr == "checked 3 databases, 2 tables, 48 partitions and all other rows: 3 problems\n"
    found = run_json("check", code=1)
    assert [one["name"] for one in found["catalog"]] == ["attic", "yar", "shop.returns"]
    assert found["catalog"][2]["row"] == b"Tshop\0returns".hex()
    assert (found["rows"], found["problems"], len(found["tables"])) == (48, 3, 1)
    assert run("check", "shop.returns", code=1).stderr == "checked 1 table and 0 partitions: 1 problem\n"
    assert run("check", "shop.sales").stderr == "checked 1 table and 48 partitions: all well\n"
    assert run("repair").stdout == "shop.sales: 0 changes finished\n"
    assert shop


def test_repair(run, run_json, shop):
    assert run("repair").stdout == ("shop.returns: 0 changes finished\nshop.sales: 0 changes finished\n")
    assert run_json("repair", "shop.sales") == {
        "gone": 0,
        "deleted": 0,
        "tables": [{"table": "shop.sales", "finished": 0, "publications": 0, "miscounted": False}],
    }
    assert "the table does not exist" in run("repair", "shop.no", code=2).stderr
    assert shop


@pytest.mark.parametrize("command", ["check", "repair"])
def test_a_table_that_is_dropped_meanwhile_does_not_stop_the_others(run, shop, monkeypatch, command):
    listed = PartitionStore.check_catalog

    def dropped_then(store):
        yield from listed(store)
        store.drop_table("shop", "returns")

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(PartitionStore, "check_catalog", dropped_then)
        result = run(command)
    assert ("48 partitions and all other rows: all well" if command == "check" else "shop.sales: ") in result.output
    assert shop


def test_version(run, run_json):
    told = run("version").stdout
    assert re.fullmatch(rf"hbstore {re.escape(hbstore.__version__)}( \([0-9a-f]{{12}}\+?\))?\n", told)
    assert run("--version", store=None).stdout == told
    assert run_json("version") == {
        "hbstore": hbstore.__version__,
        "commit": commit(),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
    }


def test_the_log_of_a_table(run, run_json, shop):
    assert run("log", "Shop.sales").stdout.startswith("shop.sales: 2 changes, the last by process ")
    seen = run_json("log", "shop.sales")
    assert (seen["table"], seen["changes"], seen["open"]) == ("shop.sales", 2, [])
    assert (seen["locked_by"], seen["locks"]) == (None, [])
    assert seen["last"].keys() == {"transaction", "process", "began"}
    assert "the table does not exist: table=shop.no" in run("log", "shop.no", code=2).stderr
    run("drop-table", "shop.returns")
    assert run_json("log", "shop.returns")["changes"] == 2
    assert shop


@pytest.mark.hbase
def test_the_log_of_a_table_of_a_writer_that_died(run, run_json, hbase_server_url):
    with hbase_server.own_tables(hbase_server_url) as url:
        with hbstore.connect(url) as store:
            store.create_database("shop")
            store.create_table(hbstore.Table("shop", "sales", [hbstore.Column("ds", "date")]))
            dying = PartitionStore(FaultyRows(store.rows, Fault.CRASH_AFTER, 0))
            with pytest.raises(Crash):  # behind the write that decides
                dying.add_partitions("shop", "sales", [hbstore.Partition(("2013-01-01",))])
        lines = run("log", "shop.sales", store=url).stdout.splitlines()
        assert len(lines) == 2
        shown = re.fullmatch(r"open: change (\d+) by process .*: puts 1 partition row, deletes 0", lines[1])
        (commit,) = run_json("log", "shop.sales", store=url)["open"]
        assert (commit["change"], commit["decided_by"], commit["puts"]) == (int(shown[1]), "T shop sales", 1)
        run("repair", "shop.sales", store=url)
        assert run_json("log", "shop.sales", store=url)["open"] == []


def test_the_log_says_who_has_rows_locked(run, path, shop):
    intent = Intent("1732500000/lake1/4711/ab", b"Tshop\0sales", 2, 0)
    with sqlite3.connect(path) as file:
        log = Log(1, last="somebody", intent=intent).encode()
        file.execute("UPDATE catalog SET value = ? WHERE key = ? AND cell = 'i:log'", (log, b"Tshop\0returns"))
        file.execute("INSERT INTO catalog VALUES (?, 'd:size', ?)", (b"ITshop\0sales\0" + intent.id.encode(), b"9"))
    file.close()
    locked = "locked: T shop returns by process 4711 on lake1, begun 2024-11-25T02:00:00Z: change 3 of T shop sales"
    assert run("log", "shop.returns").stdout.splitlines() == [
        "shop.returns: 1 change, the last by somebody",
        f"{locked} decides, undecided",
    ]
    _, lock, left = run("log", "shop.sales").stdout.splitlines()
    assert lock == f"{locked} decides, undecided"
    assert left.startswith("left behind: a payload row by process 4711 on lake1, begun 2024-11-25T02:00:00Z")
    assert shop

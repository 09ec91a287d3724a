from __future__ import annotations

import platform
import sqlite3

import pytest

import hbstore
from hbstore.transactions.log import Log


def test_check_finds_nothing(run, run_json, shop):
    result = run("check")
    assert result.stdout == ""
    assert result.stderr == "48 rows checked, all well\n"
    assert run_json("check") == {
        "rows": 48,
        "problems": 0,
        "catalog": [],
        "tables": [
            {"table": "shop.returns", "rows": 0, "problems": [], "timelines": []},
            {"table": "shop.sales", "rows": 48, "problems": [], "timelines": []},
        ],
    }
    assert run("check", "shop.returns", "Shop.returns").stderr == "0 rows checked, all well\n"
    assert "the table does not exist: table=shop.no" in run("check", "shop.sales", "shop.no", code=2).stderr
    assert shop


def test_check_finds_a_damaged_row(run, run_json, path, shop):
    with sqlite3.connect(path) as file:
        file.execute("UPDATE partitions SET payload = x'00' WHERE key = (SELECT max(key) FROM partitions)")
    file.close()
    result = run("check", "shop.sales", code=1)
    assert result.stdout.startswith("shop.sales: the stored bytes cannot be decoded")
    assert len(result.stdout.splitlines()) == 1
    assert result.stderr == "48 rows checked, 1 problem\n"
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
    assert result.stderr == "48 rows checked, 3 problems\n"
    found = run_json("check", code=1)
    assert [one["name"] for one in found["catalog"]] == ["attic", "yar", "shop.returns"]
    assert found["catalog"][2]["row"] == b"Tshop\0returns".hex()
    assert (found["rows"], found["problems"], len(found["tables"])) == (48, 3, 1)
    assert run("check", "shop.returns", code=1).stderr == "0 rows checked, 1 problem\n"
    assert run("check", "shop.sales").stderr == "48 rows checked, all well\n"
    assert run("repair").stdout == "shop.sales: 0 changes finished\n"
    assert shop


def test_repair(run, run_json, shop):
    assert run("repair").stdout == ("shop.returns: 0 changes finished\nshop.sales: 0 changes finished\n")
    assert run_json("repair", "shop.sales") == {
        "gone": 0,
        "tables": [{"table": "shop.sales", "finished": 0, "publications": 0, "miscounted": False}],
    }
    assert "the table does not exist" in run("repair", "shop.no", code=2).stderr
    assert shop


def test_version(run, run_json):
    assert run("version").stdout == f"hbstore {hbstore.__version__}\n"
    assert run("--version", store=None).stdout == f"hbstore {hbstore.__version__}\n"
    assert run_json("version") == {
        "hbstore": hbstore.__version__,
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
    }

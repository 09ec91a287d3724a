from __future__ import annotations

import platform
import sqlite3

import hbstore


def test_check_finds_nothing(run, run_json, shop):
    result = run("check")
    assert result.stdout == ""
    assert result.stderr == "48 rows checked, all well\n"
    assert run_json("check") == {
        "rows": 48,
        "problems": 0,
        "tables": [
            {"table": "shop.returns", "rows": 0, "problems": []},
            {"table": "shop.sales", "rows": 48, "problems": []},
        ],
    }
    assert run("check", "shop.returns", "Shop.returns").stderr == "0 rows checked, all well\n"
    assert "no such table: table=shop.no" in run("check", "shop.sales", "shop.no", code=2).stderr
    assert shop


def test_check_finds_a_damaged_row(run, run_json, path, shop):
    with sqlite3.connect(path) as file:
        file.execute("UPDATE partitions SET payload = x'00' WHERE key = (SELECT max(key) FROM partitions)")
    file.close()
    result = run("check", "shop.sales", code=1)
    assert result.stdout.startswith("shop.sales: stored bytes do not decode")
    assert len(result.stdout.splitlines()) == 1
    assert result.stderr == "48 rows checked, 1 problem\n"
    found = run_json("check", code=1)
    assert found["problems"] == 1
    assert found["tables"][1]["problems"][0]["row"] in result.stdout
    listing = run("partitions", "shop.sales", code=3)
    assert "stored bytes do not decode" in listing.stderr
    assert shop


def test_repair(run, run_json, shop):
    assert run("repair").stdout == (
        "shop.returns: 0 intents finished, 0 slots freed\nshop.sales: 0 intents finished, 0 slots freed\n"
    )
    assert run_json("repair", "shop.sales") == {"tables": [{"table": "shop.sales", "intents": 0, "slots": 0}]}
    assert "no such table" in run("repair", "shop.no", code=2).stderr
    assert shop


def test_version(run, run_json):
    assert run("version").stdout == f"hbstore {hbstore.__version__}\n"
    assert run("--version", store=None).stdout == f"hbstore {hbstore.__version__}\n"
    assert run_json("version") == {
        "hbstore": hbstore.__version__,
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
    }

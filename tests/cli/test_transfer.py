"""hbstore import and export: what they print, their exit codes, their examples."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace

import pytest
import typer

from hbstore import Column, Database, Partition, Table, connect
from hbstore.cli import app
from hbstore.cli.transferring import show
from hbstore.transfer import TableTransfer, Transfer
from hbstore.transfer.checksum import Checksum
from hbstore.transfer.work import Outcome
from tests.metastore.serving import Serve
from tests.transfer.full import DDL_TIME

COMMANDS = typer.main.get_command(app).commands


@pytest.fixture
def other(tmp_path):
    """hbstore's own endpoint as the other metastore: its URI, and the URL of the store behind it."""
    folder = tmp_path / "other"
    folder.mkdir()
    behind = f"sqlite://{folder}/store.db"
    with Serve(behind, folder) as server:
        with connect(behind) as store:
            store.create_database(Database("shop", location=f"file:{folder}/shop"))
            table = Table(
                "shop", "sales", [Column("ds", "date"), Column("hour", "int")], location=f"file:{folder}/sales"
            )
            store.create_table(table)
            made = [Partition(("2013-01-01", str(hour)), parameters={DDL_TIME: "5"}) for hour in range(24)]
            store.add_partitions("shop", "sales", made)
            store.create_table(Table("shop", "plain", parameters={DDL_TIME: "5"}))
        yield f"thrift://127.0.0.1:{server.port}", behind


def test_import(run, run_json, url, path, other):
    uri, _ = other
    done = run("import", uri, "--threads", "2", "--page", "5")
    assert done.stderr == f"Created the store {path}\n"
    checksum = re.search(r"verified: 24 partitions, ([0-9a-f]{32})\n", done.stdout)[1]
    assert done.stdout == (
        "database default: created\n"
        "database shop: created\n"
        "table shop.plain: created\n"
        f"table shop.sales: created, 24 partitions added, verified: 24 partitions, {checksum}\n"
    )
    found = run_json("import", uri, "--database", "shop", "--table", "sales", "--threads", "1")
    assert found.pop("metastore") == uri
    same = {"partitions": 24, "checksum": checksum}
    assert found == {
        "complete": True,
        "databases": {"shop": "same"},
        "tables": [
            {
                "table": "shop.sales",
                "done": "same",
                "added": 0,
                "replaced": 0,
                "same": 24,
                "kept": [],
                "statistics": 0,
                "refused": [],
                "kept_as_text": [],
                "gone": [],
                "differs": [],
                "only_in_target": 0,
                "verified": True,
                "source": same,
                "target": same,
            }
        ],
        "constraints": 0,
        "functions": 0,
        "refused": [],
    }
    with connect(url) as store:
        assert store.count_partitions("shop", "sales") == 24


def test_what_is_not_as_it_was_is_printed_by_name(run, run_json, other):
    uri, behind = other
    with connect(behind) as store:
        odd = [Partition(("2013-01-02", f"noon{at}")) for at in range(30)]
        store.add_partitions("shop", "sales", odd, invalid_values="keep")
    lines = run("import", uri, "--threads", "2", "--database", "shop", code=1).stdout.splitlines()
    assert lines[2] == "kept as text ds=2013-01-02/hour=noon0: a value does not fit its column's type"
    assert lines[22] == "and 10 partitions more; --json names all of them"
    assert "54 partitions added, 30 kept as text, verified: 54 partitions" in lines[23]
    (_, sales) = run_json("import", uri, "--threads", "2", "--database", "shop", code=1)["tables"]
    assert len(sales["kept_as_text"]) == 30


def test_errors(run, shop, other):
    uri, behind = other
    assert shop
    said = run("import", uri, "--threads", "2", code=2).stderr
    assert "Error: a database already exists and differs: name=shop" in said
    assert "Hint: Use on_conflict (--on-conflict)" in said
    said = run("import", "thrift://127.0.0.1:1", "--threads", "2", code=3).stderr
    assert "the metastore does not answer" in said
    assert "repeat the command" in said
    assert "address of a metastore" in run("import", "127.0.0.1:1", "--threads", "1", code=2).stderr
    assert (
        "the table does not exist"
        in run("export", uri, "--database", "shop", "--table", "x", "--threads", "1", code=2).stderr
    )
    assert behind


def test_export(run, url, tmp_path, other):
    uri, behind = other
    with connect(url) as store:
        store.create_database(Database("attic", location=f"file:{tmp_path}/attic"))
        store.create_table(Table("attic", "old", [Column("ds", "date")], location=f"file:{tmp_path}/old"))
        store.add_partitions("attic", "old", [Partition([f"2013-01-0{day}"]) for day in range(1, 6)])
    said = run("export", uri, "--database", "attic", "--threads", "2", "--page", "2").stdout
    assert "table attic.old: created, 5 partitions added, verified: 5 partitions" in said
    with connect(behind) as store:
        store.add_partitions("attic", "old", [Partition(["2014-01-01"])])
        store.drop_partitions("attic", "old", [["2013-01-01"]])
        store.alter_partitions("attic", "old", [Partition(["2013-01-02"], location="s3://elsewhere")])
    run("export", uri, "--database", "attic", "--threads", "2", code=2)
    said = run("export", uri, "--database", "attic", "--threads", "2", "--on-conflict", "keep").stdout
    assert "1 partition added, 3 already exist, 1 kept as they are, 1 only in the target, verified: 4" in said


@pytest.mark.parametrize("name", ["import", "export"])
def test_examples_run(name, run, shop, other, tmp_path):
    uri, behind = other
    with connect(behind) as there, connect(shop) as store:
        there.drop_database("shop", cascade=True)
        if name == "import":
            there.create_database(store.get_database("shop"))
            there.create_table(store.get_table("shop", "sales"))
            store.drop_table("shop", "sales")
        else:
            store.drop_database("shop", cascade=True)
            store.create_database(Database("shop", location=f"file:{tmp_path}/shop"))
            store.create_table(Table("shop", "sales", [Column("ds", "date")], location=f"file:{tmp_path}/sales"))
    lines = re.findall(r"\$ hbstore (.*)", COMMANDS[name].epilog)
    assert len(lines) == 2
    for line in lines:
        run(*shlex.split(line.replace("thrift://metastore:9083", uri)))


def test_everything_that_a_person_should_look_at(capsys):
    found = Outcome(added=3, kept=("ds=k",), gone=("ds=g",), refused=(("ds=r", "no such place"),), wrong=("ds=w",))
    table = TableTransfer(
        "shop.sales",
        "kept",
        replace(found, checksum=Checksum(3, 1)),
        ("hour=noon",),
        (("nothing", "the text is not a partition name"),),
        2,
        Checksum(3, 2),
    )
    done = Transfer("thrift://a:1", {"shop": "kept"}, (table,), (("table shop.old", "why"),), 1)
    with pytest.raises(typer.Exit) as caught:
        show(done, as_json=False)
    assert caught.value.exit_code == 1
    assert capsys.readouterr().out.splitlines() == [
        "database shop: already exists, was kept",
        "left out nothing: the text is not a partition name",
        "left out ds=r: no such place",
        "kept as text hour=noon: a value does not fit its column's type",
        "differs ds=w",
        (
            "table shop.sales: already exists, was kept, 3 partitions added, 1 kept as they are, 2 left out, "
            "1 kept as text, 1 gone from the source meanwhile, 2 only in the target, NOT VERIFIED: "
            "3 partitions, 00000000000000000000000000000001 in the source, "
            "3 partitions, 00000000000000000000000000000002 in the target"
        ),
        "1 function copied",
        "not copied: table shop.old: why",
    ]
    with pytest.raises(typer.Exit):
        show(done, as_json=True)
    (shown,) = json.loads(capsys.readouterr().out)["tables"]
    assert [one["partition"] for one in shown["refused"]] == ["nothing", "ds=r"]
    show(Transfer("thrift://a:1"), as_json=False)

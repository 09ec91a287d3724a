"""Old partitions, dropped and brought back by commands."""

from __future__ import annotations

import json
import os
import shlex
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from hbstore import Column, Database, Partition, Table, connect
from hbstore.files.warehouse import Warehouse
from hbstore.warehouse.databases import create_database
from hbstore.warehouse.new_partitions import add_partitions
from hbstore.warehouse.tables import create_table


@pytest.fixture
def warehouse(path, tmp_path):
    """A table of three days, one of which is today, with a file in each; a partition of no day is there, too."""
    where = Warehouse(str(tmp_path / "warehouse"))
    today = datetime.now(UTC).date()
    with connect(f"sqlite://{path}", create=True) as store:
        create_database(store, where, Database("shop"))
        create_table(store, where, Table("shop", "sales", [Column("ds", "string")], [Column("id", "int")]))
        table = store.get_table("shop", "sales")
        values = [*((today - timedelta(days=days)).isoformat() for days in (0, 100, 200)), "0000-test"]
        add_partitions(store, where, table, [Partition((value,)) for value in values])
    for value in values:
        (tmp_path / "warehouse/shop.db/sales" / f"ds={value}" / "part-0").write_text(value)
    return tmp_path / "warehouse"


def files(warehouse):
    return sorted(one.parent.name for one in (warehouse / "shop.db").rglob("part-*"))


def test_they_are_shown_dropped_and_brought_back(run, run_json, warehouse):
    before = files(warehouse)
    command = ("expire", "shop.sales", "--older-than", "90d")
    shown = run(*command, "--dry-run")
    assert (shown.stdout.splitlines(), files(warehouse)) == (before[1:3], before)
    assert shown.stderr == "kept, as no time can be told: 1 partition of those that were looked at\n"
    assert "--warehouse" in run(*command, code=2).stderr
    dropped = run_json(*command, "--warehouse", warehouse)
    assert (dropped["table"], dropped["dropped"], files(warehouse)) == ("shop.sales", 2, [before[0], before[3]])
    (listed,) = run_json("expired", "list")
    assert (listed["run"], listed["partitions"], listed["files"]) == (*dropped["runs"], 2, "trash")
    assert listed["run"] in run("expired", "list").stdout
    undo = ("expired", "undo", listed["run"], "--warehouse", warehouse)
    assert run(*undo).stdout == "2 partitions brought back\n"
    assert (files(warehouse), run_json("expired", "list")) == (before, [])
    assert "no such run" in run(*undo, code=2).stderr


def test_a_filter_selects_them_in_place_of_an_age(run, run_json, warehouse):
    assert run_json("expire", "shop.sales", "--filter", "ds = '0000-test'", "--warehouse", warehouse)["dropped"] == 1
    assert run_json("expire", "shop.sales", "--filter", "ds = '0000-test'", "--warehouse", warehouse)["dropped"] == 0
    assert run("expired", "delete", "--warehouse", warehouse).stdout == "0 runs deleted\n"
    both = ("expire", "shop.sales", "--filter", "ds = 'a'", "--older-than", "7d")
    assert "by an age or by a filter" in run(*both, code=2).stderr
    for command in (("expire", "shop.sales"), ("drop-partition", "shop.sales")):
        assert "the filter is empty" in run(*command, "--filter", " ", code=2).stderr
    assert run("count", "shop.sales").stdout == "3\n"


def test_the_command_that_undoes_it_works_as_it_is_printed_in_any_folder(run, warehouse, path, monkeypatch):
    monkeypatch.chdir(path.parent)
    place = os.path.relpath(warehouse)
    dropped = run("expire", "shop.sales", "--older-than", "90d", "--warehouse", place, store=path.name).stdout
    (line,) = (line for line in dropped.splitlines() if "hbstore" in line)
    words = shlex.split(line.partition(": hbstore ")[2])
    monkeypatch.chdir("/")
    assert run(*words, store=None).stdout == "2 partitions brought back\n"


def test_a_warehouse_that_is_mistyped_moves_nothing(run, run_json, warehouse, tmp_path):
    before = files(warehouse)
    kept = run_json("expire", "shop.sales", "--older-than", "90d", "--warehouse", tmp_path / "typo")
    assert (kept["dropped"], len(kept["kept"]), files(warehouse)) == (0, 2, before)
    assert not (tmp_path / "typo").exists()
    for nothing in ("", " "):  # else the working directory would be one
        refused = run("expire", "shop.sales", "--older-than", "90d", "--warehouse", nothing, code=2)
        assert "not a location" in refused.stderr


def test_runs_are_deleted_in_their_trash_when_they_are_old(run, run_json, warehouse, tmp_path, path):
    trash = ("--trash", tmp_path / "trash")
    (name,) = run_json("expire", "shop.sales", "--older-than", "90d", "--warehouse", warehouse, *trash)["runs"]
    delete = ("expired", "delete", "--older-than", "1h", "--warehouse", warehouse)
    assert run(*delete).stdout == "0 runs deleted\n"
    with connect(f"sqlite://{path}") as store:
        record = json.loads(store.records.get("expired", name))
        store.records.change("expired", name, lambda _: json.dumps({**record, "at": "2026-01-01T00:00:00+00:00"}))
    assert run(*delete).stdout.splitlines() == [
        "0 runs deleted",
        f"not deleted, its files are in file:{tmp_path}/trash/expired/{name}: {name}",
    ]
    assert run(*delete, *trash).stdout == "1 run deleted\n"
    assert not list((tmp_path / "trash").rglob("part-*"))


def test_what_stays_dropped_is_said(run, warehouse, path):
    run("expire", "shop.sales", "--filter", "ds = '0000-test'", "--warehouse", warehouse)
    with connect(f"sqlite://{path}") as store:
        store.add_partitions("shop", "sales", [Partition(("0000-test",))])
        (name, _), *_ = store.records.list("expired")
    undone = run("expired", "undo", name, "--warehouse", warehouse, code=1).stdout.splitlines()
    assert undone == ["0 partitions brought back", "ds=0000-test: a partition of these values is there"]


def test_the_table_says_how_old(run, run_json, warehouse, path):
    assert "hbstore.retention" in run("expire", "shop.sales", "--warehouse", warehouse, code=2).stderr
    with connect(f"sqlite://{path}") as store:
        table = store.get_table("shop", "sales")
        store.alter_table(replace(table, parameters={"hbstore.retention": "150d"}))
    assert run_json("expire", "shop.sales", "--warehouse", warehouse)["dropped"] == 1


@pytest.mark.usefixtures("warehouse")
def test_the_table_says_which_column_counts_for_an_age_of_the_command(run, run_json):
    columns = ("--partition", "created date", "--partition", "month string")
    wrong = run("create-table", "shop.kept", *columns, "--parameter", "hbstore.retention.column=moth", code=2)
    assert "Did you mean month?" in wrong.stderr
    run("create-table", "shop.kept", *columns, "--parameter", "hbstore.retention.column=Month")
    run("add-partition", "shop.kept", "created=2013-01-01/month=2099-01")
    old = ("expire", "shop.kept", "--older-than", "90d", "--dry-run")
    assert run(*old).stdout == ""
    assert run_json(*old, "--column", "created")[0]["values"] == ["2013-01-01", "2099-01"]


@pytest.mark.usefixtures("warehouse")
def test_a_column_that_there_is_not_is_named(run, path):
    with connect(f"sqlite://{path}") as store:
        store.alter_table(replace(store.get_table("shop", "sales"), parameters={"hbstore.retention": "150d"}))
    assert "no such partition column" in run("expire", "shop.sales", "--column", "day", code=2).stderr

"""A process that repairs a table is killed; the next run does the rest, and nothing is there twice or half."""

from __future__ import annotations

import subprocess
import sys

import pytest

from hbstore import Column, Partition, Table, connect
from hbstore.repair import sync_partitions

FOLDERS = 600
PROGRAM = """
import sys
from hbstore import connect
from hbstore.repair import sync_partitions

def told(step, done, total):
    if step != "list":
        print(step, done, flush=True)
        if f"{step} {done}" == sys.argv[2]:
            sys.stdin.read()  # until it is killed

sync_partitions(connect(sys.argv[1]), "shop.sales", "sync", batch=10, progress=told)
"""


@pytest.mark.parametrize(("line", "left"), [("drop 20", 29), ("add 10", 10), ("add 250", 250)])
def test_a_killed_run_is_made_good(tmp_path, line, left):
    url, root = f"sqlite://{tmp_path}/catalog.db", tmp_path / "sales"
    for number in range(FOLDERS):
        (root / f"ds={number}").mkdir(parents=True)
    with connect(url) as store:
        store.create_database("shop")
        store.create_table(Table("shop", "sales", [Column("ds", "int")], location=str(root)))
        store.add_partitions("shop", "sales", [Partition([str(-number)]) for number in range(1, 50)])
        command, pipe = [sys.executable, "-c", PROGRAM, url, line], subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
            for said in process.stdout:
                if said.strip() == line:
                    break
            process.kill()
        assert store.count_partitions("shop", "sales") == left
        repair = sync_partitions(store, "shop.sales", "sync")
        todo = (FOLDERS, left) if line.startswith("drop") else (FOLDERS - left, 0)
        assert (repair.added, repair.dropped) == todo
        expected = [f"ds={number}" for number in range(FOLDERS)]
        assert store.partition_names("shop", "sales") == expected
        again = sync_partitions(store, "shop.sales", "sync")
        assert (again.add, again.drop) == ((), ())

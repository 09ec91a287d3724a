"""On a terminal `hbstore repair` shows how it gets on, and leaves nothing of that behind in what it prints."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from threading import Thread

from hbstore import Column, Partition, Table, connect


def read_all(terminal, found):
    while True:
        try:
            some = os.read(terminal, 65536)
        except OSError:  # nobody is at the other end any more
            return
        if not some:
            return
        found.append(some)


def test_steps_are_shown_on_a_terminal_and_nowhere_else(tmp_path):
    url, root = f"sqlite://{tmp_path}/catalog.db", tmp_path / "sales"
    for number in range(5):
        (root / f"ds={number}").mkdir(parents=True)
    with connect(url) as store:
        store.create_database("shop")
        store.create_table(Table("shop", "sales", [Column("ds", "int")], location=f"file:{root}"))
        store.add_partitions("shop", "sales", [Partition(["-1"])])
    ours, theirs = pty.openpty()
    environment = {**os.environ, "HBSTORE_URL": url, "COLUMNS": "100", "TERM": "xterm"}
    command = [sys.executable, "-m", "hbstore", "repair", "shop.sales", "--mode", "sync"]
    shown = []
    reader = Thread(target=read_all, args=(ours, shown))
    reader.start()
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, env=environment, timeout=60, check=False)
    finally:
        os.close(theirs)
        reader.join(60)
        os.close(ours)
    assert done.stdout == b"shop.sales: 5 partitions added, 1 partition dropped, 0 foreign folders\n"
    bars = b"".join(shown).decode()
    for step in ("folders", "dropping", "adding"):
        assert f"shop.sales: {step}" in bars
    again = subprocess.run(command, capture_output=True, env=environment, timeout=60, check=False)
    assert again.stderr == b""

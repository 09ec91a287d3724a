"""A process that exchanges partitions with their files to and fro, until it is killed."""

from __future__ import annotations

from pathlib import Path

from hbstore import Column, Partition, Table, connect
from hbstore.ddl import execute
from hbstore.publishing import Publisher
from tests.processes import say

HERE, THERE = ("m", "here"), ("m", "there")
DAYS = 6
EACH = 40
MOVED = DAYS // 2 * EACH
"""Partitions of every other day."""


def prepare(store, root):
    store.create_database("m")
    columns = [Column("ds", "string"), Column("n", "int")]
    for database, name in (HERE, THERE):
        store.create_table(Table(database, name, columns, location=f"file:{root}/{name}"))
    store.add_partitions(*HERE, [Partition((f"d{day}", str(n))) for day in range(DAYS) for n in range(EACH)])
    for one in store.get_partitions_by_filter(*HERE, None):
        folder = Path(one.location.removeprefix("file:"))
        folder.mkdir(parents=True)
        (folder / "rows").write_text("/".join(one.values))


def exchange_until_killed(url, root):
    days = ", ".join(f"(ds = 'd{day}')" for day in range(0, DAYS, 2))
    with connect(url) as store:
        Publisher(store).roll_forward_before_use(store.table_row(*HERE))
        places = [HERE, THERE] if store.count_partitions(*THERE) == 0 else [THERE, HERE]
        while True:
            say("begin")
            source, target = (".".join(one) for one in places)
            (done,) = execute(
                store, f"ALTER TABLE {target} EXCHANGE PARTITION ({days}) WITH TABLE {source}", warehouse=root
            )
            say("exchanged", done.changed, len(done.notes))
            places.reverse()

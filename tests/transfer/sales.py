"""shop.sales, a table of many partitions, what a store holds of it, and processes that die while they copy it."""

from __future__ import annotations

import threading

from hbstore import Column, Database, Partition, Table, connect
from hbstore.transfer import export_metastore, import_metastore
from tests.processes import Process, say
from tests.transfer.full import DDL_TIME

NUMBER = 400


def sell(store, root):
    """Make shop.sales with 400 partitions."""
    store.create_database(Database("shop", location=f"{root}/shop"))
    parameters = {DDL_TIME: "5", "EXTERNAL": "TRUE"}
    store.create_table(
        Table(
            "shop",
            "sales",
            [Column("hour", "int")],
            [Column("amount", "double")],
            location=f"{root}/sales",
            parameters=parameters,
            table_type="EXTERNAL_TABLE",
        )
    )
    made = [Partition([str(at)], parameters={"at": str(at), DDL_TIME: "7"}, create_time=1 + at) for at in range(NUMBER)]
    store.add_partitions("shop", "sales", made)


def unplaced(store, elsewhere, database="shop"):
    """Make tables and partitions without locations, a view, which has none, and a partition elsewhere."""
    store.create_database(database)
    columns = [Column("amount", "double")]
    store.create_table(Table(database, "flat", columns=columns))
    store.create_table(Table(database, "seen", columns=columns, table_type="VIRTUAL_VIEW"))
    store.create_table(Table(database, "unplaced", [Column("ds", "string")], columns))
    store.add_partitions(database, "unplaced", [Partition(["a"]), Partition(["b"], location=elsewhere)])


def held(store):
    """The partitions of shop.sales."""
    return store.get_partitions_by_filter("shop", "sales", None)


def killed(way, url, uri, dies):
    """Have a process copy, pages of 20 partitions by two threads, until so many are done; then kill it."""
    process = Process(__name__, copy_until.__name__, way, url, uri, dies)
    process.heard(1)
    process.kill()


def copy_until(way, url, uri, dies):
    def told(_, done, __):
        if done >= int(dies):
            say(done)
            threading.Event().wait()

    copy = {"import": import_metastore, "export": export_metastore}[way]
    with connect(url) as store:
        copy(store, uri, page=20, threads=2, progress=told)

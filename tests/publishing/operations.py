"""Every change that touches files of a small shop, and what each does to its rows, said without a store and files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import count

from hbstore import AlreadyExists, Column, Database, Partition, PartitionNotFound, Table
from hbstore.publishing import Manifest, PartitionWrite, Publisher
from hbstore.publishing.manifest import hidden_name
from hbstore.retention.expiry import expire, runs, undo
from hbstore.warehouse.databases import create_database, drop_database
from hbstore.warehouse.new_partitions import add_partitions
from hbstore.warehouse.partition_changes import (
    change_partitions,
    drop_partitions,
    exchange_partitions,
    rename_partition,
)
from hbstore.warehouse.tables import change_table, create_table, drop_table
from hbstore.warehouse.truncation import truncate_table

NOW = datetime(2026, 11, 29, tzinfo=UTC)
_PREPARED = []
"""The runs that `prepare` has left, that of the last store last."""


class NotPossible(Exception):
    """The rows are such that a change is refused."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a partition: the texts of its files.

    Attributes:
        texts: of the files, in order.
        at_home: whether they are where the partition's name says.
    """

    texts: tuple[str, ...]
    at_home: bool = True


@dataclass(frozen=True, slots=True)
class Operation:
    """A change.

    Attributes:
        make: makes it in a store and its files.
        mean: makes it of tables, which are rows by partitions; raises `NotPossible` or KeyError.
    """

    make: Callable
    mean: Callable


def prepare(store, world):
    """shop.sales with three partitions and shop.sold with one; a file in each."""
    warehouse = world.warehouse
    create_database(store, warehouse, Database("shop"))
    for name, values in (("sales", "abc"), ("sold", "s")):
        create_table(store, warehouse, Table("shop", name, [Column("ds", "string")], [Column("id", "int")]))
        table = store.get_table("shop", name)
        add_partitions(store, warehouse, table, [Partition((value,)) for value in values])
        for value in values:
            world.write(f"{table.location}/ds={value}/old", f"old {value}".encode())
    world.write(f"{warehouse.root}/elsewhere/b/else", b"else b")
    sales = store.get_table("shop", "sales")
    add_partitions(store, warehouse, sales, [Partition(("h",))])
    world.write(f"{sales.location}/ds=h/old", b"old h")
    _expire(store, warehouse, sales, "h")
    _PREPARED.append(runs(store)[0].id)


BEFORE = {
    "sales": {value: Rows((f"old {value}",)) for value in "abc"},
    "sold": {"s": Rows(("old s",))},
}


def seen(store, world):
    """The rows of all tables, where the catalog says that they are."""
    files = world.files()
    start = world.warehouse.root.rpartition("/")[0] + "/"
    tables = {}
    for name in store.table_names("shop"):
        home = store.get_table("shop", name).location
        tables[name] = {}
        for one in store.get_partitions_by_filter("shop", name, None):
            folder = one.location.removeprefix(start) + "/"
            texts = [
                content.decode()
                for path, content in files.items()
                if path.startswith(folder) and not path.removeprefix(folder).startswith((".", "_"))
            ]
            at_home = one.location == f"{home}/ds={one.values[0]}"
            tables[name][one.values[0]] = Rows(tuple(sorted(texts)), at_home)
    return tables


_NUMBERS = count()


def _job(kind, texts, *, replaces="", drops=""):
    """A job that writes a file into each of some partitions, replaces the old one of others and drops some."""

    def publish(store, world):
        name = f"{kind}-{next(_NUMBERS)}"
        row = store.table_row("shop", "sales")
        home, hides = row.table.location, world.warehouse.renames(row.table.location)
        writes, staged = [], {}
        for number, (value, text) in enumerate(texts.items()):
            hidden, folder = hidden_name(name, number), f"{home}/ds={value}"
            source = f"data/ds={value}/{name}"
            world.write(f"{home}/_hbstore/{name}/{source}", text.encode())
            staged[f"{home}/_hbstore/{name}/{source}"] = f"{folder}/{hidden}"
            gone = ("old",) if value in replaces else ()
            files = {hidden if hides else source: name}
            writes.append(PartitionWrite((value,), folder, files, gone, value not in replaces))
        writes += [PartitionWrite((value,), f"{home}/ds={value}", drop=True) for value in drops]
        manifest = Manifest(name, f"{home}/_hbstore/{name}", tuple(writes), hidden=hides)
        Publisher(store).publish("shop.sales", manifest, staged if hides else {})

    def published(tables):
        sales = tables["sales"]
        for value, text in texts.items():
            before = sales.get(value, Rows(()))
            if not before.at_home:
                raise NotPossible
            kept = [one for one in before.texts if value not in replaces or one != f"old {value}"]
            sales[value] = Rows(tuple(sorted([*kept, text])))
        for value in drops:
            sales.pop(value, None)

    return Operation(publish, published)


def _of_table(make, mean):
    return Operation(
        lambda store, world: make(store, world.warehouse, store.get_table("shop", "sales")),
        lambda tables: mean(tables["sales"]),
    )


def _expire(store, warehouse, table, value):
    payloads = store.get_payloads("shop", "sales", [(value,)])
    if not payloads or not list(expire(store, warehouse, table, payloads, NOW)):
        raise PartitionNotFound("it is not there, or has changed", hint="")


def _undo(store, world):
    """The run that `prepare` has left."""
    left_by_prepare = [run for run in runs(store) if run.id == _PREPARED[-1]]
    if not left_by_prepare or undo(store, world.warehouse, left_by_prepare[0].id).left:
        raise AlreadyExists("it is there", hint="")


def _undone(tables):
    """Two may do so at once: each says that it is there again."""
    tables["sales"]["h"] = Rows(("old h",))


def _drop_a(store, warehouse, table):
    payloads = [one.payload for one in [store.get_partition("shop", "sales", ("a",))]]
    drop_partitions(store, warehouse, table, payloads, delete=True)


def _relocate_b(store, warehouse, table):
    here = store.get_partition("shop", "sales", ("b",))
    change_partitions(store, warehouse, table, [replace(here, location=f"{warehouse.root}/elsewhere/b")])


def _relocated_b(sales):
    assert sales["b"] is not None
    sales["b"] = Rows(("else b",), at_home=False)


def _truncated_b(sales):
    sales["b"] = replace(sales["b"], texts=())


def _add_e(store, warehouse, table):
    add_partitions(store, warehouse, table, [Partition(("e",))])


def _added_e(sales):
    if "e" in sales:
        raise NotPossible
    sales["e"] = Rows(())


def _create_sales(store, world):
    create_table(store, world.warehouse, Table("shop", "sales", [Column("ds", "string")], [Column("id", "int")]))


def _created_sales(tables):
    if "sales" in tables:
        raise NotPossible
    tables["sales"] = {}


def _make_shop_anew(store, world):
    drop_database(store, world.warehouse, "shop", cascade=True, delete=True)
    create_database(store, world.warehouse, Database("shop"))
    _create_sales(store, world)


def _shop_made_anew(tables):
    tables.clear()
    tables["sales"] = {}


def _rename(old, new):
    """A partition of sales."""

    def renamed(sales):
        if new in sales:
            raise NotPossible
        sales[new] = replace(sales.pop(old), at_home=True)

    return _of_table(
        lambda store, warehouse, table: rename_partition(store, warehouse, table, (old,), Partition((new,))), renamed
    )


def _exchange_c(source, target):
    def exchange(store, world):
        tables = (store.get_table("shop", name) for name in (source, target))
        exchange_partitions(store, world.warehouse, *tables, [store.get_partition("shop", source, ("c",))])

    def exchanged(tables):
        if "c" in tables[target]:
            raise NotPossible
        tables[target]["c"] = tables[source].pop("c")

    return Operation(exchange, exchanged)


def _rename_table(old, new):
    def rename(store, world):
        change_table(store, world.warehouse, "shop", old, replace(store.get_table("shop", old), name=new))

    def renamed(tables):
        tables[new] = tables.pop(old)

    return Operation(rename, renamed)


OPERATIONS = {
    "publish": _job("publish", {"a": "new a", "b": "new b", "d": "new d"}, replaces="b", drops="c"),
    "append": _job("append", {"a": "more a", "c": "more c", "e": "more e"}),
    "drop a partition": _of_table(_drop_a, lambda sales: sales.pop("a")),
    "expire": _of_table(lambda *table: _expire(*table, "a"), lambda sales: sales.pop("a")),
    "undo": Operation(_undo, _undone),
    "rename a partition": _rename("a", "z"),
    "relocate": _of_table(_relocate_b, _relocated_b),
    "truncate": _of_table(
        lambda store, warehouse, table: truncate_table(store, warehouse, table, ["ds=b"]), _truncated_b
    ),
    "add": _of_table(_add_e, _added_e),
    "exchange": _exchange_c("sales", "sold"),
    "rename the table": _rename_table("sales", "trade"),
    "drop the table": Operation(
        lambda store, world: drop_table(store, world.warehouse, "shop", "sales", delete=True),
        lambda tables: tables.pop("sales"),
    ),
}

BACK = {
    "exchange back": _exchange_c("sold", "sales"),
    "create the table again": Operation(_create_sales, _created_sales),
    "rename the partition back": _rename("z", "a"),
    "rename the table back": _rename_table("trade", "sales"),
}
"""What makes rows and folders as they were before another change: all but that change itself then looks as at first."""

SHOP_ANEW = {"make the database anew": Operation(_make_shop_anew, _shop_made_anew)}
"""Two changes: where the second is refused the database is gone."""

CHANGES = OPERATIONS | BACK | SHOP_ANEW

"""Operations on one table, and what can be seen of a store before and after them."""

from __future__ import annotations

from dataclasses import replace

from hbstore import Partition, TableNotFound
from hbstore.transactions.payloads import PAYLOAD_KEYS
from tests.store.conftest import hours, sales_table

DAY = "2013-01-01"
KEPT = [(DAY, "0"), (DAY, "5"), ("2013-01-02", "0")]
"""Partitions that no operation touches."""


def prepared(store):
    """A table with partitions in the middle of which operations take place."""
    store.create_database("shop")
    store.create_table(sales_table())
    store.add_partitions("shop", "sales", [Partition(values) for values in KEPT])
    store.add_partitions("shop", "sales", hours(1, 2, 3, 4))
    return store


def marked(hour, mark):
    return Partition((DAY, hour), parameters={"mark": mark, "numRows": str(len(mark))}, create_time=7)


def add(store):
    return store.add_partitions("shop", "sales", [marked(hour, "added") for hour in ("1", "7", "8")])


def add_missing(store):
    return store.add_partitions("shop", "sales", [marked(hour, "added") for hour in ("2", "7", "8")], True)


def drop(store):
    return store.drop_partitions("shop", "sales", [(DAY, "2"), (DAY, "4")])


def drop_some(store):
    return store.drop_partitions("shop", "sales", [(DAY, "2"), (DAY, "9")], if_exists=True)


def alter(store):
    store.alter_partitions("shop", "sales", [marked("2", "altered"), marked("3", "altered")])


def rename(store):
    store.rename_partition("shop", "sales", (DAY, "2"), (DAY, "9"))


def rename_backwards(store):
    store.rename_partition("shop", "sales", (DAY, "4"), marked("1", "renamed"))


def reword(store):
    store.rename_partition("shop", "sales", (DAY, "2"), (DAY, "02"))


def drop_table(store):
    store.drop_table("shop", "sales")


CHANGES = [add, add_missing, drop, drop_some, alter, rename, rename_backwards, reword]


def seen(store):
    """All that can be seen of the table; None where there is none."""
    try:
        found = store.get_partitions_by_filter("shop", "sales", None)
    except TableNotFound:
        return None
    return tuple((one.values, dict(one.parameters)) for one in found)


def payloads(store):
    """The rows in which changes are kept until they are finished."""
    return [key for key, cells in store.rows.scan_catalog(*PAYLOAD_KEYS) if any(cells.values())]


def repair(store):
    """What `hbstore repair` does; the totals that were kept must be the sum of what is there then."""
    repaired = store.repair("shop", "sales")
    assert not repaired.miscounted
    return repaired


def is_clean(store):
    """Whether nothing is unfinished or wrong, totals included where they are known."""
    log = store._tables.open("shop", "sales").log
    return not (log.commits or log.intent) and all(problem is None for problem in store.check("shop", "sales"))


def other_table():
    """A table of the same name with other partition columns."""
    return replace(sales_table(), partition_columns=sales_table().partition_columns[:1])

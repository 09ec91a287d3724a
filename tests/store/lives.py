"""A table of sales that comes and goes, and the keys that the backend has."""

from __future__ import annotations

from contextlib import contextmanager

from hbstore import Column, Partition, Table, connect
from tests.backends import backend_url

SALES = Table(
    "lives", "sales", [Column("ds", "string")], [Column("n", "int")], location="s3://lives/sales", create_time=5
)


def days(*names):
    return [Partition((name,), create_time=7) for name in names]


def prefix(store, name="sales"):
    return store.table_row("lives", name).definition.prefix


def keys(store, start=b"lives", stop=b"livet"):
    return [row.key for row in store.rows.whole_rows(start, stop)]


@contextmanager
def opened(request, folder):
    """The store of a fixture's backend, with an empty database."""
    with connect(backend_url(request, folder)) as store:
        store.drop_database("lives", cascade=True, if_exists=True)
        store.create_database("lives")
        yield store
        store.drop_database("lives", cascade=True)
        store.repair_catalog()

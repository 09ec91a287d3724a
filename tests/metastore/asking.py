"""Calls to an endpoint without a socket: messages that thriftpy2 writes, replies that thriftpy2 reads."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from hbstore import Column, Partition, Table, connect
from hbstore.files.warehouse import Warehouse
from hbstore.metastore.endpoint import metastore
from hbstore.warehouse.service import Service
from tests.metastore.client import STORED, message
from tests.metastore.direct import Direct

BACKENDS = ["memory", "nonatomic", "sqlite", pytest.param("hbase", marks=pytest.mark.hbase)]
_URLS = {"memory": "memory://", "nonatomic": "memory://?atomic=false", "sqlite": "sqlite://{}/store.db"}
DATABASE = "shop"


class Asking(Direct):
    """A store behind an endpoint: its attributes are the service's methods.

    Declared exceptions are raised, refusals too, as thriftpy2's TApplicationException. `raw` gives a reply's bytes.
    `records` is what the log would say of each call.
    """

    def __init__(self, store):
        self.store = store
        self.records = []
        super().__init__(metastore(Service(store, Warehouse("/nowhere/warehouse")), self.records.append))

    @property
    def notes(self):
        """What was noted of the last call."""
        record = self.records[-1]
        return {name: record.noted(name) for name in record.notes}

    def raw(self, method, *arguments):
        reply = self.endpoint.answer(self.session, message(method, *arguments))
        data = b"".join(reply.chunks())
        assert len(data) == reply.size
        reply.close()
        return data


def url_of(request, folder):
    """The URL of a store on the backend in ``request.param``."""
    return request.getfixturevalue("hbase_url") if request.param == "hbase" else _URLS[request.param].format(folder)


@contextmanager
def opened(request, folder):
    """A store of the backend in ``request.param``, with an empty database ``shop``, behind an endpoint."""
    with connect(url_of(request, folder)) as store:
        store.drop_database(DATABASE, cascade=True, if_exists=True)
        store.create_database(DATABASE)
        yield Asking(store)
        store.drop_database(DATABASE, cascade=True)


def table_of(name, /, **columns):
    """A table ``shop.name`` with these partition columns: ``table_of("sales", ds="date", hour="int")``."""
    partition_columns = [Column(column, kind) for column, kind in columns.items()]
    return Table(
        DATABASE, name, partition_columns=partition_columns, columns=[Column("amount", "double")], location=f"/{name}"
    )


def add(asking, table, values, **options):
    """Create a table with partitions of these values."""
    asking.store.create_table(table)
    made = [Partition(one, parameters={"at": str(at)}, create_time=1 + at) for at, one in enumerate(values)]
    asking.store.add_partitions(DATABASE, table.name, made, **options)


def values(partitions):
    """What partitions of a reply are told apart by."""
    return [tuple(one.values) for one in partitions]


def fields(*names):
    """Columns in a request, which are named only."""
    return [STORED.FieldSchema(name) for name in names]

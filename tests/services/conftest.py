"""Fresh stores on all backends, HBase among them, with what a store keeps besides tables and partitions."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from hbstore import connect
from hbstore.store.hive.column_statistics import ColumnStatistics
from hbstore.store.hive.companions import Companions
from hbstore.store.hive.functions import Functions
from hbstore.store.hive.grants import Grants
from hbstore.store.hive.lock_table import LockTableRow
from hbstore.store.hive.locks import Locks
from hbstore.store.hive.marks import Marks
from hbstore.store.hive.roles import Roles
from hbstore.store.hive.transactions import HiveTransactions
from hbstore.store.partition_store import PartitionStore
from hbstore.store.tables import Tables
from hbstore.transactions.transactions import Transactions

BACKENDS = ["memory", "nonatomic", "sqlite", pytest.param("hbase", marks=pytest.mark.hbase)]
_SHARED_ROWS = (b"L", b"R", b"G")


class Clock:
    """A time that goes on when it is told to."""

    def __init__(self):
        self.now = 1_000.0

    def __call__(self):
        return self.now


@dataclass
class Services:
    """A store and what it keeps besides."""

    store: PartitionStore
    clock: Clock

    def __post_init__(self):
        transactions = Transactions(self.store.rows, self.store.patience)
        tables = Tables(transactions)
        lock_table = LockTableRow(transactions, clock=self.clock)
        self.rows, self.tables, self.companions = self.store.rows, tables, Companions(tables)
        self.functions = Functions(transactions, tables)
        self.statistics = ColumnStatistics(self.companions)
        self.marks = Marks(self.companions)
        self.locks = Locks(lock_table)
        self.transactions = HiveTransactions(lock_table)
        self.roles = Roles(transactions)
        self.grants = Grants(transactions, tables)


@pytest.fixture(params=BACKENDS)
def url(request, tmp_path):
    if request.param == "hbase":
        return request.getfixturevalue("hbase_url")
    return {"memory": "memory://", "nonatomic": "memory://?atomic=false"}.get(
        request.param, f"sqlite://{tmp_path}/store.db"
    )


@pytest.fixture
def services(url):
    with connect(url) as store:
        services = Services(store, Clock())
        for database in store.database_names():  # one HBase serves all tests
            store.drop_database(database, cascade=True)
        for key in _SHARED_ROWS:
            Transactions(store.rows).change_state(key, lambda _: (b"", None))
        store.create_database("shop")
        yield services

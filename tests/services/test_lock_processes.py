"""Locks between real processes on SQLite and HBase: one holder at a time, and life after a holder that was killed."""

from __future__ import annotations

import pytest

from hbstore import connect
from hbstore.errors import NoSuchLock
from hbstore.store.hive.lock_table import KEY, LockTableRow
from hbstore.store.hive.locks import Locks
from hbstore.transactions.transactions import Transactions
from tests.processes import Process
from tests.services.lock_clients import count, hold

MODULE = "tests.services.lock_clients"
CLIENTS, TIMES = 8, 12


@pytest.fixture(params=["sqlite", pytest.param("hbase", marks=pytest.mark.hbase)])
def url(request, tmp_path):
    found = f"sqlite://{tmp_path}/store.db" if request.param == "sqlite" else request.getfixturevalue("hbase_url")
    with connect(found) as store:
        store.rows.remove_row(KEY)
    return found


def test_eight_processes_hold_one_lock_in_turn(url, tmp_path):
    counter = tmp_path / "counter"
    counter.write_text("0")
    clients = [Process(MODULE, count.__name__, url, f"client{at}", counter, TIMES, 300) for at in range(CLIENTS)]
    said = [line for client in clients for line in client.wait()]
    assert int(counter.read_text()) == CLIENTS * TIMES
    turns = sorted((int(lock), int(number)) for lock, number in said)
    assert [number for _, number in turns] == list(range(1, CLIENTS * TIMES + 1)), "in the order of their ids"
    with connect(url) as store:
        assert store.hive.locks.show() == []


def test_the_lock_of_a_killed_process_expires(url, tmp_path):
    timeout = 5
    counter = tmp_path / "counter"
    counter.write_text("0")
    holder = Process(MODULE, hold.__name__, url, "holder", timeout)
    ((held,),) = holder.heard(1)
    clients = [Process(MODULE, count.__name__, url, f"client{at}", counter, 1, timeout) for at in range(3)]
    holder.kill()
    said = [client.wait() for client in clients]
    assert sorted(int(number) for ((_, number),) in said) == [1, 2, 3]
    with connect(url) as store:
        locks = Locks(LockTableRow(Transactions(store.rows), timeout))
        assert locks.show() == []
        with pytest.raises(NoSuchLock):
            locks.heartbeat(int(held))

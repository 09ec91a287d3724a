"""Any run of clients that lock, check, release and die, against what must hold after each step."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from hbstore import connect
from hbstore.errors import NoSuchLock, NoSuchTxn, TxnAborted, TxnOpen
from hbstore.model.service_objects import LockState, LockType
from hbstore.store.hive.lock_table import KEY, LockTable, LockTableRow
from hbstore.store.hive.locks import Locks
from hbstore.store.hive.transactions import HiveTransactions
from hbstore.transactions.transactions import Transactions
from tests.services.conftest import Clock
from tests.services.lock_clients import on

READ, WRITE, EXCLUSIVE, EXCL_WRITE = LockType
HELD, WAITING = LockState

components = st.builds(
    on,
    st.sampled_from(LockType),
    st.sampled_from(["a", "b"]),
    st.none() | st.sampled_from(["t", "u"]),
    st.none() | st.sampled_from(["p=1", "p=2"]),
).filter(lambda one: one.table or not one.partition)


class Machine(RuleBasedStateMachine):
    """Clients that lock, check, release and die, of two servers over one store."""

    locks = Bundle("locks")

    def __init__(self):
        super().__init__()
        self.store = connect("memory://")
        self.clock = Clock()
        lock_tables = [LockTableRow(Transactions(self.store.rows), clock=self.clock) for _ in range(2)]
        self.servers = [Locks(lock_table) for lock_table in lock_tables]
        self.transactions = HiveTransactions(lock_tables[0])
        self.granted = {}
        self.gone = set()

    @rule(target=locks, some=st.lists(components, min_size=1, max_size=3), server=st.integers(0, 1))
    def lock(self, some, server):
        found = self.servers[server].lock(some)
        self._see(found)
        return found.id

    @rule(target=locks, some=st.lists(components, min_size=1, max_size=2), number=st.integers(1, 3))
    def lock_in_a_transaction(self, some, number):
        try:
            found = self.servers[0].lock(some, transaction=number)
        except (NoSuchTxn, TxnAborted):
            return 0
        self._see(found)
        return found.id

    @rule()
    def open(self):
        self.transactions.open()

    @rule(number=st.integers(1, 3))
    def commit(self, number):
        held = {one.id for one in self.servers[0].show() if one.transaction == number}
        try:
            self.transactions.commit(number)
        except (NoSuchTxn, TxnAborted):
            return
        self.gone |= held

    @rule(number=locks, server=st.integers(0, 1))
    def check(self, number, server):
        try:
            self._see(self.servers[server].check(number))
        except NoSuchLock:
            self._lost(number)

    @rule(number=locks)
    def heartbeat(self, number):
        try:
            self.servers[0].heartbeat(number)
        except NoSuchLock:
            self._lost(number)

    @rule(number=locks, server=st.integers(0, 1))
    def release(self, number, server):
        try:
            self.servers[server].release(number)
        except NoSuchLock:
            self._lost(number)
        except TxnOpen:
            return
        self.gone.add(number)

    @rule(seconds=st.sampled_from([1, 100, 299, 301]))
    def wait(self, seconds):
        self.clock.now += seconds

    def _see(self, found):
        """A lock that was given stays given."""
        assert found.id not in self.gone
        assert found.state is HELD or found.id not in self.granted
        if found.state is HELD:
            self.granted[found.id] = found

    def _lost(self, number):
        """A lock is gone only if it was released, or nobody was heard of for long enough."""
        assert number == 0 or number in self.gone or self.clock.now > 1_300
        self.gone.add(number)

    @invariant()
    def held_locks_go_together(self):
        shown = self.servers[0].show()
        held = [one for one in shown if one.state is HELD]
        for at, one in enumerate(held):
            for other in held[:at]:
                if not one.transaction or one.transaction != other.transaction:
                    assert not any(_clash(two, three) for two in one.components for three in other.components)

    @invariant()
    def locks_wait_for_earlier_ones_alone(self):
        for one in self.servers[1].show():
            assert one.blocked_by is None or (one.state is WAITING and one.blocked_by < one.id)

    @invariant()
    def the_lock_table_is_kept_whole(self):
        lock_table = LockTable.decode(Transactions(self.store.rows).state(KEY))
        assert LockTable.decode(lock_table.encode()) == lock_table


def _clash(one, two):
    """The rules once more, in other words."""
    places = [(part.database, part.table or "*", part.partition or "*") for part in (one, two)]
    if any("*" not in pair and pair[0] != pair[1] for pair in zip(*places, strict=True)):
        return False
    kinds = {one.type, two.type}
    for reader, writer in ((one, two), (two, one)):
        if reader.type is READ and reader.table is None and writer.type is EXCLUSIVE and writer.table is not None:
            return False
    return EXCLUSIVE in kinds or kinds <= {WRITE, EXCL_WRITE}


def test_any_run_of_clients():
    run_state_machine_as_test(Machine, settings=settings(max_examples=50, stateful_step_count=40, deadline=None))

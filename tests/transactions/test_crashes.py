"""One write goes wrong, for every write of every step, in every way: all or nothing is left.

What the transaction said must be true: it returned, so all is there; it raised StoreUnavailable, so nothing was
changed; a dead process and CommitStateUnknown leave either. The next one who looks finishes what is open.
"""

from __future__ import annotations

import pytest

from hbstore.errors import CommitStateUnknown, StoreUnavailable
from hbstore.transactions.log import LOG, Log
from hbstore.transactions.payloads import PAYLOAD_KEYS
from hbstore.transactions.transactions import Transactions
from tests.store.faults import Crash, Fault, FaultyRows
from tests.store.strikes import MOST, check_outcome
from tests.transactions import steps
from tests.transactions.conftest import fresh

pytestmark = pytest.mark.usefixtures("impatient")

NEED_ROOM = ("look", "create the table", "drop the empty database")
"""Steps that write nothing as long as the tables are there."""
WRITING = [name for name in steps.STEPS if name not in NEED_ROOM]
EVERY_FAULT = pytest.mark.parametrize("fault", Fault, ids=lambda fault: fault.name)


def after(*names):
    """What is seen after some steps."""
    store = fresh()
    for name in names:
        steps.run(steps.STEPS[name], store.rows)
    return steps.run(steps.look, store.rows)


class RefusedAsWell(FaultyRows):
    """The write behind the faulty one is refused, too."""

    def _write(self, write):
        if self.writes == self._at + 1:
            self.writes += 1
            raise StoreUnavailable("at the next write")
        return super()._write(write)


def strikes(name, fault, before=(), kind=FaultyRows):
    """Every run of a step in which the fault happens: the rows, the faulty rows, and how the step ended."""
    for at in range(MOST):
        rows = fresh().rows
        for earlier in before:
            steps.run(steps.STEPS[earlier], rows)
        faulty = kind(rows, fault, at)
        try:
            steps.run(steps.STEPS[name], faulty)
            ended = None
        except (Crash, StoreUnavailable, CommitStateUnknown) as error:
            ended = type(error)
        if not faulty.struck:
            assert at, "the step does not write"
            assert ended is None
            return
        yield rows, faulty, ended
    raise AssertionError("the step does not end")


def is_clean(rows):
    """Whether nothing is open or locked, and no payload row is left."""
    logs = [Log.decode(cells.get(LOG)) for _, cells in rows.scan_catalog(b"D", b"U")]
    payloads = [cells for _, cells in rows.scan_catalog(*PAYLOAD_KEYS) if cells]
    return not (payloads or any(log.commits or log.intent for log in logs))


def finish(rows):
    """What a repair does with rows that dead processes left."""
    for row in (steps.LEFT, steps.RIGHT, steps.DATABASE):
        Transactions(rows, steps.AT_ONCE).roll_forward_row(row, older_than=-1.0)


@EVERY_FAULT
@pytest.mark.parametrize("name", WRITING)
def test_who_looks_next_sees_all_or_nothing(name, fault):
    nothing, everything = after(), after(name)
    for rows, _, ended in strikes(name, fault):
        seen = steps.run(steps.look, rows)
        check_outcome(seen, ended, nothing, everything)
        finish(rows)
        assert is_clean(rows)
        assert steps.run(steps.look, rows) == seen


@EVERY_FAULT
@pytest.mark.parametrize("name", WRITING)
def test_a_repair_leaves_all_or_nothing(name, fault):
    nothing, everything = after(), after(name)
    for rows, _, ended in strikes(name, fault):
        finish(rows)
        assert is_clean(rows)
        check_outcome(steps.run(steps.look, rows), ended, nothing, everything)


@EVERY_FAULT
@pytest.mark.parametrize("name", ["create the table"])
def test_a_table_is_created_whole_or_not(name, fault):
    nothing, everything = after("drop the table"), after("drop the table", name)
    for rows, _, ended in strikes(name, fault, ["drop the table"]):
        check_outcome(steps.run(steps.look, rows), ended, nothing, everything)


@EVERY_FAULT
@pytest.mark.parametrize("name", WRITING)
def test_the_next_step_comes_before_or_behind_it(name, fault):
    """Whatever a fault left, the other steps work on it as on one of the two states."""
    for follower in ("drop the database", "move", "add others"):
        allowed = [outcome_of(follower), outcome_of(follower, name)]
        for rows, faulty, _ in strikes(name, fault):
            found = result_of(follower, rows), steps.run(steps.look, rows)
            assert found in allowed
            faulty.arrive()
            late = steps.run(steps.look, rows)
            assert late in (found[1], outcome_of(name, follower)[1])


@pytest.mark.parametrize("name", WRITING)
def test_a_late_write_is_no_change_where_nothing_was_said_to_be_changed(name):
    """The write that decides is lost, the one that gives it up is refused, and then the first arrives."""
    nothing, everything = after(), after(name)
    for rows, faulty, ended in strikes(name, Fault.LATE, kind=RefusedAsWell):
        faulty.arrive()
        check_outcome(steps.run(steps.look, rows), ended, nothing, everything)


def outcome_of(name, *before):
    store = fresh()
    for earlier in before:
        result_of(earlier, store.rows)
    return result_of(name, store.rows), steps.run(steps.look, store.rows)


def result_of(name, rows):
    try:
        return steps.run(steps.STEPS[name], rows)
    except Exception as error:  # noqa: BLE001  shown by the one who compares
        return type(error).__name__


def test_nothing_is_left_where_nothing_went_wrong():
    for name in WRITING:
        store = fresh()
        steps.run(steps.STEPS[name], store.rows)
        assert is_clean(store.rows), name

"""What `hbstore log` shows of rows that dead processes left: what is open, who has rows locked, what is left behind."""

from __future__ import annotations

import json
from contextlib import suppress
from itertools import groupby

import pytest

from hbstore.rows.memory import MemoryRows
from hbstore.transactions.inspection import inspected
from hbstore.transactions.log import LOG, Commit, Intent, Log, Standing
from hbstore.transactions.payloads import put_payload
from tests.store.faults import Crash, Fault, FaultyRows
from tests.store.strikes import MOST
from tests.transactions import steps
from tests.transactions.conftest import fresh


def test_nothing_is_open_where_nobody_died():
    rows = fresh().rows
    steps.run(steps.STEPS["add"], rows)
    inspection = inspected(rows, steps.LEFT)
    assert (inspection.open, inspection.lock, inspection.locks, inspection.left) == ((), None, (), ())
    assert inspection.log == Log.decode(rows.get(steps.LEFT)[LOG])


@pytest.mark.usefixtures("impatient")
def test_what_is_seen_of_a_process_that_died_between_two_of_its_writes():
    """Its other row is locked; then the change is decided, open in both rows, in the primary alone, in none."""
    seen = []
    for at in range(MOST):
        rows = fresh().rows
        faulty = FaultyRows(rows, Fault.CRASH_AFTER, at)
        with suppress(Crash):
            steps.run(steps.STEPS["move"], faulty)
        if not faulty.struck:
            break
        here, there = inspected(rows, steps.LEFT), inspected(rows, steps.RIGHT)
        assert here.locks == (() if there.lock is None else (there.lock,))
        standing = None if there.lock is None else there.lock.standing
        seen.append((standing, len(here.open), len(there.open)))
        json.dumps([here.to_dict(), there.to_dict()])
    assert [what for what, _ in groupby(seen)] == [
        (Standing.UNDECIDED, 0, 0),
        (Standing.DECIDED, 1, 0),
        (None, 1, 1),
        (None, 1, 0),
        (None, 0, 0),
    ]


def test_what_an_open_commit_writes():
    rows = fresh().rows
    with pytest.raises(Crash):
        steps.run(steps.STEPS["move"], FaultyRows(rows, Fault.CRASH_AFTER, 1))
    (commit,) = inspected(rows, steps.LEFT).open
    assert (commit.puts, commit.deletes) == (len(commit.writes[1].puts), len(commit.writes[0].deletes))
    assert commit.deletes
    assert commit.to_dict()["rows"] == ["T shop left", "T shop right"]
    assert commit.to_dict()["list_of_writes"] == "log"


def test_a_row_that_waits_for_the_decision_of_another():
    rows, primary, waiting = MemoryRows(atomic=False), b"Tshop\0left", b"Tshop\0right"
    intent = Intent("1732500000/lake1/4711/ab", primary, 0, 0)
    rows.compare_and_put(waiting, LOG, None, Log(intent=intent).encode())
    (lock,) = inspected(rows, primary).locks
    assert lock == inspected(rows, waiting).lock
    assert (lock.row, lock.standing) == (waiting, Standing.UNDECIDED)
    assert lock.to_dict()["process"] == "process 4711 on lake1"
    assert lock.to_dict()["began"] == "2024-11-25T02:00:00Z"
    rows.compare_and_put(primary, LOG, None, Log(1, last="1732500000/lake1/4711/cd").encode())
    assert inspected(rows, waiting).lock.standing is Standing.OVERTAKEN


def test_a_payload_row_of_nobody():
    rows, row = MemoryRows(atomic=False), b"Tshop\0left"
    put_payload(rows, row, "1732500000/lake1/4711/ab", b"what it writes")
    inspection = inspected(rows, row)
    assert inspection.left == ("1732500000/lake1/4711/ab",)
    assert inspection.to_dict()["payload_rows_of_no_commit"][0]["process"] == "process 4711 on lake1"


def test_the_four_answers_of_a_log():
    intent = Intent("1/lake1/4711/ab", b"Tshop\0sales", sequence=7, turn=1)
    log = Log(7, turn=1, last="1/lake1/4711/before")
    assert log.standing(intent) is Standing.UNDECIDED
    decided, other = (
        log.committed(Commit(transaction_id, 8, intent.primary, cells={"d:def": b"table"}), b"")
        for transaction_id in (intent.id, "1/lake1/4711/cd")
    )
    assert decided.standing(intent) is Standing.DECIDED
    assert decided.closed(intent.id).standing(intent) is Standing.WRITTEN
    assert other.standing(intent) is log.given_up().standing(intent) is Standing.OVERTAKEN

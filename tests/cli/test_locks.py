"""Locks of Hive's clients as an operator sees and releases them."""

from __future__ import annotations

import pytest

from hbstore import connect
from hbstore.model.service_objects import LockComponent, LockLevel, LockType

SALES = LockComponent(LockType.EXCLUSIVE, LockLevel.PARTITION, "shop", "sales", "ds=2013-01-01")


@pytest.fixture
def locks(path):
    """Ann holds a lock, for which Bob waits; Cem holds one in a transaction."""
    with connect(f"sqlite://{path}") as store:
        held = store.hive.locks.lock([SALES], "ann", "lake1")
        waiting = store.hive.locks.lock([SALES], "bob", "lake2")
        returns = LockComponent(LockType.SHARED_WRITE, LockLevel.TABLE, "shop", "returns")
        transaction = store.hive.transactions.open(1, "cem", "lake3")[0]
        return held.id, waiting.id, store.hive.locks.lock([returns], "cem", "lake3", transaction=transaction).id


def test_who_holds_a_lock_and_who_waits_for_it_is_shown(run, run_json, locks):
    held, waiting, _ = locks
    both = run_json("locks", "list", "shop.sales")
    assert [(one["lock"], one["user"], one["state"], one["waits_for"]) for one in both] == [
        (held, "ann", "acquired", None),
        (waiting, "bob", "waiting", held),
    ]
    assert both[0]["locked"] == ["exclusive shop.sales ds=2013-01-01"]
    lines = run("locks", "list").stdout.splitlines()
    assert len(lines) == 3
    assert lines[2].split("\t")[1:6] == ["acquired", "shared_write shop.returns", "cem", "lake3", "1"]


def test_a_stuck_lock_is_released(run, run_json, locks):
    held, waiting, of_transaction = locks
    assert run("locks", "release", str(held)).stdout == f"lock {held}: released\n"
    assert "does not exist" in run("locks", "release", str(held), code=2).stderr
    assert [one["waits_for"] for one in run_json("locks", "list", "shop.sales")] == [None]
    assert "--abort" in run("locks", "release", str(of_transaction), code=2).stderr
    run("locks", "release", str(of_transaction), "--abort")
    assert [one["lock"] for one in run_json("locks", "list")] == [waiting]

"""Partitions are encoded once, before the step that writes them: it holds SQLite's lock, and may run again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hbstore import Column, Partition
from hbstore.model.structs import PartitionEncoder
from hbstore.transactions.transactions import Transactions
from tests.store.conftest import hours

CHANGES = {
    "add": lambda sales: sales.add_partitions("shop", "sales", hours(2, *range(20))),
    "alter": lambda sales: sales.alter_partitions("shop", "sales", hours(1, *range(20))),
    "change": lambda sales: sales.change_partitions("shop", "sales", put=hours(1, *range(20)), drop=hours(3, 0)),
}


@pytest.fixture
def full(sales):
    sales.add_partitions("shop", "sales", hours(1, *range(20)) + hours(3, 0))
    return sales


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_step_that_runs_again_encodes_nothing(full, change, monkeypatch):
    encoded, steps = [], []
    encode, run = PartitionEncoder.encode, Transactions.run

    def counted(self, partition):
        encoded.append(bool(steps))
        return encode(self, partition)

    def twice(self, step):
        def repeated(transaction):
            steps.append(step)
            step(transaction)
            return step(transaction)

        return run(self, repeated)

    monkeypatch.setattr(PartitionEncoder, "encode", counted)
    monkeypatch.setattr(Transactions, "run", twice)
    change(full)
    assert encoded == [False] * 20


def test_partitions_of_a_table_that_is_altered_before_the_step_inherit_what_it_has_become(full, monkeypatch):
    run = Transactions.run
    altered = replace(full.get_table("shop", "sales"), columns=[Column("amount", "int")], location="s3://moved")

    def late(self, step):
        monkeypatch.undo()
        full.alter_table(altered)
        return run(self, step)

    monkeypatch.setattr(Transactions, "run", late)
    assert full.add_partitions("shop", "sales", [Partition(("2013-01-02", "5"))]) == 1
    added = full.get_partition("shop", "sales", ("2013-01-02", "5"))
    assert added.location == "s3://moved/ds=2013-01-02/hour=5"
    assert added.storage.columns == altered.columns

"""Partitions over Thrift that are read while others change the table, without snapshots."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hbstore import Partition, connect
from hbstore.metastore.methods import partition_reads
from hbstore.store.partition_store import PartitionStore
from tests.metastore.asking import Asking, add, table_of, values
from tests.store.stepping import Actor

ALL_NAMES = [f"n={number}" for number in range(-1, 3_000)]


@pytest.mark.parametrize(
    "ask",
    [
        lambda asking: asking.get_partitions("shop", "moving", -1),
        lambda asking: asking.get_partitions_by_names("shop", "moving", ALL_NAMES),
    ],
    ids=["all", "by names"],
)
def test_a_list_that_is_read_while_a_partition_moves_begins_anew(ask, monkeypatch):
    """Without snapshots a rename ahead of the reader repeats the read: nothing stands twice, nothing is missing."""
    monkeypatch.setattr(partition_reads, "_PAGE", 500)
    with connect("memory://?atomic=false") as store:
        store.create_database("shop")
        add(Asking(store), table_of("moving", n="int"), [(str(number),) for number in range(3_000)])
        actor = Actor(store.rows, lambda mine: ask(Asking(mine)))
        for _ in range(3):  # the table's row and the first batch of rows
            actor.step()
        PartitionStore(store.rows).rename_partition("shop", "moving", ["2999"], Partition(["-1"]))
        steps = 0
        while not actor.done:
            actor.step()
            steps += 1
        assert values(actor.result) == [(str(number),) for number in range(-1, 2_999)]
        assert steps > 4  # it did begin anew


@pytest.mark.parametrize(
    "ask",
    [
        lambda asking: values(asking.get_partitions_ps("shop", "swapped", ["1"], -1)),
        lambda asking: asking.get_partition_names_ps("shop", "swapped", ["1"], -1),
        lambda asking: tuple(asking.get_partition_by_name("shop", "swapped", "a=1/b=2").values),
    ],
    ids=["values", "names", "by name"],
)
def test_a_table_that_comes_to_the_name_meanwhile_is_asked_as_its_own_columns_are_ordered(ask):
    answers = []
    for steps in range(20):
        with connect("memory://?atomic=false") as store:
            store.create_database("shop")
            asking = Asking(store)
            add(asking, table_of("swapped", a="int", b="int"), [("1", "2"), ("2", "3")])
            add(asking, table_of("other", b="int", a="int"), [("1", "5"), ("2", "1"), ("7", "1")])
            actor = Actor(store.rows, lambda mine: ask(Asking(mine)))
            for _ in range(steps):
                if not actor.done:
                    actor.step()
            for old, new in (("swapped", "old"), ("other", "swapped")):
                store.rename_table("shop", old, replace(store.get_table("shop", old), name=new))
            while not actor.done:
                actor.step()
            answers.append(actor.result)
            after = ask(asking)
    assert all(answer in (answers[-1], after) for answer in answers)

"""Two stores over the same rows, each with what it remembers: what one does the other sees at its next question."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from hbstore import HbstoreError, TableNotFound, connect
from hbstore.store.partition_store import PartitionStore
from hbstore.timelines.factory import PRESENT
from hbstore.times.update_period import UpdatePeriod
from tests.store import timelines as tl
from tests.store.timelines import FACT, TWIN, days, partition

OLD = ("shop", "s9_sales")


class CountedRows:
    """`Rows` that count their calls by name."""

    def __init__(self, rows):
        self._rows = rows
        self.url, self.atomic, self.costs = rows.url, rows.atomic, rows.costs
        self.calls = Counter()

    def __getattr__(self, name):
        found = getattr(self._rows, name)
        if name == "snapshot":
            return found

        def call(*arguments, **named):
            self.calls[name] += 1
            return found(*arguments, **named)

        return call


@pytest.fixture(params=["memory", "nonatomic", "sqlite", pytest.param("hbase", marks=pytest.mark.hbase)])
def servers(request, tmp_path):
    """Two stores, and the calls that the second one makes."""
    if request.param == "hbase":
        url = request.getfixturevalue("hbase_url")
    else:
        url = {"memory": "memory://", "nonatomic": "memory://?atomic=false", "sqlite": f"{tmp_path}/store.db"}[
            request.param
        ]
    with connect(url) as one:
        one.drop_database("shop", cascade=True, if_exists=True)
        counted = CountedRows(one.rows if request.param in ("memory", "nonatomic") else connect(url).rows)
        two = PartitionStore(counted)
        tl.prepared(one, FACT, TWIN)
        one.add_partitions(*FACT, days(1, 2, 3))
        yield one, two, counted
        one.drop_database("shop", cascade=True)
        two.close()


def test_a_remembered_answer_costs_one_read_of_the_tables_row(servers):
    one, two, counted = servers
    first = two.timelines.read(".".join(FACT))
    counted.calls.clear()
    before = counted.round_trips()
    for _ in range(5):
        assert two.timelines.read(".".join(FACT)) is first
    if not counted.atomic:  # elsewhere a snapshot begins and ends
        assert counted.round_trips() - before in (0, 5), "in memory nothing is sent"
    assert counted.calls["get"] == sum(counted.calls.values()) - counted.calls["round_trips"] == 5
    one.add_partitions(*FACT, days(4))
    counted.calls.clear()
    tl.kept(two)
    assert counted.calls["get_all"] == 1
    assert not {"scan", "payloads", "multi_get", "compare_and_put", "write"} & set(counted.calls), counted.calls


def test_a_change_that_touches_no_time_makes_nobody_build(servers):
    one, two, counted = servers
    two.timelines.read(".".join(FACT))
    one.alter_partitions(*FACT, [replace(days(1)[0], parameters={"numRows": "7"})])
    known = one.get_table(*FACT)
    one.alter_table(replace(known, parameters={**known.parameters, "comment": "new"}))
    counted.calls.clear()
    tl.kept(two)
    assert not {"scan", "payloads", "compare_and_put", "write"} & set(counted.calls), counted.calls


CHANGES = {
    "add": lambda store: store.add_partitions(*FACT, days(4)),
    "drop": lambda store: store.drop_partitions(*FACT, [days(2)[0].values]),
    "alter": lambda store: store.rename_partition(*FACT, days(2)[0].values, partition("2015-01-02-05")),
    "rename": lambda store: store.rename_partition(*FACT, days(2)[0].values, days(9)[0].values),
    "exchange": lambda store: store.exchange_partitions(FACT, TWIN, [days(2)[0].values]),
    "change": lambda store: store.change_partitions(*FACT, add=days(7), drop=[days(1)[0].values]),
    "another period": lambda store: store.alter_table(tl.table(parameters=tl.declared("DAILY"))),
    "another column": lambda store: store.alter_table(tl.table(parameters=tl.declared(columns="pt"))),
    "rebuild": lambda store: store.timelines.rebuild(".".join(FACT)),
    "flag": lambda store: store.alter_table(tl.table(parameters={**tl.declared(), PRESENT: "false"})),
    "again": lambda store: (
        store.drop_table(*FACT),
        store.create_table(tl.table()),
        store.add_partitions(*FACT, days(5)),
    ),
    "there and back": lambda store: (
        store.rename_table(*FACT, tl.table(OLD)),
        store.add_partitions(*OLD, days(6)),
        store.rename_table(*OLD, tl.table(FACT)),
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_one_does_the_other_sees_at_once(servers, name):
    one, two, _ = servers
    for store in (one, two):
        tl.assert_true(store, FACT, TWIN)
    CHANGES[name](one)
    for store in (two, one):
        tl.assert_true(store, FACT, TWIN)
    two.add_partitions(*FACT, days(20))
    assert "2015-01-20" in tl.kept(one)["DAILY", "pt"]


def test_a_conversion_is_seen_by_the_other(servers):
    one, two, _ = servers
    two.timelines.read(".".join(FACT))
    one.timelines.convert(".".join(FACT), UpdatePeriod.DAILY, "DT", "StoreAllPartitionTimeline")
    (found,) = two.timelines.of(".".join(FACT).upper(), UpdatePeriod.DAILY, "dT")
    assert type(found).__name__ == "StoreAllPartitionTimeline"
    two.timelines.rebuild(".".join(FACT))
    (found,) = one.timelines.of(".".join(FACT), UpdatePeriod.DAILY, "dt")
    assert type(found).__name__ == "StoreAllPartitionTimeline", "the table's parameters say so from then on"
    tl.assert_true(one)


def test_a_table_that_the_other_has_dropped_or_renamed_is_gone(servers):
    one, two, _ = servers
    two.timelines.read(".".join(FACT))
    one.rename_table(*FACT, tl.table(OLD))
    with pytest.raises(TableNotFound):
        two.timelines.read(".".join(FACT))
    tl.assert_true(two, OLD)
    one.drop_table(*OLD)
    with pytest.raises(TableNotFound):
        two.timelines.read(".".join(OLD))


def test_copies_are_the_callers_own(servers):
    one, two, _ = servers
    (copy,) = two.timelines.of(".".join(FACT), UpdatePeriod.DAILY, "dt")
    copy.add(UpdatePeriod.DAILY.parse("2015-01-20"))
    tl.assert_true(two)
    properties = one.timelines.export(".".join(FACT))
    two.timelines.take_over(".".join(FACT), properties)
    one.add_partitions(*FACT, days(4))
    with pytest.raises(HbstoreError, match="differ from the times of the table's partitions"):
        two.timelines.take_over(".".join(FACT), properties)
    tl.assert_true(one)

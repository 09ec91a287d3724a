"""Digests of partitions: equal where the partitions are, in whatever order their parameters come."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore import Column, Partition, Table
from hbstore.model.objects import Grant, Order, Privileges, SerDe, Skew, StorageDescriptor
from hbstore.model.structs import decode_partition
from hbstore.transfer.checksum import Checksum, Digests, Payloads

TABLE = Table("shop", "sales", [Column("ds", "string")], [Column("number", "int")], location="/sales")
STORAGE = StorageDescriptor(
    columns=[Column("number", "int")],
    serde=SerDe("a", "b", {"c": "d"}),
    bucket_columns=["number"],
    sort_columns=[Order("number", 1)],
    parameters={"e": "f"},
    skew=Skew(["number"], [["1"]], {("1",): "/one"}),
)
PARTITION = Partition(
    ["a"],
    location="/a",
    parameters={"b": "c"},
    create_time=1,
    last_access_time=2,
    storage=STORAGE,
    privileges=Privileges({"ann": [Grant("SELECT", 1)]}),
)
OTHERS = [
    replace(PARTITION, values=("b",)),
    replace(PARTITION, location="/b"),
    replace(PARTITION, location=None),
    replace(PARTITION, parameters={"b": "d"}),
    replace(PARTITION, parameters={}),
    replace(PARTITION, create_time=2),
    replace(PARTITION, last_access_time=3),
    replace(PARTITION, privileges=None),
    replace(PARTITION, privileges=Privileges({"ann": [Grant("SELECT", 2)]})),
    replace(PARTITION, storage=None),
    *(
        replace(PARTITION, storage=replace(STORAGE, **changed))
        for changed in (
            {"columns": [Column("number", "int", "")]},
            {"input_format": "x"},
            {"compressed": True},
            {"num_buckets": 2},
            {"serde": SerDe("a", "b", {"c": "e"})},
            {"bucket_columns": []},
            {"sort_columns": [Order("number", 0)]},
            {"parameters": {"e": "g"}},
            {"skew": None},
            {"skew": Skew(["number"], [["1"]], {("1",): "/two"})},
            {"stored_as_sub_directories": True},
        )
    ),
]


@pytest.mark.parametrize("other", OTHERS)
def test_whatever_differs_is_seen(other):
    digest = Digests(TABLE).digest
    assert digest(other) != digest(PARTITION)
    assert digest(replace(other)) == digest(other)
    payloads = Payloads(TABLE)
    assert payloads.payload(other) != payloads.payload(PARTITION)
    assert decode_partition(payloads.payload(PARTITION)) == PARTITION


def turned(mapping):
    return dict(reversed(mapping.items()))


def test_orders_of_maps_do_not_matter():
    skew = Skew(["number"], [["1"], ["2"]], {("1",): "/one", ("2",): "/two"})
    one = replace(
        PARTITION,
        parameters={"a": "b", "c": "d"},
        privileges=Privileges({"ann": [Grant("SELECT")], "bob": [Grant("INSERT")]}),
        storage=replace(
            STORAGE, parameters={"a": "b", "c": "d"}, serde=SerDe(parameters={"x": "y", "": ""}), skew=skew
        ),
    )
    other = replace(
        one,
        parameters=turned(one.parameters),
        privileges=Privileges(turned(one.privileges.users)),
        storage=replace(
            one.storage,
            parameters=turned(one.storage.parameters),
            serde=SerDe(parameters=turned(one.storage.serde.parameters)),
            skew=replace(skew, locations=turned(skew.locations)),
        ),
    )
    digest, payload = Digests(TABLE).digest, Payloads(TABLE).payload
    assert digest(one) == digest(other)
    assert payload(one) == payload(other)


def test_what_comes_from_the_table_counts_as_written_out():
    digest = Digests(TABLE).digest
    whole = Partition(["a"], location="/sales/ds=a", storage=replace(TABLE.storage, columns=TABLE.columns))
    assert digest(whole) == digest(Partition(["a"]))
    empty = replace(whole, storage=replace(whole.storage, skew=Skew()))
    assert digest(empty) == digest(whole)


texts = st.text(max_size=3)
partitions = st.builds(
    Partition,
    st.tuples(texts),
    parameters=st.dictionaries(texts, texts, max_size=2),
    create_time=st.integers(0, 2),
    location=st.none() | texts,
)


@given(st.lists(partitions, max_size=6), st.randoms(use_true_random=False))
def test_a_sum_tells_sets_apart_and_knows_no_order(some, shuffle: random.Random):
    other = list(some)
    shuffle.shuffle(other)
    digests = Digests(TABLE)
    assert digests.of(some) == digests.of(other)
    middle = len(some) // 2
    assert digests.of(some[:middle]) + digests.of(some[middle:]) == digests.of(some)
    payloads = Payloads(TABLE)
    assert payloads.of(map(payloads.payload, some)) == payloads.of(map(payloads.payload, other))
    if some:
        assert payloads.of(map(payloads.payload, some[1:])) != payloads.of(map(payloads.payload, some))
        assert digests.of(some[1:]) != digests.of(some)
        assert digests.of([*some, some[0]]) != digests.of(some)
        changed = [replace(some[0], create_time=some[0].create_time + 1), *some[1:]]
        assert digests.of(changed) != digests.of(some)


def test_nothing_is_zero():
    assert Digests(TABLE).of([]) == Checksum() == Checksum(0, 0)

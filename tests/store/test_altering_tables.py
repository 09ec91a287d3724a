"""Altering a table with its partitions, and only if it is what was expected."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from threading import Thread

import pytest

from hbstore import Column, ConcurrentChange, InvalidInput, StorageDescriptor, Table, TableNotFound
from tests.store import moves
from tests.store.conftest import URLS
from tests.store.moves import COLUMNS, RETURNS, SALES, marked, table
from tests.store.stepping import play


@pytest.fixture(params=URLS)
def store(request, tmp_path):
    with moves.prepared(URLS[request.param].format(tmp_path)) as store:
        yield store


def columns(store, place):
    return [one.storage.columns for one in store.get_partitions_by_filter(*place, None)]


def test_without_cascade_partitions_keep_their_columns(store):
    store.alter_table(table(*SALES, columns=COLUMNS))
    assert columns(store, SALES) == [()] * 5
    store.add_partitions(*SALES, [marked("8")])
    assert columns(store, SALES) == [()] * 5 + [tuple(COLUMNS)]


def test_with_cascade_all_partitions_get_the_columns_and_keep_all_else(store):
    storage = StorageDescriptor([Column("x", "map<string,array<int>>", "ü")], input_format="orc", num_buckets=3)
    store.add_partitions(*SALES, [replace(marked("7"), storage=storage), replace(marked("8"), location="s3://x")])
    before = store.get_partitions_by_filter(*SALES, None)
    store.alter_table(table(*SALES, columns=COLUMNS, owner="ann"), cascade=True)
    assert store.get_table(*SALES).columns == tuple(COLUMNS)
    assert store.get_table(*SALES).owner == "ann"
    wanted = [replace(one, storage=replace(one.storage, columns=tuple(COLUMNS))) for one in before]
    assert store.get_partitions_by_filter(*SALES, None) == wanted
    store.alter_table(table(*SALES), cascade=True)
    assert columns(store, SALES) == [()] * 7
    assert columns(store, RETURNS) == [()] * 2
    moves.assert_clean(store)


def test_tables_without_partition_columns(store):
    store.create_table(Table("shop", "flat"))
    flat = store.get_table("shop", "flat")
    altered = replace(flat, parameters={"a": "1"}, location="s3://b")
    store.alter_table(altered, cascade=True, expected_parameters={"a": None})
    assert store.get_table("shop", "flat") == altered


def test_what_forbids_it(store):
    before = moves.seen(store)
    with pytest.raises(InvalidInput):
        store.alter_table(table(*SALES, partition_columns=[Column("ds", "date")]), cascade=True)
    with pytest.raises(TableNotFound):
        store.alter_table(table("shop", "none"), cascade=True)
    with pytest.raises(ConcurrentChange):
        store.alter_table(table(*SALES), cascade=True, expected_parameters={"a": "b"})
    assert moves.seen(store) == before
    moves.assert_clean(store)


def test_expected_parameters(store):
    key = "metadata_location"
    store.alter_table(table(*SALES, parameters={key: "v1"}), expected_parameters={key: None, "other": None})
    for wrong, found in (({key: None}, "v1"), ({key: "v0"}, "v1"), ({key: "v1", "other": ""}, None)):
        with pytest.raises(ConcurrentChange) as caught:
            store.alter_table(table(*SALES, parameters={key: "v9"}), expected_parameters=wrong)
        assert caught.value.fields["parameter"] == list(wrong)[-1]
        assert caught.value.fields["found"] == found
        assert store.get_table(*SALES).parameters == {key: "v1"}
    store.alter_table(table(*SALES, parameters={key: "v2"}), expected_parameters={key: "v1"})
    assert store.get_table(*SALES).parameters == {key: "v2"}


DAILY = {"cube.storagetable.time.partcols": "ds", "cube.storagetable.update.periods": "DAILY"}


def test_another_declaration_of_timelines_only_in_the_place_of_what_is_expected(store):
    seen = store.get_table(*SALES)
    store.alter_table(replace(seen, owner="ann"))
    before = store.get_table(*SALES)
    declared = replace(before, parameters=DAILY)
    for wrong in ({"replaces": seen}, {"expected_parameters": {"a": "1"}}):
        with pytest.raises(ConcurrentChange):
            store.alter_table(declared, **wrong)
        assert store.get_table(*SALES) == before
    store.alter_table(declared, replaces=before, expected_parameters={"a": None})
    assert store.get_table(*SALES) == declared
    assert len(store.table("shop.sales").timelines["DAILY"]) == 1
    moves.assert_clean(store)


def test_of_another_declaration_and_another_owner_none_is_lost():
    """Each is made in the place of what it was made from, or not at all; the owner may change and change back."""

    def declare(store):
        store.alter_table(replace(seen, parameters=DAILY), replaces=seen)
        return "declared"

    def own(store):
        store.alter_table(replace(seen, owner="ann"), replaces=seen)
        store.alter_table(replace(seen, owner="bob"), expected_parameters=dict.fromkeys(DAILY))
        return "owned"

    def own_and_back(store):
        own(store)
        store.alter_table(seen, expected_parameters=dict.fromkeys(DAILY))
        return "owned and back"

    ended = set()
    for other in (own, own_and_back):
        for some, others in product((2, 3, 4, 5, 9), (4, 9)):  # before, around and after the intent is opened
            schedule = [(0, some), (1, others)]
            with moves.prepared("memory://?atomic=false") as store:
                seen = store.get_table(*SALES)
                results, _ = play(store.rows, [declare, other], schedule)
                after = store.get_table(*SALES)
                assert (after.parameters == DAILY) == (results[0] == "declared"), (schedule, results)
                if results[0] != "declared":
                    assert results[0] == "ConcurrentChange", (schedule, results)
                    assert after == (seen if other is own_and_back else replace(seen, owner="bob")), schedule
                elif other is own:
                    assert results[1] == "ConcurrentChange", (schedule, results)
                moves.assert_clean(store)
                ended.add((other, *results))
    assert {results[0] for _, *results in ended} == {"declared", "ConcurrentChange"}


def test_of_all_commits_at_once_each_builds_on_the_one_before(store):
    """Every thread adds one to what it has read, and reads again when somebody else was faster."""
    store.alter_table(table(*SALES, parameters={"n": "0"}))

    def commit():
        for _ in range(10):
            while True:
                known = store.get_table(*SALES).parameters["n"]
                try:
                    store.alter_table(
                        table(*SALES, parameters={"n": str(int(known) + 1)}), expected_parameters={"n": known}
                    )
                except ConcurrentChange:
                    continue
                break

    threads = [Thread(target=commit) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert store.get_table(*SALES).parameters["n"] == "40"

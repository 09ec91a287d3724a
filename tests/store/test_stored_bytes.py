"""Reading what is stored as bytes, and names without what they name."""

from __future__ import annotations

import pytest

from hbstore import DatabaseNotFound, FilterSyntaxError, HbstoreError, TableNotFound, connect
from hbstore.model.structs import decode_table, partition_values
from hbstore.store.partition_store import PartitionStore
from tests.store import moves
from tests.store.conftest import URLS
from tests.store.moves import RETURNS, SALES, marked, table
from tests.store.operations import DAY


@pytest.fixture(params=URLS)
def store(request, tmp_path):
    with moves.prepared(URLS[request.param].format(tmp_path)) as store:
        yield store


def test_tables(store):
    assert decode_table(store.read_table("SHOP", "Sales")) == store.get_table(*SALES)
    store.alter_table(table(*SALES, owner="ann"))
    assert decode_table(store.read_table(*SALES)).owner == "ann"
    with pytest.raises(TableNotFound):
        store.read_table("shop", "none")
    with pytest.raises(DatabaseNotFound):
        store.read_table("none", "none")


def test_partitions_by_their_values(store):
    found = store.get_payloads(*SALES, [(DAY, "4"), (DAY, "02"), (DAY, "2"), (DAY, "99")])
    assert [partition_values(one) for one in found] == [(DAY, "2"), (DAY, "4")]
    assert found[0] == store.get_partition(*SALES, (DAY, "2")).payload
    assert store.get_payloads(*SALES, []) == []


@pytest.mark.parametrize(("most", "hours"), [(-1, "345"), (2, "34"), (0, "")])
def test_partitions_by_a_filter(store, most, hours):
    def consume(row, plan, batches):
        assert (row.table.database, row.table.name) == SALES
        assert len(plan.get_plans()) == 1
        return [partition_values(payload)[1] for batch in batches for payload in batch]

    assert store.read_payloads(*SALES, "hour >= 3", consume, max_parts=most) == list(hours)
    assert store.read_payloads(*SALES, None, lambda _row, _plan, batches: sum(map(len, batches))) == 5


def test_errors_of_whoever_reads_are_their_own(store):
    with pytest.raises(FilterSyntaxError):
        store.read_payloads(*SALES, "hour >=", list)

    def fail(_row, _plan, batches):
        next(batches)
        raise KeyError("mine")

    with pytest.raises(KeyError):
        store.read_payloads(*SALES, None, fail)
    with pytest.raises(HbstoreError):
        store.read_payloads(*SALES, None, fail, like_dialect="none")
    assert store.count_partitions(*SALES) == 5


def test_a_reading_begins_again_where_partitions_moved_under_it():
    store = moves.prepared()
    other = PartitionStore(store.rows)
    begun = []

    def consume(_row, _plan, batches):
        begun.append(True)
        if len(begun) == 1:
            other.rename_partition(*SALES, (DAY, "2"), (DAY, "77"))
        if len(begun) == 2:
            moves.exchange_back(other)
        return [partition_values(payload)[1] for batch in batches for payload in batch]

    store.count_partitions(*SALES)
    assert store.read_payloads(*SALES, None, consume) == ["0", "3", "4", "5", "9", "77"]
    assert len(begun) == 3


def test_all_tables_of_a_database(store):
    for database in ("SHOP", "attic"):
        names = store.table_names(database)
        assert store.read_tables(database) == [store.read_table(database, name) for name in names]
    assert [decode_table(struct) for struct in store.read_tables("shop")] == store.tables("shop")
    store.drop_table(*RETURNS)
    assert len(store.read_tables("shop")) == 1
    store.drop_database("attic")
    with pytest.raises(DatabaseNotFound):
        store.read_tables("attic")


def test_names(store):
    assert store.database_names() == ["attic", "shop"]
    assert store.table_names("SHOP") == ["returns", "sales"]
    assert store.table_names("attic") == []
    store.drop_table(*RETURNS)
    store.drop_database("attic")
    assert store.database_names() == ["shop"]
    assert store.table_names("shop") == ["sales"]
    with pytest.raises(DatabaseNotFound):
        store.table_names("attic")


def test_names_of_an_empty_store():
    with connect("memory://") as store:
        assert store.database_names() == []
        store.create_database("shop")
        assert store.table_names("shop") == []
        store.create_table(table(*SALES))
        store.add_partitions(*SALES, [marked("1")])
        assert store.table_names("shop") == ["sales"]

"""Check finds every row that is not what it should be, and repair counts what is there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hbstore import Partition
from hbstore.keys.row_key import row_key, text_cell
from hbstore.model.structs import PartitionEncoder
from hbstore.rows.interface import PartitionRow
from hbstore.store.packing import pack_store
from hbstore.store.table_row import statistics_of
from tests.store.conftest import hours


@pytest.fixture
def filled(sales):
    sales.add_partitions("shop", "sales", hours(1, 1, 2, 3))
    return sales


def write(store, row):
    store.rows.write([row], [], 1_000)


def made(store, values, *, key_values=None, cell_values=None):
    """A row whose key, cells and payload may tell of different partitions."""
    definition = store._tables.open("shop", "sales").definition

    def cells(some):
        return tuple(map(text_cell, definition.schema.types, some))

    key = row_key(definition.prefix, cells(key_values or values))
    payload = PartitionEncoder(definition.table).encode(Partition(values))
    return PartitionRow(key, cells(cell_values or values), payload)


def problems(store):
    """Those of rows: whoever writes rows by hand makes the totals wrong as well."""
    found = [problem for problem in store.check("shop", "sales") if problem is not None]
    return [problem for problem in found if "the totals are wrong" not in problem.text]


def test_one_item_for_each_row_none_where_all_is_well(filled):
    assert list(filled.check("shop", "sales")) == [None, None, None]


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        (lambda store: made(store, ("2013-01-01", "9"), key_values=("2013-01-01", "8")), "the cell columns are not"),
        (lambda store: made(store, ("2013-01-01", "9"), cell_values=("2013-01-01", "8")), "the cell columns are not"),
        (
            lambda store: made(
                store, ("2013-01-01", "9"), key_values=("2013-01-01", "8"), cell_values=("2013-01-01", "8")
            ),
            "belong to another key",
        ),
        (lambda store: made(store, ("2013-01-01", "9"))._replace(payload=b"no struct"), "cannot be decoded"),
        (lambda store: made(store, ("2013-01-01", "9"))._replace(payload=b""), "cannot be decoded"),
        (lambda store: made(store, ("2013-01-01", "9"))._replace(cells=()), "the cell columns are not"),
        (lambda store: made(store, ("2013-01-01", "9"))._replace(key=b"shop\0sales\0\x02x"), "trailer"),
    ],
)
def test_damaged_rows_are_found_and_named(filled, damage, text):
    row = damage(filled)
    write(filled, row)
    (problem,) = problems(filled)
    assert text in problem.text
    assert problem.table == "shop.sales"
    assert problem.key == row.key.hex()
    assert problem.key in str(problem)
    assert len(list(filled.check("shop", "sales"))) == 5, "the totals are wrong, too"


@pytest.mark.parametrize("returns", [False, True])
def test_partitions_of_a_table_that_is_renamed_meanwhile_are_not_taken_to_be_damaged(filled, monkeypatch, returns):
    monkeypatch.setattr("hbstore.rows.sqlite.rows._FIRST_PAGE", 2)
    sales, looked_at = filled.get_table("shop", "sales"), filled.check("shop", "sales")
    assert next(looked_at) is None
    filled.rename_table("shop", "sales", replace(sales, name="sold"))
    filled.add_partitions("shop", "sold", [Partition(("2013-01-01", "02")), Partition(("2013-01-01", "4"))])
    assert next(looked_at) is None
    assert next(looked_at) is None
    if returns:
        filled.rename_table("shop", "sold", sales)
        pack_store(filled._tables)
    assert set(looked_at) <= {None}


def test_repair_counts_what_is_there(filled):
    filled.add_partitions("shop", "sales", [one for day in range(2, 9) for one in hours(day, *range(10))])
    filled.drop_partitions(
        "shop", "sales", [(f"2013-01-0{day}", str(hour)) for day in range(3, 9) for hour in range(10)]
    )
    assert statistics_of(filled._tables.open("shop", "sales")).distinct == (8, 73)
    repaired = filled.repair("shop", "sales")
    assert repaired.finished == 0
    assert statistics_of(filled._tables.open("shop", "sales")).distinct == (2, 13)


def test_adding_counts_each_partition_once(filled):
    for _ in range(3):
        filled.add_partitions("shop", "sales", hours(1, 1, 2, 3), if_not_exists=True)
    assert statistics_of(filled._tables.open("shop", "sales")).distinct == (1, 3)

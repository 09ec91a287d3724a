"""A table's totals are the sum of its partitions, whatever happens; state machines and crashes look at them as well."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hbstore import Partition, StoreUnavailable, connect
from hbstore.model.structs import encode_partition
from hbstore.model.totals import NOTHING, Totals
from hbstore.store.partition_store import PartitionStore
from hbstore.store.table_row import totals_state
from tests.store import operations
from tests.store.conftest import hours, sales_table
from tests.store.copies import copies_of
from tests.store.faults import Fault
from tests.store.stepping import play, schedules
from tests.store.strikes import make_impatient, struck

DAY = operations.DAY
SALES = "shop", "sales"


def told(hour, rows=None, size=None, files=None, **more):
    given = {"numRows": rows, "totalSize": size, "numFiles": files, **more}
    return Partition((DAY, str(hour)), parameters={name: str(one) for name, one in given.items() if one is not None})


@pytest.mark.parametrize(
    ("parameters", "rows"),
    [
        ({"numRows": "7"}, 7),
        ({"numRows": "0"}, 0),
        ({"numRows": "-1"}, None),
        ({"numRows": ""}, None),
        ({"numRows": "7 rows"}, None),
        ({"numRows": "7\0\0\0\x01"}, None),
        ({"numRows": "9" * 20}, None),
        ({"numRows": "9" * 19}, 10**19 - 1),
        ({"numrows": "7"}, None),
        ({"xnumRows": "7"}, None),
        ({"spark.sql.statistics.numRows": "8"}, 8),
        ({"numRows": "7", "spark.sql.statistics.numRows": "8"}, 7),
        ({"spark.sql.statistics.numRows": "8", "numRows": "-1"}, 8),
        ({"spark.sql.statistics.numRows": "8", "numRows": "0"}, 8),
        ({"comment": "numRows"}, None),
    ],
)
def test_what_a_partition_says(parameters, rows):
    partition = Partition((DAY, "1"), parameters={"a": "b", **parameters, "z": "y"}, location="numRows")
    found = Totals.of([encode_partition(sales_table(), partition)])
    assert found == Totals(1, rows or 0, without_rows=int(rows is None), without_files=1, without_size=1)


def test_serde_parameters_are_none_of_a_partition():
    table = sales_table()
    serde = replace(table.storage.serde, parameters={"numRows": "5"})
    partition = Partition((DAY, "1"), storage=replace(table.storage, serde=serde, parameters={"totalSize": "5"}))
    assert Totals.of([encode_partition(table, partition)]).rows == 0
    assert Totals.of([encode_partition(table, partition)]).size == 0


def test_of_bytes_that_are_no_partition():
    assert Totals.of([b"", b"no struct"]) == Totals(2, without_rows=2, without_files=2, without_size=2)


def test_every_change_counts(sales):
    assert sales.totals(*SALES) == NOTHING
    sales.add_partitions(*SALES, [told(1, 10, 100, 1), told(2, 20, 200, 2), told(3)])
    assert sales.totals(*SALES) == Totals(3, 30, 3, 300, 1, 1, 1)
    sales.add_partitions(*SALES, [told(1, 99), told(4, 5)], if_not_exists=True)
    assert sales.totals(*SALES) == Totals(4, 35, 3, 300, 1, 2, 2)
    sales.alter_partitions(*SALES, [told(3, 7, 70, 7)])
    assert sales.totals(*SALES) == Totals(4, 42, 10, 370, 0, 1, 1)
    sales.rename_partition(*SALES, (DAY, "4"), (DAY, "5"))
    assert sales.totals(*SALES) == Totals(4, 42, 10, 370, 0, 1, 1)
    sales.rename_partition(*SALES, (DAY, "5"), told(6, 6))
    assert sales.totals(*SALES) == Totals(4, 43, 10, 370, 0, 1, 1)
    sales.change_partitions(*SALES, add=[told(7, 1)], put=[told(1, 11, 100, 1), told(8, 2)], drop=[(DAY, "2")])
    assert sales.totals(*SALES) == Totals(5, 27, 8, 170, 0, 3, 3)
    sales.drop_partitions(*SALES, [(DAY, "1"), (DAY, "9")], if_exists=True)
    assert sales.totals(*SALES) == Totals(4, 16, 7, 70, 0, 3, 3)
    assert [one for one in sales.check(*SALES) if one is not None] == []


def test_both_tables_of_an_exchange_count(sales):
    sales.create_table(replace(sales_table(), name="other"))
    sales.add_partitions(*SALES, [told(hour, hour) for hour in range(1, 6)])
    sales.add_partitions("shop", "other", [told(9, 100)])
    sales.exchange_partitions(SALES, ("shop", "other"), [(DAY, "1"), (DAY, "4")])
    assert sales.totals(*SALES) == Totals(3, 10, 0, 0, 0, 3, 3)
    assert sales.totals("shop", "other") == Totals(3, 105, 0, 0, 0, 3, 3)
    for name in (SALES, ("shop", "other")):
        assert not sales.repair(*name).miscounted


def test_a_table_takes_its_totals_along_and_the_next_of_its_name_begins_anew(sales):
    sales.add_partitions(*SALES, [told(1, 10)])
    sales.rename_table(*SALES, replace(sales_table(), name="old"))
    assert sales.totals("shop", "old").rows == 10
    sales.create_table(sales_table())
    assert sales.totals(*SALES) == NOTHING
    sales.add_partitions(*SALES, [told(1, 3)])
    assert (sales.totals(*SALES).rows, sales.totals("shop", "old").rows) == (3, 10)
    sales.drop_table(*SALES)
    sales.rename_table("shop", "old", sales_table())
    assert sales.totals(*SALES).rows == 10
    assert not sales.repair(*SALES).miscounted


def test_wrong_totals_are_named_and_mended(sales):
    sales.add_partitions(*SALES, [told(1, 10)])
    row = sales._tables.open(*SALES)
    wrong = totals_state(Totals(2, 11))
    sales._tables.transactions.run(lambda transaction: transaction.row(row.key).set_state(wrong))
    (problem,) = [one for one in sales.check(*SALES) if one is not None]
    assert problem.text == (
        "the totals are wrong: partitions 2 instead of 1, rows 11 instead of 10,"
        " without_files 0 instead of 1, without_size 0 instead of 1"
    )
    assert sales.repair(*SALES).miscounted
    assert [one for one in sales.check(*SALES) if one is not None] == []
    assert not sales.repair(*SALES).miscounted


def test_a_file_that_cannot_be_written(tmp_path):
    with connect(f"sqlite://{tmp_path}/store.db") as store:
        operations.prepared(store)
    with connect(f"sqlite://{tmp_path}/store.db?mode=ro", create=False) as store:
        assert store.totals(*SALES).partitions == 6


def test_explain_says_what_is_left_out(sales):
    sales.add_partitions(*SALES, [told(hour, 1_000, 2_500_000) for hour in range(8)])
    explained = sales.explain(*SALES, "hour in (5, 6)", True)
    assert str(explained).endswith("pruned  6 of 8 partitions, 6,000 of 8,000 rows, 15.0 MB of 20.0 MB")
    shown = explained.to_dict()
    assert (shown["kept"]["rows"], shown["of"]["rows"]) == (2_000, 8_000)
    sales.add_partitions(*SALES, [told(9), told(10, 5)])
    text = str(sales.explain(*SALES, "hour > 3 or ds is null", True))
    assert text.endswith(
        "pruned  4 of 10 partitions, 4,000 of 8,005 rows, 10.0 MB of 20.0 MB (as far as known: 2 partitions do not say)"
    )
    assert "pruned" not in str(sales.explain(*SALES, "hour = 1"))


def test_explain_of_figures_that_nobody_says(sales):
    sales.add_partitions(*SALES, hours(1, 1, 2))
    assert str(sales.explain(*SALES, "hour = 1", True)).endswith("pruned  1 of 2 partitions")


CHANGERS = {
    "adds": lambda store: store.add_partitions(*SALES, [operations.marked("7", "x"), operations.marked("8", "xx")]),
    "drops": lambda store: store.drop_partitions(*SALES, [(DAY, "2"), (DAY, "3")]),
    "alters": lambda store: store.alter_partitions(*SALES, [operations.marked("2", "abc")]),
    "renames": lambda store: store.rename_partition(*SALES, (DAY, "4"), operations.marked("9", "r")),
    "receives": lambda store: store.exchange_partitions(("shop", "other"), SALES, [(DAY, "20"), (DAY, "21")]),
    "gives": lambda store: store.exchange_partitions(SALES, ("shop", "other"), [(DAY, "2"), (DAY, "3")]),
}


@copies_of
def with_another():
    store = operations.prepared(connect("memory://?atomic=false"))
    store.create_table(replace(sales_table(), name="other"))
    store.add_partitions("shop", "other", [operations.marked("20", "other"), operations.marked("21", "o")])
    return store


@pytest.mark.parametrize("name", CHANGERS)
def test_who_reads_beside_a_change_sees_them_before_or_after_it(name, monkeypatch):
    make_impatient(monkeypatch)

    def reading(store):
        return store.totals(*SALES)

    store = with_another()
    before = store.totals(*SALES)
    CHANGERS[name](store)
    after = store.totals(*SALES)
    seen = set()
    for schedule in schedules([16, 10], step=2):
        store = with_another()
        results, _ = play(store.rows, [CHANGERS[name], reading], schedule)
        assert results[1] in (before, after), (schedule, results)
        assert store.totals(*SALES) == after, schedule
        assert not store.repair(*SALES).miscounted
        assert not store.repair("shop", "other").miscounted
        seen.add(results[1])
    assert after in seen


@pytest.mark.parametrize("fault", Fault)
@pytest.mark.parametrize("name", CHANGERS)
def test_who_reads_after_a_writer_was_struck_sees_all_of_the_change_or_nothing(name, fault, monkeypatch):
    """Nobody repairs before: totals finish what they have to, and agree with what is there then."""
    make_impatient(monkeypatch)
    names = SALES, ("shop", "other")
    store = with_another()
    before = [store.totals(*one) for one in names]
    CHANGERS[name](store)
    after = [store.totals(*one) for one in names]
    seen = []
    for store, _, ended in struck(with_another, CHANGERS[name], fault):
        found = [store.totals(*one) for one in names]
        assert found in ([after] if ended is None else [before] if ended is StoreUnavailable else [before, after])
        assert not any(store.repair(*one).miscounted for one in names)
        seen.append(found)
    assert before in seen or after in seen


@pytest.mark.hbase
def test_on_hbase(hbase_url):
    with connect(hbase_url) as store:
        for change in operations.CHANGES:
            store.drop_database("shop", cascade=True, if_exists=True)
            operations.prepared(store)
            change(store)
            other = PartitionStore(store.rows)
            found = store.get_partitions_by_filter(*SALES, None)
            rows = [int(one.parameters.get("numRows", "0")) for one in found]
            assert (other.totals(*SALES).partitions, other.totals(*SALES).rows) == (len(found), sum(rows))
            assert not store.repair(*SALES).miscounted
        store.add_partitions(*SALES, hours(9, 1, 2))
        assert store.totals(*SALES).partitions == len(store.get_partitions_by_filter(*SALES, None))

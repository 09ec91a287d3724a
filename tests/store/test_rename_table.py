"""Renaming tables: what goes along, what forbids it, and how long it takes."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import replace
from threading import Thread

import pytest

from hbstore import AlreadyExists, Column, DatabaseNotFound, InvalidInput, Partition, Table, TableNotFound, connect
from hbstore.errors import InvalidPartitionValue
from hbstore.model.constraints import Constraint, ConstraintKind, References
from hbstore.model.objects import Grant
from hbstore.model.service_objects import ColumnStatistic, ObjectGrant, ObjectRef, ObjectType
from hbstore.store.partition_store import PartitionStore
from hbstore.store.table_row import statistics_of
from tests.interleaved import Between
from tests.store import moves
from tests.store.conftest import URLS
from tests.store.moves import SALES, table
from tests.store.operations import DAY
from tests.store.strikes import MOST, make_impatient


@pytest.fixture(params=URLS)
def store(request, tmp_path):
    with moves.prepared(URLS[request.param].format(tmp_path)) as store:
        yield store


def test_everything_goes_along_under_the_new_name(store):
    before = store.get_partitions_by_filter(*SALES, None)
    store.rename_table(*SALES, table("attic", "Sales", owner="ann"))
    assert store.table_names("shop") == ["returns"]
    assert store.table_names("attic") == ["sales"]
    assert store.get_table("attic", "sales").owner == "ann"
    assert store.get_partitions_by_filter("attic", "sales", None) == before
    assert all(one[1:3] == ("attic", "sales") for one in moves.partitions(store, "attic", "sales"))
    assert store.count_partitions("attic", "sales", "hour in (2, 77)") == 1
    for call in (store.get_table, store.count_partitions, store.drop_table):
        with pytest.raises(TableNotFound):
            call(*SALES)
    moves.assert_clean(store)


def test_the_renamed_table_can_be_changed_and_its_old_name_used_again(store):
    moves.rename_away(store)
    store.create_table(table(*SALES))
    assert store.partition_names(*SALES) == []
    store.add_partitions(*SALES, [moves.marked("2", "second")])
    store.drop_partitions("attic", "sales", [(DAY, "2"), (DAY, "3")])
    store.add_partitions("attic", "sales", [moves.marked("3", "again")])
    assert store.get_partition(*SALES, (DAY, "2")).parameters == {"mark": "second"}
    assert store.partition_names("attic", "sales") == [f"ds={DAY}/hour={hour}" for hour in (0, 3, 4, 5)]
    moves.assert_clean(store)


def test_there_and_back_again(store):
    before = moves.seen(store)
    for _ in range(3):
        moves.rename_away(store)
        store.rename_table("attic", "sales", table(*SALES))
        assert moves.seen(store) == before
        store.add_partitions(*SALES, [moves.marked("66")])
        store.drop_partitions(*SALES, [(DAY, "66")])
    moves.assert_clean(store)


def test_locations_below_the_old_one_move_and_others_stay(store):
    odd = ["s3://shop/sales", "s3://shop/sales2/x", "s3://elsewhere/s3://shop/sales/x", "s3://shop/sales/ü/x"]
    given = [replace(moves.marked(str(10 + at)), location=one) for at, one in enumerate(odd)]
    store.add_partitions(*SALES, given)
    moves.rename(store)
    found = [store.get_partition("shop", "old", one.values).location for one in given]
    assert found == ["s3://attic/old", odd[1], odd[2], "s3://attic/old/ü/x"]
    assert store.get_partition("shop", "old", (DAY, "2")).location == f"s3://attic/old/ds={DAY}/hour=2"
    assert store.get_table("shop", "old").location == "s3://attic/old"


def test_statistics_go_along(store):
    before = statistics_of(store._tables.open(*SALES))
    moves.rename(store)
    assert statistics_of(store._tables.open("shop", "old")) == before
    store.create_table(table(*SALES))
    assert not statistics_of(store._tables.open(*SALES)).known


def test_a_table_without_partitions_and_one_without_partition_columns(store):
    store.create_table(Table("shop", "flat", columns=[Column("a", "int")], parameters={"x": "y"}))
    flat = store.get_table("shop", "flat")
    store.rename_table("shop", "flat", replace(flat, name="flatter"), relocated=("s3://a", "s3://b"))
    assert store.get_table("shop", "flatter") == replace(flat, name="flatter")
    store.create_table(table("shop", "bare"))
    store.rename_table("shop", "bare", table("attic", "bare"))
    assert store.partition_names("attic", "bare") == []
    moves.assert_clean(store)


def test_what_forbids_a_rename(store):
    before = moves.seen(store)
    for wanted, error in (
        (table("shop", "returns"), AlreadyExists),
        (table("nowhere", "sales"), DatabaseNotFound),
        (table("shop", "SALES"), InvalidInput),
        (table("shop", "x", partition_columns=[Column("ds", "date")]), InvalidInput),
        (table("shop", "x", partition_columns=[Column("ds", "string"), Column("hour", "int")]), InvalidInput),
        (Table("shop", "x"), InvalidInput),
    ):
        with pytest.raises(error):
            store.rename_table(*SALES, wanted)
    with pytest.raises(TableNotFound):
        store.rename_table("shop", "none", table("shop", "x"))
    with pytest.raises(DatabaseNotFound):
        store.rename_table("none", "none", table("shop", "x"))
    for pair in (("", "s3://x"), ("s3://x", "/"), ("s3://x", "s3://" + "x" * 5_000)):
        with pytest.raises(InvalidInput):
            store.rename_table(*SALES, table("shop", "x"), relocated=pair)
    assert moves.seen(store) == before
    moves.assert_clean(store)


def test_names_of_partition_columns_may_differ_in_case(store):
    columns = [Column("DS", "date"), Column("Hour", "int", "a comment")]
    store.rename_table(*SALES, table("shop", "x", partition_columns=columns))
    assert store.partition_names("shop", "x", "ds = '2013-01-01' and hour = 2") == [f"DS={DAY}/Hour=2"]


LONG = Table("d" * 128, "t" * 128, partition_columns=[Column("a", "string")])


def with_long_values(store, size):
    store.create_table(Table("shop", "x", partition_columns=[Column("a", "string")]))
    store.add_partitions("shop", "x", [Partition(("x" * size,)), Partition(("y",))])
    store.create_database(LONG.database)


@pytest.mark.parametrize("name", ["t" * 128, "t" * 256])
def test_the_longest_keys_stay_as_they_are(store, name):
    with_long_values(store, size := 32_767 - 2 * 129 - 2 - 2)
    store.rename_table("shop", "x", replace(LONG, name=name))
    assert store.partition_names(LONG.database, name) == ["a=" + "x" * size, "a=y"]
    with pytest.raises(InvalidPartitionValue, match="too long"):
        store.add_partitions(LONG.database, name, [Partition(("z" * (size + 1),))])
    moves.assert_clean(store)


@pytest.mark.parametrize("change", [moves.rename, moves.rename_away])
def test_at_each_step_of_a_rename_the_table_has_one_of_its_two_names(monkeypatch, change):
    """A reader gets it under the old name or the new one, whole, without waiting for the process."""
    make_impatient(monkeypatch)
    seen = Counter()
    for at in range(MOST):
        store = moves.fresh()
        reader = PartitionStore(store.rows)

        def look(reader=reader):
            named = []
            for name in (SALES, ("shop", "old"), ("attic", "sales")):
                with suppress(TableNotFound):
                    named.append(
                        (name, len(reader.get_partitions_by_filter(*name, None)), reader.count_partitions(*name))
                    )
            ((name, number, counted),) = named
            assert number == counted == 5
            seen[name] += 1

        between = Between(at, look)
        with monkeypatch.context() as patch:
            for call in ("get", "put_cells", "compare_and_put", "write", "remove_row"):
                patch.setattr(type(store.rows), call, between.around(getattr(type(store.rows), call)))
            change(PartitionStore(store.rows))
        if between.left >= 0:
            break
    assert len(seen) == 2
    assert min(seen.values()) > 2


LISTINGS = {
    "names": lambda store: store.table_names("shop"),
    "ids": lambda store: store._tables.ids(),
    "grants": lambda store: [one.principal for one in store.hive.grants.list()],
    "foreign keys": lambda store: store.hive.constraints.foreign_keys(),
}


@pytest.mark.parametrize("listing", LISTINGS)
@pytest.mark.parametrize("url", URLS.values())
@pytest.mark.parametrize(("name", "new"), [("a", "z"), ("z", "a")])
def test_a_listing_of_several_pages_has_a_table_once_that_is_renamed_meanwhile(
    tmp_path, monkeypatch, url, listing, name, new
):
    store, renamed = connect(url.format(tmp_path)), Table("shop", new, columns=[Column("n", "int")])
    store.create_database("shop")
    for one in (name, *"bcd"):
        store.create_table(replace(renamed, name=one))
    store.hive.constraints.add("shop", name, [Constraint(ConstraintKind.PRIMARY_KEY, ["n"], "key")])
    references = References("shop", name, ["n"])
    store.hive.constraints.add("shop", name, [Constraint(ConstraintKind.FOREIGN_KEY, ["n"], "to", None, references)])
    store.hive.grants.grant([ObjectGrant(ObjectRef(ObjectType.TABLE, "shop", name), "ann", 1, Grant("SELECT"))])
    expected = len(LISTINGS[listing](store))
    monkeypatch.setattr("hbstore.rows.sqlite.rows._FIRST_PAGE", 2)
    monkeypatch.setattr("hbstore.rows.memory._BATCH", 2)
    scan_catalog, writers = type(store.rows).scan_catalog, []

    def rename():
        PartitionStore(store.rows).rename_table("shop", name, renamed)

    def scanned(*arguments):
        for row in scan_catalog(*arguments):
            if not writers and row[0] > b"Gshop":
                writers.append(Thread(target=rename))
                writers[0].start()
                writers[0].join()
            yield row

    with monkeypatch.context() as patch:
        patch.setattr(type(store.rows), "scan_catalog", scanned)
        assert len(LISTINGS[listing](store)) == expected
    assert store.table_names("shop") == sorted((new, *"bcd"))


def test_damaged_rows_move_along(store):
    row = list(store.rows.whole_rows(b"shop\0sales\0", b"shop\0sales\1"))[3]
    last = store.table_row(*SALES).log.sequence
    store.rows.write([row._replace(payload=b"no struct"), row._replace(key=b"shop\0sales\0\x02x")], [], last)
    moves.rename(store)
    found = [one for one in store.check("shop", "old") if one is not None and "totals" not in one.text]
    assert len(found) == 2
    store.drop_table("shop", "old")
    assert list(store.rows.whole_rows(b"shop\0sales", b"shop\0salet")) == []


def test_column_statistics_of_a_renamed_or_altered_table_are_found_again(store):
    known = [ColumnStatistic("price", "int", b"...")]
    for number in range(10):  # the old name's sequence numbers run ahead of the new one's
        store.column_statistics.write_partitions(
            *SALES, {(DAY, "2"): [ColumnStatistic("price", "int", b"%d" % number)]}
        )
    store.column_statistics.write_table(*SALES, known)
    store.column_statistics.write_partitions(*SALES, {(DAY, "2"): known})
    moves.cascade(store)
    moves.rename_away(store)
    assert store.column_statistics.read_table("attic", "sales") == known
    found = store.column_statistics.read_partitions("attic", "sales", [(DAY, "2"), (DAY, "3")])
    assert found == {(DAY, "2"): known}
    store.column_statistics.write_partitions("attic", "sales", {(DAY, "2"): [ColumnStatistic("price", "int", b"+")]})
    (newer,) = store.column_statistics.read_partitions("attic", "sales", [(DAY, "2")])[DAY, "2"]
    assert newer.data == b"+"


class Counting:
    """Rows that count what is written."""

    def __init__(self, rows):
        self._rows = rows
        self.written = 0

    def __getattr__(self, name):
        return getattr(self._rows, name)

    def write(self, puts, deletes, sequence):
        self.written += len(puts) + len(deletes)
        self._rows.write(puts, deletes, sequence)


@pytest.mark.parametrize("url", ["memory://?atomic=false", "sqlite://{}/large.db"])
def test_a_large_table_takes_a_few_writes(url, tmp_path):
    with connect(url.format(tmp_path)) as store:
        store.create_database("d")
        store.create_table(Table("d", "t", partition_columns=[Column("a", "int")], location="s3://x/t"))
        for start in range(0, 100_000, 20_000):
            store.add_partitions("d", "t", [Partition((str(number),)) for number in range(start, start + 20_000)])
        counting = Counting(store.rows)
        columns = {"columns": [Column("x", "int")], "partition_columns": [Column("a", "int")]}
        new = Table("d", "tt", location="s3://y", **columns)
        PartitionStore(counting).rename_table("d", "t", new, relocated=("s3://x/t", "s3://y"))
        PartitionStore(counting).alter_table(new, cascade=True)
        assert counting.written == 0
        assert store.count_partitions("d", "tt") == 100_000
        assert store.get_partition("d", "tt", ("99999",)).location == "s3://y/a=99999"
        assert store.get_partition("d", "tt", ("99999",)).storage.columns == (Column("x", "int"),)
        PartitionStore(counting).drop_table("d", "tt")
        assert counting.written == 0
        store.repair_catalog()
        assert list(store.rows.whole_rows(b"d", b"e")) == []

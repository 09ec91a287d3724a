"""Exporting into hbstore's own endpoint, and back: every field, deaths, targets that go away."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hbstore import Column, Database, Partition, Table, connect
from hbstore.errors import InvalidInput, MetastoreUnavailable, TableNotFound, TransferConflict
from hbstore.model.objects import Order, SerDe, StorageDescriptor
from hbstore.transfer import export_metastore, import_metastore
from hbstore.transfer.constraints import ConstraintCopy
from hbstore.transfer.export_page import as_sent
from hbstore.transfer.metastore import Metastore
from tests.transfer.conftest import serving, serving_here
from tests.transfer.full import DDL_TIME, assert_same, fill
from tests.transfer.sales import NUMBER, held, killed, sell, unplaced


@pytest.fixture
def sold(store, tmp_path):
    """shop.sales with 400 partitions in the store."""
    sell(store, f"file:{tmp_path}")
    return store


def test_every_field(endpoint, store, tmp_path):
    fill(store, "attic", f"file:{tmp_path}")
    done = export_metastore(store, endpoint.uri)
    assert done.is_complete, done
    with connect(endpoint.url) as target:
        assert_same(store, target, "attic")
    again = export_metastore(store, endpoint.uri)
    assert again.is_complete
    assert {one.done for one in again.tables} == {"same"}
    assert again.tables[1].partitions.same == 5


def test_the_target_says_where_a_table_without_a_location_is(endpoint, store, tmp_path):
    elsewhere = f"file:{tmp_path}/elsewhere"
    unplaced(store, elsewhere)
    first, again = (export_metastore(store, endpoint.uri) for _ in range(2))
    assert first.is_complete, first.tables
    assert [one.done for one in first.tables] == ["created", "created", "created"]
    assert again.is_complete, again.tables
    assert [one.done for one in again.tables] == ["same", "same", "same"]
    with connect(endpoint.url) as target:
        table = target.get_table("shop", "unplaced")
        assert table.location == f"{endpoint.root}/warehouse/shop.db/unplaced"
        assert target.get_table("shop", "flat").location == f"{endpoint.root}/warehouse/shop.db/flat"
        assert target.get_table("shop", "seen").location is None
        below, other = target.get_partitions("shop", "unplaced", [["a"], ["b"]])
        assert (below.location, other.location) == (f"{table.location}/ds=a", elsewhere)
        target.alter_partitions("shop", "unplaced", [replace(below, location=elsewhere)])
    with pytest.raises(TransferConflict, match="ds=a"):
        export_metastore(store, endpoint.uri)


@pytest.mark.parametrize(
    ("owner", "call", "noted"),
    [
        (Metastore, "table_names", "table shop.trade, dropped meanwhile"),
        (ConstraintCopy, "run", "constraints of shop.trade"),
    ],
)
def test_a_table_that_is_dropped_meanwhile_is_noted_and_the_others_are_exported(
    endpoint, sold, tmp_path, monkeypatch, owner, call, noted
):
    """Before it is copied, and between its copy and that of the constraints, which comes after all tables."""
    sold.create_table(Table("shop", "trade", location=f"file:{tmp_path}/trade"))
    real = getattr(owner, call)

    def late(self, *arguments):
        sold.drop_table("shop", "trade", if_exists=True)
        return real(self, *arguments)

    monkeypatch.setattr(owner, call, late)
    done = export_metastore(sold, endpoint.uri, database="shop")
    assert [what for what, _ in done.refused] == [noted]
    assert done.tables[0].is_complete


@pytest.mark.parametrize("dies", [20, 380])
def test_a_killed_export_goes_on(endpoint, sold, url, dies):
    killed("export", url, endpoint.uri, dies)
    with connect(endpoint.url) as target:
        there = target.count_partitions("shop", "sales")
        assert there >= dies
        done = export_metastore(sold, endpoint.uri, page=20)
        assert done.is_complete
        assert done.tables[0].partitions.same + done.tables[0].partitions.added == NUMBER
        assert held(target) == held(sold)


def test_what_was_added_and_not_yet_altered_is_finished(endpoint, sold):
    """As if it was killed between the two: no conflict, but the create time is put right."""
    export_metastore(sold, endpoint.uri)
    with connect(endpoint.url) as target:
        late = [replace(one, create_time=9_999) for one in held(target)[:3]]
        counted = {"COLUMN_STATS_ACCURATE": "{}", "numFiles": "0", "totalSize": "0"}
        late[0] = replace(late[0], parameters={**late[0].parameters, **counted})
        target.alter_partitions("shop", "sales", late)
        (table,) = export_metastore(sold, endpoint.uri).tables
        assert (table.partitions.added, table.partitions.same, table.is_complete) == (3, NUMBER - 3, True)
        assert held(target) == held(sold)


@pytest.mark.parametrize("endpoint", ["process"], indirect=True)
def test_a_target_that_goes_away(endpoint, sold, tmp_path):
    def told(_, done, __):
        if done >= 100:
            endpoint.process.kill()

    with pytest.raises(MetastoreUnavailable, match="does not answer") as caught:
        export_metastore(sold, endpoint.uri, page=20, threads=2, progress=told)
    assert "of 400 partitions of shop.sales" in caught.value.fields["copied"]
    with serving(tmp_path / "again", endpoint.url) as again:
        assert export_metastore(sold, again.uri).is_complete
    with connect(endpoint.url) as target:
        assert held(target) == held(sold)


def test_conflicts(endpoint, sold):
    export_metastore(sold, endpoint.uri)
    with connect(endpoint.url) as target:
        (one,) = target.get_partitions("shop", "sales", [["7"]])
        target.alter_partitions("shop", "sales", [replace(one, location="s3://elsewhere")])
        before = held(target)
        with pytest.raises(TransferConflict, match="partitions=hour=7"):
            export_metastore(sold, endpoint.uri)
        kept = export_metastore(sold, endpoint.uri, on_conflict="keep")
        assert (kept.tables[0].partitions.kept, kept.is_complete) == (("hour=7",), True)
        assert held(target) == before
        done = export_metastore(sold, endpoint.uri, on_conflict="replace")
        assert (done.tables[0].partitions.replaced, done.is_complete) == (1, True)
        assert held(target) == held(sold)
        target.alter_table(replace(target.get_table("shop", "sales"), parameters={DDL_TIME: "6"}))
        target.alter_database(replace(target.get_database("shop"), location="s3://x"))
        with pytest.raises(TransferConflict, match="a database already exists and differs"):
            export_metastore(sold, endpoint.uri)
        with pytest.raises(TransferConflict, match="a table already exists and differs"):
            export_metastore(sold, endpoint.uri, database="shop", table="sales")
        done = export_metastore(sold, endpoint.uri, on_conflict="replace")
        assert (done.databases["shop"], done.tables[0].done, done.is_complete) == ("replaced", "replaced", True)
        assert target.get_table("shop", "sales").parameters["EXTERNAL"] == "TRUE"


def test_what_only_the_target_has_stays_and_is_counted(endpoint, sold):
    export_metastore(sold, endpoint.uri)
    sold.drop_partitions("shop", "sales", [["7"], ["8"]])
    (table,) = export_metastore(sold, endpoint.uri).tables
    assert (table.extra, table.target.count, table.is_complete) == (2, NUMBER - 2, True)


def test_the_comparison_at_the_end_sees_what_others_did(endpoint, sold):
    with connect(endpoint.url) as target:

        def told(table, done, total):
            if done == total and "comparing" not in table:
                (one,) = target.get_partitions("shop", "sales", [["7"]])
                target.alter_partitions("shop", "sales", [replace(one, parameters={})])
                target.drop_partitions("shop", "sales", [["8"]])

        (table,) = export_metastore(sold, endpoint.uri, progress=told).tables
    assert sorted(table.partitions.wrong) == ["hour=7", "hour=8"]
    assert (table.is_verified, table.target.count) == (False, NUMBER - 1)


def test_other_partition_columns_and_other_names(endpoint, sold):
    with connect(endpoint.url) as target:
        target.create_database(sold.get_database("shop"))
        target.create_table(Table("shop", "sales", [Column("ds", "date")]))
    done = export_metastore(sold, endpoint.uri)
    assert [what for what, _ in done.refused] == ["table shop.sales"]
    with pytest.raises(InvalidInput, match="other partition columns"):
        export_metastore(sold, endpoint.uri, database="shop", table="sales")
    with pytest.raises(TableNotFound):
        export_metastore(sold, endpoint.uri, database="shop", table="nothing")


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
mappings = st.dictionaries(texts, texts, max_size=2)
storages = st.builds(
    StorageDescriptor,
    columns=st.just([Column("number", "int", "what")]),
    input_format=st.none() | texts,
    output_format=st.none() | texts,
    compressed=st.booleans(),
    num_buckets=st.integers(-1, 5),
    serde=st.builds(SerDe, st.none() | texts, st.none() | texts, mappings),
    bucket_columns=st.lists(texts, max_size=2),
    sort_columns=st.lists(st.builds(Order, st.sampled_from(["number", "a b"]), st.integers(0, 1)), max_size=2),
    parameters=mappings,
    stored_as_sub_directories=st.booleans(),
)
values = st.tuples(texts.filter(bool) | st.none(), st.integers(-9, 99).map(str) | st.just("noon") | st.none())
partitions = st.builds(
    Partition,
    values,
    parameters=mappings,
    create_time=st.integers(0, 2**31 - 1),
    last_access_time=st.integers(-(2**31), 2**31 - 1),
    storage=st.none() | storages,
)


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    """An endpoint for many examples."""
    with serving_here(tmp_path_factory.mktemp("target") / "endpoint") as found:
        yield found


@settings(max_examples=15)
@given(st.lists(partitions, max_size=5, unique_by=lambda one: one.values))
def test_whatever_partitions_there_and_back(target, some):
    with connect("memory://") as store, connect("memory://") as back, connect(target.url) as there:
        there.drop_database("shop", cascade=True, if_exists=True)
        store.create_database(Database("shop", location=f"{target.root}/shop"))
        columns = [Column("ds", "string"), Column("hour", "int")]
        table = Table("shop", "sales", columns, [Column("number", "int")], table_type="VIRTUAL_VIEW")
        store.create_table(replace(table, parameters={DDL_TIME: "1"}, create_time=1))
        store.change_partitions("shop", "sales", add=some, invalid_values="keep")
        done = export_metastore(store, target.uri, page=2, threads=2)
        assert done.tables[0].is_verified
        assert not done.refused
        read = import_metastore(back, target.uri, page=3, database="shop")
        assert read.tables[0].is_verified
        # Of what has no create time the metastore says when it got it.
        expected = [
            replace(as_sent(one), create_time=one.create_time or other.create_time)
            for one, other in zip(held(store), held(back), strict=True)
        ]
        assert held(back) == expected

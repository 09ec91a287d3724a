"""Importing from hbstore's own endpoint: conflicts, deaths, sources that go away, what is there besides."""

from __future__ import annotations

import threading
from contextlib import closing
from dataclasses import replace

import pytest

from hbstore import Column, Database, Partition, Table, connect
from hbstore.errors import (
    DatabaseNotFound,
    InvalidInput,
    InvalidTime,
    InvalidUrl,
    MetastoreUnavailable,
    StoreFull,
    TableNotFound,
    TransferConflict,
)
from hbstore.model.service_objects import Function
from hbstore.rows.sqlite.file import SqliteFile
from hbstore.store.table_row import DEFINITION, next_definition
from hbstore.transfer import import_metastore
from hbstore.transfer.connection import Address
from hbstore.transfer.import_page import ImportPage
from hbstore.transfer.metastore import Metastore
from tests.hbase_server import own_tables
from tests.transfer.conftest import serving
from tests.transfer.full import assert_same, fill
from tests.transfer.sales import held, killed

CLASS = "cube.storagetable.partition.timeline.cache.DAILY.ds.storage.class"
PERIODS = "cube.storagetable.update.periods"
COLUMNS = [Column("ds", "date"), Column("hour", "int")]
DAYS, HOURS = 25, 24


@pytest.fixture
def source(endpoint):
    """The store behind the endpoint, with shop.sales of 600 partitions."""
    with connect(endpoint.url) as opened:
        opened.create_database(Database("shop", location="s3://shop"))
        opened.create_table(Table("shop", "sales", COLUMNS, [Column("amount", "double")], location="/sales"))
        made = [
            Partition((f"2013-01-{day:02}", str(hour)), parameters={"at": f"{day}/{hour}"}, create_time=day)
            for day in range(1, DAYS + 1)
            for hour in range(HOURS)
        ]
        opened.add_partitions("shop", "sales", made)
        yield opened


@pytest.mark.parametrize("call", ["partition_names", "partitions"])
def test_a_table_that_is_dropped_meanwhile_is_noted_and_the_others_are_imported(
    endpoint, source, store, monkeypatch, call
):
    source.create_table(Table("shop", "trade", COLUMNS, location="/trade"))
    real = getattr(Metastore, call)

    def late(self, *arguments):
        source.drop_table("shop", "sales", if_exists=True)
        return real(self, *arguments)

    monkeypatch.setattr(Metastore, call, late)
    done = import_metastore(store, endpoint.uri, database="shop")
    assert [what for what, _ in done.refused] == ["table shop.sales, dropped meanwhile"]
    assert [one.table for one in done.tables] == ["shop.trade"]


def alter(store, values, **parameters):
    (one,) = store.get_partitions("shop", "sales", [values])
    store.alter_partitions("shop", "sales", [replace(one, parameters=parameters)])


def test_tables_with_types_that_hive_does_not_have_are_imported(endpoint, source, store):
    odd = Table("shop", "odd", COLUMNS, [Column("a", "array<money>"), Column("b", "money")], location="/odd")
    source.create_table(odd, invalid_types="keep")
    assert import_metastore(store, endpoint.uri, database="shop").is_complete
    assert store.get_table("shop", "odd").columns == odd.columns
    source.alter_table(replace(odd, columns=[Column("c", "money")]), invalid_types="keep")
    assert import_metastore(store, endpoint.uri, database="shop", on_conflict="replace").is_complete
    assert store.get_table("shop", "odd").columns == (Column("c", "money"),)


@pytest.mark.parametrize(
    ("parameters", "why"),
    [
        ({PERIODS: "DAILY", CLASS: "com.example.Linked"}, "the timeline class is unknown"),
        ({PERIODS: "DAYLY"}, "the update period is unknown"),
    ],
)
def test_a_table_whose_timelines_cannot_be_is_reported_and_the_others_are_imported(
    endpoint, source, store, parameters, why
):
    odd = Table("shop", "odd", COLUMNS, location="/odd")
    source.create_table(odd)
    row = source.table_row("shop", "odd")
    odd = replace(odd, parameters={"cube.storagetable.time.partcols": "ds", **parameters})
    assert source.rows.compare_and_put(
        row.key, DEFINITION, row.cells[DEFINITION], next_definition(row.cells[DEFINITION], odd)
    )
    done = import_metastore(store, endpoint.uri, database="shop")
    ((what, said),) = done.refused
    assert what == "table shop.odd"
    assert why in said
    assert [one.table for one in done.tables] == ["shop.sales"]
    assert store.count_partitions("shop", "sales") == DAYS * HOURS


def test_a_whole_metastore(endpoint, source, store):
    fill(source, "attic", endpoint.root)
    done = import_metastore(store, endpoint.uri, page=50)
    assert done.is_complete
    assert done.databases == {"attic": "created", "default": "created", "shop": "created"}
    assert held(store) == held(source)
    assert_same(source, store, "attic")
    (tax,) = store.hive.functions.all()
    assert (tax, done.functions) == (replace(source.hive.functions.get("attic", "tax"), create_time=tax.create_time), 1)
    again = import_metastore(store, endpoint.uri)
    assert set(again.databases.values()) == {"same"}
    assert again.is_complete
    assert again.tables[-1].partitions.same == DAYS * HOURS


def test_one_database_or_one_table(endpoint, source, store):
    fill(source, "attic", endpoint.root)
    import_metastore(store, endpoint.uri, database="Attic", table="PLAIN")
    assert store.table_names("attic") == ["plain"]
    assert store.hive.functions.all() == []
    import_metastore(store, endpoint.uri, database="attic", statistics=False)
    assert store.database_names() == ["attic"]
    assert len(store.table_names("attic")) == 3
    sold = [one.values for one in source.get_partitions_by_filter("attic", "sales", None)]
    assert source.column_statistics.read_partitions("attic", "sales", sold)
    assert not store.column_statistics.read_partitions("attic", "sales", sold)


@pytest.mark.usefixtures("source")
def test_questions_that_are_none(endpoint, store):
    with pytest.raises(DatabaseNotFound):
        import_metastore(store, endpoint.uri, database="nowhere")
    with pytest.raises(TableNotFound):
        import_metastore(store, endpoint.uri, database="shop", table="nothing")
    with pytest.raises(InvalidInput, match="the database of the table is missing"):
        import_metastore(store, endpoint.uri, table="sales")
    with pytest.raises(InvalidInput, match="the policy is unknown"):
        import_metastore(store, endpoint.uri, on_conflict="merge")
    with pytest.raises(InvalidInput, match="must be at least 1"):
        import_metastore(store, endpoint.uri, page=0)
    with pytest.raises(InvalidUrl):
        import_metastore(store, "localhost:9083")


@pytest.mark.parametrize("dies", [20, 580])
def test_a_killed_import_goes_on(endpoint, source, url, dies):
    killed("import", url, endpoint.uri, dies)
    with connect(url, create=False) as store:
        there = store.count_partitions("shop", "sales")
        assert there >= dies
        done = import_metastore(store, endpoint.uri, page=20)
        (table,) = done.tables
        assert (table.partitions.same, table.partitions.added) == (there, DAYS * HOURS - there)
        assert done.is_complete
        assert held(store) == held(source)


@pytest.mark.parametrize("endpoint", ["process"], indirect=True)
def test_a_source_that_goes_away(endpoint, source, store, tmp_path):
    """The error names it; the rest comes when it is back."""

    def told(_, done, __):
        if done >= 100:
            endpoint.process.kill()

    with pytest.raises(MetastoreUnavailable, match="does not answer") as caught:
        import_metastore(store, endpoint.uri, page=20, threads=2, progress=told)
    assert "repeat the command" in caught.value.hint
    assert "of 600 partitions of shop.sales" in caught.value.fields["copied"]
    there = store.count_partitions("shop", "sales")
    assert 100 <= there < DAYS * HOURS
    with serving(tmp_path / "again", endpoint.url) as again:
        (table,) = import_metastore(store, again.uri).tables
    assert (table.partitions.same, table.partitions.added, table.is_complete) == (there, 600 - there, True)
    assert held(store) == held(source)


class TestConflicts:
    @pytest.fixture(autouse=True)
    def _imported(self, endpoint, source, store):
        import_metastore(store, endpoint.uri)
        alter(source, ("2013-01-02", "3"), at="in the source")
        alter(store, ("2013-01-02", "4"), at="in the store")
        self.before = held(store)

    def test_fail_is_the_default_and_names_them(self, endpoint, store):
        with pytest.raises(TransferConflict, match="ds=2013-01-02/hour=3, ds=2013-01-02/hour=4") as caught:
            import_metastore(store, endpoint.uri)
        assert "--on-conflict" in caught.value.hint
        assert held(store) == self.before

    def test_keep(self, endpoint, store):
        done = import_metastore(store, endpoint.uri, on_conflict="keep")
        (table,) = done.tables
        assert table.partitions.kept == ("ds=2013-01-02/hour=3", "ds=2013-01-02/hour=4")
        assert done.is_complete
        assert (table.source.count, table.extra) == (598, 0)
        assert held(store) == self.before

    def test_replace(self, endpoint, source, store):
        done = import_metastore(store, endpoint.uri, on_conflict="replace")
        (table,) = done.tables
        assert (table.partitions.replaced, table.partitions.same, done.is_complete) == (2, 598, True)
        assert held(store) == held(source)

    def test_another_spelling_is_another_partition(self, endpoint, source, store):
        source.rename_partition("shop", "sales", ("2013-01-05", "7"), ("2013-01-05", "07"))
        alter(source, ("2013-01-02", "3"), at="2/3")
        alter(store, ("2013-01-02", "4"), at="2/4")
        done = import_metastore(store, endpoint.uri, on_conflict="replace")
        assert (done.tables[0].partitions.added, done.tables[0].extra) == (1, 1)
        store.drop_partitions("shop", "sales", [("2013-01-05", "7")])
        assert held(store) == held(source)


@pytest.mark.parametrize("on_conflict", ["fail", "keep", "replace"])
def test_databases_and_tables_that_differ(endpoint, source, store, on_conflict):
    store.create_database(Database("shop", description="another one"))
    store.create_table(Table("shop", "sales", COLUMNS, parameters={"team": "web"}))
    source.hive.functions.create(Function("shop", "tax", "org.shop.Tax"))
    store.hive.functions.create(Function("shop", "tax", "org.shop.OtherTax"))
    if on_conflict == "fail":
        with pytest.raises(TransferConflict, match="a database already exists and differs: name=shop"):
            import_metastore(store, endpoint.uri)
        with pytest.raises(TransferConflict, match=r"differs=columns, location, parameters"):
            import_metastore(store, endpoint.uri, database="shop", table="sales")
        return
    done = import_metastore(store, endpoint.uri, on_conflict=on_conflict)
    expected = {"keep": "kept", "replace": "replaced"}[on_conflict]
    assert done.databases["shop"] == expected
    assert done.tables[0].done == expected
    replaced = on_conflict == "replace"
    assert store.get_database("shop") == (source if replaced else store).get_database("shop")
    assert (store.get_table("shop", "sales") == source.get_table("shop", "sales")) is replaced
    assert store.hive.functions.get("shop", "tax").class_name == ("org.shop.Tax" if replaced else "org.shop.OtherTax")
    assert done.is_complete
    assert held(store) == held(source)


@pytest.mark.parametrize("on_conflict", ["fail", "replace"])
def test_other_partition_columns_are_told(endpoint, source, store, on_conflict):
    store.create_database(source.get_database("shop"))
    store.create_table(Table("shop", "sales", COLUMNS[:1]))
    done = import_metastore(store, endpoint.uri, on_conflict=on_conflict)
    assert [what for what, _ in done.refused] == ["table shop.sales"]
    assert "other partition columns" in done.refused[0][1]
    with pytest.raises(InvalidInput, match="other partition columns"):
        import_metastore(store, endpoint.uri, database="shop", table="sales", on_conflict=on_conflict)


def test_functions_that_differ_are_told(endpoint, source, store):
    source.hive.functions.create(Function("shop", "tax", "org.shop.Tax"))
    import_metastore(store, endpoint.uri)
    store.hive.functions.alter("shop", "tax", Function("shop", "tax", "org.shop.OtherTax"))
    assert import_metastore(store, endpoint.uri).refused == (
        ("function shop.tax", "the function already exists and differs"),
    )


def test_what_only_the_store_has_stays_and_is_counted(endpoint, source, store):
    import_metastore(store, endpoint.uri)
    source.drop_partitions("shop", "sales", [("2013-01-01", "1"), ("2013-01-01", "2")])
    done = import_metastore(store, endpoint.uri)
    assert (done.tables[0].extra, done.tables[0].target.count, done.is_complete) == (2, 598, True)
    assert store.count_partitions("shop", "sales") == 600


@pytest.mark.usefixtures("source")
def test_the_comparison_at_the_end_sees_what_others_did(endpoint, store):
    """Somebody alters, or drops, a partition that was copied already."""

    def doing(change):
        def told(table, done, total):
            if done == total and "comparing" not in table:
                change()

        return told

    altering = doing(lambda: alter(store, ("2013-01-02", "4"), at="other"))
    (table,) = import_metastore(store, endpoint.uri, progress=altering).tables
    assert (table.is_verified, table.is_complete, table.target.count) == (False, False, 600)
    dropping = doing(lambda: store.drop_partitions("shop", "sales", [("2013-01-02", "4")]))
    (table,) = import_metastore(store, endpoint.uri, progress=dropping, on_conflict="replace").tables
    assert (table.is_verified, table.target.count, table.source.count) == (False, 599, 600)


def test_the_order_of_parameters_is_no_difference(endpoint, source, store):
    import_metastore(store, endpoint.uri)
    alter(source, ("2013-01-02", "3"), z="1", a="2", m="3")
    alter(store, ("2013-01-02", "3"), z="1", m="3", a="2")
    (table,) = import_metastore(store, endpoint.uri).tables
    assert (table.partitions.same, table.is_complete) == (600, True)


def test_values_of_no_such_type_are_kept_and_told(endpoint, source, store):
    source.add_partitions("shop", "sales", [Partition(("2013-01-01", "noon"))], invalid_values="keep")
    done = import_metastore(store, endpoint.uri)
    assert done.tables[0].untyped == ("ds=2013-01-01/hour=noon",)
    assert (done.tables[0].is_verified, done.is_complete) == (True, False)
    assert held(store) == held(source)


def test_partitions_that_are_gone_meanwhile(endpoint, source, store):
    import_metastore(store, endpoint.uri)
    page = ["ds=2013-01-01/hour=1", "ds=2014-01-01/hour=1"]
    work = ImportPage(source.get_table("shop", "sales"), "fail", statistics=True)
    with closing(Metastore(Address.of(endpoint.uri))) as metastore:
        outcome = work(store, metastore, page)
    assert (outcome.same, outcome.gone, outcome.checksum.count) == (1, ("ds=2014-01-01/hour=1",), 1)


def test_one_partition_that_cannot_be_does_not_stop_the_others(endpoint, source, store):
    """The table keeps timelines, and one partition is of no day."""
    declared = {
        "cube.storagetable.time.partcols": "ds",
        "cube.storagetable.update.periods": "DAILY",
        "cube.storagetable.partition.timeline.cache.present": "true",
    }
    source.create_table(Table("shop", "days", [Column("ds", "string")]))
    days = [f"2013-01-{day:02}" for day in range(1, 20)]
    source.add_partitions("shop", "days", [Partition([day]) for day in [*days, "someday"]])
    source.alter_table(replace(source.get_table("shop", "days"), parameters=declared))
    done = import_metastore(store, endpoint.uri, database="shop", table="days")
    (table,) = done.tables
    assert [name for name, _ in table.partitions.refused] == ["ds=someday"]
    assert (table.partitions.added, table.is_verified, table.is_complete) == (19, True, False)
    assert store.get_table("shop", "days").parameters == source.get_table("shop", "days").parameters


def test_a_table_of_many_partitions_that_cannot_be_does_not_stop_the_other_tables(endpoint, source, store):
    """They are of no day: the import ended at this table, and said nothing of those behind it."""
    source.create_table(Table("shop", "days", [Column("ds", "string")]))
    source.add_partitions("shop", "days", [Partition([f"someday {number}"]) for number in range(30)])
    declared = {"cube.storagetable.time.partcols": "ds", PERIODS: "DAILY"}
    source.alter_table(replace(source.get_table("shop", "days"), parameters=declared))
    done = import_metastore(store, endpoint.uri, database="shop")
    assert ([what for what, _ in done.refused], done.is_complete) == (["table shop.days"], False)
    assert "0 of 30 partitions" in done.refused[0][1]
    assert [one.table for one in done.tables] == ["shop.sales"]
    with pytest.raises(InvalidTime):
        import_metastore(store, endpoint.uri, database="shop", table="days")


def test_two_imports_at_once(endpoint, source, url):
    """They write the same, and neither is in the other's way."""
    done = []

    def run():
        with connect(url) as store:
            done.append(import_metastore(store, endpoint.uri, page=20))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [one.is_complete for one in done] == [True, True]
    with connect(url) as store:
        assert held(store) == held(source)


def test_a_full_disk(endpoint, source, store, monkeypatch):
    """What was copied stays, and the rest comes when there is room again."""
    with store.rows._connections.mine() as sqlite:
        (pages,) = sqlite.execute("PRAGMA page_count").fetchone()
    opened = SqliteFile.open

    def limited(file):
        connection = opened(file)
        connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        return connection

    with monkeypatch.context() as patch:
        patch.setattr(SqliteFile, "open", limited)
        with pytest.raises(StoreFull) as caught:
            import_metastore(store, endpoint.uri, page=20, threads=1)
    there = store.count_partitions("shop", "sales")
    assert caught.value.fields["copied"].startswith(f"{there} of 600 partitions")
    assert 0 < there < DAYS * HOURS
    (table,) = import_metastore(store, endpoint.uri, page=20, threads=1).tables
    assert (table.partitions.same, table.partitions.added, table.is_complete) == (there, 600 - there, True)
    assert held(store) == held(source)


@pytest.mark.hbase
def test_into_hbase(endpoint, source, hbase_server_url):
    with own_tables(hbase_server_url) as url, connect(url) as store:
        done = import_metastore(store, endpoint.uri, page=100)
        assert done.is_complete
        assert held(store) == held(source)
        assert import_metastore(store, endpoint.uri, page=100).tables[0].partitions.same == 600

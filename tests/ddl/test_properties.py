"""SET and UNSET TBLPROPERTIES: what the table has afterwards, and that nothing else of it changed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hbstore import Column, Partition, Table, connect
from hbstore.byte_cache import ByteCache
from hbstore.ddl import execute, parse_statements
from hbstore.ddl.properties import change_properties
from hbstore.errors import DdlSyntaxError, InvalidInput, UnknownTimelineClass, UnknownUpdatePeriod
from hbstore.timelines import classes, register
from hbstore.timelines.declaration import UPDATE_PERIODS
from hbstore.timelines.factory import PRESENT
from tests.store.timelines import declared
from tests.timelines.own_class import NAME, CountedRunsTimeline

CLASS = "cube.storagetable.partition.timeline.cache.DAILY.dt.storage.class"
CHANGED = "transient_lastDdlTime"


@pytest.fixture(params=["memory://", "memory://?atomic=false", "sqlite"])
def store(request, tmp_path):
    url = f"sqlite://{tmp_path}/catalog.db" if request.param == "sqlite" else request.param
    with connect(url) as store:
        store.create_database("shop")
        parameters = {"comment": "ours", "owner.team": "north", **declared("DAILY", "dt")}
        store.create_table(Table("shop", "sales", [Column("dt", "string")], parameters=parameters))
        store.add_partitions("shop", "sales", [Partition([f"2015-01-0{day}"]) for day in (1, 2, 4)])
        yield store


def properties(store):
    found = store.get_table("shop", "sales").parameters
    return {name: value for name, value in found.items() if name != CHANGED}


def run(store, text):
    return execute(store, text, "shop")


def test_set_and_unset(store):
    before = store.get_table("shop", "sales")
    run(store, "alter table sales set tblproperties ('comment' = 'it\\'s', owner.team = 7, \"b\" = TRUE, 'e' = '')")
    assert properties(store) == {**before.parameters, "comment": "it's", "owner.team": "7", "b": "true", "e": ""}
    run(store, "ALTER TABLE shop.sales UNSET TBLPROPERTIES ('b', owner.team, 'comment', 'e')")
    assert properties(store) == declared("DAILY", "dt")
    after = store.get_table("shop", "sales")
    assert int(after.parameters[CHANGED]) > 0
    assert replace(after, parameters=before.parameters) == before


def test_what_is_not_there_is_unset_only_if_it_exists(store):
    before = properties(store)
    with pytest.raises(InvalidInput, match=r"name=colour\. .*IF EXISTS"):
        run(store, "ALTER TABLE sales UNSET TBLPROPERTIES ('comment', 'colour')")
    assert properties(store) == before
    run(store, "ALTER TABLE sales UNSET TBLPROPERTIES IF EXISTS ('comment', 'colour')")
    assert before.keys() - properties(store).keys() == {"comment"}


def test_properties_declare_timelines(store):
    run(store, "ALTER TABLE sales SET TBLPROPERTIES ('cube.storagetable.update.periods' = 'DAILY,MONTHLY')")
    assert [one.update_period.name for one in store.timelines.of("shop.sales")] == ["DAILY", "MONTHLY"]
    run(store, f"ALTER TABLE sales SET TBLPROPERTIES ('{CLASS}' = 'RangesPartitionTimeline', '{PRESENT}' = 'false')")
    assert type(store.timelines.of("shop.sales")[0]).__name__ == "RangesPartitionTimeline"
    before = store.get_table("shop", "sales")
    with pytest.raises(UnknownTimelineClass, match=r"com\.example\.Linked"):
        run(store, f"ALTER TABLE sales SET TBLPROPERTIES ('{CLASS}' = 'com.example.Linked')")
    with pytest.raises(UnknownUpdatePeriod):
        run(store, "ALTER TABLE sales SET TBLPROPERTIES ('cube.storagetable.update.periods' = 'DALY')")
    assert store.get_table("shop", "sales") == before


@pytest.mark.parametrize(
    "statement",
    [
        f"ALTER TABLE sales SET TBLPROPERTIES ('{CLASS}' = 'StoreAllPartitionTimeline')",
        f"ALTER TABLE sales UNSET TBLPROPERTIES ('{CLASS}')",
    ],
)
def test_a_class_that_is_not_there_is_mended(store, statement, monkeypatch):
    register(CountedRunsTimeline)
    run(store, f"ALTER TABLE sales SET TBLPROPERTIES ('{CLASS}' = '{NAME}', '{PRESENT}' = 'false')")
    assert type(store.timelines.of("shop.sales")[0]) is CountedRunsTimeline
    monkeypatch.setattr(classes, "_registered", {})  # as in a process where it is not installed
    object.__setattr__(store.timelines, "_cache", ByteCache(0))
    with pytest.raises(UnknownTimelineClass):
        store.timelines.read("shop.sales")
    run(store, statement)
    assert len(list(store.timelines.of("shop.sales")[0].iterate())) == 3


@pytest.mark.parametrize(
    "text",
    [
        "ALTER TABLE sales SET TBLPROPERTIES ()",
        "ALTER TABLE sales SET TBLPROPERTIES ('a')",
        "ALTER TABLE sales SET TBLPROPERTIES ('a' = NULL)",
        "ALTER TABLE sales UNSET TBLPROPERTIES ('a' = 'b')",
        "ALTER TABLE sales PARTITION (ds = 'a') SET TBLPROPERTIES ('a' = 'b')",
    ],
)
def test_what_does_not_parse(text):
    with pytest.raises(DdlSyntaxError):
        parse_statements(text)


@pytest.mark.parametrize(("name", "value"), [("comment", "new"), (UPDATE_PERIODS, "DAILY,MONTHLY")])
def test_what_others_changed_meanwhile_stays(store, name, value):
    seen = store.get_table("shop", "sales")
    store.alter_table(replace(seen, owner="ann", columns=[Column("price", "double")]))
    (statement,) = parse_statements(f"ALTER TABLE shop.sales SET TBLPROPERTIES ('{name}' = '{value}')")
    change_properties(store, seen, statement)
    after = store.get_table("shop", "sales")
    assert (after.owner, after.parameters[name]) == ("ann", value)
    assert after.columns == (Column("price", "double"),)


def test_a_property_is_set_once(store):
    before = store.get_table("shop", "sales")
    with pytest.raises(InvalidInput, match="set twice: name=comment"):
        run(store, "ALTER TABLE sales SET TBLPROPERTIES ('comment' = 'a', 'other' = 'b', comment = 'c')")
    assert store.get_table("shop", "sales") == before

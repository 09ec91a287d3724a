"""Models that are damaged, altered meanwhile, or lead nowhere: a named error that says where and what to do."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sqlglot
from sqlglot import exp

from hbstore.byte_cache import ByteCache
from hbstore.cubes import parse_documents
from hbstore.cubes.query.star import Star
from hbstore.cubes.stored_model import text_of
from hbstore.errors import (
    ConcurrentChange,
    CorruptTimeline,
    NoCandidate,
    StoreBusy,
    TableNotFound,
    TimelineNotFound,
    UnknownField,
    UnsupportedQuery,
)
from hbstore.store.partition_store import PartitionStore
from hbstore.store.table_row import table_key
from hbstore.timelines.declaration import UPDATE_PERIODS
from hbstore.transactions.waiting import Patience
from tests.cubes.small_cube import CUBE, fact, opened, partitions, table
from tests.services.documents import put as put_document

DAYS = partitions("DAILY", ["2015-01-01", "2015-01-02", "2015-01-04"])
QUERY = "cube select fare from rides where time_range_in(start_time, '2015-01-01', '2015-01-03')"
TABLE = ("shop", "lake_daily")


def fares(name="daily", storage="lake"):
    """A fact on one storage."""
    return fact(name, "fare bike", table(storage, "DAILY"))


@pytest.fixture
def cubes():
    """A cube with one fact, which has three days."""
    with opened(*CUBE, fares()) as cubes:
        cubes.add_partitions("daily", "lake", DAYS)
        yield cubes


def meanwhile(monkeypatch, change):
    """Let the facts of a cube be changed once by another writer, between the reads of the facts and of their tables."""
    read, changes = Star.facts, [change]

    def facts(star, cube):
        found = read(star, cube)
        if changes:
            changes.pop()()
        return found

    monkeypatch.setattr(Star, "facts", facts)


# Storage tables


@pytest.mark.parametrize(
    "damage",
    [
        lambda cell: cell[:16] + b"\xff\x00" + cell[18:],
        lambda cell: cell.replace(b"2015-01-04", b"2014-12-04"),
        lambda cell: cell.replace(b"2015-01-04", b"2015-01-44"),
    ],
)
def test_a_damaged_timeline_is_named_and_mended_by_the_command_that_the_error_names(cubes, damage):
    key = table_key(*TABLE)
    cubes.rewrite(QUERY)
    cell = cubes.store.rows.get_all(key)["t:DAILY.dt"]
    assert cubes.store.rows.compare_and_put(key, "t:DAILY.dt", cell, damage(cell))
    object.__setattr__(cubes.store.timelines, "_cache", ByteCache(0))  # as in another process
    with pytest.raises(CorruptTimeline) as caught:
        cubes.rewrite(QUERY)
    assert str(caught.value.fields["table"]) == "shop.lake_daily"
    assert caught.value.fields["timeline"] == "DAILY.dt"
    assert caught.value.fields["reason"]
    assert "`hbstore timeline rebuild shop.lake_daily`" in caught.value.hint
    cubes.store.timelines.rebuild(".".join(TABLE))
    assert cubes.rewrite(QUERY).partitions["lake_daily"].runs


def test_a_storage_table_that_is_gone_is_named_and_made_anew_as_the_error_says(cubes):
    cubes.store.drop_table(*TABLE)
    with pytest.raises(TableNotFound) as caught:
        cubes.rewrite(QUERY)
    assert caught.value.fields == {"table": "shop.lake_daily", "fact": "daily", "storage": "lake"}
    assert "`hbstore model alter` with the fact daily as it is" in caught.value.hint
    cubes.alter(cubes.fact("daily"))
    with pytest.raises(NoCandidate, match="partitions are missing"):
        cubes.rewrite(QUERY)


def test_a_storage_table_that_keeps_no_timelines_any_more(cubes):
    table = cubes.store.get_table(*TABLE)
    parameters = {key: value for key, value in table.parameters.items() if key != UPDATE_PERIODS}
    cubes.store.alter_table(replace(table, parameters=parameters))
    with pytest.raises(TimelineNotFound) as caught:
        cubes.rewrite(QUERY)
    assert {"fact": "daily", "storage": "lake"}.items() <= caught.value.fields.items()
    cubes.alter(cubes.fact("daily"))
    assert cubes.rewrite(QUERY).partitions["lake_daily"].runs


DIMTABLE = """
kind: dimension
name: bikes
dim_attributes: [{name: id, type: string}, {name: colour, type: string}]
---
kind: dimtable
name: bike_table
dimension: bikes
columns: [{name: id, type: string}, {name: colour, type: string}]
storage_tables:
  - storage: lake
"""
DUMPS = """    update_periods: [DAILY]
    partition_columns: [{name: dt, type: string}]
    time_partition_columns: [dt]
"""


@pytest.mark.parametrize("more", ["", DUMPS])
def test_a_table_of_a_dimension_that_is_gone_is_named_and_made_anew_as_the_error_says(cubes, more, monkeypatch):
    cubes.create_all(parse_documents(DIMTABLE + more, "yaml"))
    if more:
        cubes.add_partitions("bike_table", "lake", DAYS)
    query = "cube select colour from bikes"
    assert "lake_bike_table" in cubes.rewrite(query).reads
    cubes.store.drop_table("shop", "lake_bike_table")
    with pytest.raises(TableNotFound) as caught:
        cubes.rewrite(query)
    assert caught.value.fields == {"table": "shop.lake_bike_table", "dimtable": "bike_table", "storage": "lake"}
    assert "`hbstore model alter` with the dimtable bike_table as it is" in caught.value.hint
    cubes.alter(cubes.dimtable("bike_table"))
    if more:
        cubes.add_partitions("bike_table", "lake", DAYS)
    assert "lake_bike_table" in cubes.rewrite(query).reads
    read = Star.dimtables

    def dropped_afterwards(star, dimension):
        found = list(read(star, dimension))
        cubes.drop("dimtable", "bike_table")
        return found

    monkeypatch.setattr(Star, "dimtables", dropped_afterwards)
    with pytest.raises(ConcurrentChange, match="altered or dropped the dimension table") as changed:
        cubes.rewrite(query)
    assert changed.value.hint == "Ask again"


# A model that is changed meanwhile


def test_a_fact_that_is_dropped_meanwhile_is_left_out(cubes, monkeypatch):
    cubes.create(fares("other"))
    meanwhile(monkeypatch, lambda: cubes.drop("fact", "other"))
    assert [one.table for one in cubes.rewrite(QUERY).candidates] == ["lake_daily"]


def test_a_fact_that_gets_another_storage_meanwhile_is_read_there(cubes, monkeypatch):
    def move():
        cubes.alter(fares(storage="vault"))
        cubes.add_partitions("daily", "vault", DAYS)

    meanwhile(monkeypatch, move)
    assert list(cubes.rewrite(QUERY).partitions) == ["vault_daily"]


def test_a_fact_that_replaces_another_meanwhile_answers(cubes, monkeypatch):
    def replace():
        cubes.create(fares("other"))
        cubes.add_partitions("other", "lake", DAYS)
        cubes.drop("fact", "daily")

    meanwhile(monkeypatch, replace)
    assert list(cubes.rewrite(QUERY).partitions) == ["lake_other"]


def test_a_cube_that_is_dropped_meanwhile(cubes, monkeypatch):
    meanwhile(monkeypatch, lambda: cubes.drop("cube", "rides", cascade=True))
    with pytest.raises(NoCandidate, match="no facts on storages"):
        cubes.rewrite(QUERY)


def test_facts_that_others_keep_altering(cubes, monkeypatch):
    read, storages = Star.facts, ["lake", "vault"]

    def facts(star, cube):
        found = read(star, cube)
        storages.reverse()
        cubes.alter(fares(storage=storages[0]))
        return found

    monkeypatch.setattr(Star, "facts", facts)
    monkeypatch.setattr(PartitionStore, "patience", Patience(total=0))
    with pytest.raises(StoreBusy, match="kept altering the cube's facts") as caught:
        cubes.rewrite(QUERY)
    assert caught.value.fields["cube"] == "rides"
    assert caught.value.hint == "Ask again"


# A model that leads nowhere


def test_facts_without_storages():
    without = fares().changed(storage_tables=[])
    with opened(*CUBE, without) as cubes, pytest.raises(NoCandidate, match="no facts on storages") as caught:
        cubes.rewrite(QUERY)
    assert caught.value.fields == {"cube": "rides"}
    assert "storage tables" in caught.value.hint


@pytest.mark.parametrize("expressions", [{"a": "a + 1"}, {"a": "b + fare", "b": "abs(a)"}])
def test_stored_expressions_that_refer_to_themselves_are_named(cubes, expressions):
    """`Cubes.alter` refuses them; those that another version stored end in an error as well, and not in a loop."""
    known = cubes.cube("rides")
    specs = [{"name": name, "type": "double", "specs": [{"expression": text}]} for name, text in expressions.items()]
    put_document(cubes.store, "shop", "cube", "rides", text_of(known.changed(expressions=specs)))
    with pytest.raises(UnsupportedQuery, match="lead back to themselves") as caught:
        cubes.rewrite(QUERY.replace("fare", "fare, a"))
    assert caught.value.highlight.endswith(" " * 18 + "^")
    assert caught.value.hint


def test_expressions_that_double_each_other_are_refused_before_they_fill_the_memory(cubes):
    doubling = [("e0", "fare"), *((f"e{at}", f"e{at - 1} + e{at - 1}") for at in range(1, 40))]
    specs = [{"name": name, "type": "double", "specs": [{"expression": text}]} for name, text in doubling]
    cubes.alter(cubes.cube("rides").changed(expressions=specs))
    assert cubes.rewrite(QUERY.replace("fare", "e3")).sql.count("SUM(") == 8
    with pytest.raises(UnsupportedQuery, match="make the query too long") as caught:
        cubes.rewrite(QUERY.replace("fare", "e39"))
    assert caught.value.hint


def test_a_derived_cube_whose_parent_is_gone(cubes):
    (derived,) = parse_documents("{kind: derived_cube, name: part, parent: walks, measures: [fare]}", "yaml")
    put_document(cubes.store, "shop", "derived_cube", "part", text_of(derived))
    with pytest.raises(UnsupportedQuery, match="the parent of the derived cube is gone"):
        cubes.rewrite(QUERY.replace("rides", "part"))


HOSTILE = [
    "x' OR '1'='1",
    "'); DROP TABLE shop.lake_daily; --",
    "\\' OR 1 = 1 -- ",
    "/* a */ b -- c",
    'a`b"c\\',
    "{{ x }} ${y} :z ?",
    "\\u0027 \\x27 %27",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_literals_in_expressions_stay_literals(cubes, text):
    literal = "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
    specs = [{"expression": f"sum(case when bike = {literal} then fare end)"}]
    cubes.alter(cubes.cube("rides").changed(expressions=[{"name": "strange", "type": "double", "specs": specs}]))
    tree = sqlglot.parse_one(cubes.rewrite(QUERY.replace("fare", "strange")).sql, dialect="spark")
    assert [one.this for one in tree.find_all(exp.Literal) if one.this not in ("2015-01-01", "2015-01-02")] == [text]
    assert {one.name for one in tree.find_all(exp.Table)} == {"lake_daily"}
    assert {one.name for one in tree.find_all(exp.Column)} == {"dt", "bike", "fare"}
    assert tree.find(exp.Or) is None


@pytest.mark.parametrize("name", ["odd; drop table x", "fare)--", "fare`", "fare or 1"])
def test_hostile_names_are_no_fields(cubes, name):
    quoted = name.replace("`", "``")
    with pytest.raises(UnknownField, match="no such field"):
        cubes.rewrite(QUERY.replace("fare", f"`{quoted}`"))

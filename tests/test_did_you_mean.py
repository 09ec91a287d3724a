"""Errors of a name that is not there say which one is like it, and what they said before."""

from __future__ import annotations

import json
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from typer.testing import CliRunner

from hbstore import Column, HbstoreError, Table, connect
from hbstore.cli import app
from hbstore.cubes import Cubes, PartitionDesc, parse_documents
from hbstore.ddl import execute
from hbstore.errors import MOST_NAMES, did_you_mean
from hbstore.model.retention import checked_column
from hbstore.timelines.classes import timeline_class
from hbstore.times.update_period import UpdatePeriod
from tests.client.conftest import serve  # noqa: F401

MODEL = """
kind: storage
name: lake
---
kind: cube
name: rides
time_dimensions: {start_time: dt}
measures: [{name: minutes, type: bigint, default_aggregate: sum}]
dim_attributes: [{name: start_time, type: timestamp}]
---
kind: derived_cube
name: rides_small
parent: rides
measures: [minutes]
---
kind: dimension
name: station
dim_attributes: [{name: id, type: int}]
---
kind: fact
name: rides_daily
cube: rides
columns: [{name: minutes, type: bigint}]
storage_tables:
  - storage: lake
    update_periods: [DAILY]
    partition_columns: [{name: dt, type: string}]
    time_partition_columns: [dt]
"""
RANGE = "time_range_in(start_time, '2015-01-29', '2015-01-31')"


@pytest.fixture
def store(tmp_path):
    with connect(f"sqlite://{tmp_path}/store.db") as store:
        store.create_database("shop")
        store.create_table(Table("shop", "sales", [Column("region", "string"), Column("hour", "int")]))
        Cubes(store, "shop").create_all(parse_documents(MODEL, "yaml"))
        yield store


def rewritten(text):
    return lambda store: Cubes(store, "shop").rewrite(text)


def created(text):
    return lambda store: Cubes(store, "shop").create_all(parse_documents(text, "yaml"))


KINDS = {
    "table": (lambda store: store.table("shop.salse"), "shop.sales? List the tables with `hbstore tables shop`"),
    "database": (lambda store: store.table("shpo.sales"), "shop? List the databases"),
    "column of a filter": (lambda store: store.table("shop.sales").names("regoin = 'eu'"), "region? The partition col"),
    "column of a spec": (lambda store: store.table("shop.sales").drop([{"regoin": 1, "hour": 5}]), "region? The par"),
    "column of a statement": (lambda store: execute(store, "DESCRIBE shop.sales hour_"), "hour? Name one"),
    "function of a filter": (
        lambda store: store.table("shop.sales").names("time_rang_in(region, '2015', '2016')"),
        "time_range_in? There is no function but",
    ),
    "cube": (lambda store: Cubes(store, "shop").cube("ride"), "rides? List the descriptions"),
    "fact": (lambda store: Cubes(store, "shop").get("fact", "rides_dayly"), "rides_daily? List the descr"),
    "fact's table": (
        lambda store: Cubes(store, "shop").add_partitions("rides_dayly", "lake", []),
        "rides_daily? List the descriptions",
    ),
    "kind": (lambda store: Cubes(store, "shop").get("dimensoin", "station"), "dimension? Use one of"),
    "storage of a fact": (
        lambda store: Cubes(store, "shop").partitions("rides_daily", storage="lak"),
        "lake? Name one of its storages",
    ),
    "FROM of a query": (rewritten(f"select minutes from riders where {RANGE}"), "rides? List them"),
    "measure": (rewritten(f"select minuts from rides where {RANGE}"), "minutes? Name one of its fields"),
    "field of a derived cube": (rewritten(f"select minutes_ from rides_small where {RANGE}"), "minutes? Name one"),
    "time dimension": (
        rewritten("select minutes from rides where time_range_in(start_tim, '2015-01-29', '2015-01-31')"),
        "start_time? Ask for a range",
    ),
    "named dimension": (
        created(
            "{kind: dimtable, name: stations, dimension: statoin, columns: [{name: id, type: int}], storage_tables: []}"
        ),
        "station? Create the missing description",
    ),
    "named cube": (created("{kind: derived_cube, name: d, parent: ridse, measures: []}"), "rides? Create the missing"),
    "update period": (lambda _: UpdatePeriod.named("dayly"), "DAILY? Use one of these"),
    "time partition column": (
        lambda store: Cubes(store, "shop").add_partitions(
            "rides_daily", "lake", [PartitionDesc("DAILY", {"dtt": "2015-01-29"})]
        ),
        "dt? Give a value for each",
    ),
    "timeline class": (lambda _: timeline_class("RangesTimeline"), "RangesPartitionTimeline? Use one of these"),
    "timeline": (
        lambda store: store.timelines.convert(
            "shop.lake_rides_daily", UpdatePeriod.DAILY, "dtt", "RangesPartitionTimeline"
        ),
        "DAILY.dt? List the timelines",
    ),
    "column with the age": (
        lambda store: checked_column(store.get_table("shop", "sales"), "houre"),
        "hour? Name one of region, hour",
    ),
    "type of a partition column": (lambda _: Table("shop", "t", [Column("ds", "dat")]), "date? Use one of"),
    "backend": (lambda _: connect("sqllite://store.db"), "sqlite? Use sqlite:///"),
    "time range": (
        rewritten("select minutes from rides where time_rang_in(start_time, '2015-01-29', '2015-01-31')"),
        "time_range_in? Add time_range_in(",
    ),
    "named measure": (created("{kind: derived_cube, name: d, parent: rides, measures: [minuets]}"), "minutes? Create"),
}


@pytest.mark.parametrize(("ask", "says"), KINDS.values(), ids=KINDS)
def test_a_name_that_is_like_another_is_corrected(store, ask, says):
    with pytest.raises(HbstoreError) as caught:
        ask(store)
    assert caught.value.hint.startswith(f"Did you mean {says}")


def test_a_name_that_is_like_none_has_the_hint_alone(store):
    with pytest.raises(HbstoreError) as caught:
        store.table("shop.returns")
    assert caught.value.hint == "List the tables with `hbstore tables shop`"


def test_nobody_looks_among_very_many_names():
    names = [f"name_{number}" for number in range(MOST_NAMES + 1)]
    assert did_you_mean("name_", iter(names), "List them") == "List them"
    assert did_you_mean("name_", iter(names[:5]), "List them").startswith("Did you mean name_")


@pytest.mark.parametrize("command", ["partitions", "describe", "timeline show", "log"])
def test_an_error_of_a_command_says_so(store, command):
    told = CliRunner().invoke(app, ["--store", store.rows.url, *command.split(), "shop.salse"])
    assert told.exit_code
    assert "Did you mean shop.sales?" in told.output


def test_an_error_over_http_says_so(store, serve):  # noqa: ARG001, F811
    for path, near in (("shop/tables/salse", "shop.sales"), ("shpo/tables", "shop")):
        with pytest.raises(HTTPError) as caught:
            urlopen(f"{serve}/databases/{path}")  # noqa: S310
        assert json.load(caught.value)["hint"].startswith(f"Did you mean {near}? List")

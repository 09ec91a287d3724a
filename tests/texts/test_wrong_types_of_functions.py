"""Arguments of wrong types of the functions that rooms have, and of periods, timelines and expressions."""

from __future__ import annotations

import inspect

import pytest

from hbstore import InvalidInput, col, connect, parse_filter
from hbstore.cubes import Storage, cover, parse_documents, parse_partitions, read_documents, write_documents
from hbstore.ddl import execute, parse_statements
from hbstore.repair import sync_partitions
from hbstore.timelines import (
    EndsAndHolesPartitionTimeline,
    RangesPartitionTimeline,
    UpdatePeriod,
    convert,
    parse_time,
    parse_time_range,
    register,
    timeline_class,
    timeline_of,
)
from hbstore.transfer import export_metastore, import_metastore
from tests.calls import filled_store
from tests.texts.test_wrong_types import outcome, wrong_values

DAILY = UpdatePeriod.DAILY
DAY, LATER = DAILY.parse("2015-01-29"), DAILY.parse("2015-01-31")
SPAN = {"start": DAY, "end": LATER}
NOWHERE = {"store": connect("memory://"), "uri": "thrift://127.0.0.1:1"}
COPYING = {**NOWHERE, "database": "shop", "table": "sales", "on_conflict": "fail", "statistics": True, "page": 1}


def daily():
    found = RangesPartitionTimeline("s1_sales", DAILY, "dt")
    found.add(DAY)
    return found


FUNCTIONS = {
    connect: {"url": "memory://", "create": True, "patience": 5.0},
    parse_filter: {"text": "hour = 5", "like_dialect": "sql"},
    col: {"name": "ds"},
    col("ds").between: {"low": 1, "high": 2},
    col("ds").like: {"pattern": "a%"},
    col("ds").startswith: {"prefix": "a"},
    col("ds").in_time_range: {"start": "2015-01-29", "end": "now.day"},
    parse_statements: {"text": "USE shop"},
    execute: {"store": filled_store(), "text": "USE shop", "database": "default", "warehouse": None},
    sync_partitions: {
        "store": filled_store(),
        "table": "shop.old",
        "mode": "add",
        "spec": None,
        "dry_run": False,
        "force": False,
        "batch": 10,
    },
    import_metastore: COPYING,
    export_metastore: COPYING,
    parse_documents: {"text": "kind: storage\nname: lake", "format": "yaml"},
    parse_partitions: {"text": "{table: sales}", "format": "yaml"},
    read_documents: {"path": "lake.yaml"},
    write_documents: {"documents": [Storage(name="lake")], "format": "yaml"},
    cover: {"timelines": {DAILY: [daily()]}, **SPAN, "partial": True},
    convert: {"timeline": daily(), "to": EndsAndHolesPartitionTimeline},
    timeline_of: {"storage_table": "s1_sales", "period": DAILY, "partition_column": "dt", "properties": {}},
    timeline_class: {"name": "RangesPartitionTimeline"},
    register: {"cls": RangesPartitionTimeline},
    RangesPartitionTimeline: {"storage_table": "s1_sales", "update_period": DAILY, "partition_column": "dt"},
    parse_time: {"text": "now.day", "now": DAY},
    parse_time_range: {"start": "2015-01-29", "end": "now.day", "now": LATER},
    UpdatePeriod.named: {"name": "DAILY"},
    DAILY.floor: {"time": DAY},
    DAILY.ceil: {"time": DAY},
    DAILY.next: {"time": DAY, "n": 1},
    DAILY.previous: {"time": DAY, "n": 1},
    DAILY.count: SPAN,
    DAILY.iterate: SPAN,
    DAILY.format: {"time": DAY},
    DAILY.parse: {"text": "2015-01-29"},
    daily().add: {"time": DAY},
    daily().drop: {"time": DAY},
    daily().exists: {"time": DAY},
    daily().add_all: {"times": [DAY]},
    daily().drop_all: {"times": [DAY]},
    daily().add_index_ranges: {"ranges": [(5, 7)]},
    daily().drop_index_ranges: {"ranges": [(5, 7)]},
    daily().index_ranges: {"start": 0, "stop": 5},
    daily().init_from_properties: {"properties": {"ranges": ""}},
    daily().ranges: SPAN,
    daily().holes: SPAN,
    daily().iterate: SPAN,
}
"""What can be called, and the arguments of a right call."""


@pytest.mark.parametrize("call", FUNCTIONS, ids=lambda call: call.__qualname__)
def test_an_argument_of_a_wrong_type_is_a_named_error(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a text may name a file, which is made
    for argument in FUNCTIONS[call]:
        for value in wrong_values():
            outcome(call, call.__name__, {**FUNCTIONS[call], argument: value})


@pytest.mark.parametrize("call", FUNCTIONS, ids=lambda call: call.__qualname__)
def test_a_flag_takes_true_and_false_alone(call):
    for flag in [name for name, one in inspect.signature(call).parameters.items() if one.annotation == "bool"]:
        for value in (None, "no", 0, 1):
            with pytest.raises(InvalidInput, match=f"argument={flag}, type="):
                call(**{**FUNCTIONS[call], flag: value})

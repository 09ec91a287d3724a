"""What a process keeps in memory has a bound in bytes, however large what users keep and ask is."""

from __future__ import annotations

import ast
import gc
import re
import tracemalloc
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from hbstore import Column, Table, connect
from hbstore.byte_cache import ByteCache, size_of
from hbstore.cubes.stored_model import document_of
from hbstore.model.structs import decode_table, encode_table
from hbstore.rows.interface import CatalogCell
from hbstore.store.table_row import table_key
from hbstore.store.time_columns import TimeColumns
from hbstore.store.timeline_cell import cell_name, encode_state, state_of
from hbstore.store.timelines.stored_timelines import StoredTimelines
from hbstore.timelines.factory import PRESENT
from hbstore.timelines.runs import Runs
from hbstore.timelines.store_all import StoreAllPartitionTimeline
from hbstore.times.update_period import UpdatePeriod
from hbstore.transactions.log import Commit, Log
from tests.store import timelines

ROOT = Path(__file__).parents[2]
MIB = 1 << 20
DECODED = 64 * MIB
PLANS = 32 * MIB
"""Bounds of docs/metastore.md."""


@contextmanager
def growth(bound, least=None):
    """See that all that stays of what is done inside is no more than a bound, and no less than half of it."""
    gc.collect()
    tracemalloc.start()
    try:
        yield
        gc.collect()
        kept = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert (bound / 2 if least is None else least) <= kept < bound * 1.05, f"{kept:,} bytes"


def test_definitions_of_a_table_that_is_altered_again_and_again():
    with connect("memory://") as store:
        store.create_database("shop")
        store.create_table(Table("shop", "wide", [Column("ds", "date")], [Column("a", "int")]))
        with growth(DECODED + PLANS):
            for number in range(120):
                wide = store.get_table("shop", "wide")
                store.alter_table(replace(wide, parameters={"said": f"{number}".ljust(MIB)}))
                store.count_partitions("shop", "wide", "ds > '2013-01-01'")


def test_logs_with_open_commits():
    with growth(16_000_000, least=4_000_000):
        for number in range(300):
            cells = {"t:DAILY.dt": b"x" * (MIB if number % 6 == 0 else 11_000)}
            commit = Commit("1/here/2/3", number, b"Tshop\0sales", cells=cells)
            assert Log.decode(Log(commits=(commit,), sequence=number).encode()).commits == (commit,)


def test_documents_of_the_model():
    storage = '{{"name": "lake", "properties": {{"said": "{}"}}}}'
    with growth(DECODED):
        for number in range(150):
            document_of("storage", storage.format(f"{number}".ljust(MIB)))


def test_timelines_of_many_tables():
    with connect("memory://") as store:
        store.create_database("shop")
        parameters = timelines.declared("DAILY", "dt") | {PRESENT: "true"}
        names = [("shop", f"s{number}") for number in range(8)]
        timeline = StoreAllPartitionTimeline("s", UpdatePeriod.DAILY, "dt")
        timeline.add_index_ranges(Runs([2 * at for at in range(5_000)], [2 * at + 1 for at in range(5_000)]))
        state = state_of(timeline)
        for name in names:
            store.create_table(timelines.table(name, parameters))
            row = store.table_row(*name)
            cell = encode_state(row.cells, TimeColumns.of(row.table), state)
            store.rows.put_cells([CatalogCell(table_key(*name), cell_name("DAILY.dt"), cell)], 10)
        few = StoredTimelines(store.timelines.tables, ByteCache(MIB, largest=2))
        with growth(MIB):
            for name in names:
                assert list(few.read(".".join(name)).values()) == [timeline]


@pytest.mark.parametrize("what", ["table", "log", "timeline"])
def test_the_size_of_a_value_is_near_the_bytes_that_it_takes(what):
    columns = [Column(f"column_number_{number}", "decimal(10,2)", "what it holds") for number in range(300)]
    made = {
        "table": lambda: decode_table(encode_table(Table("shop", "wide", [Column("ds", "date")], columns))),
        "log": lambda: Log(last="1/here/2/3", state=b"x" * 30_000),
        "timeline": lambda: Runs([2 * at for at in range(5_000)], [2 * at + 1 for at in range(5_000)]),
    }[what]
    made()
    gc.collect()
    tracemalloc.start()
    try:
        values = [made() for _ in range(20)]  # so that what others leave behind meanwhile does not count
        gc.collect()
        taken = tracemalloc.get_traced_memory()[0] / 20
    finally:
        tracemalloc.stop()
    assert taken * 0.9 < size_of(values[0]) < taken * 1.2, f"{taken:,} bytes"


def caches():
    """What lives as long as the process or a store and keeps values: caches of modules, of functions and of classes."""
    for path in sorted((ROOT / "hbstore").rglob("*.py")):
        module = ".".join(path.relative_to(ROOT / "hbstore").with_suffix("").parts)
        text = path.read_text()
        for node in ast.parse(text).body if re.search("cache|ByteCache", text) else ():
            if isinstance(node, ast.FunctionDef):
                if any(names(decorator) & {"lru_cache", "cache"} for decorator in node.decorator_list):
                    yield f"{module}.{node.name}"
                continue
            fields = node.body if isinstance(node, ast.ClassDef) else [node]
            values = [one.value for one in fields if isinstance(one, ast.Assign | ast.AnnAssign) and one.value]
            if any(names(value) & {"lru_cache", "ByteCache"} for value in values):
                yield module


def names(node):
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def test_the_page_lists_all_that_is_kept():
    text = (ROOT / "docs" / "metastore.md").read_text()
    kept = text[text.index("### What a process keeps") :]
    listed = set(re.findall(r"`([a-z_0-9.]+)`", kept[: kept.index("\n## ")]))
    assert set(caches()) <= listed, set(caches()) - listed
    assert {name for name in listed if "." in name} <= set(caches()), "the page names what is not kept"

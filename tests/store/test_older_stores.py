"""Stores of format 3, which kept respelled values as texts: they are opened, and every partition is found by its value.

`format_3.sql` was made by such a version (commit e488f44). The partitions of its tables are these. So was
`format_3_records.sql`, by two batches of a stream, three transactions, a grant, a role, a document and a record.
"""

from __future__ import annotations

import json
import re
import sqlite3
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

import hbstore.rows.sqlite.file  # noqa: F401  it takes the format number along, before a test patches that
from hbstore import Column, ConcurrentChange, NotAStore, Partition, StoreReadOnly, Table, connect
from hbstore.keys.partition_names import partition_name
from hbstore.keys.row_key import TAG_TEXT, row_key, successor
from hbstore.model.structs import PartitionEncoder
from hbstore.publishing import Stream
from hbstore.rows import connect as connect_rows
from hbstore.rows import format_number
from hbstore.rows.interface import CatalogCell, PartitionRow
from hbstore.store import older_stores
from hbstore.store.older_stores import bring_up
from hbstore.store.partition_store import PartitionStore
from hbstore.store.tables import Tables
from hbstore.transactions.log import LOG
from hbstore.transactions.transactions import Transactions
from tests import hbase_server
from tests.store.faults import Crash, FaultyRows
from tests.store.stepping import play, schedules

COLUMNS = ("ds", "hour", "region")
SALES = [
    ("__HIVE_DEFAULT_PARTITION__", "10.0", "eu"),
    ("2024-01-08", "9", "eu"),
    ("2024-01-08", "9.0", "eu"),
    ("2024-01-08 00:00:00", "9", "eu"),
    ("2024-01-08 00:00:00", " 9", "asia"),
    ("2024-1-8", "010", "eu"),
    ("2024-01-09", "05", "us"),
    ("2024-01-09", "10", "us"),
    ("2024-01-09", "nine", "eu"),
    ("2024-13-01", "10", "eu"),
]
"""In key order as this version has it; region is a varchar(3)."""
FILTERS = {
    "ds = '2024-01-08'": SALES[1:6],
    "hour = 9 and region = 'eu'": SALES[1:4],
    "ds = '2024-01-08' and hour = 9 and region = 'eu'": SALES[1:4],
    "hour >= 10": [SALES[0], SALES[5], SALES[7], SALES[9]],
    "hour = 5": SALES[6:7],
    "region = 'asia'": SALES[4:5],
    "ds is null": SALES[:1],
}


def made_from(path, text):
    sqlite = sqlite3.connect(path)
    sqlite.executescript((Path(__file__).parent / text).read_text())
    sqlite.close()
    return path


@pytest.fixture
def old_file(tmp_path):
    return made_from(tmp_path / "old.db", "format_3.sql")


def old_rows(path, url="memory://?atomic=false"):
    """The same rows on a backend without transactions."""
    source, target = connect_rows(f"sqlite://{path}?mode=ro"), connect_rows(url)
    for key, _ in source.scan_catalog(b"", b"\xff"):
        for name, value in source.get_all(key).items():
            if name == LOG:
                target.compare_and_put(key, name, None, value)
            else:
                target.put_cells([CatalogCell(key, name, value)], 1)
    target.write(list(source.whole_rows(b"", b"\xff")), [], 1)
    target.set_format_number(3)
    source.close()
    return target


def assert_all_is_well(store):
    names = [partition_name(COLUMNS, values) for values in SALES]
    assert store.partition_names("shop", "sales") == names
    for values in SALES:
        assert store.get_partition("shop", "sales", values).values == values
    for text, selected in FILTERS.items():
        assert [one.values for one in store.get_partitions_by_filter("shop", "sales", text)] == selected, text
    assert store.partition_names("shop", "sales", spec={"hour": " 9"}) == names[4:5]
    assert store.totals("shop", "sales").partitions == len(SALES)
    assert store.totals("shop", "sales").rows == 7 * len(SALES)
    statistics = store.column_statistics.read_partitions("shop", "sales", SALES)
    assert [(values, one.column) for values, [one] in statistics.items()] == [(SALES[3], "a")]
    (daily,) = store.timelines.of("shop.daily")
    assert daily.to_properties() == {
        "first": "2024-01-06",
        "latest": "2024-01-08",
        "holes.size": "1",
        "holes0": "2024-01-07",
    }
    for table in ("sales", "daily", "words"):
        assert [problem for problem in store.check("shop", table) if problem is not None] == []
    assert store.partition_names("shop", "words", "w = '9.0'") == ["w=9.0"]


def test_a_file_is_brought_up_when_it_is_opened(old_file):
    for _ in range(2):
        with connect(f"sqlite://{old_file}") as store:
            assert_all_is_well(store)
    assert sqlite3.connect(old_file).execute("PRAGMA user_version").fetchone() == (format_number.FORMAT,)


def test_what_streams_and_transactions_have_noted_stays(tmp_path):
    """Else a stream that is started again writes its last batch twice, and a number of a transaction comes twice."""
    path = made_from(tmp_path / "old.db", "format_3_records.sql")
    for turn in range(2):
        with connect(f"sqlite://{path}") as store:
            row = store.table_row("shop", "sales")
            assert store.publications.batches(row, Stream("4e5f", "shop.sales")).digests == ((6, "d6"), (7, "d7"))
            transactions = store.hive.transactions.list()
            assert transactions.high_water_mark == 3 + turn
            assert 2 in transactions.aborted
            assert store.hive.transactions.open() == [4 + turn]
            assert store.hive.roles.names() == ["admin", "analyst", "public"]
            assert [name for name, _ in store.records.list("note")] == ["milk"]
            assert store.documents.get("shop", "fact", "sales") == "{}"
            assert store.totals("shop", "sales").rows == 10


def test_it_stays_what_it_is_under_all_changes(old_file):
    with connect(f"sqlite://{old_file}") as store:
        assert store.drop_partitions("shop", "sales", SALES[2:4]) == 2
        renamed = ("2024-01-08 00:00:00", "9.00", "asia")
        store.rename_partition("shop", "sales", SALES[4], renamed, invalid_values="keep")
        store.add_partitions("shop", "sales", [Partition(SALES[2])], invalid_values="keep")
        found = store.get_partitions_by_filter("shop", "sales", "hour = 9")
        assert [one.values[1] for one in found] == ["9", "9.0", "9.00"]
        assert all(problem is None for problem in store.check("shop", "sales"))


def test_a_store_that_can_only_be_read_is_opened_where_nothing_has_to_move(old_file):
    for mode in ("ro", "immutable"):
        with pytest.raises(StoreReadOnly):
            connect(f"sqlite://{old_file}?mode={mode}")
    with connect(f"sqlite://{old_file}"):
        pass
    sqlite = sqlite3.connect(old_file)
    sqlite.execute("PRAGMA user_version = 3")
    sqlite.close()
    with connect(f"sqlite://{old_file}?mode=ro") as store:
        assert_all_is_well(store)
    assert sqlite3.connect(old_file).execute("PRAGMA user_version").fetchone() == (3,)


def test_what_is_older_is_turned_away(old_file):
    sqlite = sqlite3.connect(old_file)
    sqlite.execute("PRAGMA user_version = 2")
    sqlite.close()
    with pytest.raises(NotAStore, match="an older version"):
        connect(f"sqlite://{old_file}")


def test_who_opens_it_next_goes_on_wherever_a_process_died(old_file):
    for at in count():
        rows = old_rows(old_file)
        faulty = FaultyRows(rows, at=at)
        try:
            bring_up(Tables(Transactions(faulty)))
        except Crash:
            assert rows.format_number() == 3
        bring_up(Tables(Transactions(rows)))
        assert rows.format_number() == format_number.FORMAT
        assert_all_is_well(PartitionStore(rows))
        if not faulty.struck:
            break
    assert at > 10


def write_as_earlier(store, *, twice=False):
    """A partition of shop.sales under the key that an earlier version makes of it, perhaps beside its own."""
    prefix = store.table_row("shop", "sales").definition.prefix
    whole = list(store.rows.whole_rows(prefix, successor(prefix)))
    moved = next(row for row in whole if b"9.0" in row.key)
    cells = (moved.cells[0], TAG_TEXT + b"9.0\0", moved.cells[2])
    with store.rows.transaction():
        gone = [] if twice else [moved.key]
        store.rows.write([PartitionRow(row_key(prefix, cells), cells, moved.payload)], gone, 1)


@pytest.mark.parametrize("twice", [False, True])
def test_what_an_earlier_version_writes_later_is_named_and_repaired(old_file, twice):
    with connect(f"sqlite://{old_file}") as store:
        write_as_earlier(store, twice=twice)
        problem, *_ = (problem for problem in store.check("shop", "sales") if problem is not None)
        assert re.search(r"values \('2024-01-08', '9.0', 'eu'\) belong to another key", str(problem))
        store.repair("shop", "sales")
        assert_all_is_well(store)


def test_a_repair_moves_no_partition_into_a_table_that_came_to_the_name_meanwhile(old_file, monkeypatch):
    find = older_stores._stale

    def found(*of):
        keys, sales = list(find(*of)), store.get_table("shop", "sales")
        if keys:
            store.rename_table("shop", "sales", replace(sales, name="sold"))
            store.create_table(sales)
        return iter(keys)

    with connect(f"sqlite://{old_file}") as store:
        write_as_earlier(store)
        monkeypatch.setattr(older_stores, "_stale", found)
        with pytest.raises(ConcurrentChange, match="another table has this name now"):
            store.repair("shop", "sales")
        assert store.partition_names("shop", "sales") == []
        assert len(store.partition_names("shop", "sold")) == len(SALES)


def test_two_processes_may_open_it_at_once(old_file):
    def opened(store):
        return bring_up(store._tables).after

    _, (calls, _) = play(old_rows(old_file), [opened, opened], [])
    for schedule in schedules((calls, calls), step=calls // 6):
        rows = old_rows(old_file)
        results, _ = play(rows, [opened, opened], schedule)
        assert results == [format_number.FORMAT] * 2, schedule
        assert_all_is_well(PartitionStore(rows))


@pytest.mark.hbase
def test_an_older_hbase_is_brought_up(old_file, hbase_server_url, monkeypatch):
    with hbase_server.own_tables(hbase_server_url) as url:
        with monkeypatch.context() as earlier:
            earlier.setattr(format_number, "FORMAT", 3)
            old_rows(old_file, url).close()
        for _ in range(2):
            with connect(url) as store:
                assert store.rows.format_number() == format_number.FORMAT
                assert_all_is_well(store)


@pytest.mark.parametrize("mine", [True, False])
def test_a_store_with_a_decided_write_is_not_brought_up(mine):
    """Only the version that decided it can finish it; what a late job of a dropped table left is nobody's."""
    store = connect("memory://")
    store.create_database("shop")
    store.create_table(Table("shop", "sales", [Column("hour", "int")], location="file:/sales"))
    row = store.table_row("shop", "sales")
    cell = {"table": row.table_id.hex() if mine else 8 * "00", "open": [["7", True, 0.0, ["00"]]]}
    store._tables.transactions.run(
        lambda transaction: transaction.row(row.key).put_cell("i:writes", json.dumps(cell).encode())
    )
    store.rows.set_format_number(3)
    if mine:
        with pytest.raises(NotAStore, match="has decided a write"):
            bring_up(store._tables)
    else:
        bring_up(store._tables)
        assert store.publications.of(store.table_row("shop", "sales")) == []
    assert store.rows.format_number() == (3 if mine else format_number.FORMAT)


def test_a_damaged_partition_keeps_no_store_closed():
    store = connect("memory://")
    store.create_database("shop")
    columns = [Column("region", "string"), Column("ds", "date")]
    store.create_table(Table("shop", "sales", columns, location="file:/sales"))
    row = store.table_row("shop", "sales")
    cells = (b"\x02b\0", TAG_TEXT + b"2024-01-08 00:00:00\0")
    one_value = replace(row.table, partition_columns=columns[:1])
    payload = PartitionEncoder(one_value, 0).encode(Partition(("b",)))
    store.rows.write([PartitionRow(row_key(row.definition.prefix, cells), cells, payload)], [], 5)
    assert any(store.check("shop", "sales"))
    store.repair("shop", "sales")
    store.rows.set_format_number(3)
    bring_up(store._tables)

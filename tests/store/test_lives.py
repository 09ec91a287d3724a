"""Lives and epochs of tables: keys that no two tables share, and changes of all partitions that rewrite none."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from itertools import chain, count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hbstore import Column, CorruptRow, NotAStore, TableNotFound, connect
from hbstore.keys.row_key import prefix_in
from hbstore.model.structs import decode_partition, encode_partition
from hbstore.rows.interface import CatalogCell
from hbstore.store.older_stores import bring_up
from hbstore.store.packing import pack_store
from hbstore.store.partition_store import PartitionStore
from hbstore.store.purge import PURGE
from hbstore.store.table_row import DEFINITION, table_key
from hbstore.transactions import templates
from hbstore.transactions.log import LOG, Commit, Log
from hbstore.transactions.payloads import put_payload
from hbstore.transactions.templates import TEMPLATES, Templates
from tests.backends import BACKENDS
from tests.interleaved import Between
from tests.store import lives
from tests.store.lives import SALES, days, keys, prefix


@pytest.fixture(params=BACKENDS)
def store(request, tmp_path):
    with lives.opened(request, tmp_path) as store:
        yield store


def test_each_table_of_a_name_has_keys_of_its_own(store):
    seen = []
    for _ in range(3):
        store.create_table(SALES)
        store.add_partitions("lives", "sales", days("a"))
        seen.append(prefix(store))
        assert [prefix_in(key) for key in keys(store)] == seen[-1:]
        store.drop_table("lives", "sales")
    assert len(set(seen)) == 3
    assert all(one.startswith(b"lives\0sales") for one in seen)
    assert not any(longer.startswith(one) for one in seen for longer in seen if longer != one)


def test_the_first_table_of_a_name_has_the_keys_that_it_always_had():
    store = connect("memory://?atomic=false")
    store.create_database("lives")
    for expected in (b"lives\0sales\0", b"lives\0sales\1\1\5"):  # changes: create, add, drop, written, so the fifth
        store.create_table(SALES)
        store.add_partitions("lives", "sales", days("a"))
        assert prefix(store)[:12] == expected[:12]
        store.drop_table("lives", "sales")


def test_a_renamed_table_keeps_its_keys_and_the_next_of_its_name_has_others(store):
    store.create_table(SALES)
    store.add_partitions("lives", "sales", days("a", "b"))
    before = keys(store)
    store.rename_table("lives", "sales", replace(SALES, name="old"))
    store.create_table(SALES)
    store.add_partitions("lives", "sales", days("b", "c"))
    assert [key for key in keys(store) if key in before] == before
    assert store.partition_names("lives", "old") == ["ds=a", "ds=b"]
    assert store.partition_names("lives", "sales") == ["ds=b", "ds=c"]
    store.drop_table("lives", "old")
    assert store.partition_names("lives", "sales") == ["ds=b", "ds=c"]
    store.rename_table("lives", "sales", replace(SALES, name="old"))
    store.rename_table("lives", "old", SALES)
    assert store.partition_names("lives", "sales", "ds = 'b'") == ["ds=b"]
    assert [problem for problem in store.check("lives", "sales") if problem] == []
    assert store.drop_partitions("lives", "sales", [("b",), ("c",)]) == 2
    assert keys(store) == []


# Epochs

VALUES = st.sampled_from(("a", "b", "c", "long" * 100))  # what is so long is never packed
FOLDERS = ("s3://lives/sales", "s3://lives/sales/v2", "s3://else/sales")
rewriting = st.one_of(
    st.tuples(st.just("rename"), st.sampled_from(FOLDERS)),
    st.tuples(st.just("rename without folders"), st.just("")),
    st.tuples(st.sampled_from(("cascade", "alter")), st.integers(1, 3)),
    st.tuples(st.just("pack"), st.just("")),
    st.tuples(st.just("open anew"), st.just("")),
)
single = st.tuples(st.sampled_from(("add", "add", "move", "own columns", "drop")), VALUES)
steps = st.lists(st.tuples(single, single, rewriting), min_size=2, max_size=8).map(lambda turns: list(chain(*turns)))


class Expected:
    """A table, and what each of its partitions is, by plain replacing."""

    def __init__(self, store):
        self.store = store
        self.table = SALES
        self.partitions = {}
        self.names = count()
        store.create_database("lives")
        store.create_table(SALES)

    def step(self, kind, given):
        getattr(self, kind.replace(" ", "_"))((self.table.database, self.table.name), given)

    def add(self, place, value):
        if (value,) not in self.partitions:
            (partition,) = days(value)
            self.store.add_partitions(*place, [partition])
            self.partitions[value,] = decode_partition(encode_partition(self.table, partition))

    def move(self, place, value):
        """To a folder that an earlier rename may have moved away from."""
        if (value,) in self.partitions:
            self.alter_one(place, replace(self.partitions[value,], location=f"{FOLDERS[0]}/{next(self.names)}"))

    def own_columns(self, place, value):
        one = self.partitions.get((value,))
        if one is not None:
            columns = (Column("own", "string"),)
            self.alter_one(place, replace(one, storage=replace(one.storage, columns=columns)))

    def alter_one(self, place, partition):
        self.store.alter_partitions(*place, [partition])
        self.partitions[partition.values] = partition

    def drop(self, place, value):
        if self.partitions.pop((value,), None) is not None:
            self.store.drop_partitions(*place, [(value,)])

    def rename(self, place, folder):
        before = self.table.location
        self.table = replace(self.table, name=f"sales{next(self.names)}", location=folder)
        self.store.rename_table(*place, self.table, relocated=(before, folder))
        self.partitions = {values: self.moved(one, before, folder) for values, one in self.partitions.items()}

    def rename_without_folders(self, place, _):
        self.table = replace(self.table, name=f"sales{next(self.names)}")
        self.store.rename_table(*place, self.table)

    def alter(self, _, number, *, cascade=False):
        columns = tuple(Column(f"c{at}", "int") for at in range(number))
        self.table = replace(self.table, columns=columns)
        self.store.alter_table(self.table, cascade=cascade)
        for values, one in self.partitions.items() if cascade else ():
            self.partitions[values] = replace(one, storage=replace(one.storage, columns=columns))

    def cascade(self, place, number):
        self.alter(place, number, cascade=True)

    def pack(self, *_):
        pack_store(self.store._tables)

    def open_anew(self, *_):
        self.store = PartitionStore(self.store.rows)

    @staticmethod
    def moved(partition, old, new):
        there = partition.location
        return (
            replace(partition, location=new + there[len(old) :]) if (there + "/").startswith(old + "/") else partition
        )

    def check(self):
        place = self.table.database, self.table.name
        payloads = self.store.read_payloads(*place, None, lambda _row, _plan, found: list(chain.from_iterable(found)))
        in_order = [self.partitions[values] for values in sorted(self.partitions)]
        assert payloads == [encode_partition(self.table, one) for one in in_order]
        assert self.store.get_partitions_by_filter(*place, None) == in_order
        for values in self.partitions:
            assert self.store.get_partition(*place, values) == self.partitions[values]
        assert [problem for problem in self.store.check(*place) if problem] == []


@given(steps, st.sampled_from(["memory://", "memory://?atomic=false"]))
@settings(deadline=None, max_examples=150)
def test_partitions_are_what_became_of_them_to_the_byte(steps, url):
    expected = Expected(connect(url))
    for kind, given_ in steps:
        expected.step(kind, given_)
        expected.check()


def test_many_epochs_are_forgotten_now_and_then(store):
    store.create_table(replace(SALES, columns=[Column(f"column_{at}", "string") for at in range(200)]))
    store.add_partitions("lives", "sales", days("a"))
    table, sizes, epochs = store.get_table("lives", "sales"), [], []
    for number in range(40):
        new = replace(table, name=f"sales{number}", location=f"s3://lives/{number}")
        store.rename_table("lives", table.name, new, relocated=(table.location, new.location))
        table = new
        store.add_partitions("lives", table.name, days(f"b{number}"))
        cell = store.table_row("lives", table.name).cells[TEMPLATES]
        sizes.append(len(cell))
        epochs.append(len(Templates.of(cell).epochs.relocated))
    assert max(sizes) < 2 * templates.LARGEST_EARLIER
    assert max(epochs) <= 16 < len(epochs)
    found = store.get_partitions_by_filter("lives", table.name, None)
    assert [one.location for one in found] == [f"{table.location}/ds={one.values[0]}" for one in found]
    assert len(found) == 41
    pack_store(store._tables)
    assert not Templates.of(store.table_row("lives", table.name).cells[TEMPLATES]).earlier


def test_a_reader_that_read_the_table_before_a_rename_sees_it_as_it_was_then_or_none(monkeypatch):
    """On a backend without snapshots: it never gives rows of the one with names of the other."""
    rows = connect("memory://?atomic=false").rows
    writer, reader = PartitionStore(rows), PartitionStore(rows)
    writer.create_database("lives")
    writer.create_table(SALES)
    writer.add_partitions("lives", "sales", days("a"))
    assert reader.partition_names("lives", "sales") == ["ds=a"]
    new = replace(SALES, name="old", location="s3://else")
    found = Counter()
    for at in range(100):
        between = Between(
            at, lambda: writer.rename_table("lives", "sales", new, relocated=(SALES.location, "s3://else"))
        )
        with monkeypatch.context() as patch:
            for call in ("get", "scan", "payloads", "multi_get"):
                patch.setattr(type(rows), call, between.around(getattr(type(rows), call)))
            try:
                (one,) = reader.get_partitions_by_filter("lives", "sales", None)
                found[one.location] += 1
            except TableNotFound:
                found["gone"] += 1
        if between.left >= 0:
            break
        writer.rename_table("lives", "old", SALES, relocated=("s3://else", SALES.location))
    assert set(found) == {f"{SALES.location}/ds=a", "gone"}


def test_a_reader_beside_one_who_writes_earlier_epochs_anew_reads_what_is_there(monkeypatch):
    for at in range(100):
        rows = connect("memory://?atomic=false").rows
        writer, reader = PartitionStore(rows), PartitionStore(rows)
        writer.create_database("lives")
        writer.create_table(SALES)
        writer.add_partitions("lives", "sales", days("a", "b"))
        new = replace(SALES, name="old", location="s3://else")
        writer.rename_table("lives", "sales", new, relocated=(SALES.location, "s3://else"))
        between = Between(at, lambda writer=writer: pack_store(writer._tables))
        with monkeypatch.context() as patch:
            for call in ("get", "scan", "payloads", "multi_get"):
                patch.setattr(type(rows), call, between.around(getattr(type(rows), call)))
            found = reader.get_partitions_by_filter("lives", "old", None)
        assert [one.location for one in found] == ["s3://else/ds=a", "s3://else/ds=b"]
        if between.left >= 0:
            break
    assert at > 3


def test_who_writes_earlier_epochs_anew_leaves_a_table_alone_that_came_to_the_name_meanwhile(monkeypatch):
    """It has the same epochs: both were made under one name and renamed to another, as a table that is swapped is."""
    old, new = replace(SALES, name="old", location="s3://old"), replace(SALES, name="new", location="s3://new")
    for at in range(100):
        rows = connect("memory://?atomic=false").rows
        writer, packer = PartitionStore(rows), PartitionStore(rows)
        writer.create_database("lives")

        def rename(table, to, writer=writer):
            writer.rename_table("lives", table.name, to, relocated=(table.location, to.location))

        def swap(rename=rename):
            rename(SALES, old)
            rename(new, SALES)

        writer.create_table(new)
        writer.add_partitions("lives", "new", days("a", "x" * 300))  # that one is stored whole
        rename(new, SALES)
        writer.create_table(new)
        writer.add_partitions("lives", "new", days("b", "y" * 300))
        between = Between(at, swap)
        with monkeypatch.context() as patch:
            for call in ("get", "scan", "multi_get", "compare_and_put"):
                patch.setattr(type(rows), call, between.around(getattr(type(rows), call)))
            pack_store(packer._tables)
        if between.left >= 0:
            break
        for table, name in ((old, "a"), (SALES, "b")):
            found = writer.get_partitions_by_filter("lives", table.name, None)
            assert [one.location for one in found] == [f"{table.location}/ds={one.values[0]}" for one in found]
            assert found[0].values == (name,)
            assert not any(writer.check("lives", table.name))
    assert at > 10


def test_damaged_epochs_are_named(store):
    store.create_table(SALES)
    store.add_partitions("lives", "sales", days("a"))
    store.alter_table(replace(SALES, columns=[Column("m", "int")]), cascade=True)
    row = store.table_row("lives", "sales")
    cell = row.cells[TEMPLATES].replace(b'"epoch"', b'"epock"')
    with pytest.raises(CorruptRow, match="the epochs of a table cannot be decoded"):
        Templates.of(cell)
    store.rows.put_cells([CatalogCell(row.key, TEMPLATES, cell)], row.log.sequence)
    assert [problem for problem in store.check("lives", "sales") if problem]
    store.drop_table("lives", "sales")


@pytest.mark.parametrize("name", ["sales", "old"])
def test_the_rows_of_a_table_whose_definition_is_damaged_stay(store, name):
    """It alone tells the prefix of a later table of the name, and of a renamed one."""
    store.create_table(SALES)
    store.drop_table("lives", "sales")
    store.create_table(SALES)
    store.add_partitions("lives", "sales", days("a", "b"))
    if name != "sales":
        store.rename_table("lives", "sales", replace(SALES, name=name))
    row, rows = store.table_row("lives", name), keys(store)
    store.rows.put_cells([CatalogCell(row.key, DEFINITION, b"damaged")], row.log.sequence)
    store.repair_catalog()
    assert keys(store) == rows
    store.rows.put_cells([CatalogCell(row.key, DEFINITION, row.cells[DEFINITION])], row.log.sequence + 1)
    assert store.partition_names("lives", name) == ["ds=a", "ds=b"]


# Stores of an earlier version


def test_a_drop_that_an_earlier_version_did_not_finish_is_refused():
    """Its list of writes names a range of rows, or says what becomes of a whole table."""
    for tail in (b"\0\0\0\1\0\0\0\1x\0\0\0\0\1", b"\0\0\0\0\0\0\0\2[]\1"):
        rows = connect("memory://?atomic=false").rows
        key = table_key("lives", "sales")
        writes = b"\0\0\0\1" + len(key).to_bytes(4, "big") + key + (2).to_bytes(8, "big") + b"\0\0\0\0" * 4 + tail
        put_payload(rows, key, "1/a/1/b", writes)
        log = Log(2, last="1/a/1/b", commits=(Commit("1/a/1/b", 2, key, stored=True),))
        assert rows.compare_and_put(key, LOG, None, log.encode())
        rows.set_format_number(5)
        with pytest.raises(NotAStore, match="an earlier version of hbstore dropped, renamed or altered a table"):
            bring_up(PartitionStore(rows)._tables)
        assert rows.format_number() == 5


def test_the_cell_of_a_store_without_epochs_is_as_it_was():
    store = connect("memory://")
    store.create_database("lives")
    store.create_table(SALES)
    store.add_partitions("lives", "sales", days("a"))
    cell = store.table_row("lives", "sales").cells[TEMPLATES]
    size = int.from_bytes(cell[:4], "big")
    assert len(cell) == 4 + size
    store.rename_table("lives", "sales", replace(SALES, name="old"))
    cell = store.table_row("lives", "old").cells[TEMPLATES]
    line = cell[5 : 5 + int.from_bytes(cell[1:5], "big")]
    assert cell[:1] == b"\xff"
    assert json.loads(line) == {"epoch": 1, "names": ["lives", "old"], "columns": None, "relocated": [], "of": [0]}
    assert not store.rows.get(table_key("lives", "sales")).get(PURGE)

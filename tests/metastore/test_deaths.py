"""The server dies at any moment of a call that changes files and catalog: what is left is whole, or a repeat mends it.

Each call runs in a process of its own that ends at its n-th write to the store, just before it or just after it, with
nothing tidied up. Then another server looks: whatever the catalog names has its folder and its files.
"""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from hbstore import Database
from hbstore.files.warehouse import Warehouse
from hbstore.publishing import folder_move
from hbstore.rows import connect
from hbstore.store.partition_store import PartitionStore
from tests.amounts import amount
from tests.metastore.writing import STORED, TYPES, Writing, partition_of, table_of
from tests.store.faults import FaultyRows

SURVIVED, DIED, FAILED = 0, 1, 2
MOST = 60
"""More writes than any of these calls makes."""
EVERY = amount(3, 1)
"""A change dies at every so many-th write, where tests/publishing/test_every_interleaving.py stops it at each step."""


class DyingRows(FaultyRows):
    """Rows at whose n-th write the process ends.

    Args:
        rows: where the rows are.
        atomic: whether there are transactions.
        at: the number of the write, from 0.
        made: whether the write is made before the process ends.
    """

    def __init__(self, rows, *, atomic, at=-1, made=False):
        super().__init__(rows)
        self._atomic = atomic
        self._last = at
        self._made = made

    @property
    def atomic(self):
        return self._atomic

    def _write(self, write):
        number, self.writes = self.writes, self.writes + 1
        if number != self._last:
            return write()
        if self._made:
            write()
        os._exit(DIED)


class NumberedRows:
    """Rows of SQLite that hide older writes behind newer ones, as HBase does, by numbers in a file beside them."""

    def __init__(self, rows, folder):
        self._rows = rows
        self._file = Path(folder) / "numbers"

    def __getattr__(self, name):
        return getattr(self._rows, name)

    def write(self, puts, deletes, sequence):
        numbers = dict(line.split() for line in self._file.read_text().splitlines()) if self._file.exists() else {}
        puts, deletes = list(puts), list(deletes)
        newer = {key for key in (*(put.key for put in puts), *deletes) if int(numbers.get(key.hex(), 0)) > sequence}
        self._rows.write([put for put in puts if put.key not in newer], [key for key in deletes if key not in newer], 0)
        numbers |= {key.hex(): sequence for key in {*(put.key for put in puts), *deletes} - newer}
        self._file.write_text("".join(f"{key} {number}\n" for key, number in numbers.items()))


@contextmanager
def server(folder, *, atomic, **death):
    """A server over the store and the warehouse in a folder."""
    stored = connect(f"sqlite://{folder}/store.db")
    rows = DyingRows(stored if atomic else NumberedRows(stored, folder), atomic=atomic, **death)
    with PartitionStore(rows) as store:
        yield Writing(store, Path(folder) / "warehouse")


def dies(folder, call, *, atomic, at, made):
    """Whether a process that makes a call died of it."""
    child = os.fork()
    if not child:
        code = FAILED
        try:
            with server(folder, atomic=atomic, at=at, made=made) as shop:
                call(shop)
            code = SURVIVED
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code != FAILED, "the call failed"
    return code == DIED


def check(shop):
    """Whatever the catalog names is there: folders, and the file that each partition was filled with."""
    for database in shop.get_all_databases():
        for name in shop.get_all_tables(database):
            table = shop.get_table(database, name)
            assert Path(table.sd.location.removeprefix("file:")).is_dir(), table.sd.location
            for partition in shop.get_partitions(database, name, -1):
                folder = Path(partition.sd.location.removeprefix("file:"))
                assert folder.is_dir(), folder
                assert (folder / "file").exists() or "filled" not in partition.parameters, folder


def fill(shop):
    """Two tables; the partitions of one have files."""
    shop.store.create_database(Database("default", location=f"file:{shop.root}"))
    shop.create_database(STORED.Database(name="shop"))
    shop.create_table(table_of())
    shop.create_table(table_of("other"))
    parts = [partition_of("a", str(hour), parameters={"filled": "yes"}) for hour in range(3)]
    shop.add_partitions(parts)
    for hour in range(3):
        shop.write(f"shop.db/sales/ds=a/hour={hour}/file")


def create(shop):
    shop.create_table(table_of("new"))


def create_database(shop):
    shop.create_database(STORED.Database(name="attic"))


def add(shop):
    shop.add_partitions([partition_of("b", str(hour)) for hour in range(3)])


def drop_partitions(shop):
    names = TYPES.RequestPartsSpec(names=[f"ds=a/hour={hour}" for hour in range(3)])
    shop.drop_partitions_req(TYPES.DropPartitionsRequest("shop", "sales", names, True))


def drop_table(shop):
    shop.drop_table("shop", "sales", True)


def drop_database(shop):
    shop.drop_database("shop", True, True)


def rename_table(shop):
    table = shop.table()
    table.tableName = "sold"
    shop.alter_table("shop", "sales", table)


def rename_partition(shop):
    partition = shop.partition("a", "1")
    partition.values = ["b", "1"]
    shop.rename_partition("shop", "sales", ["a", "1"], partition)


def exchange(shop):
    shop.exchange_partitions({"ds": "a"}, "shop", "sales", "shop", "other")


HERE_ALONE = (create_database, create, drop_database)
"""These die at each write, as no other test stops them."""


def deaths(tmp_path, call, *, atomic):
    """A server after each death of a call, and at last one where it went well."""
    filled, folder = tmp_path / "filled", tmp_path / "now"  # which is one place, as the catalog names it
    (folder / "warehouse").mkdir(parents=True)
    with server(folder, atomic=atomic) as shop:
        fill(shop)
    folder.rename(filled)
    for made in (False, True):
        every = 1 if call in HERE_ALONE else EVERY
        for at in range(made % every, MOST, every):
            shutil.copytree(filled, folder)
            died = dies(folder, call, atomic=atomic, at=at, made=made)
            with server(folder, atomic=atomic) as shop:
                yield shop
            shutil.rmtree(folder)
            if not died:
                break
        else:
            pytest.fail(f"more than {MOST} writes")


@pytest.mark.parametrize("atomic", [True, False], ids=["atomic", "nonatomic"])
@pytest.mark.parametrize("call", [create_database, drop_partitions, drop_table, drop_database])
def test_whatever_is_there_after_a_death_is_whole(tmp_path, call, atomic):
    for shop in deaths(tmp_path, call, atomic=atomic):
        check(shop)


@pytest.mark.parametrize("atomic", [True, False], ids=["atomic", "nonatomic"])
@pytest.mark.parametrize("call", [rename_table, rename_partition, exchange])
def test_a_move_that_broke_off_is_finished_by_the_same_call(tmp_path, call, atomic, monkeypatch):
    monkeypatch.setattr(folder_move, "_RENAMING", 0.0)  # who died is dead at once
    refused = (TYPES.InvalidOperationException, TYPES.NoSuchObjectException, TYPES.MetaException)
    for shop in deaths(tmp_path, call, atomic=atomic):
        with suppress(*refused):  # it was done already
            call(shop)
        check(shop)
        names = {(name, one) for name in shop.get_all_tables("shop") for one in shop.names(name)}
        assert (
            names
            == {
                rename_table: {("sold", f"ds=a/hour={hour}") for hour in range(3)},
                rename_partition: {("sales", "ds=a/hour=0"), ("sales", "ds=a/hour=2"), ("sales", "ds=b/hour=1")},
                exchange: {("other", f"ds=a/hour={hour}") for hour in range(3)},
            }[call]
        )
        files = [one for one in shop.tree("shop.db") if one.endswith("/file")]
        assert len(files) == 3


@pytest.mark.parametrize("atomic", [True, False], ids=["atomic", "nonatomic"])
@pytest.mark.parametrize("call", [add, create])
def test_what_broke_off_can_be_done_again(tmp_path, call, atomic):
    for shop in deaths(tmp_path, call, atomic=atomic):
        check(shop)
        with suppress(TYPES.AlreadyExistsException):
            call(shop)
        check(shop)
        assert len(shop.names()) == (6 if call is add else 3)
        assert call is add or "new" in shop.get_all_tables("shop")


def test_the_warehouse_here_is_a_real_one(tmp_path):
    """`check` finds what is wrong: a partition without its file, a table without its folder."""
    (tmp_path / "warehouse").mkdir()
    with server(tmp_path, atomic=True) as shop:
        fill(shop)
        check(shop)
        (shop.root / "shop.db/sales/ds=a/hour=1/file").unlink()
        with pytest.raises(AssertionError):
            check(shop)
        Warehouse(str(shop.root)).delete(shop.location("shop.db/other"), inside=[], purge=True)
        shop.drop_table("shop", "sales", True)
        with pytest.raises(AssertionError):
            check(shop)

"""Another table gets a table's name while a change of it is under way.

In an object store folders stay where they are when tables are renamed. So what a change has read of a table, such as
the folder in which its partitions are, says nothing of the table that has the name when the change is decided. On a
local disk the folders move along, and what a change does late it does in the other table's folder.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field, replace

import pytest

from hbstore import Column, Partition, Table, connect
from hbstore.errors import HbstoreError
from hbstore.repair import sync_partitions
from hbstore.warehouse.new_partitions import add_partitions
from hbstore.warehouse.tables import change_table, create_table
from tests.amounts import amount
from tests.files.warehouses import world
from tests.pauses import without_patience, without_pauses
from tests.publishing.dying import recover_later
from tests.publishing.interrupted import AND_HOLDING, Process, at_each_step, attempt, may_be_made
from tests.publishing.operations import BEFORE, OPERATIONS, NotPossible, Operation, Rows, prepare, seen

TWIN = {value: Rows((f"old {value}", f"twin {value}")) for value in "abc"}


def _alter(store, world):
    sales = store.get_table("shop", "sales")
    changed = replace(sales, parameters={**sales.parameters, "of": "sales"})
    change_table(store, world.warehouse, "shop", "sales", changed)


def _repaired(tables):
    if tables["sales"]["b"] != TWIN["b"]:  # in whose folder there is none
        tables["sales"]["m"] = Rows(("new m",))


CHANGES = OPERATIONS | {
    "alter the table": Operation(_alter, lambda tables: tables["sales"]),
    "repair": Operation(lambda store, _: sync_partitions(store, "shop.sales"), _repaired),
}


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    without_pauses(monkeypatch)
    without_patience(monkeypatch)


@dataclass(slots=True)
class Twins:
    """shop.sales, and shop.twin with the same partitions and files of the same names; the names can be swapped."""

    store: object
    here: object
    are_swapped: bool = field(default=False)

    def prepare(self):
        prepare(self.store, self.here)
        twin = Table("shop", "twin", [Column("ds", "string")], [Column("id", "int")])
        create_table(self.store, self.here.warehouse, twin)
        twin = self.store.get_table("shop", "twin")
        add_partitions(self.store, self.here.warehouse, twin, [Partition((value,)) for value in TWIN])
        for value, rows in TWIN.items():
            for text in rows.texts:
                self.here.write(f"{twin.location}/ds={value}/{text.split()[0]}", text.encode())
        self.here.write(f"{self.store.get_table('shop', 'sales').location}/ds=m/new", b"new m")

    def swap(self):
        try:
            self._rename("sales", "trade")
        except HbstoreError:
            return
        self._rename("twin", "sales")
        self.are_swapped = True

    def _rename(self, old, new):
        named = replace(self.store.get_table("shop", old), name=new)
        change_table(self.store, self.here.warehouse, "shop", old, named)

    def may_be(self, name, end):
        """What may be there: a change that is acknowledged was made of one of both tables, another one of none."""
        for is_made in may_be_made(name, end):
            for is_first in (True, False):
                tables = deepcopy(BEFORE) | {"twin": dict(TWIN)}
                steps = [CHANGES[name].mean] if is_made else []
                if self.are_swapped:
                    steps.insert(len(steps) if is_first else 0, _swapped)
                try:
                    for step in steps:
                        step(tables)
                except (NotPossible, KeyError):
                    continue
                yield tables


def _swapped(tables):
    tables["trade"] = tables.pop("sales", None)
    if tables["trade"] is None:
        del tables["trade"]
    tables["sales"] = tables.pop("twin")


def swapped_at(kind, folder, name, at):
    """Whether the names were swapped at a step of a change; None: it has no such step."""
    with connect("memory://", patience=0) as store, pytest.MonkeyPatch.context() as patch:
        twins = Twins(store, world(kind, folder))
        twins.prepare()
        process = Process(at, twins.swap)
        for owner, method in AND_HOLDING:
            patch.setattr(owner, method, process.around(getattr(owner, method)))
        end = attempt(name, store, twins.here, CHANGES)
        patch.undo()
        if process.left >= 0:
            return None
        for _ in range(2):
            recover_later(store, *(("shop", table) for table in store.table_names("shop")), seconds=5_000)
        rows, may_be = seen(store, twins.here), list(twins.may_be(name, end))
        assert rows in may_be, f"at step {at} of {name}, {end}, {twins.are_swapped}: {rows} is none of {may_be}"
        return twins.are_swapped


@pytest.mark.parametrize("kind", ["local", "memory"])
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_of_one_table_whole(tmp_path, name, kind):
    every = amount(3, 1)
    assert any(at_each_step(tmp_path, lambda folder, at: swapped_at(kind, folder, name, at), every))

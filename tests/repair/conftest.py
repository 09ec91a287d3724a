"""A table in a folder, and ways to make and look at both."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from hbstore import Column, PartitionStore, Table
from hbstore.repair import sync_partitions
from hbstore.rows import connect as connect_rows


class Sales(SimpleNamespace):
    """shop.sales by ds and hour in a folder: ``store``, ``root``."""

    def folders(self, *paths):
        for path in paths:
            (self.root / path).mkdir(parents=True)

    def sync(self, mode="sync", **how):
        return sync_partitions(self.store, "shop.sales", mode, **how)

    def locations(self):
        """All partitions, with the paths of those below the table's folder."""
        found = self.store.get_partitions_by_filter("shop", "sales", None)
        return {one.values: one.location.removeprefix(f"file:{self.root}/") for one in found}


@pytest.fixture(params=["memory://", "memory://?atomic=false"])
def rows(request):
    rows = connect_rows(request.param)
    yield rows
    rows.close()


@pytest.fixture
def sales(rows, tmp_path):
    made = Sales(store=PartitionStore(rows), root=tmp_path / "sales")
    made.root.mkdir()
    columns = [Column("ds", "string"), Column("hour", "int")]
    made.store.create_database("shop")
    made.store.create_table(Table("shop", "sales", columns, location=f"file:{made.root}"))
    return made

"""Listings of the catalog as drivers ask for them, of many tables, beside decoding all that is stored of these."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import hbstore
from benchmarks.timing import Report
from hbstore import Column, PartitionStore, Table
from hbstore.hiveserver2.catalog import JdbcCatalog
from hbstore.hiveserver2.listings import CatalogRows
from hbstore.model.stored_as import stored_as

TABLES: Final = 10_000
COLUMNS: Final = 20
RUNS: Final = 3
WHOLE: Final = "GetTables of all"


def run() -> Iterator[Report]:
    """The table."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite://{Path(folder) / 'catalog.db'}"
        with hbstore.connect(url) as store:
            _fill(store)
        with hbstore.connect(url) as store:
            yield _listings(store)


def _listings(store: PartitionStore) -> Report:
    report = Report(f"Listings for drivers: a database of {TABLES:,} tables with {COLUMNS} columns each, on SQLite")
    catalog = JdbcCatalog(store)
    asked: dict[str, Callable[[], CatalogRows]] = {
        WHOLE: lambda: catalog.tables("shop", "%", None),
        "GetTables of a hundred": lambda: catalog.tables("shop", "table_001%", None),
        "GetTables of one, by a pattern": lambda: catalog.tables("shop", "table_00017", None),
        "GetTables of one, by its name": lambda: catalog.tables("shop", r"table\_00017", None),
        "GetColumns of one, by a pattern": lambda: catalog.columns("shop", "table_00017", "%"),
    }
    for name, ask in asked.items():
        whole = (lambda _: store.tables("shop")) if name == WHOLE else None
        report.compare(name, lambda _, f=ask: f(), whole, target="", runs=RUNS)
    return report


def _fill(store: PartitionStore) -> None:
    store.create_database("shop")
    columns = [Column(f"c{number}", "bigint", "a comment") for number in range(COLUMNS)]
    storage = stored_as("parquet")
    for number in range(TABLES):
        place, comment = f"file:/warehouse/{number}", {"comment": f"Table {number}"}
        table = Table("shop", f"table_{number:05}", [Column("ds", "date")], columns, place, comment, storage=storage)
        store.create_table(table)

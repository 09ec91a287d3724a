"""The files of a manifest: what they are called until all see them, and where they are.

_hbstore/<id>/data/part-0.parquet      staged, below the table's folder, where nobody looks
ds=2013-01-01/region=eu/.<id>-0        prepared: in place, under a hidden name
ds=2013-01-01/region=eu/part-0.parquet shown

Where a file cannot be renamed it is not prepared: it is shown by one copy of what is staged.
"""

from __future__ import annotations

import uuid
from typing import Final

from hbstore.errors import InvalidInput
from hbstore.files.warehouse import Warehouse
from hbstore.store.manifest import Manifest
from hbstore.store.table_row import TableRow

ALIVE: Final = 30.0
"""Seconds for which a job that said so is taken to be alive."""

STAGING: Final = "_hbstore"
"""The folder in a table's folder that holds what jobs are writing; Hive and Spark pass over it."""


def new_publication_id() -> str:
    """A name that no other publication has."""
    return uuid.uuid4().hex


def hidden_name(publication_id: str, number: int) -> str:
    """The name of a prepared file. O(1)."""
    return f".{publication_id}-{number}"


def warehouse_of(row: TableRow) -> Warehouse:
    """Where a table's files are.

    Raises:
        InvalidInput: the table has no location.
    """
    if row.table.location is None:
        raise InvalidInput("the table has no location", table=row.table, hint="Give the table a location")
    return Warehouse(row.table.location)


def staged_in(manifest: Manifest) -> str:
    """The table's folder in which a publication is staged, whatever location the table has by now; empty for none.

    >>> staged_in(Manifest("7", "file:/wh/sales/_hbstore/7", ())), staged_in(Manifest("8", "", ()))
    ('file:/wh/sales', '')
    """
    return manifest.staging.rpartition(f"/{STAGING}/")[0]


def places_of(row: TableRow, manifest: Manifest) -> list[str]:
    """Where a publication's files may be: its table's folder may be another one by now than when they were staged."""
    return [row.table.location or "", manifest.staging, *(write.location for write in manifest.partitions)]

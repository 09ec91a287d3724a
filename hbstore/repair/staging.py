"""Staging folders that dead jobs left below a table's ``_hbstore``."""

from __future__ import annotations

import time
from collections.abc import Container
from typing import Final, NamedTuple

from hbstore.files.warehouse import Warehouse
from hbstore.publishing.manifest import STAGING
from hbstore.repair.listing import listing_fails, tree_of

OLD: Final = 24 * 3600.0
"""Seconds without a change after which a job that has not leased anything is taken for dead."""


class Staging(NamedTuple):
    """A staging folder that no open publication names.

    ``age`` is the seconds since something in it was changed, None if nobody knows; ``is_stale`` whether that is more
    than a day: then it is removed, unless in a dry run.
    """

    location: str
    age: float | None
    is_stale: bool


def unnamed_staging(location: str, publications: Container[str]) -> list[Staging]:
    """The staging folders of a table that no open publication names, in the order of their names.

    Args:
        location: the table's folder.
        publications: the ids of its open publications.

    Raises:
        FileOperationFailed: they cannot be looked at.
    """
    tree = tree_of(location)
    now = time.time()
    folders = []
    with listing_fails(f"{location}/{STAGING}"):
        for name, leads_out in sorted(tree.entries(STAGING)):
            if leads_out or name in publications:
                continue
            newest = tree.newest(f"{STAGING}/{name}")
            age = None if newest is None else now - newest
            folders.append(Staging(f"{location}/{STAGING}/{name}", age, age is not None and age > OLD))
    return folders


def remove_staging(location: str, staging: list[Staging]) -> None:
    """Remove those that are stale.

    Raises:
        FileOperationFailed: one cannot be removed.
    """
    warehouse = Warehouse(location)
    for one in staging:
        if one.is_stale:
            warehouse.delete(one.location, inside=[location], purge=True)

"""What changed last in a store, as the logs of its catalog and the parameters of its tables tell."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from heapq import nlargest
from typing import Final

from hbstore.console.rendering import address
from hbstore.cubes.files import KINDS
from hbstore.errors import HbstoreError
from hbstore.store.catalog_logs import CatalogObject
from hbstore.store.partition_store import PartitionStore
from hbstore.warehouse.change_times import changed_by

_SHOWN: Final = 12


@dataclass(frozen=True, slots=True)
class LatestChange:
    """An object that changed lately.

    Attributes:
        kind: what it is.
        name: its name, with its database's.
        leads_to: the address of its page; None: it was dropped, or has none.
        time: when, in seconds since 1970.
        process: which changed it.
        user: who altered the definition of a table last, where a client said so.
        changes: how often it has changed.
        is_there: whether it was not dropped.
    """

    kind: str
    name: str
    leads_to: str | None
    time: int
    process: str
    user: str | None
    changes: int
    is_there: bool


def latest_changes(store: PartitionStore, objects: Iterable[CatalogObject]) -> list[LatestChange]:
    """The objects that changed last, the newest first. O(objects), and one row for each table that is shown.

    Args:
        store: where they are.
        objects: those of its catalog.

    Raises:
        StoreUnavailable: the store does not answer.
    """
    newest = nlargest(_SHOWN, objects, key=lambda seen: (seen.changed_at or 0, seen.name))
    return [
        LatestChange(
            seen.kind.replace("_", " "),
            seen.name,
            _address(seen) if seen.is_there else None,
            seen.changed_at,
            seen.changed_by or "",
            _user(store, seen),
            seen.log.sequence,
            seen.is_there,
        )
        for seen in newest
        if seen.changed_at is not None
    ]


def _user(store: PartitionStore, seen: CatalogObject) -> str | None:
    if seen.kind != "table" or not seen.is_there:
        return None
    try:
        return changed_by(store.get_table(*seen.names).parameters)
    except HbstoreError:  # it was dropped meanwhile, or its row is damaged, which other sections say
        return None


def _address(seen: CatalogObject) -> str | None:
    database, *own = seen.names
    if seen.kind == "database":
        return address("databases", database)
    if seen.kind == "table":
        return address("databases", database, "tables", own[0])
    if seen.kind == "fact":
        return address("databases", database, "facts", own[0])
    return address("databases", database, "model", f"{seen.kind}s", own[0]) if seen.kind in KINDS else None

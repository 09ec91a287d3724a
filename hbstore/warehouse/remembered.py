"""The warehouse that servers of a store use, as the store remembers it, so that a server with another one is told.

A server uses what it was started with, whatever the store remembers: a copy of a store must not get the right to delete
the files of the first one.
"""

from __future__ import annotations

import json
import socket
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Final

from hbstore.errors import StoreFull, StoreReadOnly
from hbstore.files.locations import same_place
from hbstore.files.warehouse import Warehouse
from hbstore.store.records import Records

_KIND: Final = "warehouse"
_NAME: Final = "last"


@dataclass(frozen=True, slots=True)
class RememberedWarehouse:
    """The warehouse of a store's servers.

    Attributes:
        root: its location.
        host: the machine of the server that came with it.
        since: when that server was started.
    """

    root: str
    host: str
    since: str


def remember_warehouse(records: Records, warehouse: Warehouse, *, is_named: bool) -> None:
    """Remember the warehouse of a server that has its port, if it is the first one, or the operator named it.

    Args:
        records: those of the store.
        warehouse: the server's.
        is_named: whether the operator named it, so that it takes the place of another one.

    Raises:
        StoreUnavailable: the store does not answer.

    >>> remember_warehouse(store.records, Warehouse("/data/a"), is_named=False)
    >>> remembered_warehouse(store.records).root
    'file:/data/a'
    """
    earlier = remembered_warehouse(records)
    if earlier is None or (is_named and not same_place(earlier.root, warehouse.root)):
        started = datetime.now(UTC).isoformat(timespec="seconds")
        written = json.dumps(asdict(RememberedWarehouse(warehouse.root, socket.gethostname(), started)))
        with suppress(StoreReadOnly, StoreFull):  # the server can still be read from
            if not records.create(_KIND, _NAME, written):
                records.change(_KIND, _NAME, lambda _: written)


def other_warehouse(records: Records, warehouse: Warehouse) -> RememberedWarehouse | None:
    """What the store remembers, if that is another warehouse than a server's.

    Raises:
        StoreUnavailable: the store does not answer.

    >>> remember_warehouse(store.records, Warehouse("/data/a"), is_named=False)
    >>> other_warehouse(store.records, Warehouse("/data/b")).root
    'file:/data/a'
    """
    earlier = remembered_warehouse(records)
    return None if earlier is None or same_place(earlier.root, warehouse.root) else earlier


def remembered_warehouse(records: Records) -> RememberedWarehouse | None:
    """The warehouse of a store's servers; None if the store has had none.

    >>> remembered_warehouse(store.records)
    """
    text = records.get(_KIND, _NAME)
    return None if text is None else RememberedWarehouse(**json.loads(text))

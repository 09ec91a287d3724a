"""Stores that are given open, or by URLs, which mean the same in every process of a Spark job."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hbstore.rows.urls import shared_url
from hbstore.store.partition_store import PartitionStore, connect


@contextmanager
def opened(store: PartitionStore | str) -> Iterator[PartitionStore]:
    """The store; one that is given by its URL is opened, must be there, and is closed again.

    Raises:
        InvalidUrl: no store URL, or ``memory://``, which names a new store each time.
        StoreUnavailable: it is not there.
    """
    if isinstance(store, PartitionStore):
        yield store
        return
    with connect(shared_url(store), create=False) as made:
        yield made

"""Stores that are given open, or by URLs, which mean the same in every process of a Spark job."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, urlencode

from hbstore.errors import InvalidUrl
from hbstore.rows.urls import parse_url
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


def shared_url(url: str) -> str:
    """The URL as tasks open it: relative paths of SQLite become absolute ones, as a task runs in a folder of its own.

    Raises:
        InvalidUrl: no store URL, or ``memory://``, where every process would have a store of its own.

    >>> shared_url("hbase://127.0.0.1:9090/prefix")
    'hbase://127.0.0.1:9090/prefix'
    >>> shared_url("/data/catalog 1.db?timeout=5")
    'sqlite:///data/catalog%201.db%3Ftimeout%3D5'
    """
    parsed = parse_url(url)
    if parsed.scheme == "memory":
        raise InvalidUrl(
            "the tasks of a Spark job cannot share a store in memory",
            url=url,
            hint="Use a store of sqlite:// or hbase://",
        )
    if parsed.scheme != "sqlite":
        return url
    options = f"?{urlencode(parsed.options)}" if parsed.options else ""
    return f"sqlite://{quote(str(Path(parsed.place).absolute()))}{options}"

"""Ordered rows: one small interface, three backends (memory, SQLite, HBase)."""

from __future__ import annotations

import os

from hbstore.rows.interface import Costs, PartitionRow, Rows
from hbstore.rows.urls import parse_url
from hbstore.texts.arguments import expect_flags

__all__ = ["Costs", "PartitionRow", "Rows", "connect"]


def connect(url: str | os.PathLike[str], *, create: bool = True) -> Rows:
    """The rows that a store URL names.

    Args:
        url: ``sqlite:///abs/path.db``, ``sqlite://path.db``, a plain path, ``hbase://host:port/prefix`` or
            ``memory://``; docs/rows.md compares them. SQLite takes ``?mode=ro`` (read only),
            ``?mode=immutable`` (a file on a read-only medium, which nothing changes) and ``?timeout=30`` (seconds to
            wait for a lock); memory takes ``?atomic=false``.
        create: where there is none, SQLite creates its file and HBase its tables; False: that is an error.

    Raises:
        InvalidUrl: no text, another scheme, or a part that is missing.
        NotAStore: a file that is not one of hbstore's, or another version's; it is left as it was.
        StoreUnavailable: the backend does not answer, the file cannot be opened, or there is no such store.

    >>> rows = connect("memory://")
    >>> rows.compare_and_put(b"D shop", "d:def", None, b"...")
    True
    >>> rows.get(b"D shop")
    {'d:def': b'...'}
    """
    expect_flags(create=create)
    text = os.fspath(url) if isinstance(url, os.PathLike) else url
    parsed = parse_url(text)
    if parsed.scheme == "hbase":
        from hbstore.rows.hbase.rows import connect_hbase

        return connect_hbase(text, create=create)
    if parsed.scheme == "memory":
        from hbstore.rows.memory import connect_memory

        return connect_memory(parsed)
    from hbstore.rows.sqlite.rows import connect_sqlite

    return connect_sqlite(parsed, create=create)

"""Store URLs that mean the same in every process of a Spark job."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote, urlencode

from hbstore.errors import InvalidUrl
from hbstore.rows.urls import parse_url


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

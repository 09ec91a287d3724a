"""How many rows a file holds, as its footer says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, Final, TypeAlias

from hbstore.errors import FileOperationFailed
from hbstore.files.locations import LOCAL, parse_location
from hbstore.files.remote_files import RemoteFiles, open_remote

_AT_ONCE: Final = 8
_Open: TypeAlias = Callable[[str, str], RemoteFiles]


def row_counts(form: str, locations: Sequence[str]) -> list[int | None]:
    """The rows of files, in their order; None where the format has no footer, or it cannot be read.

    Args:
        form: the format, such as ``parquet``.
        locations: the files.
    """
    if form not in {"parquet", "orc"}:
        return [None] * len(locations)
    opened = cache(open_remote)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(lambda location: _rows(form, location, opened), locations))


def total(counts: Sequence[int | None]) -> int | None:
    """The sum of rows; None if one is not known.

    >>> total([3, 4]), total([3, None]), total([])
    (7, None, 0)
    """
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def _rows(form: str, location: str, opened: _Open) -> int | None:
    try:
        from pyarrow import orc, parquet

        place = parse_location(location)
        local = place.scheme == LOCAL
        source: Any = place.path if local else opened(place.scheme, place.authority).opened(place.path)
        return int(parquet.read_metadata(source).num_rows if form == "parquet" else orc.ORCFile(source).nrows)
    except (ImportError, OSError, ValueError, NotImplementedError, FileOperationFailed):
        return None

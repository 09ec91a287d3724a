"""How many rows a file holds, as its footer says."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from hbstore.files.locations import LOCAL, parse_location

_AT_ONCE: Final = 8


def row_counts(form: str, locations: list[str]) -> list[int | None]:
    """The rows of files, in their order; None where the format has no footer, or it cannot be read.

    Args:
        form: the format, such as ``parquet``.
        locations: the files.
    """
    if form not in {"parquet", "orc"}:
        return [None] * len(locations)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(lambda location: _rows(form, location), locations))


def _rows(form: str, location: str) -> int | None:
    try:
        from pyarrow import orc, parquet

        source: Any = _source(location)
        return int(parquet.read_metadata(source).num_rows if form == "parquet" else orc.ORCFile(source).nrows)
    except (ImportError, OSError, ValueError):
        return None


def _source(location: str) -> Any:
    place = parse_location(location)
    if place.scheme == LOCAL:
        return place.path
    from pyarrow.fs import FileSystem

    system, path = FileSystem.from_uri(location)
    return system.open_input_file(path)

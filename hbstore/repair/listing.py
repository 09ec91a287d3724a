"""Listing the folders below a table's own, level by level, many at once.

Only folders above those of partitions are listed: what is in a partition is nobody's business here. Threads list, as
file systems answer many requests at once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple, Protocol, TypeAlias

from hbstore.errors import FileOperationFailed
from hbstore.files.interface import at_or_below
from hbstore.files.locations import LOCAL, Location, location_or_none, parse_location
from hbstore.files.remote_files import AT_ONCE, RemoteFiles, open_remote
from hbstore.repair.shape import ROOT, Entry, Folder, Foreign, Shape

Told: TypeAlias = Callable[[int], object]
"""Is told how many folders were found so far."""

_UNREADABLE: Final = "Nothing was changed. Check that you may read the folder, and that the file system is available"


class Walked(NamedTuple):
    """What was found below a table's folder: folders of partitions, and foreign ones."""

    folders: list[Folder]
    foreign: list[Foreign]


class Tree(Protocol):
    """The folders below one location."""

    def entries(self, path: str) -> list[Entry]:
        """The folders in a folder below; none if it is gone."""

    def newest(self, path: str) -> float | None:
        """When something in a folder below was changed last, in seconds since 1970; None if nobody knows."""


@dataclass(frozen=True, slots=True)
class LocalTree:
    """A `Tree` on this machine.

    Attributes:
        root: a path.
    """

    root: str

    def entries(self, path: str) -> list[Entry]:
        """See `Tree.entries`."""
        folders = []
        try:
            with os.scandir(f"{self.root}/{path}") as entries:
                for entry in entries:
                    if entry.is_symlink():
                        if os.path.isdir(entry.path):  # noqa: PTH112
                            folders.append(Entry(entry.name, self._leads_out(entry.path)))
                    elif entry.is_dir(follow_symlinks=False):
                        folders.append(Entry(entry.name))
        except (FileNotFoundError, NotADirectoryError):
            return []
        return folders

    def newest(self, path: str) -> float | None:
        """See `Tree.newest`."""
        newest = None
        for folder, _, files in os.walk(f"{self.root}/{path}"):
            for name in ("", *files):
                try:
                    changed = os.lstat(f"{folder}/{name}").st_mtime
                except FileNotFoundError:
                    continue
                newest = changed if newest is None else max(newest, changed)
        return newest

    def _leads_out(self, link: str) -> bool:
        return not at_or_below(os.path.realpath(link), os.path.realpath(self.root))


@dataclass(frozen=True, slots=True)
class RemoteTree:
    """A `Tree` elsewhere, through pyarrow.

    Attributes:
        root: its location.
    """

    root: Location

    def entries(self, path: str) -> list[Entry]:
        """See `Tree.entries`."""
        found = _remote(self.root).below(f"{self.root.path}/{path}", recursive=False)
        return [Entry(name.rstrip("/")) for name, info in found if name.strip("/") and info.type.name == "Directory"]

    def newest(self, path: str) -> float | None:
        """See `Tree.newest`."""
        found = _remote(self.root).below(f"{self.root.path}/{path}", recursive=True)
        return max((info.mtime.timestamp() for _, info in found if info.mtime is not None), default=None)


def tree_of(location: str) -> Tree:
    """The folders below a location.

    Raises:
        FileOperationFailed: it is no location.
    """
    place = parse_location(location)
    return LocalTree(place.path) if place.scheme == LOCAL else RemoteTree(place)


def walk(location: str, shape: Shape, told: Told = lambda _: None) -> Walked:
    """All folders of a shape below a table's folder, in no order. O(folders).

    Args:
        location: the table's folder.
        shape: the table's.
        told: is told how many folders were found so far.

    Raises:
        FileOperationFailed: a folder cannot be listed.

    >>> import tempfile
    >>> from hbstore import Column, Table
    >>> folder = tempfile.TemporaryDirectory()
    >>> os.makedirs(f"{folder.name}/ds=2013-01-01")
    >>> shape = Shape.of(Table("shop", "t", partition_columns=[Column("ds", "date")]))
    >>> [below.path for below in walk(folder.name, shape).folders]
    ['ds=2013-01-01']
    """
    tree = tree_of(location)
    folders = [ROOT]
    foreign: list[Foreign] = []
    count = 0

    def look(folder: Folder) -> tuple[list[Folder], list[Foreign]]:
        with listing_fails(f"{location}/{folder.path}"):
            return shape.sort(folder, tree.entries(folder.path))

    with ThreadPoolExecutor(AT_ONCE) as pool:
        for _ in shape.columns:
            below = []
            for subfolders, strange in pool.map(look, folders):
                below += subfolders
                foreign += strange
                count += len(subfolders)
                told(count)
            folders = below
    return Walked(folders, foreign)


def gone(locations: Sequence[str]) -> set[str]:
    """Those of some locations where nothing is. Texts that are no locations are not told to be gone.

    Raises:
        FileOperationFailed: nobody can tell.

    >>> gone(["/no/such/folder", "/"])
    {'/no/such/folder'}
    """
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return {place for place, nothing in zip(locations, pool.map(is_gone, locations), strict=True) if nothing}


def is_gone(location: str) -> bool:
    """Whether nothing is at a location; that of a text which is no location cannot be told, so that it is not.

    Raises:
        FileOperationFailed: nobody can tell, as a folder on the way cannot be read, or a file system does not answer.
    """
    place = location_or_none(location)
    if place is None:
        return False
    with listing_fails(location):
        if place.scheme != LOCAL:
            return not _remote(place).exists(place.path)
        try:
            os.stat(place.path)  # noqa: PTH116
        except (FileNotFoundError, NotADirectoryError):
            return True
        return False


def is_file(location: str) -> bool:
    """Whether a file of this machine is at a location, where a folder should be.

    Raises:
        FileOperationFailed: nobody can tell.
    """
    place = location_or_none(location)
    if place is None or place.scheme != LOCAL:
        return False
    with listing_fails(location):
        return os.path.isfile(place.path)  # noqa: PTH113


@contextmanager
def listing_fails(location: str) -> Iterator[None]:
    """Errors of file systems as FileOperationFailed."""
    try:
        yield
    except (OSError, ValueError, NotImplementedError) as error:
        raise FileOperationFailed(
            "a folder cannot be read", location=location, reason=error, hint=_UNREADABLE
        ) from error


def _remote(location: Location) -> RemoteFiles:
    return _opened(location.scheme, location.authority)


@lru_cache(maxsize=16)
def _opened(scheme: str, authority: str) -> RemoteFiles:
    return open_remote(scheme, authority)

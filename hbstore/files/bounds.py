"""Where files may be deleted and moved: the one place that decides.

Below the warehouse always. Beyond it there are two ways:

* a server has further roots, which its user named. What a client says of a table's location counts for nothing, as any
  client may give a table any location;
* what changes files with the rights of the person who typed it has no further roots. There the places count that the
  caller names as the database's or table's own.

Links are judged by where they lead, not by how they are written. The roots themselves, what holds them, and the trash
are never removed or moved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from hbstore.errors import OutsideWarehouse
from hbstore.files.interface import at_or_below
from hbstore.files.local_files import LocalFiles
from hbstore.files.locations import LOCAL, Location, location_or_none

_MOVE_YOURSELF: Final = "Check the location. To remove or move the files anyway, do it yourself"
_LEAVE: Final = "leave the files where they are: drop without deleting data, or first set the table's EXTERNAL to TRUE"
_NAME_ROOT: Final = f"Start `hbstore serve` with --also-under and a folder that holds the location, or {_LEAVE}"


@dataclass(frozen=True, slots=True)
class Bounds:
    """The folders below which files may be deleted and moved.

    Attributes:
        warehouse: the first root.
        also_under: further roots, where only roots count; None where the places that callers name count instead.
        trash: where the trash is, if there is one.
    """

    warehouse: Location
    also_under: tuple[Location, ...] | None
    trash: Location | None

    @property
    def roots(self) -> tuple[Location, ...]:
        """The warehouse, then the further roots."""
        return (self.warehouse, *(self.also_under or ()))

    def place(self, target: Location, inside: Sequence[str]) -> str:
        """The path of what a location names, with the links before its last name followed, if it may be changed.

        Args:
            target: the location. Its file system is not opened: only local folders have links.
            inside: the places that the caller names as the database's or table's own.

        Raises:
            OutsideWarehouse: it may not be changed.
        """
        place = _place(target)
        if self.is_kept(target, place):
            text = "hbstore never removes or moves the warehouse, another root, the trash, or a folder around them"
            hint = _MOVE_YOURSELF if self.also_under is None else f"{_LEAVE[0].upper()}{_LEAVE[1:]}"
            raise OutsideWarehouse(text, location=target, hint=hint)
        if self.may_change(target, place, inside):
            return place
        if self.also_under is None:
            raise OutsideWarehouse(
                "the location is outside the warehouse and outside the table's folder",
                location=target,
                hint=_MOVE_YOURSELF,
            )
        text = "the location is outside the folders in which this server may change files"
        raise OutsideWarehouse(text, location=target, hint=_NAME_ROOT)

    def readable(self, target: Location) -> str:
        """The path of a file that a client names, with all links followed, if it is below a root.

        Raises:
            OutsideWarehouse: it is not.
        """
        path = _real(target)
        if not self.may_change(target, path, ()):
            text = "the file is outside the folders in which this server reads what clients name"
            hint = "Copy it into the warehouse, or start `hbstore serve` with --also-under and a folder that holds it"
            raise OutsideWarehouse(text, location=target, hint=hint)
        return path

    def may_change(self, target: Location, place: str, inside: Sequence[str]) -> bool:
        """Whether a path in a location's file system is at or below a place in which files may be changed."""
        return any(at_or_below(place, own) for own in self._own(target, inside))

    def is_kept(self, target: Location, place: str) -> bool:
        """Whether a path is, holds, or is a link on the way to, a root or the trash."""
        kept = self.roots if self.trash is None else (*self.roots, self.trash)
        return any(
            at_or_below(way, place)
            for location in kept
            if location.file_system == target.file_system
            for way in _ways(location)
        )

    def _own(self, target: Location, inside: Sequence[str]) -> Iterator[str]:
        """The paths in a location's file system at or below which files may be changed."""
        warehouse = None
        for root in self.roots:
            if root.file_system == target.file_system:
                path = _real(root)
                warehouse = path if root is self.warehouse else warehouse
                yield path
        if self.also_under is not None:
            return
        for text in inside:
            own = location_or_none(text)
            if own is None or own.file_system != target.file_system or not (own.parts or own.authority):
                continue
            place = _place(own)
            # A table whose location is written as one in the warehouse, but is led out of it by a link, owns nothing.
            if warehouse is None or not own.is_at_or_below(self.warehouse) or at_or_below(place, warehouse):
                yield place


_FILES: Final = LocalFiles()


def _real(location: Location) -> str:
    """The path with all links in it followed, as far as it is there; object stores and HDFS have no links."""
    return _FILES.real(location.path) if location.scheme == LOCAL else location.path


def _place(location: Location) -> str:
    """The path of the entry itself: links before its last name are followed, the last name is not."""
    return _FILES.place(location.path) if location.scheme == LOCAL else location.path


def _ways(location: Location) -> set[str]:
    """The path, and every path that leads to the same place on the way along its links."""
    return _FILES.ways(location.path) if location.scheme == LOCAL else {location.path}

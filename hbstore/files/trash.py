"""The trash: a folder into which what is deleted moves, laid out as Hadoop's. Only `hbstore.retention` empties its own.

``/wh/shop.db/sales`` comes to rest as ``/trash/Current/wh/shop.db/sales``, and with the time in milliseconds behind its
name where something rests there already.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from hbstore.errors import FileOperationFailed
from hbstore.files.interface import Files, at_or_below
from hbstore.files.locations import Location


@dataclass(frozen=True, slots=True)
class Trash:
    """The trash of a warehouse.

    Attributes:
        location: the folder.
    """

    location: Location

    def take(self, files: Files, target: Location, place: str, identity: str | None = None) -> bool:
        """Move a tree into the trash; one that is in it already is removed.

        Args:
            files: the tree's file system.
            target: its location.
            place: where it is, with links resolved.
            identity: of the folder, where another one that is there by now is to stay; None: any.

        Returns:
            Whether there was anything.

        Raises:
            FileOperationFailed: the trash is in another file system.
            OSError: the file system refuses.
        """
        if target.file_system != self.location.file_system:
            raise FileOperationFailed(
                "the trash is in another file system",
                location=target,
                trash=self.location,
                hint="Drop the table or partition with PURGE, or set the parameter auto.purge=true on the table",
            )
        if at_or_below(place, files.real(self.location.path)):
            return files.delete(place, identity=identity)
        first = resting = self.resting_place(files, place)
        while True:
            try:
                return files.move(place, resting, identity=identity)
            except FileExistsError:
                if not files.exists(resting):
                    raise
            resting = f"{first}{time.time_ns() // 1_000_000}"

    def give_back(self, files: Files, place: str, *, again: bool) -> bool:
        """Move a tree that was taken back to its place; whether it was there.

        Args:
            files: the tree's file system.
            place: where it was, with links resolved.
            again: whether a part may have been copied back before, in file systems that do not rename.

        Raises:
            FileOperationFailed: something else is at its place.
            OSError: the file system refuses.
        """
        resting = self.resting_place(files, place)
        taken = files.data_files(resting, hidden=True)
        if taken is None:
            return False
        there = files.data_files(place, hidden=True)
        if there is not None and not (again and {*there} <= {*taken}):
            raise FileOperationFailed(
                "there is another folder by now",
                location=place,
                hint="Move it away, and try again; the files stay in the trash",
            )
        return files.move(resting, place, again=again)

    def resting_place(self, files: Files, place: str) -> str:
        """Where the first tree that is taken from a place rests."""
        return f"{files.real(self.location.path)}/Current{place}"

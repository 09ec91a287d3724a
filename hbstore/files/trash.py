"""The trash: a folder into which what is deleted moves, laid out as Hadoop's. Nothing empties it.

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

    def take(self, files: Files, target: Location, place: str) -> bool:
        """Move a tree into the trash; one that is in it already is removed.

        Args:
            files: the tree's file system.
            target: its location.
            place: where it is, with links resolved.

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
        root = files.real(self.location.path)
        if at_or_below(place, root):
            return files.delete(place)
        resting = f"{root}/Current{place}"
        while True:
            try:
                return files.move(place, resting)
            except FileExistsError:
                if not files.exists(resting):
                    raise
            resting = f"{root}/Current{place}{time.time_ns() // 1_000_000}"

"""A file beside a store that only takes room, for the day on which the disk is full.

Also removing takes room: SQLite writes a change beside the file before it is in it, and opening a store takes some. So
servers keep a reserve while there is room. On a full disk it makes room for what is removed.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SIZE: Final = 16 << 20
"""Bytes: room to drop tens of thousands of partitions at once."""

PLENTY: Final = 1 << 30
"""Free bytes of a disk that has room for a reserve."""

OPENING: Final = 1 << 20
"""Bytes of it that make room to open the store."""

_PIECE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Reserve:
    """The reserve of a store.

    Attributes:
        store: the path of the store's file.
    """

    store: str

    @property
    def path(self) -> Path:
        """Its file."""
        return Path(f"{self.store}-reserve")

    def keep(self) -> None:
        """See that the reserve is there, if the disk has plenty of room."""
        with suppress(OSError):  # a folder that may not be written: without one
            if _size(self.path) == SIZE or shutil.disk_usage(self.path.parent).free < PLENTY:
                return
            self.path.touch(0o600)
            with self.path.open("ab", buffering=0) as file:
                while file.tell() < SIZE:  # what no file system compresses
                    file.write(os.urandom(min(_PIECE, SIZE - file.tell())))

    def use(self, size: int = SIZE) -> bool:
        """Give some bytes of it, or all, to the disk; whether there were any."""
        left = _size(self.path)
        if not left:
            return False
        try:
            if left <= size:
                self.path.unlink()
            else:
                os.truncate(self.path, left - size)
        except OSError:  # another process was faster, or this one may not
            return False
        return True


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0

"""The few operations on folders that a warehouse needs, on whatever file system they are.

Implementations know nothing of warehouses: `hbstore.files.warehouse` decides what may be touched, and they touch
exactly that. Paths begin with a slash and are the `Location.path` of a location.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from enum import Enum, auto
from typing import BinaryIO, Protocol


class Hold(Enum):
    """What came of holding a folder.

    Attributes:
        MINE: nobody else holds it, and it is where it is said to be.
        OTHERS: another process or thread holds it.
        GONE: there is none, or another one.
        UNTOLD: the file system has no locks.
    """

    MINE = auto()
    OTHERS = auto()
    GONE = auto()
    UNTOLD = auto()


class Files(Protocol):
    """A file system.

    Every method may raise OSError, ValueError or NotImplementedError, as the file system's own library does.
    """

    def real(self, path: str) -> str:
        """The path with all links in it followed, as far as it is there."""

    def place(self, path: str) -> str:
        """The path of the entry itself: links before its last name are followed, the last name is not."""

    def is_folder(self, path: str) -> bool:
        """Whether there is a folder, through links or not."""

    def exists(self, path: str) -> bool:
        """Whether there is a folder or a file, through links or not."""

    def identity(self, path: str) -> str | None:
        """Which folder it is, wherever it is moved: empty for none, None where the file system cannot tell."""

    def held(self, path: str, identity: str | None = None) -> AbstractContextManager[Hold]:
        """Hold a folder inside, as the only one who does: until then, or until the process dies. It does not wait.

        Args:
            path: where it is.
            identity: of the folder, where it is to be no other; None: any.
        """

    def is_empty(self, path: str) -> bool:
        """Whether there is a folder with nothing in it; hidden files count as something."""

    def make_folder(self, real: str) -> list[str]:
        """Make a folder and those above it. No link is followed.

        Returns:
            The folders that were made, the topmost first; empty if it was there.
        """

    def delete(self, place: str, *, identity: str | None = None) -> bool:
        """Remove a folder with everything in it, or a file, or a link. No link is followed.

        Args:
            place: where it is.
            identity: of the folder, where another one that is there by now is to stay; None: any.

        Returns:
            Whether there was anything.
        """

    def delete_empty(self, place: str) -> bool:
        """Remove a folder if nothing is in it; whether it was removed."""

    def move(self, source: str, target: str, *, again: bool = False, identity: str | None = None) -> bool:
        """Give a folder, or a link, another path; folders above the target are made. No link is followed.

        A file system without renames copies, then deletes what it has copied. It never deletes at the target.

        Args:
            source: where it is.
            target: where it goes.
            again: another call may have moved a part of it: what is at the target already counts as that part, and the
                rest comes to it.
            identity: of the folder, where another one at the source is not to be moved; None: any.

        Returns:
            Whether there was anything to move.

        Raises:
            FileExistsError: there is something at the target, or, ``again``, something else.
        """

    def bring(self, source: str, target: str) -> None:
        """Let a file be at another path, where others may do the same at once, before or after.

        A file system without renames copies it: the original stays, and its folder is to be deleted afterwards.

        Raises:
            FileNotFoundError, OSError: it is at neither.
        """

    def data_files(self, path: str, *, hidden: bool = False) -> list[tuple[str, int]] | None:
        """The data files below a folder, by their paths in it, with their sizes in bytes; None if nothing is there.

        Hidden files, and everything in hidden folders, are left out unless they are asked for: names that begin with
        ``_`` or ``.``. The path's own names may. A path that is a file itself has the name ``""``.
        """

    def opened(self, path: str) -> BinaryIO:
        """A file for reading, at any place in it; to be closed.

        Raises:
            FileNotFoundError: it is not there.
        """


def is_hidden(name: str) -> bool:
    """Whether Hive passes over files and folders of this name.

    >>> is_hidden("_SUCCESS"), is_hidden(".part-0.crc"), is_hidden("part-0"), is_hidden("ds=_")
    (True, True, False, False)
    """
    return name.startswith(("_", "."))


def at_or_below(path: str, ancestor: str) -> bool:
    """Whether a path is another or leads into it, name by name.

    >>> at_or_below("/wh/a/b", "/wh/a"), at_or_below("/wh/ab", "/wh/a"), at_or_below("/wh", "/")
    (True, False, True)
    """
    return path == ancestor or path.startswith(ancestor.rstrip("/") + "/")

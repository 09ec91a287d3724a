"""Making many local folders, most of which lie side by side, as those of partitions do.

What is around a folder is resolved once for all that are in it, and the folder in which the last one was made stays
open: so the next one there costs a few requests to the system, and not some for every name of its path.
"""

from __future__ import annotations

import os

from hbstore.files.local_files import FOLDER, LocalFiles, opened


class LocalFolders:
    """Makes folders of this machine, one after the other, in one thread; to be closed."""

    __slots__ = ("_around", "_open", "_reals")

    def __init__(self) -> None:
        self._reals: dict[str, str] = {}
        self._around: str | None = None
        self._open = -1

    def close(self) -> None:
        """Close the folder that is open."""
        if self._around is not None:
            os.close(self._open)
            self._around = None

    def is_folder(self, path: str) -> bool:
        """See `Files.is_folder`."""
        return os.path.isdir(path)  # noqa: PTH112

    def real(self, path: str) -> str:
        """See `Files.real`; what is around the path is looked at once."""
        around, name = os.path.split(path)
        real_around = self._reals.get(around)
        if real_around is None:
            real_around = self._reals[around] = os.path.realpath(around).rstrip("/")
        real = f"{real_around}/{name}"
        return os.path.realpath(real) if os.path.islink(real) else real  # noqa: PTH114

    def make_folder(self, real: str) -> list[str]:
        """See `Files.make_folder`."""
        around, name = os.path.split(real)
        new_folders: list[str] = []
        try:
            if around != self._around:
                folder = opened(around, new_folders)
                self.close()
                self._around, self._open = around, folder
            os.mkdir(name, dir_fd=self._open)
        except FileExistsError:
            os.close(os.open(name, FOLDER, dir_fd=self._open))  # which fails if it is no folder, or a link
            return new_folders
        except FileNotFoundError:  # somebody has just removed a folder on the way
            self.close()
            return new_folders + LocalFiles().make_folder(real)
        return [*new_folders, real]

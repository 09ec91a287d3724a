"""What is in folders and files, wherever they are: looking at them is not bounded, but for reading a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hbstore.files.bounds import Bounds
from hbstore.files.file_systems import FileSystems, failing, renames
from hbstore.files.interface import Hold
from hbstore.files.locations import parse_location


class ReadableFolders:
    """Looks at folders of any file system, and holds them."""

    _bounds: Bounds
    _systems: FileSystems

    def exists(self, location: str) -> bool:
        """Whether there is a folder or a file."""
        place = parse_location(location)
        with failing("the location cannot be read", location):
            return self._systems.files(place).exists(place.path)

    def real(self, location: str) -> tuple[tuple[str, str], str]:
        """What is the same for all locations that name one place: its file system, and its path without links."""
        place = parse_location(location)
        with failing("the location cannot be read", location):
            return place.file_system, self._systems.files(place).real(place.path)

    def identity(self, location: str) -> str | None:
        """Which folder is there, wherever it is moved later: empty for none, None where that cannot be told."""
        place = parse_location(location)
        with failing("the location cannot be read", location):
            return self._systems.files(place).identity(place.path)

    @contextmanager
    def held(self, location: str, identity: str | None = None) -> Iterator[Hold]:
        """Hold a folder inside, as the only one who does, until the process dies; see `Files.held`.

        Where all that move folders of a table hold it first, and look at the catalog then, none moves one that others
        have moved since the look. Elsewhere files may be written and moved all the time.

        Args:
            location: where it is.
            identity: of the folder, where it is to be no other; None: any.
        """
        place = parse_location(location)
        with self._systems.files(place).held(place.path, identity) as hold:
            yield hold

    def is_empty(self, location: str) -> bool:
        """Whether there is a folder with nothing in it, not even hidden files."""
        place = parse_location(location)
        with failing("the folder cannot be listed", location):
            return self._systems.files(place).is_empty(place.path)

    def quick_statistics(self, location: str) -> tuple[int, int] | None:
        """The number of data files in a folder and its folders, and their bytes; None if the folder is not there.

        Files and folders whose names begin with ``_`` or ``.`` are left out, as in Hive's ``numFiles`` and
        ``totalSize``. O(files).
        """
        found = self.data_files(location)
        return None if found is None else (len(found), sum(size for _, size in found))

    def data_files(self, location: str, *, hidden: bool = False) -> list[tuple[str, int]] | None:
        """The data files in a folder and its folders, by their paths in it, with their bytes; None if it is not there.

        Files and folders whose names begin with ``_`` or ``.`` are left out unless ``hidden``. O(files).
        """
        place = parse_location(location)
        with failing("the folder cannot be listed", location):
            return self._systems.files(place).data_files(place.path, hidden=hidden)

    def read(self, location: str, most: int) -> bytes:
        """The first bytes of a file that is below a root; links are judged by where they lead.

        Raises:
            OutsideWarehouse: it is not below a root.
            FileOperationFailed: it is not there, or cannot be read.
        """
        target = parse_location(location)
        with failing("the file cannot be read", location):
            path = self._bounds.readable(target)
            with self._systems.files(target).opened(path) as file:
                return file.read(most)

    def renames(self, location: str) -> bool:
        """Whether the file system of a location renames files and folders in one step, and does not copy them.

        >>> from hbstore.files.warehouse import Warehouse
        >>> warehouse = Warehouse("/wh")
        >>> warehouse.renames("/wh/shop.db"), warehouse.renames("s3a://bucket/shop")
        (True, False)
        """
        return renames(parse_location(location))

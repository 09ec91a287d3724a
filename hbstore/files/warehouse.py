"""Where databases and tables have their files, and what may be done to them.

What removes or moves files is bounded: `hbstore.files.bounds` says by what. Removing a tree removes the links in it,
never what they point to.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from hashlib import blake2b
from typing import Final

from hbstore.errors import FileOperationFailed, OutsideWarehouse
from hbstore.files.bounds import Bounds
from hbstore.files.file_systems import FileSystems, check_same_file_system, failing, renames
from hbstore.files.interface import Files, at_or_below
from hbstore.files.local_files import LocalFolders
from hbstore.files.locations import LOCAL, Location, absolute_location, parse_location
from hbstore.files.readable_folders import ReadableFolders
from hbstore.files.remote_files import AT_ONCE, RemoteFiles
from hbstore.files.trash import Trash
from hbstore.keys.partition_names import DEFAULT_DATABASE

_LONGEST_FOLDER: Final = 240
"""Characters of a table's folder: file systems take 255 in a name, and the trash puts a time behind it."""


class Warehouse(ReadableFolders):
    """The folder below which databases and tables have theirs.

    Args:
        root: a path or a URI; a relative path is taken from the working directory.
        trash: a path or a URI of the `Trash`'s folder. None: what is deleted is gone, as with Hadoop's default
            ``fs.trash.interval``.
        also_under: paths or URIs of further roots below which files may be deleted and moved; then the places that
            callers name as a table's own do not count. None: those count, and there are no further roots.

    Raises:
        FileOperationFailed: a root is no location, or a file, or the whole disk.

    >>> Warehouse("/data/warehouse/").root
    'file:/data/warehouse'
    """

    def __init__(self, root: str, *, trash: str | None = None, also_under: Sequence[str] | None = None) -> None:
        self._root = absolute_location(root)
        self._trash = None if trash is None else Trash(absolute_location(trash))
        self._bounds = Bounds(
            self._root,
            None if also_under is None else tuple(map(absolute_location, also_under)),
            None if self._trash is None else self._trash.location,
        )
        self._systems = FileSystems(frozenset(root.scheme for root in self._bounds.roots))
        for place in self._bounds.roots:
            self._check_root(place)

    @property
    def root(self) -> str:
        """The warehouse's location, such as ``file:/data/warehouse``."""
        return str(self._root)

    @property
    def trash(self) -> str | None:
        """The location of the trash; None where there is none.

        >>> Warehouse("/wh", trash="/trash").trash, Warehouse("/wh").trash
        ('file:/trash', None)
        """
        return None if self._trash is None else str(self._trash.location)

    @property
    def also_under(self) -> tuple[str, ...]:
        """The locations of the further roots.

        >>> Warehouse("/wh", also_under=["/data/shop/", "s3://bucket"]).also_under
        ('file:/data/shop', 's3://bucket')
        """
        return tuple(map(str, self._bounds.also_under or ()))

    def database_location(self, name: str) -> str:
        """Where a database has its folder if nothing else is said.

        >>> Warehouse("/wh").database_location("Shop"), Warehouse("/wh").database_location("default")
        ('file:/wh/shop.db', 'file:/wh')
        """
        lower = name.lower()
        return self.root if lower == DEFAULT_DATABASE else str(self._root / f"{lower}.db")

    def table_location(self, database_location: str | None, database: str, table: str) -> str:
        """Where a table has its folder if nothing else is said.

        As with Hive, tables of the default database are below the warehouse whatever location that database has. The
        folder of a name of more than 240 characters has the beginning of the name, and a hash of it.

        >>> warehouse = Warehouse("/wh")
        >>> warehouse.table_location("s3://shop/", "shop", "Sales"), warehouse.table_location(None, "a", "b")
        ('s3://shop/sales', 'file:/wh/a.db/b')
        """
        lower = database.lower()
        given = None if lower == DEFAULT_DATABASE else database_location
        folder = table.lower()
        if len(folder) > _LONGEST_FOLDER:
            folder = f"{folder[: _LONGEST_FOLDER - 17]}-{blake2b(folder.encode(), digest_size=8).hexdigest()}"
        return str(parse_location(given or self.database_location(lower)) / folder)

    def qualify(self, location: str) -> str:
        """The location as Hive stores it: with its scheme, without a slash at its end.

        Raises:
            FileOperationFailed: it is empty or relative, which Hive does not take either, or malformed.

        >>> warehouse = Warehouse("/wh")
        >>> warehouse.qualify("/x/"), warehouse.qualify("file:///x"), warehouse.qualify("s3a://bucket/x")
        ('file:/x', 'file:/x', 's3a://bucket/x')
        """
        return str(parse_location(location))

    def make_folder(self, location: str) -> bool:
        """Make a folder, and those above it, if it is not there.

        Returns:
            Whether it was made.

        Raises:
            FileOperationFailed: a file is there, or the file system refuses.
            OutsideWarehouse: the location is written as one in the warehouse, but a link leads it elsewhere.
        """
        target = parse_location(location)
        return bool(self._make(target, self._systems.files(target)))

    def make_all(self, targets: Sequence[Location], new_folders: list[tuple[Location, list[str]]]) -> list[bool]:
        """Make a folder for every target, several at once where each is a request to somewhere else.

        Args:
            targets: the folders.
            new_folders: gets each target with the folders that were made for it.

        Returns:
            For each target whether its folder was made.
        """

        def make(target: Location, files: Files | LocalFolders) -> bool:
            folders = self._make(target, files)
            new_folders.append((target, folders))
            return bool(folders)

        if all(target.scheme == LOCAL for target in targets):
            with closing(LocalFolders()) as folders:
                return [make(target, folders) for target in targets]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            return list(pool.map(lambda target: make(target, self._systems.files(target)), targets))

    def check_under_roots(self, location: str) -> None:
        """See that `delete` and `move` may change a place, where only roots count: before anything else is changed.

        Where the places that callers name count as well, nothing is refused beforehand.

        Args:
            location: a folder, which need not be there.

        Raises:
            OutsideWarehouse, FileOperationFailed: as of `delete`.

        >>> warehouse = Warehouse("/wh", also_under=["/data/shop"])
        >>> warehouse.check_under_roots("/data/shop/sales")
        >>> warehouse.check_under_roots("file:/wh/../home/ann")
        Traceback (most recent call last):
        hbstore.errors.OutsideWarehouse: the location is outside the folders in which this server may change files: ...
        """
        if self._bounds.also_under is None:
            return
        target = parse_location(location)
        with failing("the location cannot be read", location):
            self._bounds.place(target, ())

    def delete(self, location: str, *, inside: Sequence[str], purge: bool, identity: str | None = None) -> bool:
        """Remove a tree, or move it to the trash.

        Args:
            location: a folder; a file or a link is removed as well.
            inside: the database's or table's own locations. What is below the roots may be removed in any case.
            purge: remove it even where there is a trash.
            identity: of the folder, where another one that is there by now is to stay; None: any.

        Returns:
            Whether there was anything.

        Raises:
            OutsideWarehouse: it is in none of these, or holds a root or the trash.
            FileOperationFailed: the file system refuses; a part of the tree may be gone.
        """
        target = parse_location(location)
        with failing("the files cannot be removed", location):
            place = self._bounds.place(target, inside)
            files = self._systems.files(target)
            if self._trash is None or purge:
                return files.delete(place, identity=identity)
            return self._trash.take(files, target, place, identity)

    def with_trash(self, trash: str) -> Warehouse:
        """The same warehouse with another trash.

        >>> Warehouse("/wh", trash="/trash").with_trash("/wh/.Trash").trash
        'file:/wh/.Trash'
        """
        also_under = None if self._bounds.also_under is None else self.also_under
        alike = Warehouse(self.root, trash=trash, also_under=also_under)
        alike._systems = self._systems
        return alike

    def delete_trash(self) -> None:
        """Delete the trash for good, with everything in it."""
        if self._trash is not None:
            place = self._trash.location
            with failing("the trash cannot be removed", str(place)):
                self._systems.files(place).delete(place.path)

    def restore(self, location: str, *, inside: Sequence[str]) -> bool:
        """Move a tree that `delete` has put into the trash back; whether it was there.

        Raises:
            OutsideWarehouse: as for `delete`.
            FileOperationFailed: there are other files by now, or the file system refuses.
        """
        target = parse_location(location)
        with failing("the files cannot be moved back", location):
            place, files = self._bounds.place(target, inside), self._systems.files(target)
            again = not renames(target)
            return self._trash is not None and self._trash.give_back(files, place, again=again)

    def delete_empty_parents(self, location: str, *, below: str) -> None:
        """Remove the folders around a location, from the inside out, as long as they are empty and below another.

        Only local ones: elsewhere nothing can tell that a folder is empty and remove it in one step, so that files
        which come between would be lost.
        """
        target, ancestor = parse_location(location), parse_location(below)
        if target.scheme != LOCAL or ancestor.scheme != LOCAL:
            return
        files = self._systems.files(target)
        end = files.place(ancestor.path)
        place = os.path.dirname(files.place(target.path))  # noqa: PTH120
        with suppress(OSError):  # one that stays harms nobody
            while place != end and at_or_below(place, end) and not self._bounds.is_kept(target, place):
                if not (self._bounds.may_change(target, place, [below]) and files.delete_empty(place)):
                    return
                place = os.path.dirname(place)  # noqa: PTH120

    def delete_empty_folders(self, location: str) -> None:
        """Remove a local folder and those in it, from the inside out, as far as they are empty. O(folders)."""
        target = parse_location(location)
        if target.scheme != LOCAL:
            return
        files = self._systems.files(target)
        for folder, _, _ in os.walk(files.place(target.path), topdown=False):
            files.delete_empty(folder)

    def move(
        self, source: str, target: str, *, inside: Sequence[str], again: bool = False, identity: str | None = None
    ) -> bool:
        """Move a folder; those above the target are made.

        Args:
            source: where it is.
            target: where it goes; nothing may be there.
            inside: as for `delete`, for both ends.
            again: others may be about to move the same, or have moved a part; see `Files.move`.
            identity: of the folder, where another one that is there by now is to stay; None: any.

        Returns:
            Whether there was anything to move.

        Raises:
            OutsideWarehouse: as for `delete`.
            FileOperationFailed: the two are in different file systems or one in the other, there is something at the
                target, or the file system refuses.
        """
        old, new = parse_location(source), parse_location(target)
        check_same_file_system(old, new)
        with failing("the files cannot be moved", source, target):
            start, end = (self._bounds.place(one, inside) for one in (old, new))
            if start == end:
                return False
            if at_or_below(end, start):
                raise OSError("the target is inside the source")
            return self._systems.files(old).move(start, end, again=again, identity=identity)

    def move_once(
        self, source: str, target: str, *, inside: Sequence[str], again: bool = True, identity: str | None = None
    ) -> None:
        """As `move`, where others may be about to move the same, or have done so."""
        try:
            self.move(source, target, inside=inside, again=again, identity=identity)
        except FileOperationFailed:
            if self.exists(source) or not self.exists(target):
                raise

    def copy(self, source: str, target: str, *, inside: Sequence[str], before_each: Callable[[], None]) -> bool:
        """Copy a folder that cannot be renamed; whether there was anything. The errors are those of `move`.

        Args:
            source: where it is.
            target: where the copy goes; what is there already counts as a part of it.
            inside: as for `delete`, for both ends.
            before_each: called before each file; what it raises ends the copying.
        """
        old, new = parse_location(source), parse_location(target)
        check_same_file_system(old, new)
        files = self._systems.files(old)
        assert isinstance(files, RemoteFiles)
        with failing("the files cannot be copied", source, target):
            start, end = (self._bounds.place(one, inside) for one in (old, new))
            return files.copy(start, end, before_each=before_each)

    def delete_copies(self, source: str, target: str, *, inside: Sequence[str]) -> None:
        """Delete what `copy` has made, as far as it is still at the source."""
        old, new = parse_location(source), parse_location(target)
        files = self._systems.files(old)
        assert isinstance(files, RemoteFiles)
        with failing("the copies cannot be deleted", source, target):
            files.delete_copies(self._bounds.place(old, inside), self._bounds.place(new, inside))

    def bring(self, files: Mapping[str, str], *, inside: Sequence[str]) -> None:
        """Let files be at other paths, where others may do the same at once, before or after; several at once.

        Where they cannot be renamed they are copied: then the caller deletes the folder that they were in.

        Args:
            files: where each is, and where it goes, in the same file system.
            inside: as for `delete`, for both ends.

        Raises:
            OutsideWarehouse: as for `delete`.
            FileOperationFailed: one is at neither of its places, or the file system refuses.
        """

        def bring(source: str, target: str) -> None:
            old, new = parse_location(source), parse_location(target)
            check_same_file_system(old, new)
            with failing("the file cannot be moved", source, target):
                self._systems.files(old).bring(self._bounds.place(old, inside), self._bounds.place(new, inside))

        if all(parse_location(source).scheme == LOCAL for source in files):
            for source, target in files.items():
                bring(source, target)
            return
        with ThreadPoolExecutor(AT_ONCE) as pool:
            deque(pool.map(bring, files, files.values()), maxlen=0)

    def check_reach(self, source: str, target: str) -> None:
        """See that `bring` and `move` take files from one place to another: before anything is changed.

        Raises:
            FileOperationFailed: the two are in different file systems.

        >>> Warehouse("/wh").check_reach("/wh/a", "s3://bucket/a")
        Traceback (most recent call last):
        hbstore.errors.FileOperationFailed: hbstore does not move files from one file system to another: ...
        """
        check_same_file_system(parse_location(source), parse_location(target))

    def _make(self, target: Location, files: Files | LocalFolders) -> list[str]:
        """Make one folder; which ones were made."""
        with failing("the folder cannot be made", str(target)):
            if files.is_folder(target.path):
                return []
            real = files.real(target.path)
            if target.is_at_or_below(self._root) and not at_or_below(real, files.real(self._root.path)):
                raise OutsideWarehouse(
                    "a link leads out of the warehouse",
                    location=target,
                    hint="Give the table the target of the link as its location",
                )
            return files.make_folder(real)

    def _check_root(self, root: Location) -> None:
        if root.scheme != LOCAL:
            return
        what = "the warehouse" if root == self._root else "a folder of tables"
        if not root.parts:
            raise FileOperationFailed(f"{what} cannot be the whole disk", root=root, hint="Name a folder")
        files = self._systems.files(root)
        if files.exists(root.path) and not files.is_folder(root.path):
            raise FileOperationFailed(f"{what} is a file", root=root, hint="Name a folder")

"""The machine's own folders.

A path is first resolved (`LocalFiles.real`, `LocalFiles.place`), so that its links can be judged. What then changes
something walks the resolved path folder by folder and refuses every link on the way: a process that swaps a folder for
a link in between gets an error, not somebody else's files.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import stat
from collections.abc import Iterator
from typing import BinaryIO, Final

from hbstore.files.interface import Hold, is_hidden

_FOLDER: Final = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""How a folder is opened that is no link, to do something in it."""

_TRIES: Final = 1000  # as another failed for each of them because somebody else got on
_MOST_LINKS: Final = 40  # as in Linux


class LocalFiles:
    """`Files` on this machine."""

    def real(self, path: str) -> str:
        """See `Files.real`."""
        return os.path.realpath(path)

    def place(self, path: str) -> str:
        """See `Files.place`."""
        parent, name = os.path.split(path)
        return os.path.join(os.path.realpath(parent), name)  # noqa: PTH118  a Path is slower, and no clearer here

    def ways(self, path: str) -> set[str]:
        """The path, and every path that leads to the same place on the way along its links."""
        paths = {path, self.place(path), self.real(path)}
        for _ in range(_MOST_LINKS):
            names = path.split("/")
            prefixes = ("/".join(names[:length]) for length in range(2, len(names) + 1))
            link = next(filter(os.path.islink, prefixes), None)
            if link is None:
                break
            led_to = os.path.join(os.path.dirname(link), os.readlink(link))  # noqa: PTH115, PTH118, PTH120
            path = os.path.normpath(led_to + path[len(link) :])
            paths |= {path, self.place(path)}
        return paths

    def is_folder(self, path: str) -> bool:
        """See `Files.is_folder`."""
        return os.path.isdir(path)  # noqa: PTH112

    def exists(self, path: str) -> bool:
        """See `Files.exists`."""
        return os.path.exists(path)  # noqa: PTH110

    def identity(self, path: str) -> str | None:
        """See `Files.identity`: its inode."""
        try:
            return str(os.lstat(path).st_ino)
        except (FileNotFoundError, NotADirectoryError):
            return ""
        except OSError:  # it may not be looked at
            return None

    @contextlib.contextmanager
    def held(self, path: str, identity: str | None = None) -> Iterator[Hold]:
        """See `Files.held`: the system locks the folder itself, wherever it is moved, until it is closed."""
        try:
            folder = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            yield Hold.GONE
            return
        except OSError:  # it may not be read
            yield Hold.UNTOLD
            return
        try:
            yield _locked(folder, path, identity)
        finally:
            os.close(folder)

    def is_empty(self, path: str) -> bool:
        """See `Files.is_empty`."""
        try:
            with os.scandir(path) as entries:
                return next(entries, None) is None
        except (FileNotFoundError, NotADirectoryError):
            return False

    def make_folder(self, real: str) -> list[str]:
        """See `Files.make_folder`."""
        new_folders: list[str] = []
        for _ in range(_TRIES):
            try:
                os.close(_open_folder(real, new_folders))
            except FileNotFoundError:
                continue  # somebody else has just removed an empty folder on the way
            return new_folders
        raise OSError("the system makes no folder there, or other processes keep removing it")

    def delete(self, place: str, *, identity: str | None = None) -> bool:
        """See `Files.delete`."""
        with _parent(place) as (folder, name):
            if folder is None:
                return False
            for _ in range(_TRIES):
                try:
                    return _delete(folder, name, identity)
                except FileNotFoundError:
                    continue  # somebody else is removing the same tree: the rest of it is still to be removed
        raise OSError("other processes keep changing the folder")

    def delete_empty(self, place: str) -> bool:
        """See `Files.delete_empty`."""
        with _parent(place) as (folder, name):
            if folder is None:
                return False
            try:
                os.rmdir(name, dir_fd=folder)
            except OSError:  # whatever the reason is, it is still there
                return False
            return True

    def move(self, source: str, target: str, *, again: bool = False, identity: str | None = None) -> bool:
        """See `Files.move`. An empty folder that somebody makes at the target in the same moment is replaced."""
        with _parent(source) as (folder, name):
            for _ in range(_TRIES):
                if folder is None or _kind(folder, name) is None:
                    return False
                try:
                    return _move(folder, name, target, again, identity)
                except FileNotFoundError:
                    continue  # another process has just moved it, or removed an empty folder around the target
        raise OSError("other processes keep changing the folder")

    def bring(self, source: str, target: str) -> None:
        """See `Files.bring`."""
        try:
            if self.move(source, target):
                return
        except (FileExistsError, FileNotFoundError):  # another process was faster
            if self.exists(source):
                raise
        if not self.exists(target):
            raise FileNotFoundError("the file is neither where it was nor where it goes")

    def data_files(self, path: str, *, hidden: bool = False) -> list[tuple[str, int]] | None:
        """See `Files.data_files`. A link to a file counts as that file; links to folders are not followed."""
        try:
            status = os.stat(path)  # noqa: PTH116
        except (FileNotFoundError, NotADirectoryError):
            return None
        return list(_data_files(path, hidden)) if stat.S_ISDIR(status.st_mode) else [("", status.st_size)]

    def opened(self, path: str) -> BinaryIO:
        """See `Files.opened`. A pipe in its place would keep the reader until somebody writes."""
        if stat.S_ISFIFO(os.stat(path).st_mode):  # noqa: PTH116
            raise OSError(errno.EINVAL, "this is a pipe", path)
        return open(path, "rb")  # noqa: PTH123


class LocalFolders:
    """Makes folders of this machine, one after the other, in one thread; to be closed.

    Most of many folders lie side by side, as those of partitions do. What is around a folder is resolved once for all
    that are in it, and the folder in which the last one was made stays open: so the next one there costs a few requests
    to the system, and not some for every name of its path.
    """

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
                folder = _open_folder(around, new_folders)
                self.close()
                self._around, self._open = around, folder
            os.mkdir(name, dir_fd=self._open)
        except FileExistsError:
            os.close(os.open(name, _FOLDER, dir_fd=self._open))  # which fails if it is no folder, or a link
            return new_folders
        except FileNotFoundError:  # somebody has just removed a folder on the way
            self.close()
            return new_folders + LocalFiles().make_folder(real)
        return [*new_folders, real]


def _locked(folder: int, path: str, identity: str | None) -> Hold:
    """Lock an open folder, and see that it still is at a path."""
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return Hold.OTHERS
    except OSError:  # some network file systems lock no folders
        return Hold.UNTOLD
    try:
        is_there = os.path.samestat(os.stat(path), os.fstat(folder))  # noqa: PTH116
        is_it = identity is None or str(os.lstat(path).st_ino) == identity
    except (FileNotFoundError, NotADirectoryError):
        return Hold.GONE
    return Hold.MINE if is_there and is_it else Hold.GONE


def _data_files(path: str, hidden: bool) -> Iterator[tuple[str, int]]:  # noqa: FBT001
    """All files below a folder with their sizes; what vanishes meanwhile is passed over."""
    folders = [path]
    start = len(path.rstrip("/")) + 1
    while folders:
        with contextlib.suppress(FileNotFoundError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                if is_hidden(entry.name) and not hidden:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif entry.is_file():
                    with contextlib.suppress(FileNotFoundError):
                        yield entry.path[start:], entry.stat().st_size


def _delete(parent: int, name: str, identity: str | None) -> bool:
    """Remove an entry of an open folder with everything in it; see `LocalFiles.delete`.

    Of a folder what is in it goes by way of the folder itself, open: whatever has its path by now.
    """
    kind = _kind(parent, name)
    if kind is None:
        return False
    if not stat.S_ISDIR(kind):
        os.unlink(name, dir_fd=parent)
        return True
    with _opened(parent, name) as folder:
        if identity is not None and str(os.fstat(folder).st_ino) != identity:
            return False
        for entry in os.listdir(folder):  # noqa: PTH208  a Path has no open folder
            if stat.S_ISDIR(_kind(folder, entry) or 0):
                shutil.rmtree(entry, dir_fd=folder)
            else:
                os.unlink(entry, dir_fd=folder)
    os.rmdir(name, dir_fd=parent)
    return True


def _move(parent: int, name: str, target: str, again: bool, identity: str | None) -> bool:  # noqa: FBT001
    """Move an entry of an open folder; see `LocalFiles.move`.

    Raises:
        FileNotFoundError: the entry, or the folder around the target, is gone by now.
    """
    around, new_name = os.path.split(target)
    target_parent = _open_folder(around, [])
    try:
        if identity is not None and str(os.lstat(name, dir_fd=parent).st_ino) != identity:
            return False
        if _kind(target_parent, new_name) is None:
            os.rename(name, new_name, src_dir_fd=parent, dst_dir_fd=target_parent)
        elif again:
            _merge(parent, name, target_parent, new_name)
        else:
            raise FileExistsError("the target already exists")
    finally:
        os.close(target_parent)
    return True


def _merge(parent: int, name: str, target_parent: int, new_name: str) -> None:
    """Move what a folder has into another one, and remove it.

    Raises:
        FileExistsError: both have a file of one name.
    """
    with _opened(parent, name) as folder, _opened(target_parent, new_name) as target:
        for entry in os.listdir(folder):  # noqa: PTH208  a Path has no open folder
            kind, kind_there = _kind(folder, entry), _kind(target, entry)
            if kind is None:
                continue
            if kind_there is None:
                os.rename(entry, entry, src_dir_fd=folder, dst_dir_fd=target)
            elif stat.S_ISDIR(kind) and stat.S_ISDIR(kind_there):
                _merge(folder, entry, target, entry)
            else:
                raise FileExistsError(f"the target has another file {entry!r}")
    os.rmdir(name, dir_fd=parent)


@contextlib.contextmanager
def _opened(parent: int, name: str) -> Iterator[int]:
    """A folder in another one, by its name, opened to be read without following a link."""
    folder = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        yield folder
    finally:
        os.close(folder)


@contextlib.contextmanager
def _parent(place: str) -> Iterator[tuple[int | None, str]]:
    """The folder around an entry, opened, and the entry's name; None if there is no such folder."""
    parent, name = os.path.split(place)
    try:
        folder = _open_folder(parent)
    except FileNotFoundError:
        yield None, name
        return
    try:
        yield folder, name
    finally:
        os.close(folder)


def _open_folder(path: str, new_folders: list[str] | None = None) -> int:
    """A folder by its path, opened without following links; with ``new_folders``, missing ones are made and added."""
    folder = os.open("/", _FOLDER)
    so_far = ""
    for name in path.split("/"):
        if not name:
            continue
        so_far = f"{so_far}/{name}"
        try:
            try:
                inner = os.open(name, _FOLDER, dir_fd=folder)
            except FileNotFoundError:
                if new_folders is None:
                    raise
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, dir_fd=folder)
                    new_folders.append(so_far)
                inner = os.open(name, _FOLDER, dir_fd=folder)
        finally:
            os.close(folder)
        folder = inner
    return folder


def _kind(folder: int, name: str) -> int | None:
    """The mode of a folder's entry; None if there is none."""
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return None

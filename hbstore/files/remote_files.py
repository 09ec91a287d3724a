"""Object stores and HDFS: through pyarrow, or through fsspec where pyarrow has no library can open this file system.

Both libraries are imported when the first such location is used. They take their credentials and endpoints from where
the makers of the file systems have them: environment variables, profiles, Hadoop's configuration.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext, suppress
from glob import has_magic
from typing import TYPE_CHECKING, Final

from hbstore.errors import FileOperationFailed
from hbstore.extras import install_command
from hbstore.files.interface import Hold, is_hidden

if TYPE_CHECKING:
    from pyarrow import NativeFile
    from pyarrow.fs import FileInfo, FileSystem

AT_ONCE: Final = 16
"""Requests to one file system at the same time, where one call needs many."""

_TRIES: Final = 100  # as another failed for each of them because somebody else got on

_KEY_STORES: Final = frozenset({"s3", "gcs"})
"""They have no folders that could be renamed: every object is copied."""

_SPELLING: Final[Mapping[str, str]] = {"s3a": "s3", "s3n": "s3"}


def _nothing() -> None:
    pass


class RemoteFiles:
    """`Files` on a file system of pyarrow.

    Args:
        file_system: any of pyarrow's.
        base: the path in it that is the location's root, such as a bucket.
    """

    def __init__(self, file_system: FileSystem, base: str) -> None:
        self._fs = file_system
        self._base = base.rstrip("/")
        self._copies = file_system.type_name in _KEY_STORES
        self._reads_patterns = file_system.type_name.startswith("py::fsspec")

    def real(self, path: str) -> str:
        """See `Files.real`: there are no links."""
        return path

    def place(self, path: str) -> str:
        """See `Files.place`: there are no links."""
        return path

    def is_folder(self, path: str) -> bool:
        """See `Files.is_folder`."""
        return self._kind(path) == "Directory"

    def exists(self, path: str) -> bool:
        """See `Files.exists`."""
        return self._kind(path) is not None

    def identity(self, path: str) -> str | None:  # noqa: ARG002
        """See `Files.identity`: it cannot be told."""
        return None

    def held(self, path: str, identity: str | None = None) -> AbstractContextManager[Hold]:  # noqa: ARG002
        """See `Files.held`: there are no locks that end with a process."""
        return nullcontext(Hold.UNTOLD)

    def is_empty(self, path: str) -> bool:
        """See `Files.is_empty`."""
        return self.is_folder(path) and not self.below(path, recursive=False)

    def make_folder(self, real: str) -> list[str]:
        """See `Files.make_folder`; of several that were made only the last is told."""
        kind = self._kind(real)
        if kind == "Directory":
            return []
        if kind is not None:
            raise FileExistsError("a file has this path")
        self._fs.create_dir(self._inner(real), recursive=True)
        return [real]

    def delete(self, place: str, *, identity: str | None = None) -> bool:  # noqa: ARG002
        """See `Files.delete`."""
        for _ in range(_TRIES):
            kind = self._kind(place)
            if kind is None:
                return False
            try:
                (self._fs.delete_dir if kind == "Directory" else self._fs.delete_file)(self._literal(place))
            except FileNotFoundError:
                continue  # another process is removing the same: the rest of it is still to be removed
            return True
        raise OSError("other processes keep changing the folder")

    def delete_empty(self, place: str) -> bool:
        """See `Files.delete_empty`. It looks first, so that it is for folders which nobody else writes yet."""
        return self.is_empty(place) and self.delete(place)

    def move(self, source: str, target: str, *, again: bool = False, identity: str | None = None) -> bool:  # noqa: ARG002
        """See `Files.move`. On key stores every object is copied, then the old ones are deleted: O(bytes)."""
        if self._kind(source) is None:
            return False
        is_there = self._kind(target) is not None
        if is_there and not again:
            raise FileExistsError("the target already exists")
        try:
            if self._copies or is_there:
                self._merge(source, target)
            else:
                self._rename(source, target)
        except OSError:
            if self._kind(source) is not None:
                raise
            return False  # another process has just moved or removed it
        return True

    def copy(self, source: str, target: str, *, before_each: Callable[[], None] = _nothing) -> bool:
        """Copy a folder; what is at the target already counts as a part of it. Whether there was anything to copy.

        Args:
            source: where it is.
            target: where the copy goes.
            before_each: called before each file; what it raises ends the copying.

        Raises:
            FileExistsError: the target has another file of a name.
        """
        if self._kind(source) is None:
            return False
        try:
            self._copy(source, target, before_each)
        except OSError:
            if self._kind(source) is not None:
                raise
            return False  # another process was faster, and has removed it
        return True

    def delete_copies(self, source: str, target: str) -> None:
        """Delete at a target what `copy` has made there: files of the names and sizes of those at the source."""
        sizes = self._sizes(source)
        copies = [target + name for name, size in self._sizes(target).items() if sizes.get(name) == size]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            deque(pool.map(self.delete, copies), maxlen=0)
        if not self._sizes(target):  # but for markers of folders
            self.delete(target)

    def bring(self, source: str, target: str) -> None:
        """See `Files.bring`. On key stores one request, by which the file is at both paths."""
        try:
            if not self._copies:
                self._make_parent(target)
                with suppress(NotImplementedError):
                    self._fs.move(self._literal(source), self._literal(target))
                    return
            self._fs.copy_file(self._literal(source), self._literal(target))
        except OSError:
            if self._kind(source) is not None or self._kind(target) is None:
                raise  # else another process was faster

    def data_files(self, path: str, *, hidden: bool = False) -> list[tuple[str, int]] | None:
        """See `Files.data_files`."""
        kind = self._kind(path)
        if kind is None:
            return None
        if kind != "Directory":
            return [("", self._fs.get_file_info(self._inner(path)).size)]
        return [
            (name, info.size)
            for name, info in self.below(path, recursive=True)
            if info.is_file and (hidden or not any(map(is_hidden, name.split("/"))))
        ]

    def below(self, path: str, *, recursive: bool) -> list[tuple[str, FileInfo]]:
        """What is in a folder, or anywhere below it, by its path in the folder; nothing where the folder is not."""
        from pyarrow.fs import FileSelector

        inner = self._inner(path)
        start = len(inner.strip("/")) + 1 if inner.strip("/") else 0
        found = self._fs.get_file_info(FileSelector(inner, recursive=recursive, allow_not_found=True))
        return [(info.path.strip("/")[start:], info) for info in found]

    def opened(self, path: str) -> NativeFile:
        """See `Files.opened`."""
        return self._fs.open_input_file(self._inner(path))

    def _rename(self, source: str, target: str) -> None:
        self._make_parent(target)
        try:
            self._fs.move(self._literal(source), self._literal(target))
        except NotImplementedError:  # accounts of Azure without a hierarchy
            self._merge(source, target)

    def _merge(self, source: str, target: str) -> None:
        """Copy what is at the source and not yet at the target, then delete the source; the target only gains."""
        self._copy(source, target)
        self.delete(source)

    def _copy(self, source: str, target: str, before_each: Callable[[], None] = _nothing) -> None:
        """Copy what is at the source and not yet at the target.

        Who repeats it, late or at once with others, goes on where the first ended. Files that somebody writes into the
        source meanwhile are copied as well; only between the last look and the deletion there is no room for them.

        Raises:
            FileExistsError: the target has another file of a name.
        """

        def copy(pair: tuple[str, str]) -> None:
            before_each()
            self._fs.copy_file(*pair)

        before: dict[str, int] | None = None
        while (files := self._sizes(source)) != before:
            copied = self._sizes(target)
            if not files:
                self._fs.create_dir(self._literal(target), recursive=True)
            names = [name for name, size in files.items() if copied.get(name) != size]
            other = next((name for name in names if name in copied), None)
            if other is not None:
                raise FileExistsError(f"the target has another file {other.strip('/')!r}")
            self._make_folders(target, names)
            pairs = [(self._literal(source + name), self._literal(target + name)) for name in names]
            with ThreadPoolExecutor(AT_ONCE) as pool:
                deque(pool.map(copy, pairs), maxlen=0)
            before = files
        copied = self._sizes(target)
        if any(copied.get(name) != size for name, size in files.items()):
            raise FileNotFoundError("another process has removed copies at the target, so the source stays")

    def _sizes(self, path: str) -> dict[str, int]:
        """The bytes of all files at or below a path, by what follows it in theirs."""
        return {f"/{name}" if name else "": size for name, size in self.data_files(path, hidden=True) or ()}

    def _make_folders(self, target: str, names: Iterable[str]) -> None:
        """The folders that files come into, where the file system has some."""
        if self._copies:
            return
        for folder in {f"{target}{name}".rpartition("/")[0] for name in names}:
            self._fs.create_dir(self._literal(folder), recursive=True)

    def _make_parent(self, target: str) -> None:
        above = target.rpartition("/")[0]
        if above:
            self._fs.create_dir(self._inner(above), recursive=True)

    def _kind(self, path: str) -> str | None:
        """What is at a path: ``Directory``, ``File``, ``Unknown``; None for nothing."""
        kind: str = self._fs.get_file_info(self._inner(path)).type.name
        return None if kind == "NotFound" else kind

    def _inner(self, path: str) -> str:
        return f"{self._base}{path}".rstrip("/") or "/"

    def _literal(self, path: str) -> str:
        """The inner path of something to change.

        Raises:
            ValueError: fsspec would take it for a pattern, and change whatever matches.
        """
        inner = self._inner(path)
        if self._reads_patterns and has_magic(inner):
            raise ValueError("fsspec takes *, ? and [ for patterns")
        return inner


def open_remote(scheme: str, authority: str) -> RemoteFiles:
    """The files of ``scheme://authority``.

    Raises:
        FileOperationFailed: neither library knows the scheme, one that is needed is not installed, or it cannot
            connect.
    """
    uri = f"{_SPELLING.get(scheme, scheme)}://{authority}" + ("" if authority else "/")
    try:
        from pyarrow import ArrowInvalid
        from pyarrow.fs import FileSystem
    except ImportError as error:
        raise FileOperationFailed("pyarrow is not installed", location=uri, hint=install_command("files")) from error
    try:
        return RemoteFiles(*FileSystem.from_uri(uri))
    except (ArrowInvalid, NotImplementedError):  # it does not know the scheme, or was built without it
        return _through_fsspec(uri)
    except OSError as error:
        raise FileOperationFailed(
            "the file system does not answer",
            location=uri,
            reason=error,
            hint="Check the location, and that its host answers",
        ) from error


def _through_fsspec(uri: str) -> RemoteFiles:
    from pyarrow.fs import FSSpecHandler, PyFileSystem

    try:
        from fsspec.core import url_to_fs

        file_system, base = url_to_fs(uri)
    except ImportError as error:  # fsspec itself, or the package that it needs for this scheme
        raise FileOperationFailed(
            "a package for this file system is not installed", location=uri, reason=error, hint=install_command("files")
        ) from error
    except (ValueError, OSError) as error:
        raise FileOperationFailed(
            "no library can open this file system",
            location=uri,
            reason=error,
            hint="Give a location whose scheme pyarrow or fsspec knows, and check that its host answers",
        ) from error
    return RemoteFiles(PyFileSystem(FSSpecHandler(file_system)), base)

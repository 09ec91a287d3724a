"""The file systems that locations name: which there are, which of them rename, and their errors as one."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from hbstore.errors import FileOperationFailed
from hbstore.files.interface import Files
from hbstore.files.local_files import LocalFiles
from hbstore.files.locations import LOCAL, Location
from hbstore.files.remote_files import open_remote

_RENAMING: Final = frozenset({LOCAL, "hdfs", "viewfs"})
"""File systems that rename in one step, so that of several who do so one does, and nothing is half done."""

_SCHEMES: Final = frozenset({LOCAL, "s3", "s3a", "s3n", "gs", "gcs", "hdfs", "viewfs", "abfs", "abfss"})
"""Clients may name these; any other scheme only where the warehouse itself has it."""


_LOCAL: Final[Files] = LocalFiles()


@dataclass(frozen=True, slots=True)
class FileSystems:
    """File systems that are opened when a location names them, each once.

    Attributes:
        further: schemes that locations may have beside the usual ones.
    """

    further: frozenset[str]
    _open: dict[tuple[str, str], Files] = field(default_factory=dict)

    def files(self, location: Location) -> Files:
        """The file system of a location, opened once."""
        if location.scheme == LOCAL:
            return _LOCAL
        key = (location.scheme, location.authority)
        if key not in self._open:
            if location.scheme not in _SCHEMES | self.further:
                raise FileOperationFailed(
                    "the scheme of the location is unknown",
                    location=location,
                    hint="Use one of " + ", ".join(sorted(_SCHEMES)) + ", or the scheme of the warehouse",
                )
            self._open[key] = open_remote(*key)
        return self._open[key]


def renames(location: Location) -> bool:
    """Whether the file system of a location renames files and folders in one step, and does not copy them."""
    return location.scheme in _RENAMING


def check_same_file_system(source: Location, target: Location) -> None:
    """See that files need not go from one file system to another.

    Raises:
        FileOperationFailed: they do.
    """
    if source.file_system != target.file_system:
        raise FileOperationFailed(
            "hbstore does not move files from one file system to another",
            source=source,
            target=target,
            hint="Copy the files yourself, and give the table or partition its new location",
        )


@contextmanager
def failing(text: str, location: str, target: str | None = None) -> Iterator[None]:
    """Errors of file systems as one error; deeper nesting than Python's counts as one of them."""
    try:
        yield
    except (OSError, ValueError, NotImplementedError, RecursionError) as error:
        fields = {"location": location, "target": target, "reason": error}
        hint = "Check that the user of this process may write there, and that the file system is available"
        if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
            hint = "Use shorter partition values, or give the partition a location of its own"
        raise FileOperationFailed(text, hint=hint, **{k: v for k, v in fields.items() if v is not None}) from error

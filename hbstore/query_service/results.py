"""The rows of finished queries: Parquet files as Spark writes them, each result in a folder that is named by its query.

    <root>/<query id>/_SUCCESS                         Spark writes it last, and it is removed first
                      part-00000-….snappy.parquet      files in the order of their names hold rows in their order

So a result is complete as long as its ``_SUCCESS`` is there. Whatever fails while a result is read is therefore told
from a result that was removed meanwhile by one look, and a result is never read in part.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import pyarrow as pa
from pyarrow import parquet

from hbstore.errors import FileOperationFailed, InvalidInput, ReadFailed, ResultExpired
from hbstore.files.interface import Files
from hbstore.files.local_files import LocalFiles
from hbstore.files.locations import LOCAL, Location, absolute_location
from hbstore.files.remote_files import open_remote
from hbstore.query_service.page_tokens import FIRST, Position
from hbstore.warehouse.health import little_room

T = TypeVar("T")
_ID: Final = re.compile("[0-9a-f]{32}")
_COMPLETE: Final = "_SUCCESS"
_BATCH_BYTES: Final = 4 * 1024 * 1024
"""What the rows of a batch take uncompressed, on the average of their row group."""

_BATCH_ROWS: Final = 8_192
"""More rows are hardly faster, and values that the file holds once for many rows may take more than the average."""

_READ_AT_ONCE: Final = 1024 * 1024
"""Bytes of a column that are read from its file at once, so that a row group's need not be held."""

_FAILURES: Final = (OSError, ValueError, NotImplementedError, pa.ArrowException)


class Results:
    """The results below a folder.

    Args:
        root: a path or a URI, on any file system that warehouses may have; a relative path is taken from the working
            directory. The folder need not be there yet.

    Raises:
        FileOperationFailed: the root is no location, a file or the whole disk, or its file system does not answer.

    >>> import tempfile
    >>> results = Results(tempfile.mkdtemp())
    >>> results.location("5f" * 16).endswith("/" + "5f" * 16), results.size("5f" * 16)
    (True, 0)
    """

    def __init__(self, root: str) -> None:
        self._root = absolute_location(root)
        local = self._root.scheme == LOCAL
        self._files: Files = LocalFiles() if local else open_remote(self._root.scheme, self._root.authority)
        path = self._root.path
        with _failing("the folder of results cannot be read", root):
            is_file = self._files.exists(path) and not self._files.is_folder(path)
        if is_file or (local and not self._root.parts):
            raise FileOperationFailed(
                "results need a folder of their own", location=self._root, hint="Name a folder, such as /data/results"
            )

    def __repr__(self) -> str:
        return f"<Results below {self._root}>"

    def make_root(self) -> None:
        """Make the folder if it is not there, as Spark lets every user of the machine read the folders that it makes.

        Where that fails, queries say so.
        """
        path = self._root.path
        with suppress(*_FAILURES):
            self._files.make_folder(self._files.real(path))

    def little_room(self) -> str | None:
        """What is wrong with the room for results, and for what Spark keeps on disk; None: nothing."""
        folders = {"temporary files": Path(tempfile.gettempdir())}
        if self._root.scheme == LOCAL and Path(self._root.path).exists():
            folders["results"] = Path(self._root.path)
        problems = [little_room(folder, use) for use, folder in folders.items()]
        return "; ".join(dict.fromkeys(one for one in problems if one is not None)) or None

    def location(self, id_: str) -> str:
        """Where the files of a query's result are, or will be.

        Raises:
            InvalidInput: the id is none of a query, so that it names no folder: 32 hexadecimal digits in lower case.
        """
        return str(self._place(id_))

    def size(self, id_: str) -> int:
        """The bytes of all files of a result, also of those that Spark is writing; 0 where nothing is. O(files)."""
        place = self._place(id_)
        with _failing("the files of the result cannot be listed", place):
            return sum(size for _, size in self._files.data_files(place.path, hidden=True) or ())

    def remove(self, id_: str) -> None:
        """Remove a result, or what there is of one; that nothing is there is fine, too.

        Raises:
            FileOperationFailed: the file system refuses, or somebody still writes there. The result cannot be read any
                more; call again.
        """
        place = self._place(id_)
        with _failing("the result cannot be removed", place):
            self._files.delete(self._files.place((place / _COMPLETE).path))
            self._files.delete(self._files.place(place.path))

    def batches(
        self, id_: str, *, start: Position = FIRST, rows: int | None = None
    ) -> Iterator[tuple[pa.RecordBatch, Position | None]]:
        """The rows of a result, in their order; at most some MiB of them are in memory, whatever the result's size.

        Args:
            id_: the query's id.
            start: the first row. Files before it are not opened, row groups before it are not read; of its own row
                group the rows before it are decoded and passed over.
            rows: how many rows at most; None: all.

        Returns:
            Batches, each with the position of the row behind it, which is None where no rows follow. There is at least
            one batch, which is empty where there are no rows, so that the types of columns can always be seen. Spark's
            timestamps, which are moments, are ``timestamp[us, tz=UTC]``, those without zone ``timestamp[us]``.

        Raises:
            InvalidInput: the id is none of a query.
            ResultExpired: the result was removed, perhaps meanwhile.
            ReadFailed: a file cannot be read. What comes before the first batch is raised at once, not by ``next``.
        """
        found = self._batches(id_, start, rows)
        return _from(next(found), found)

    def _batches(
        self, id_: str, start: Position, rows: int | None
    ) -> Generator[tuple[pa.RecordBatch, Position | None], None, None]:
        names = self._complete(id_)
        left = rows
        with closing(self._groups(id_, names, start)) as groups:
            group = next(groups, None)
            if group is None or left == 0:
                yield self._empty(id_, names), _start(group)
            while group is not None and left != 0:
                file, at, end = group.start.file, group.start.row, group.start.row + group.rows
                stream = group.batches()
                while at < end and left != 0:
                    with self._reading(id_):
                        batch = next(stream, None)
                        if batch is None:
                            raise ValueError("a row group has fewer rows than its footer says")
                    batch = batch if left is None else batch.slice(0, left)
                    left = None if left is None else left - batch.num_rows
                    at += batch.num_rows
                    if at == end:
                        group = next(groups, None)
                    yield batch, _start(group) if at == end else Position(file, at)

    def _groups(self, id_: str, names: Sequence[str], start: Position) -> Generator[_RowGroup, None, None]:
        """The row groups with rows from a position on, one file at a time: the next one closes the one before."""
        for number in range(start.file, len(names)):
            with ExitStack() as opened:
                with self._reading(id_):
                    file = opened.enter_context(self._opened(id_, names[number]))
                    counts = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
                first, wanted = 0, start.row if number == start.file else 0
                for group, count in enumerate(counts):
                    skip = max(0, wanted - first)
                    if skip < count:
                        yield _RowGroup(file, group, Position(number, first + skip), skip, count - skip)
                    first += count

    def _complete(self, id_: str) -> list[str]:
        """The names of a result's data files, in order, if nobody has begun to remove them."""
        place = self._place(id_)
        with self._reading(id_):
            listed = self._files.data_files(place.path) or []
            # Behind the listing: while this file is there, none of the others was removed, and none is still to come.
            if not self._files.exists((place / _COMPLETE).path):
                raise FileNotFoundError("the result is not complete")
        return sorted(name for name, _ in listed)

    def _empty(self, id_: str, names: Sequence[str]) -> pa.RecordBatch:
        if not names:
            return pa.RecordBatch.from_arrays([], schema=pa.schema([]))
        with self._reading(id_), self._opened(id_, names[0]) as file:
            return pa.RecordBatch.from_pylist([], schema=_schema(file))

    @contextmanager
    def _opened(self, id_: str, name: str) -> Iterator[parquet.ParquetFile]:
        with closing(self._files.opened((self._place(id_) / name).path)) as source:
            # Spark's INT96 may be of any year, of which nanoseconds hold but six hundred.
            yield parquet.ParquetFile(
                source, coerce_int96_timestamp_unit="us", buffer_size=_READ_AT_ONCE, pre_buffer=False
            )

    def _place(self, id_: str) -> Location:
        if not (isinstance(id_, str) and _ID.fullmatch(id_)):
            hint = "Give the id of a query: 32 hexadecimal digits in lower case"
            raise InvalidInput("the text is no id of a query", id=repr(id_)[:100], hint=hint)
        return self._root / id_

    @contextmanager
    def _reading(self, id_: str) -> Iterator[None]:
        """Errors of reading a result: that it is no longer there, or what its files are like."""
        try:
            yield
        except _FAILURES as error:
            place = self._place(id_)
            with _failing("the folder of results cannot be read", place):
                complete = self._files.exists((place / _COMPLETE).path)
            if not complete:
                hint = "Run the query again; the server says with --keep-results how long it keeps results"
                raise ResultExpired("the result is no longer there", query=id_, hint=hint) from error
            hint = "Run the query again"
            raise ReadFailed("a file of the result cannot be read", location=place, reason=error, hint=hint) from error


@dataclass(frozen=True, slots=True)
class _RowGroup:
    """A row group, from a row in it on.

    Attributes:
        file: where it is.
        number: which of the file's.
        start: the position of the first row that is wanted.
        skip: how many rows of the group are before it.
        rows: how many there are from it on.
    """

    file: parquet.ParquetFile
    number: int
    start: Position
    skip: int
    rows: int

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows from the start on; no batch is empty."""
        about = self.file.metadata.row_group(self.number)
        most = max(1, min(_BATCH_ROWS, _BATCH_BYTES * about.num_rows // max(1, about.total_byte_size)))
        schema = _schema(self.file)
        skip = self.skip
        for batch in self.file.iter_batches(batch_size=most, row_groups=[self.number]):
            passed = min(skip, batch.num_rows)
            skip -= passed
            if passed < batch.num_rows:
                wanted = batch.slice(passed)
                columns = [
                    column if column.type == field.type else column.cast(field.type)
                    for column, field in zip(wanted.columns, schema, strict=True)
                ]
                yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _from(first: T, others: Generator[T, None, None]) -> Iterator[T]:
    """A value and those behind it, which are closed with it."""
    with closing(others):
        yield first
        yield from others


def _start(group: _RowGroup | None) -> Position | None:
    return None if group is None else group.start


def _schema(file: parquet.ParquetFile) -> pa.Schema:
    """The columns of a file; its timestamps as `Results.batches` says.

    All may be NULL, whatever the plan that wrote the file knew of that.
    """
    columns = file.metadata.schema
    leaves = iter([columns.column(at).physical_type == "INT96" for at in range(len(columns))])
    return pa.schema([pa.field(field.name, _exact(field.type, leaves)) for field in file.schema_arrow])


def _exact(kind: Any, leaves: Iterator[bool]) -> Any:
    """A type whose timestamps tell moments from times of no zone.

    Args:
        kind: the type as pyarrow reads it from the file; INT96, which holds moments, it takes for one of no zone.
        leaves: of the file's columns without parts, from this one on, whether they are INT96. They are consumed.
    """
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(part.name, _exact(part.type, leaves)) for part in kind])
    if pa.types.is_map(kind):
        key = kind.key_field.with_type(_exact(kind.key_type, leaves))
        return pa.map_(key, kind.item_field.with_type(_exact(kind.item_type, leaves)).with_nullable(True))
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_exact(kind.value_type, leaves)).with_nullable(True))
    int96 = next(leaves)
    if not pa.types.is_timestamp(kind):
        return kind
    return pa.timestamp("us", "UTC" if int96 or kind.tz else None)


@contextmanager
def _failing(text: str, location: object) -> Iterator[None]:
    """Errors of the file system as one error."""
    try:
        yield
    except _FAILURES as error:
        hint = "Check that the user of this process may read and write there, and that the file system is available"
        raise FileOperationFailed(text, location=location, reason=error, hint=hint) from error

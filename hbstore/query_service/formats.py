"""Results in the formats that users fetch: bytes, a batch at a time.

Values are written as `hbstore.query_service.texts` says. Names of columns may repeat.

* ``json``: a page, as one document: ``{"columns": [{"name", "type"}, …], "rows": [[…], …], "next": token or null}``.
* ``ndjson``: an object in each line. As its keys must differ, names that repeat get a number: ``n``, ``n_2``.
* ``csv``: RFC 4180, with a header and CRLF. NULL is empty, an empty text is ``""``. In a result of one column, NULL is
  an empty line.
* ``arrow``: Arrow's IPC stream, with the columns' own names and types.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import pyarrow as pa
from pyarrow import compute, types

from hbstore.errors import ReadFailed
from hbstore.query_service.page_tokens import Position
from hbstore.query_service.query import ResultColumn
from hbstore.query_service.texts import as_json, distinct, glued, plain

MEDIA_TYPES: Final = {
    "json": "application/json",
    "ndjson": "application/x-ndjson",
    "csv": "text/csv; charset=utf-8; header=present",
    "arrow": "application/vnd.apache.arrow.stream",
}
"""Of each format, as HTTP names it."""

_END_OF_STREAM: Final = b"\xff\xff\xff\xff\0\0\0\0"


def json_page(
    columns: Sequence[ResultColumn],
    batches: Iterable[tuple[pa.RecordBatch, Position | None]],
    token: Callable[[Position], str],
) -> Iterator[bytes]:
    r"""A page as one document of JSON, a row in each line.

    Args:
        columns: the query's.
        batches: rows, each with the position behind them, as `Results.batches` gives them.
        token: makes a page token.

    Raises:
        ReadFailed: a text is not UTF-8, or the files have other columns than the query.

    >>> batch = pa.record_batch({"c0": [1, 2]})
    >>> print(b"".join(json_page([ResultColumn(name="n", type="bigint")], [(batch, None)], str)).decode())
    {"columns":[{"name":"n","type":"bigint"}],"rows":[
    [1],
    [2]
    ],"next":null}
    <BLANKLINE>
    """
    described = [{"name": column.name, "type": column.type} for column in columns]
    yield f'{{"columns":{_dumped(described)},"rows":['.encode()
    behind, before = None, "\n"
    for batch, after in batches:
        behind = after
        if rows := _rows(_checked(columns, batch), ",\n[", ["", *[","] * (len(columns) - 1)], as_json, "]", "null"):
            yield before.encode() + rows[2:]
            before = ",\n"
    following = None if behind is None else token(behind)
    yield f'\n],"next":{_dumped(following)}}}\n'.encode()


def ndjson(columns: Sequence[ResultColumn], batches: Iterable[pa.RecordBatch]) -> Iterator[bytes]:
    r"""Rows as lines, each an object of JSON.

    Raises:
        ReadFailed: as of `json_page`.

    >>> columns = [ResultColumn(name="n", type="bigint"), ResultColumn(name="n", type="string")]
    >>> b"".join(ndjson(columns, [pa.record_batch({"c0": [1, None], "c1": ["a", "b"]})]))
    b'{"n":1,"n_2":"a"}\n{"n":null,"n_2":"b"}\n'
    """
    keys = [f"{_dumped(name)}:" for name in distinct([column.name for column in columns])]
    between = [*keys[:1], *(f",{key}" for key in keys[1:])]
    for batch in batches:
        if rows := _rows(_checked(columns, batch), "{", between, as_json, "}\n", "null"):
            yield rows


def csv(columns: Sequence[ResultColumn], batches: Iterable[pa.RecordBatch]) -> Iterator[bytes]:
    r"""Rows as CSV.

    Raises:
        ReadFailed: as of `json_page`.

    >>> columns = [ResultColumn(name="n", type="bigint"), ResultColumn(name="a, b", type="string")]
    >>> b"".join(csv(columns, [pa.record_batch({"c0": [1, None], "c1": ["c,d", ""]})]))
    b'n,"a, b"\r\n1,"c,d"\r\n,""\r\n'
    """
    names = [pa.array([column.name]) for column in columns]
    between = ["", *[","] * (len(columns) - 1)]
    if header := _rows(names, "", between, _field, "\r\n", ""):
        yield header
    for batch in batches:
        if rows := _rows(_checked(columns, batch), "", between, _field, "\r\n", ""):
            yield rows


def arrow(columns: Sequence[ResultColumn], batches: Iterable[pa.RecordBatch]) -> Iterator[bytes]:
    """Rows as a stream of Arrow's IPC format, which tells the columns also where there are no rows.

    Args:
        columns: the query's.
        batches: at least one, as `Results.batches` gives them, unless there are no columns.

    Raises:
        ReadFailed: as of `json_page`.

    >>> columns = [ResultColumn(name="n", type="bigint"), ResultColumn(name="n", type="string")]
    >>> stream = b"".join(arrow(columns, [pa.record_batch({"c0": [1], "c1": ["a"]})]))
    >>> pa.ipc.open_stream(stream).read_all().column_names
    ['n', 'n']
    """
    schema = None
    for batch in batches:
        arrays = _checked(columns, batch)
        if schema is None:
            schema = pa.schema([one.with_name(column.name) for one, column in zip(batch.schema, columns, strict=True)])
            yield bytes(schema.serialize())
        if batch.num_rows:
            yield bytes(pa.RecordBatch.from_arrays(arrays, schema=schema).serialize())
    if schema is None:
        _check_number(columns, 0)
        yield bytes(pa.schema([]).serialize())
    yield _END_OF_STREAM


def text_columns(columns: Sequence[ResultColumn], batch: pa.RecordBatch) -> list[list[str | None]]:
    """The values of each column as texts, as CSV has them without its quotes; NULL is None.

    Raises:
        ReadFailed: as of `json_page`.

    >>> text_columns([ResultColumn(name="n", type="double")], pa.record_batch({"c0": [1.5, None]}))
    [['1.5', None]]
    """
    return [plain(values).to_pylist() for values in _checked(columns, batch)]


def _checked(columns: Sequence[ResultColumn], batch: pa.RecordBatch) -> list[pa.Array]:
    """The columns of a batch, if they are the query's and their texts can be read."""
    _check_number(columns, batch.num_columns)
    for column, values in zip(columns, batch.columns, strict=True):
        try:
            values.validate(full=True)
        except pa.ArrowInvalid as error:
            hint = "Ask for it in another form, such as base64(cast(… AS binary)) or hex(…)"
            text = "a value cannot be read, as a text of Spark that is not UTF-8"
            raise ReadFailed(text, column=column.name, reason=error, hint=hint) from error
    return list(batch.columns)


def _check_number(columns: Sequence[ResultColumn], stored: int) -> None:
    if stored != len(columns):
        text = "the files of the result have other columns than the query"
        raise ReadFailed(text, columns=len(columns), stored=stored, hint="Run the query again")


def _rows(
    columns: Sequence[pa.Array],
    start: str,
    between: Sequence[str],
    text: Callable[[pa.Array], pa.Array],
    end: str,
    null: str,
) -> bytes:
    """The rows of some columns.

    Args:
        columns: their values.
        start: what each row begins with.
        between: what stands before each column's value.
        text: makes the texts of a column.
        end: what each row ends with.
        null: what stands for NULL.
    """
    if not columns or not len(columns[0]):
        return b""
    parts = [one for before, column in zip(between, columns, strict=True) for one in (before, text(column))]
    parts[0] = start + parts[0]
    rows = glued(*parts, end, null=null)
    _, offsets, data = rows.buffers()
    ends = memoryview(offsets).cast("q")
    return bytes(memoryview(data)[ends[rows.offset] : ends[rows.offset + len(rows)]])


def _field(column: pa.Array) -> pa.Array:
    """A column's values as they stand in CSV, quoted where they must be."""
    text, kind = plain(column), column.type
    if types.is_boolean(kind) or types.is_primitive(kind) or types.is_decimal(kind):
        return text  # which are never empty, and hold no letter that matters
    quoted = compute.match_substring_regex(text, '[",\r\n]|^$')
    if not compute.any(quoted).as_py():
        return text
    return compute.if_else(quoted, glued('"', compute.replace_substring(text, '"', '""'), '"'), text)


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

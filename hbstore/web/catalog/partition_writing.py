"""Partitions in the formats that clients fetch: bytes, a page at a time.

* ``json``: a page, as one document: ``{"partitions": [{…}, …], "next": token or null}``, a partition in each line.
* ``ndjson``: an object in each line.
* ``arrow``: Arrow's IPC stream. Values are a list of texts, parameters a map; ``thrift`` is binary.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from hbstore.client.documents import StorageDocument
from hbstore.errors import InvalidInput
from hbstore.model.name_lists import partition_names
from hbstore.model.objects import Partition, StorageDescriptor, Table
from hbstore.model.structs import partition_values, partitions_from_payloads
from hbstore.web.catalog.partition_listing import PartitionPage
from hbstore.web.catalog.quick_fields import quick_fields

FIELDS: Final = ("name", "values", "location", "parameters", "create_time", "last_access_time", "storage", "thrift")
USUAL: Final = FIELDS[:6]
"""The fields that a partition has where a request names none."""

_TYPES: Final[Mapping[str, pa.DataType]] = {
    "name": pa.string(),
    "values": pa.list_(pa.string()),
    "location": pa.string(),
    "parameters": pa.map_(pa.string(), pa.string()),
    "create_time": pa.int64(),
    "last_access_time": pa.int64(),
    "thrift": pa.binary(),
}
_QUICK: Final = ("location", "parameters", "create_time", "last_access_time")
"""The fields in the order in which `quick_fields` reads them."""

_END_OF_STREAM: Final = b"\xff\xff\xff\xff\0\0\0\0"
_dumped: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode


def fields_of(text: str | None) -> tuple[str, ...]:
    """The fields that a request names, separated by commas.

    Raises:
        InvalidInput: there is no such field.

    >>> fields_of("name, location"), fields_of(None) == USUAL
    (('name', 'location'), True)
    """
    if text is None:
        return USUAL
    named = tuple(dict.fromkeys(one.strip() for one in text.split(",") if one.strip()))
    unknown = [one for one in named if one not in FIELDS]
    if unknown or not named:
        raise InvalidInput(
            "a partition has no such field",
            field=unknown[0] if unknown else text,
            hint=f"Name some of {', '.join(FIELDS)}",
        )
    return named


def json_page(page: PartitionPage, fields: Sequence[str]) -> bytes:
    """A page as one document."""
    lines = ",\n".join(map(_dumped, _objects(page, fields)))
    return f'{{"partitions":[\n{lines}\n],"next":{_dumped(page.next)}}}\n'.encode()


def ndjson(pages: Iterable[PartitionPage], fields: Sequence[str]) -> Iterator[bytes]:
    """Partitions as lines, each an object."""
    for page in pages:
        if page.payloads:
            yield ("\n".join(map(_dumped, _objects(page, fields))) + "\n").encode()


def arrow(pages: Iterable[PartitionPage], fields: Sequence[str]) -> Iterator[bytes]:
    """Partitions as a stream of Arrow's IPC format.

    Raises:
        InvalidInput: Arrow has no form of a field.
    """
    schema = arrow_schema(fields)  # now, so that its error comes before the stream

    def written() -> Iterator[bytes]:
        yield bytes(schema.serialize())
        for page in pages:
            if page.payloads:
                columns = _columns(page, fields, in_json=False)
                arrays = [pa.array(columns[field], _TYPES[field]) for field in fields]
                yield bytes(pa.RecordBatch.from_arrays(arrays, schema=schema).serialize())
        yield _END_OF_STREAM

    return written()


def arrow_schema(fields: Sequence[str]) -> pa.Schema:
    """The columns of a stream of Arrow.

    Raises:
        InvalidInput: Arrow has no form of a field.
    """
    if "storage" in fields:
        raise InvalidInput(
            "the storage of partitions has no form in Arrow",
            field="storage",
            hint="Ask for thrift, or for another format",
        )
    return pa.schema([(field, _TYPES[field]) for field in fields])


def _objects(page: PartitionPage, fields: Sequence[str]) -> Iterator[dict[str, Any]]:
    columns = _columns(page, fields, in_json=True)
    for row in zip(*(columns[field] for field in fields), strict=True):
        yield dict(zip(fields, row, strict=True))


def _columns(page: PartitionPage, fields: Sequence[str], *, in_json: bool) -> dict[str, Sequence[Any]]:
    """The values of each field. Names, values and stored bytes need not be decoded."""
    payloads, table = page.payloads, page.table
    stored: dict[str, Callable[[], Sequence[Any]]] = {
        "name": lambda: partition_names(table.partition_column_names, payloads),
        "values": lambda: list(map(partition_values, payloads)),
        "thrift": lambda: [b64encode(payload).decode() for payload in payloads] if in_json else payloads,
    }
    columns = {field: stored[field]() for field in fields if field in stored}
    if "storage" in fields:
        columns["storage"] = _storages(partitions_from_payloads(payloads))
    if any(field in _QUICK for field in fields):
        read = list(zip(*quick_fields(payloads), strict=True)) or [()] * len(_QUICK)
        columns |= dict(zip(_QUICK, read, strict=True))
        if not in_json:
            columns["parameters"] = [list(parameters.items()) for parameters in columns["parameters"]]
    return columns


def _storages(partitions: Sequence[Partition]) -> list[dict[str, Any] | None]:
    """Documents of storages; partitions that are read together share most of them."""
    seen: dict[int, tuple[StorageDescriptor, dict[str, Any]]] = {}
    documents: list[dict[str, Any] | None] = []
    for partition in partitions:
        storage = partition.storage
        if storage is None:
            documents.append(None)
            continue
        if id(storage) not in seen:
            seen[id(storage)] = storage, StorageDocument.of(storage).model_dump()
        documents.append(seen[id(storage)][1])
    return documents


def names_text(pages: Iterable[PartitionPage]) -> Iterator[bytes]:
    """The name of each partition in a line; control characters of names are escaped in them."""
    for page in pages:
        if page.payloads:
            yield ("\n".join(names_of(page.table, page.payloads)) + "\n").encode()


def names_of(table: Table, payloads: Sequence[bytes]) -> list[str]:
    """The names of partitions of a table."""
    return partition_names(table.partition_column_names, payloads)

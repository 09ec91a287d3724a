r"""Columns of Arrow as TColumns, whole: no value is looked at alone.

A TColumn is a union: its field says the type of the values, which are a list without NULL; beside it stand bits that
say which rows are NULL, the first row's the lowest bit of the first byte. Zeros at the end of these bytes are left out.

>>> thrift_column(pa.array([1, None], pa.int16()), "smallint", "UTC").hex(" ")
'0c 00 03 0f 00 01 06 00 00 00 02 00 01 00 00 0b 00 02 00 00 00 01 02 00 00'
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyarrow import compute, types

from hbstore.hiveserver2 import result_types
from hbstore.hiveserver2.hive_texts import hive_texts
from hbstore.hiveserver2.result_types import ResultType, result_type
from hbstore.thrift.wire import BINARY, BOOL, DOUBLE, I16, I32, I64, STRING, field_head

_STRUCT: Final = 12
_LIST: Final = 15
_BYTE: Final = 3
_STOP: Final = b"\0"
_VALUES: Final = bytes((_LIST, 0, 1))
_NULLS: Final = field_head(BINARY, 2)
_BYTES: Final = pa.large_binary()
_SIZE: Final = 4
"""Bytes that tell how long a text is."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """How values of a type stand in a TColumn.

    Attributes:
        field: its number in the union.
        code: Thrift's number of the type of a value.
        bytes: those of the values of a column.
    """

    field: int
    code: int
    bytes: Callable[[pa.Array], bytes]


def thrift_column(values: pa.Array, type: str, zone: str) -> bytes:
    """The bytes of a TColumn. O(bytes).

    In the place of NULL stands true, 0, or an empty text. A float becomes the double that its shortest text names, so
    that 0.1 stays 0.1. Bytes in a text that are not UTF-8 become U+FFFD, as in Spark, since some clients fail at them.

    Args:
        values: as `hbstore.query_service.results.Results` gives them.
        type: what Spark calls their type.
        zone: the time zone in which timestamps are written.

    Raises:
        ReadFailed: as of `hive_texts`.
        InvalidInput: there is no such zone.
    """
    value_type = result_type(type)
    kind = _KINDS.get(value_type, _TEXT)
    if kind is _TEXT:
        values = _readable(hive_texts(values, value_type, zone))
    nulls = _null_bits(values)
    return b"".join(
        (
            bytes((_STRUCT, 0, kind.field)),
            *(_VALUES, bytes((kind.code,)), len(values).to_bytes(_SIZE, "big"), kind.bytes(values)),
            *(_NULLS, len(nulls).to_bytes(_SIZE, "big"), nulls),
            *(_STOP, _STOP),
        )
    )


def _null_bits(values: pa.Array) -> bytes:
    if not values.null_count:
        return b""
    nulls = values.is_null().to_numpy(zero_copy_only=False)
    return np.packbits(nulls, bitorder="little").tobytes().rstrip(b"\0")


def _numbers(arrow: pa.DataType, wire: str) -> Callable[[pa.Array], bytes]:
    """Makes the bytes of numbers.

    Args:
        arrow: the type of the column.
        wire: NumPy's name of the type on the wire.
    """

    def written(values: pa.Array) -> bytes:
        filled = compute.fill_null(values.cast(arrow), 0)
        return bytes(filled.to_numpy(zero_copy_only=False).astype(wire).data)

    return written


def _booleans(values: pa.Array) -> bytes:
    filled = compute.fill_null(values, True).cast(pa.uint8())
    return bytes(filled.to_numpy().data)


def _floats(values: pa.Array) -> bytes:
    if types.is_float32(values.type):
        values = values.cast(pa.string()).cast(pa.float64())
    return _doubles(values)


def _texts(values: pa.Array) -> bytes:
    """Each text behind its size."""
    if not len(values):
        return b""
    texts = compute.fill_null(values.cast(_BYTES), b"")
    count = len(texts)
    sizes = compute.binary_length(texts).to_numpy().astype(">i4")
    offsets = np.arange(0, _SIZE * (count + 1), _SIZE, dtype=np.int64)
    before = pa.LargeBinaryArray.from_buffers(_BYTES, count, [None, pa.py_buffer(offsets), pa.py_buffer(sizes)])
    joined = compute.binary_join_element_wise(before, texts, pa.scalar(b"", _BYTES))
    _, ends, data = joined.buffers()
    within = memoryview(ends).cast("q")
    return bytes(memoryview(data)[within[joined.offset] : within[joined.offset + count]])


def _readable(texts: pa.Array) -> pa.Array:
    """Texts that are UTF-8."""
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        each = texts.cast(_BYTES).to_pylist()
        return pa.array([None if one is None else one.decode(errors="replace") for one in each], pa.large_string())
    return texts


_doubles: Final = _numbers(pa.float64(), ">f8")
_TEXT: Final = _Kind(7, STRING.code, _texts)
_KINDS: Final[dict[ResultType, Any]] = {
    result_types.BOOLEAN: _Kind(1, BOOL.code, _booleans),
    result_types.TINYINT: _Kind(2, _BYTE, _numbers(pa.int8(), "i1")),
    result_types.SMALLINT: _Kind(3, I16.code, _numbers(pa.int16(), ">i2")),
    result_types.INT: _Kind(4, I32.code, _numbers(pa.int32(), ">i4")),
    result_types.BIGINT: _Kind(5, I64.code, _numbers(pa.int64(), ">i8")),
    result_types.FLOAT: _Kind(6, DOUBLE.code, _floats),
    result_types.DOUBLE: _Kind(6, DOUBLE.code, _doubles),
    result_types.BINARY: _Kind(8, BINARY.code, _texts),
}

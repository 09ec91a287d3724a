"""Random columns of the types that Spark writes, and what JSON makes of their values: read back value by value."""

from __future__ import annotations

import struct
from base64 import b64decode
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
from hypothesis import strategies as st

TEXTS = st.text(st.characters(codec="utf-8"), max_size=8) | st.text('",\r\n\\\x00\x1f\t é𝄞', max_size=5)
MOMENTS = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999))  # noqa: DTZ001
WHOLE = MOMENTS.map(lambda at: at.replace(microsecond=0))
SCALARS = [
    (pa.bool_(), st.booleans()),
    (pa.int8(), st.integers(-(2**7), 2**7 - 1)),
    (pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    (pa.int64(), st.integers(-(2**63), 2**63 - 1) | st.sampled_from([2**53 - 1, 2**53, -(2**53) + 1, -(2**53)])),
    (pa.float32(), st.floats(width=32) | st.integers(-(10**9), 10**9).map(float).filter(lambda x: x == as_float(x))),
    (pa.float64(), st.floats() | st.integers(-(10**18), 10**18).map(float)),
    (pa.string(), TEXTS),
    (pa.binary(), st.binary(max_size=5)),
    (pa.date32(), st.dates()),
    (pa.timestamp("us", "UTC"), (MOMENTS | WHOLE).map(lambda at: at.replace(tzinfo=UTC))),
    (pa.timestamp("us"), MOMENTS | WHOLE),
    *(
        (
            pa.decimal128(digits, scale),
            st.integers(-(10**digits) + 1, 10**digits - 1).map(lambda n, s=scale: Decimal(f"{n}e-{s}")),
        )
        for digits, scale in ((1, 0), (10, 2), (38, 18), (38, 38))
    ),
]


def as_float(value: float) -> float:
    """The nearest of four bytes."""
    return struct.unpack("f", struct.pack("f", value))[0]


def or_null(values):
    return st.none() | values


def nested(inner):
    """Types with parts, and their values."""

    def listed(one):
        kind, values = one
        return pa.list_(kind), st.lists(or_null(values), max_size=3)

    def mapped(pair):
        (key, keys), (kind, values) = pair
        entries = st.lists(st.tuples(keys, or_null(values)), max_size=3, unique_by=lambda entry: repr(entry[0]))
        return pa.map_(key, kind), entries

    def structured(parts):
        names = [f'p"{at}' for at in range(len(parts))]
        kind = pa.struct([pa.field(name, part[0]) for name, part in zip(names, parts, strict=True)])
        return kind, st.fixed_dictionaries({n: or_null(part[1]) for n, part in zip(names, parts, strict=True)})

    return (
        inner.map(listed)
        | st.tuples(st.sampled_from(SCALARS), inner).map(mapped)
        | st.lists(inner, min_size=1, max_size=3).map(structured)
    )


KINDS = st.recursive(st.sampled_from(SCALARS), nested, max_leaves=4)


@st.composite
def tables(draw, *, max_rows: int = 8):
    """Columns c0, c1, … of any type, of which some begin in the middle of their buffers."""
    kinds = draw(st.lists(KINDS, min_size=1, max_size=4))
    rows, cut = draw(st.integers(0, max_rows)), draw(st.integers(0, 2))
    columns = [
        pa.array(draw(st.lists(or_null(values), min_size=rows + cut, max_size=rows + cut)), kind)
        for kind, values in kinds
    ]
    return pa.RecordBatch.from_arrays(columns, names=[f"c{at}" for at in range(len(kinds))]).slice(cut)


def value_of(kind: pa.DataType, found: object) -> object:  # noqa: PLR0911  a line for each type
    """The value that JSON's stands for; what is not written as promised fails."""
    if found is None:
        return None
    if pa.types.is_boolean(kind):
        assert isinstance(found, bool)
        return found
    if pa.types.is_integer(kind):
        assert isinstance(found, str if abs(int(found)) > 2**53 - 1 else int)
        return int(found)
    if pa.types.is_floating(kind):
        assert isinstance(found, float) or found in ("NaN", "Infinity", "-Infinity")
        return as_float(float(found)) if kind == pa.float32() else float(found)
    if pa.types.is_list(kind):
        return [value_of(kind.value_type, one) for one in found]
    if pa.types.is_struct(kind):
        assert list(found) == [part.name for part in kind]
        return {part.name: value_of(part.type, found[part.name]) for part in kind}
    if pa.types.is_map(kind):
        pairs = list(found.items()) if kind.key_type == pa.string() else found
        assert isinstance(pairs, list)
        return [(value_of(kind.key_type, key), value_of(kind.item_type, value)) for key, value in pairs]
    assert isinstance(found, str)
    return value_of_text(kind, found)


def value_of_text(kind: pa.DataType, text: str) -> object:
    """The value of a type without parts that a text stands for."""
    if pa.types.is_binary(kind):
        return b64decode(text, validate=True)
    if pa.types.is_decimal(kind):
        assert set(text) <= set("-.0123456789")
        assert len(text.partition(".")[2]) == kind.scale
        return Decimal(text)
    if pa.types.is_date(kind):
        return date.fromisoformat(text)
    if pa.types.is_timestamp(kind):
        assert len(text.rstrip("Z")) in (19, 26)
        assert text.endswith("Z") == (kind.tz is not None)
        return datetime.fromisoformat(text)
    return text


def same(left: object, right: object) -> bool:
    """Whether two values are one, NaN and the sign of zero included."""
    utc = "zoneinfo.ZoneInfo(key='UTC')", "datetime.timezone.utc"
    return repr(left).replace(*utc) == repr(right).replace(*utc)

"""Texts of values, beside what is written value by value: nested, sliced, with NULL, in time zones."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from math import isfinite
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore.errors import InvalidInput
from hbstore.hiveserver2.hive_texts import hive_texts
from hbstore.hiveserver2.result_types import INTERVAL_DAY_TIME, INTERVAL_YEAR_MONTH, STRING
from hbstore.hiveserver2.zones import local_times
from tests.query_service.columns import tables

ZONES = [
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Africa/Casablanca",
    "Asia/Kolkata",
    "Australia/Lord_Howe",
    "+05:30",
]
INDIA = timezone(timedelta(hours=5, minutes=30))
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
YEAR_2100 = 47_482 * 86_400 * 10**6
CYCLE = 146_097 * 86_400 * 10**6


def text_of(kind, value, within):  # noqa: C901, PLR0911  a line for each type
    """What stands for a value, within another one or alone."""
    if value is None:
        return "null" if within else None
    if pa.types.is_list(kind):
        return f"[{','.join(text_of(kind.value_type, one, True) for one in value)}]"
    if pa.types.is_struct(kind):
        return "{" + ",".join(f'"{part.name}":{text_of(part.type, value[part.name], True)}' for part in kind) + "}"
    if pa.types.is_map(kind):
        pairs = [f"{text_of(kind.key_type, key, True)}:{text_of(kind.item_type, one, True)}" for key, one in value]
        return "{" + ",".join(sorted(pairs, key=str.encode)) + "}"
    if pa.types.is_boolean(kind):
        return str(value).lower()
    if pa.types.is_floating(kind):
        return java_text(value if kind == pa.float64() else float(str(pa.scalar(value, kind).cast(pa.string()))))
    if pa.types.is_timestamp(kind):
        fraction = f".{value.microsecond:06}".rstrip("0") if value.microsecond else ""
        return f"{value.year:04}-{value:%m-%d %H:%M:%S}{fraction}"
    if pa.types.is_date(kind):
        return f"{value.year:04}-{value:%m-%d}"
    if pa.types.is_binary(kind):
        return value.decode(errors="replace")
    if pa.types.is_decimal(kind):
        return format(value, "f")
    return f'"{value}"' if within and pa.types.is_string(kind) else str(value)


def java_text(value):
    if not isfinite(value):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[repr(value)]
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        plain = format(Decimal(repr(value)), "f")
        return plain if "." in plain else f"{plain}.0"
    mantissa, exponent = format(Decimal(repr(value)).normalize(), "e").split("e")
    return f"{mantissa if '.' in mantissa else f'{mantissa}.0'}E{int(exponent)}"


@given(tables())
def test_texts_are_those_of_the_values(batch):
    for column in batch.columns:
        texts = hive_texts(column, STRING, "UTC")
        texts.validate(full=True)
        assert texts.to_pylist() == [text_of(column.type, value, False) for value in column.to_pylist()]


MOMENTS = st.integers(-62_135_400_000 * 10**6, 253_402_100_000 * 10**6)


@given(st.sampled_from(ZONES), st.lists(st.none() | MOMENTS, max_size=5), st.integers(0, 2))
def test_clocks_of_zones(zone, moments, cut):
    known = UTC if zone == "UTC" else ZoneInfo(zone) if "/" in zone else INDIA
    column = pa.array(moments, pa.timestamp("us", "UTC")).slice(cut)
    times = [None if one is None else EPOCH + timedelta(microseconds=one) for one in moments[cut:]]
    assert local_times(column, zone).to_pylist() == [
        None if one is None else one.astimezone(known).replace(tzinfo=None) for one in times
    ]


@given(st.sampled_from(ZONES), st.integers(YEAR_2100, CYCLE), st.integers(1, 600))
def test_clocks_change_in_all_years_alike(zone, moment, cycles):
    column = pa.array([moment, moment + cycles * CYCLE]).cast(pa.timestamp("us", "UTC"))
    first, later = local_times(column, zone).cast(pa.int64()).to_pylist()
    assert later - first == cycles * CYCLE


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "+18:00", "-18:00"])
def test_the_first_and_the_last_times(zone):
    column = pa.array([-(2**63), 2**63 - 1]).cast(pa.timestamp("us", "UTC"))
    first, last = local_times(column, zone).cast(pa.int64()).to_pylist()
    assert -(2**63) <= first < -(2**63) + 10**11
    assert 2**63 - 10**11 < last < 2**63


@pytest.mark.parametrize(
    "zone", ["", "Europe/Nowhere", "../UTC", "/etc/passwd", "+19:00", "+1:2:3:4", "é", "Europe", "\0"]
)
def test_zones_that_there_are_not(zone):
    column = pa.array([0], pa.timestamp("us", "UTC"))
    with pytest.raises(InvalidInput, match="no such time zone"):
        hive_texts(column, STRING, zone)


@pytest.mark.parametrize(
    ("told", "text", "expected"),
    [
        (INTERVAL_YEAR_MONTH, "INTERVAL '1-2' YEAR TO MONTH", "1-2"),
        (INTERVAL_YEAR_MONTH, "INTERVAL '-14' MONTH", "-1-2"),
        (INTERVAL_YEAR_MONTH, "INTERVAL '3' YEAR", "3-0"),
        (INTERVAL_DAY_TIME, "INTERVAL '1 02:03:04.5' DAY TO SECOND", "1 02:03:04.500000000"),
        (INTERVAL_DAY_TIME, "INTERVAL '-1 02' DAY TO HOUR", "-1 02:00:00.000000000"),
        (INTERVAL_DAY_TIME, "INTERVAL '7' DAY", "7 00:00:00.000000000"),
        (INTERVAL_DAY_TIME, "INTERVAL '26:03' HOUR TO MINUTE", "1 02:03:00.000000000"),
        (INTERVAL_DAY_TIME, "INTERVAL '90061.000001' SECOND", "1 01:01:01.000001000"),
        (INTERVAL_DAY_TIME, "1 day", "1 day"),
        (INTERVAL_YEAR_MONTH, "", ""),
        (STRING, "INTERVAL '1' DAY", "INTERVAL '1' DAY"),
    ],
)
def test_intervals(told, text, expected):
    assert hive_texts(pa.array([text, None]), told, "UTC").to_pylist() == [expected, None]


def test_times_of_the_day():
    column = pa.array([0, 120_000, 86_399_999_999, None], pa.time64("us"))
    assert hive_texts(column, STRING, "UTC").to_pylist() == ["00:00:00", "00:00:00.12", "23:59:59.999999", None]

"""Moments, and times as SQL writes them."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import hypothesis.strategies as st
from hypothesis import example, given

import hbstore
from hbstore.times.moments import sql_text

SOURCES = Path(hbstore.__file__).parent


@given(st.datetimes(), st.sampled_from(["minutes", "seconds", "microseconds"]))
@example(datetime(1, 1, 1), "microseconds")  # noqa: DTZ001
@example(datetime(999, 12, 31, 23, 59, 59, 999_999), "seconds")  # noqa: DTZ001
def test_years_have_four_digits(time, timespec):
    text = sql_text(time.replace(tzinfo=UTC), timespec)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d(\.\d{6})?)?", text)
    lost = {"minutes": {"second": 0, "microsecond": 0}, "seconds": {"microsecond": 0}}
    assert datetime.fromisoformat(text) == time.replace(**lost.get(timespec, {}))


def test_no_format_writes_years():
    """Python's %Y and %G write the year 999 without a zero: Spark reads no time there."""
    paths = sorted(SOURCES.rglob("*.py"))
    assert [path.name for path in paths if re.search("%[YG]", path.read_text("utf-8"))] == []

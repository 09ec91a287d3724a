"""Slices of keys: together they are the range, none is empty, and they are of like size."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hbstore.keys.row_key import successor
from hbstore.rows import connect as connect_rows
from hbstore.rows.interface import PartitionRow
from hbstore.spark.key_slices import key_slices
from hbstore.times.update_period import UpdatePeriod

DAY = UpdatePeriod.DAILY


def rows_with(keys):
    rows = connect_rows("memory://")
    rows.write([PartitionRow(key, (), b"x") for key in keys], (), 0)
    return rows


@given(
    st.sets(st.lists(st.sampled_from(b"\x00\x01\x7f09\xfe\xff"), max_size=5).map(lambda tail: b"t\x00" + bytes(tail))),
    st.integers(1, 60),
)
def test_slices_cover_all_keys_and_none_is_empty(keys, number):
    found = key_slices(rows_with({*keys, b"s", b"t\x01"}), b"t\0", successor(b"t\0"), number)
    assert found[0][0] == b"t\0"
    assert found[-1][1] == successor(b"t\0")
    assert [stop for _, stop in found[:-1]] == [start for start, _ in found[1:]]
    assert len(found) == min(number, max(1, len(keys)))
    if keys:
        assert all(any(start <= key < stop for key in keys) for start, stop in found)


def test_days_are_cut_into_slices_of_like_size():
    keys = [b"t\0" + DAY.format_index(735_000 + day).encode() for day in range(3_000)]
    found = key_slices(rows_with(keys), b"t\0", successor(b"t\0"), 32)
    sizes = [sum(start <= key < stop for key in keys) for start, stop in found]
    assert len(sizes) == 32
    assert max(sizes) < 10 * len(keys) / 32

"""The bytes of logs and of writes: what was encoded is decoded, and what is damaged is told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore.errors import CorruptRow
from hbstore.transactions import log
from hbstore.transactions.log import Commit, Intent, Log, spans_of
from hbstore.transactions.writes import decode_writes, encode_writes
from tests.transactions import strategies


@given(strategies.logs)
def test_a_log_is_what_it_was(log):
    assert Log.decode(log.encode()) == log


def test_the_bytes_of_logs():
    assert Log.decode(None) == Log.decode(b"") == Log()
    assert Log(8, last="7/lake/1/ab", state=b"\n{}").encode() == b'{"sequence":8,"last":"7/lake/1/ab"}\n\n{}'
    commit = Commit("7/lake/1/ab", 8, b"T", True, ((b"a", b"b"),), True, {"d:def": b"table"})
    log = Log(8, 2, 1, "7/lake/1/ab", (commit,), Intent("8/lake/1/cd", b"D", 3, 4), b"state")
    assert log.encode() == (
        b'{"sequence":8,"last":"7/lake/1/ab","turn":2,"moves":1,'
        b'"open":[["7/lake/1/ab",8,"54",true,[["61","62"]],true,{"d:def":"dGFibGU="},false]],'
        b'"intent":["8/lake/1/cd","44",3,4]}\nstate'
    )
    listed = Log(8, last="7/lake/1/ab", commits=(Commit("7/lake/1/ab", 8, b"T", writes=b"\x00list"),))
    assert listed.encode() == (
        b'{"sequence":8,"last":"7/lake/1/ab","open":[["7/lake/1/ab",8,"54",false,[],false,{},false,"AGxpc3Q="]]}\n'
    )
    assert Log.decode(listed.encode()) == listed


@pytest.mark.parametrize("cell", [b"x", b"{}", b'{"sequence":1}', b"[]\n", b'{"sequence":1,"last":"","open":[1]}\n'])
def test_a_damaged_log(cell):
    with pytest.raises(CorruptRow, match="log of a catalog row"):
        Log.decode(cell)


@given(st.lists(strategies.row_writes, max_size=3).map(tuple))
def test_writes_are_what_they_were(writes):
    assert decode_writes(encode_writes(writes)) == writes


@given(st.lists(strategies.row_writes, min_size=1, max_size=2), st.data())
def test_writes_that_are_cut_off(writes, data):
    whole = encode_writes(writes)
    size = data.draw(st.integers(0, len(whole) - 1))
    with pytest.raises(CorruptRow, match="writes of a commit"):
        decode_writes(whole[:size])


@given(st.lists(st.binary(min_size=1, max_size=4), max_size=6))
def test_every_key_lies_within_a_span(keys):
    spans = spans_of(keys)
    assert all(any(first <= key <= last for first, last in spans) for key in keys)
    assert len(spans) <= 2


def test_states_are_not_kept_in_memory():
    """They may be 4 MiB each, and hundreds of logs are remembered."""
    misses = log._remembered.cache_info().misses
    logs = [Log(sequence=7, last="1/here/2/3", state=b"x" * size) for size in range(1, 5)]
    assert [Log.decode(one.encode()) for one in logs] == logs
    assert log._remembered.cache_info().misses == misses + 1

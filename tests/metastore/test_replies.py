"""Replies: big lists of partitions go through a temporary file and come back byte for byte."""

from __future__ import annotations

import struct
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore.metastore import replies
from hbstore.metastore.replies import PartitionList, PartitionSpool, Streamed, Whole

payloads = st.lists(st.binary(max_size=40), max_size=30)


def batches(parts, size):
    return [parts[at : at + size] for at in range(0, len(parts), size)]


@given(parts=payloads, size=st.integers(1, 7), in_memory=st.integers(0, 300))
def test_what_goes_in_comes_out(parts, size, in_memory):
    spool = PartitionSpool(in_memory)
    spool.extend(batches(parts, size))
    assert spool.count == len(parts)
    assert spool.size == sum(map(len, parts))
    assert b"".join(spool.chunks()) == b"".join(parts)
    spool.close()


@given(parts=payloads, in_memory=st.integers(0, 100))
def test_a_read_that_is_repeated_begins_anew(parts, in_memory):
    spool = PartitionSpool(in_memory)
    spool.extend([[b"x" * 90], [b"y" * 90]])
    spool.clear()
    spool.extend(batches(parts, 3))
    assert (spool.count, b"".join(spool.chunks())) == (len(parts), b"".join(parts))
    spool.close()


@given(parts=payloads, in_memory=st.integers(0, 300), before=st.binary(max_size=9), after=st.binary(max_size=9))
def test_a_reply_is_head_list_and_end(parts, in_memory, before, after):
    spool = PartitionSpool(in_memory)
    spool.extend(batches(parts, 4))
    reply = Streamed(b"head", PartitionList(spool, before, after), b"end")
    written = b"".join(reply.chunks())
    expected = b"head" + before + b"\x0c" + struct.pack(">I", len(parts)) + b"".join(parts) + after + b"end"
    assert written == expected
    assert reply.size == len(expected)
    reply.close()


def test_big_lists_leave_memory_and_the_file_goes_with_the_reply():
    before = nameless_files()
    spool = PartitionSpool(1000)
    spool.extend([[b"z" * 700] for _ in range(10)])
    assert len(nameless_files() - before) == 1
    assert b"".join(spool.chunks()) == b"z" * 7000
    spool.close()
    assert nameless_files() == before


def nameless_files():
    """What this process holds open that has no name any more."""
    found = set()
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):
            found.add(str(descriptor.readlink()))
    return {target for target in found if target.endswith("(deleted)")}


def test_chunks_are_neither_tiny_nor_huge(monkeypatch):
    monkeypatch.setattr(replies, "CHUNK", 1000)
    spool = PartitionSpool()
    spool.extend([[b"p" * 90] * 500])
    sizes = [len(chunk) for chunk in Streamed(b"head", PartitionList(spool), b"end").chunks()]
    assert max(sizes) < 2000
    assert sizes[1] >= 1000
    assert len(sizes) < 50


def test_small_replies_are_one_packet():
    spool = PartitionSpool()
    spool.extend([[b"p" * 90] * 5])
    assert len(list(Streamed(b"head", PartitionList(spool), b"end").chunks())) == 1
    assert list(Whole(b"all").chunks()) == [b"all"]


def test_after_large_replies_free_memory_goes_back_to_the_system(monkeypatch):
    released = []
    monkeypatch.setattr(replies, "release_memory", lambda: released.append(1))
    for size, times in ((100, 0), (2 * replies.CHUNK, 1)):
        Whole(b"x" * size).close()
        assert len(released) == times
    for in_memory, times in ((10_000, 1), (1000, 2)):
        spool = PartitionSpool(in_memory)
        spool.extend([[b"z" * 700] for _ in range(10)])
        spool.close()
        assert len(released) == times


def test_a_full_disk_is_told(monkeypatch):
    def refuse(**_):
        raise OSError(28, "No space left on device")

    spool = PartitionSpool(10)
    monkeypatch.setattr(replies.tempfile, "TemporaryFile", refuse)
    with pytest.raises(OSError, match="No space left"):
        spool.extend([[b"x" * 100]])

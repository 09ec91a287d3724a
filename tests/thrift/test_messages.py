"""Heads of calls and replies, compared with thriftpy2's."""

from __future__ import annotations

import struct
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from thriftpy2.protocol.cybin import TCyBinaryProtocol
from thriftpy2.thrift import TApplicationException, TMessageType
from thriftpy2.transport.memory import TCyMemoryBuffer

from hbstore.thrift.messages import Head, Refusal, read_head, refusal, reply_head
from tests.strategies import int32s, names


def written(name, kind, sequence, *, strict):
    buffer = TCyMemoryBuffer()
    TCyBinaryProtocol(buffer, strict_write=strict).write_message_begin(name, kind, sequence)
    return buffer.getvalue()


@given(name=names, sequence=int32s, strict=st.booleans(), rest=st.binary(max_size=5))
def test_heads_are_read_with_and_without_a_version(name, sequence, strict, rest):
    message = written(name, TMessageType.CALL, sequence, strict=strict)
    assert read_head(message + rest) == Head(name, sequence, TMessageType.CALL, len(message))


@given(name=names, sequence=int32s)
def test_heads_of_replies_are_thriftpy2s(name, sequence):
    call = Head(name, sequence, TMessageType.CALL, 0)
    assert reply_head(call) == written(name, TMessageType.REPLY, sequence, strict=True)


@pytest.mark.parametrize("kind", list(Refusal))
def test_refusals_are_application_exceptions(kind):
    protocol = TCyBinaryProtocol(
        TCyMemoryBuffer(refusal(Head("nope", 7, TMessageType.CALL, 0), kind, "no such method"))
    )
    assert protocol.read_message_begin() == ("nope", TMessageType.EXCEPTION, 7)
    found = TApplicationException()
    protocol.read_struct(found)
    assert (found.type, found.message) == (kind, "no such method")


def test_only_calls_are_calls():
    assert read_head(written("f", TMessageType.ONEWAY, 1, strict=True)).is_call
    assert not read_head(written("f", TMessageType.REPLY, 1, strict=True)).is_call


@given(data=st.binary(max_size=60))
def test_garbage_is_refused_by_name(data):
    with suppress(ValueError, IndexError, struct.error):
        head = read_head(data)
        assert head.body <= len(data)


@pytest.mark.parametrize(
    "data", [b"", b"GET / HTTP/1.1\r\n", b"\x16\x03\x01\x02\x00\x01", b"\x80\x02\x00\x01\x00\x00\x00\x00"]
)
def test_other_protocols_are_refused(data):
    with pytest.raises((ValueError, IndexError, struct.error)):
        read_head(data)

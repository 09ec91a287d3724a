"""The login of drivers: PLAIN, in whatever pieces it comes; all else is told in words that drivers show."""

from __future__ import annotations

import struct
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore.errors import AccessRefused
from hbstore.hiveserver2.sasl import MAX_BODY, Negotiation
from tests.hiveserver2.serving import sasl_login, sasl_message


def login(user, password):
    if password == "wrong":  # noqa: S105
        raise AccessRefused("the password is no access token of the user", hint="Use another")
    return user


def bad(reply):
    status, size = struct.unpack_from(">Bi", reply)
    assert (status, size) == (3, len(reply) - 5)
    return reply[5:].decode()


@given(
    user=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20),
    password=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20),
    status=st.sampled_from([2, 5]),
    cuts=st.lists(st.integers(0, 100), max_size=8),
    rest=st.binary(max_size=10),
)
def test_a_login_in_pieces(user, password, status, cuts, rest):
    data = sasl_login(user, password, status) + rest
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    negotiation = Negotiation(lambda name, _: name)
    answers, after = [], b""
    for begin, end in pairwise(places):
        if negotiation.is_over:
            after += data[begin:end]
        else:
            answers.append(negotiation.receive(data[begin:end]))
    assert b"".join(answers) == sasl_message(5)
    assert negotiation.is_over
    assert (negotiation.user, negotiation.password, negotiation.refused) == (user, password, None)
    assert negotiation.rest + after == rest


def test_a_login_byte_by_byte():
    negotiation = Negotiation(login)
    data = sasl_login("ann", "secret")
    for at in range(len(data) - 1):
        assert negotiation.receive(data[at : at + 1]) == b""
        assert not negotiation.is_over
    assert negotiation.receive(data[-1:]) == sasl_message(5)


@pytest.mark.parametrize("authzid", [b"", b"ann"])
def test_a_user_may_name_itself_as_whom_it_acts_for(authzid):
    negotiation = Negotiation(login)
    negotiation.receive(sasl_message(1, b"PLAIN") + sasl_message(5, authzid + b"\0ann\0secret"))
    assert negotiation.user == "ann"


START = sasl_message(1, b"PLAIN")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (sasl_message(1, b"GSSAPI"), "Unsupported mechanism type GSSAPI"),
        (sasl_message(1, b"\xff" * 1000), "Unsupported mechanism type"),
        (sasl_message(1, b""), "Unsupported mechanism type"),
        (sasl_message(2, b"PLAIN"), "begins with another message than START"),
        (START + sasl_message(3, b"no"), "the client ends it"),
        (START + START, "the client ends it"),
        (START + sasl_message(5, b"ann"), "no name and password"),
        (START + sasl_message(5, b"\0a\0b\0c"), "no name and password"),
        (START + sasl_message(5, b"\0\xff\0x"), "no name and password"),
        (START + sasl_message(5, b"bob\0ann\0x"), "may not act for another"),
        (START + sasl_message(5, b"\0ann\0wrong"), "no access token of the user"),
        (b"\1\xff\xff\xff\xff", "the size of a message is not allowed"),
        (b"\1" + struct.pack(">i", MAX_BODY + 1), "the size of a message is not allowed"),
        (START + b"\5\x7f\xff\xff\xff", "the size of a message is not allowed"),
    ],
)
def test_what_is_refused(data, text):
    negotiation = Negotiation(login)
    assert text in bad(negotiation.receive(data))
    assert negotiation.is_over
    assert negotiation.refused is not None
    assert negotiation.user is None


@given(st.binary(max_size=60))
def test_any_bytes_end_in_an_answer_or_wait_for_more(data):
    negotiation = Negotiation(login)
    reply = negotiation.receive(b"\1" + data)
    assert bool(reply) == negotiation.is_over
    assert len(negotiation.rest) <= len(data) + 1

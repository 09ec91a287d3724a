"""Calls of every method in which one thing is missing or odd: each is answered, and none meets a bug."""

from __future__ import annotations

import copy

import pytest

from tests.metastore.client import message
from tests.metastore.every_method import (
    DATABASE,
    NAMELESS_READS,
    NAMELESS_WRITES,
    OF_A_LOCK,
    REFUSED,
    fill,
    reads,
    writes,
)
from tests.metastore.writing import opened

READS = reads(DATABASE) | NAMELESS_READS
ORDERS = [writes(DATABASE), NAMELESS_WRITES, *([one] for one in [*OF_A_LOCK, *REFUSED])]
WRITES = {method: (order[:at], given) for order in ORDERS for at, (method, *given) in enumerate(order)}
"""By method: the calls that have to come first, and the arguments."""

ODD = {
    str: ("", "x", "é \0/'\"%", "x" * 5000),
    bytes: (b"", b"x", b"\xff\xfe"),
    bool: (False, True),
    int: (0, -1, 2, 32767),
}


def odd_copies(value):
    """A value with one thing in it missing or odd, each thing in turn."""
    if value is not None:
        yield None
    if hasattr(value, "thrift_spec"):
        for _, spec in sorted(value.thrift_spec.items()):
            for odd in odd_copies(getattr(value, spec[1])):
                changed = copy.copy(value)
                setattr(changed, spec[1], odd)
                yield changed
    elif isinstance(value, list):
        yield from ([], value + value[:1])
        for at, item in enumerate(value):
            yield from ([*value[:at], odd, *value[at + 1 :]] for odd in odd_copies(item) if odd is not None)
    elif isinstance(value, dict):
        yield from ({}, {**value, "": ""})
    else:
        yield from ODD.get(type(value), ())


def ask_oddly(shop, method, arguments):
    """Send a call with each odd copy of each argument."""
    for at, argument in enumerate(arguments):
        for odd in odd_copies(argument):
            given = [*arguments[:at], odd, *arguments[at + 1 :]]
            reply = shop.endpoint.answer(shop.session, message(method, *given))
            assert sum(map(len, reply.chunks())) == reply.size
            reply.close()
            assert "internal error" not in (shop.records[-1].message or ""), given


@pytest.fixture
def shop(request, tmp_path):
    request.param = "memory"
    with opened(request, tmp_path) as writing:
        fill(writing)
        yield writing


@pytest.mark.parametrize("method", [method for method, given in READS.items() if given])
def test_odd_questions_are_answered(shop, method):
    ask_oddly(shop, method, READS[method])


@pytest.mark.parametrize("method", WRITES)
def test_odd_changes_are_made_or_refused(shop, method):
    first, arguments = WRITES[method]
    for before, *given in first:
        getattr(shop, before)(*given)
    ask_oddly(shop, method, arguments)


def test_copies_are_odd_in_one_place():
    assert list(odd_copies([1])) == [None, [], [1, 1], [0], [-1], [2], [32767]]

"""Calls of SQL drivers with something wrong in them: what a server must survive, and must answer or end.

The calls are those of all methods, in each of the three ways to speak. Bytes change, are cut and repeated, sizes grow,
types are exchanged, values are nested deeply, and two calls become one. In one of five, the bytes around the call are
changed as well: frames, the login, the head of a request.
"""

from __future__ import annotations

import socket
import struct
from collections import Counter
from contextlib import suppress

from tests.hiveserver2.messages import every_call, message, request, response, status_call
from tests.hiveserver2.serving import MODES, connected, driving, frame, post, sasl_login

EVERY = 500
"""Mutated calls between two valid ones, which must be answered."""

_SIZES = (0, 1, -1, 127, 128, 255, 256, 65_535, 65_536, 2**24, 2**26, 2**30, 2**31 - 1, -(2**31))
_CODES = (0, 1, 2, 3, 4, 6, 8, 10, 11, 12, 13, 14, 15, 16, 127, 128, 255)
_DEEP = (
    b"\x0c\0\1",  # structs in structs
    b"\x0f\0\1\x0f\0\0\0\1",  # lists in lists
    b"\x0d\0\1\x0b\x0d\0\0\0\1\0\0\0\0",  # maps in maps
)
_SEEN = 1 << 16


def mutated(random, data, others):
    """Bytes with one to four changes."""
    made = bytearray(data)
    for _ in range(random.choice((1, 1, 1, 2, 3, 4))):
        _change(random, made, others)
    return bytes(made)


def _change(random, made, others):  # noqa: C901  a change, a branch
    at = random.randrange(len(made) + 1)
    end = min(len(made), at + random.choice((1, 1, 2, 4, 8, 40)))
    kind = random.randrange(10)
    if kind == 0:
        made[at:end] = bytes(one ^ (1 << random.randrange(8)) for one in made[at:end])
    elif kind == 1:
        made[at:end] = random.randbytes(end - at)
    elif kind == 2:
        del made[at:]
    elif kind == 3:
        del made[at:end]
    elif kind == 4:
        made[at:at] = random.randbytes(random.choice((1, 2, 4, 100)))
    elif kind == 5:
        made[at : at + 4] = struct.pack(">i", random.choice(_SIZES))
    elif kind == 6:
        codes = [place for place, one in enumerate(made) if one in _CODES and one]
        if codes:
            made[random.choice(codes)] = random.choice(_CODES)
    elif kind == 7:
        made[at:at] = random.choice(_DEEP) * random.choice((1, 10, 70, 5_000))
    elif kind == 8:
        made[at:at] = made[at:end] * random.choice((1, 2, 50))
    else:
        made[at:] = random.choice(others)[at:]


def attack(port, random, number, *, calls=None, **login):
    """Send mutated calls to a server, each over a connection of its own.

    Args:
        port: of a server on this machine.
        random: decides all.
        number: of mutated calls.
        calls: those that are mutated; None: one of each method, about sessions and operations that are not there.
        **login: of a user that may call.

    Returns:
        How often what happened: the server answered, or ended the connection without an answer.

    Raises:
        TimeoutError: a connection was neither answered nor ended, or a valid call found no answer.
    """
    calls = calls or [*every_call().values(), status_call()]
    seen = Counter()
    for count in range(number):
        mode = random.choice(MODES)
        call = mutated(random, random.choice(calls), calls)
        begins = sasl_login(*login.values()) if mode == "sasl" else b""
        data = begins + {"sasl": frame, "bare": bytes, "http": lambda one: post(one, **login)}[mode](call)
        if random.randrange(5) == 0:
            data = mutated(random, data, calls)
        answer = exchange(port, data)
        seen[f"{mode}: {'answered' if len(answer) > (5 if mode == 'sasl' else 0) else 'ended'}"] += 1
        if count % EVERY == 0:
            _check_lives(port, login)
    _check_lives(port, login)
    return seen


def exchange(port, data):
    """What a server says to some bytes, before it ends the connection."""
    parts = []
    with connected(port) as sock:
        try:
            sock.sendall(data)
            with suppress(OSError):  # the server has ended it
                sock.shutdown(socket.SHUT_WR)
            while more := sock.recv(_SEEN):
                parts.append(more)
        except ConnectionError:
            pass  # a way to end it
    return b"".join(parts)


def _check_lives(port, login):
    for mode in MODES:
        with driving(port, mode, **login) as driver:
            assert response(driver.exchange(message("GetInfo", request("GetInfo")))).status is not None

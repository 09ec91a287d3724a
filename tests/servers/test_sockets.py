"""How connections end: what a server says last reaches a client that still sends."""

from __future__ import annotations

import logging
import socket
import threading
from contextlib import suppress

from hbstore.servers.logs import Complaints
from hbstore.servers.sockets import close_after_last_words


def connected():
    """Both ends of a connection over TCP, as only its ends lose what was not read."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        theirs = socket.create_connection(listener.getsockname(), timeout=60)
        ours, _ = listener.accept()
    return ours, theirs


def test_last_words_reach_a_client_that_still_sends():
    ours, theirs = connected()
    with theirs:
        theirs.sendall(b"x" * 100_000)
        ours.sendall(b"no more")
        closing = threading.Thread(target=close_after_last_words, args=(ours,))
        closing.start()
        theirs.sendall(b"x" * 100_000)
        assert theirs.recv(100) == b"no more"
        theirs.close()
        closing.join(60)
        assert ours.fileno() == -1


def test_a_client_that_goes_on_for_ever_is_not_waited_for():
    ours, theirs = connected()
    with theirs:
        closing = threading.Thread(target=close_after_last_words, args=(ours, 0.05))
        closing.start()
        with suppress(OSError):
            while True:
                theirs.sendall(b"x" * 1000)
        closing.join(60)
        assert ours.fileno() == -1


def test_a_warning_is_said_once_in_a_while(caplog):
    complaints = Complaints(logging.getLogger("hbstore.test"))
    for number in range(3):
        complaints.say("too many connections", limit=number)
        complaints.say("something else")
    assert [one.message for one in caplog.records] == ["too many connections", "something else"]

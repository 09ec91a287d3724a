"""Servers of this process that answer as a test likes, and what replies look like."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager, suppress

from hbstore.transfer.connection import Address
from tests.metastore.wire_trees import call

CALL, REPLY, EXCEPTION = 1, 2, 3


@contextmanager
def answering(answer):
    """Have every connection answered by ``answer(peer)``, one after the other; where that is."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve():
            while True:
                try:
                    peer, _ = listening.accept()
                except OSError:
                    return
                peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                with peer, suppress(OSError):  # whoever asked may have gone
                    answer(peer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield Address("127.0.0.1", listening.getsockname()[1])
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join(60)


def reply(method, result, kind=REPLY):
    """A reply, which differs from a call in one byte; its result is a tree, or bytes."""
    message = call(method, {})[:-1] + result if isinstance(result, bytes) else call(method, result)
    return message[:3] + bytes((kind,)) + message[4:]

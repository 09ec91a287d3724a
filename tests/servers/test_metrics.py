"""The port for Prometheus: clients that send nothing whole do not keep others from it."""

from __future__ import annotations

import socket
import urllib.request
from contextlib import ExitStack

import pytest
from prometheus_client import CollectorRegistry

from hbstore.servers.metrics import MAX_REQUESTS, serve_metrics
from tests.pauses import SECONDS, until


def connected(stack, port):
    return stack.enter_context(socket.create_connection(("127.0.0.1", port), SECONDS))


@pytest.mark.parametrize("sent", [b"", b"GET /metrics HTTP/1.1\r\nHost: loc"])
def test_clients_that_send_nothing_whole_are_cut_off(sent):
    port = serve_metrics(CollectorRegistry(), "127.0.0.1", 0, {}, seconds=0.3)
    with ExitStack() as stack:
        sock = connected(stack, port)
        sock.sendall(sent)
        assert sock.recv(1) == b""


def test_more_clients_than_there_is_room_for_are_refused_until_there_is(caplog):
    port = serve_metrics(CollectorRegistry(), "127.0.0.1", 0, {}, seconds=SECONDS)

    def answers():
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=SECONDS) as page:
                return page.status == 200
        except OSError:
            return False

    with ExitStack() as stack:
        for _ in range(MAX_REQUESTS):
            connected(stack, port)
        until(lambda: not answers())
    until(answers)
    assert "too many requests for metrics" in caplog.text

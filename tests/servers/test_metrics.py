"""The port for Prometheus: clients that send nothing whole do not keep others from it."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from contextlib import ExitStack
from http import HTTPStatus

import pytest
from prometheus_client import CollectorRegistry, Counter

from hbstore.servers.limits import ServerLimits
from hbstore.servers.metrics import metrics_server
from tests.pauses import SECONDS

PROBES = {"/health": lambda: (HTTPStatus.SERVICE_UNAVAILABLE, {"ready": False})}


@pytest.fixture
def served():
    with ExitStack() as stack:

        def serve(**limits):
            registry = CollectorRegistry()
            Counter("hbstore_test", "Counted.", registry=registry).inc()
            server = metrics_server(registry, "127.0.0.1", 0, PROBES, limits=ServerLimits(**limits))
            return stack.enter_context(server).port

        yield serve


def asked(port, path="/metrics", method="GET", headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    connection.request(method, path, headers=headers or {})
    reply = connection.getresponse()
    body = reply.read()
    connection.close()
    return reply, body


@pytest.mark.parametrize("sent", [b"", b"GET /metrics HTTP/1.1\r\nHost: loc"])
def test_clients_that_send_nothing_whole_are_cut_off(served, sent):
    port = served(login_seconds=0.3)
    with socket.create_connection(("127.0.0.1", port), SECONDS) as sock:
        sock.sendall(sent)
        assert sock.recv(1) == b""


def test_a_crowd_that_sends_nothing_whole_leaves_room_for_others(served):
    port, before = served(), threading.active_count()
    with ExitStack() as stack:
        for number in range(200):
            sock = stack.enter_context(socket.create_connection(("127.0.0.1", port), SECONDS))
            if number % 2:
                sock.sendall(b"GET /metr")
        reply, body = asked(port)
        assert reply.status == 200
        assert b"hbstore_test_total 1.0" in body
        assert threading.active_count() < before + 50, "who has sent a part keeps no thread"


def test_what_is_asked_for_by_head_query_and_accept(served):
    port = served()
    reply, body = asked(port, "/health?x=1")
    assert (reply.status, json.loads(body)) == (503, {"ready": False})
    assert asked(port, method="HEAD")[1] == b""
    assert b"hbstore_test" not in asked(port, "/metrics?name[]=other")[1]
    reply, _ = asked(port, headers={"Accept": "application/openmetrics-text; version=1.0.0", "Accept-Encoding": "gzip"})
    assert reply.headers["Content-Type"].startswith("application/openmetrics-text")
    assert reply.headers["Content-Encoding"] == "gzip"
    assert asked(port, "/metrics", method="DELETE")[0].status == 405


@pytest.mark.parametrize("path", ["/metrics", "/health"])
def test_a_page_of_another_site_reads_nothing_under_a_name_of_its_own(served, path):
    port = served()
    reply, body = asked(port, path, headers={"Host": f"localhost.example:{port}"})
    assert (reply.status, b"use its address" in body) == (403, True)
    assert asked(port, path, headers={"Host": f"localhost:{port}"})[0].status != 403

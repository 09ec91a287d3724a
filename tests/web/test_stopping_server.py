"""A server that stops answers the requests that wait in it, and does not wait for them."""

from __future__ import annotations

import http.client
import json
from contextlib import ExitStack, closing

import pytest

from hbstore.query_service.access import Access
from hbstore.web.app import application
from hbstore.web.serving import http_served
from tests.pauses import SECONDS
from tests.web.cubes import FACT, modelled

WAIT = f"{FACT}/wait?from=2015-01-29&to=2015-02-01&seconds=600"
EVENTS = {"Accept": "text/event-stream"}


@pytest.fixture
def stopping(served, catalog):
    """Waiting requests for covers and for a query, each with its reply; a function that stops their server."""
    modelled(catalog.store)
    with ExitStack() as connections, ExitStack() as server:
        port = server.enter_context(http_served(application(served[0], Access(), catalog=catalog), "127.0.0.1", 0))

        def ask(method, path, body=None, headers=None):
            connection = connections.enter_context(
                closing(http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS))
            )
            connection.request(method, path, body, {"Content-Type": "application/json", **(headers or {})})
            return connection

        yield ask, server.close


def test_waits_for_covers_are_answered(stopping):
    ask, stop = stopping
    waiting, streaming = ask("GET", WAIT), ask("GET", WAIT, headers=EVENTS).getresponse()
    assert streaming.readline() == b"event: waiting\n"
    stop()
    said = json.loads(waiting.getresponse().read())
    assert (said["complete"], said["ranges_missing"]) == (False, 1)
    assert b"event: over\n" in streaming.read()


def test_waits_for_queries_are_answered(stopping):
    ask, stop = stopping
    query = json.loads(ask("POST", "/queries", json.dumps({"text": "select 1"})).getresponse().read())
    waiting = ask("GET", f"/queries/{query['id']}?wait=60")
    streaming = ask("GET", f"/queries/{query['id']}/events", headers=EVENTS).getresponse()
    assert streaming.readline().startswith(b"event: ")
    stop()
    assert json.loads(waiting.getresponse().read())["id"] == query["id"]
    assert streaming.read().endswith(b"\n\n")

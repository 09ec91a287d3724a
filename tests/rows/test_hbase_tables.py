"""Making a store's tables, which takes a busy HBase longer than other requests."""

from __future__ import annotations

import socket
from contextlib import suppress
from threading import Thread

import pytest

from hbstore.rows.hbase.rows import connect_hbase
from hbstore.rows.hbase.url import parse_hbase_url
from tests.hbase_server import own_tables
from tests.pauses import SECONDS, idle

pytestmark = pytest.mark.hbase
REPLY = b"\x80\x01\x00\x02"
"""How a reply begins in Thrift's binary protocol."""
SLOW = 1.5
"""Seconds that an answer about a new table takes, beside a timeout of one."""


@pytest.fixture
def slow_gateway(hbase_server_url):
    """A port whose connections lead to the gateway, and which holds back what that says of `createTable`."""
    address = parse_hbase_url(hbase_server_url)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        Thread(target=_serve, args=(listening, (address.host, address.port)), daemon=True).start()
        yield listening.getsockname()[1]


def _serve(listening, address):
    with suppress(OSError):  # the test is over
        while True:
            client, _ = listening.accept()
            gateway = socket.create_connection(address, timeout=SECONDS)
            for source, target in ((client, gateway), (gateway, client)):
                Thread(target=_carry, args=(source, target), daemon=True).start()


def _carry(source, target):
    with suppress(OSError):
        while data := source.recv(65_536):
            if data[:4] == REPLY and b"createTable" in data[:20]:
                idle(SLOW)
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def test_a_new_store_is_made_whatever_the_timeout(slow_gateway, hbase_server_url):
    with own_tables(hbase_server_url) as url:
        prefix = parse_hbase_url(url).prefix
        connect_hbase(f"hbase://127.0.0.1:{slow_gateway}/{prefix}?timeout=1&retries=0").close()

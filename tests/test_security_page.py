"""The table of bounds in docs/security.md says what the server does."""

from __future__ import annotations

import re

import typer.main

from hbstore.cli import app
from hbstore.hiveserver2 import http_transport, sasl
from hbstore.hiveserver2.server import LIMITS as SQL
from hbstore.servers import http
from hbstore.servers.bounds import Bound
from hbstore.servers.limits import MAX_BODIES, ServerLimits
from hbstore.web import guard
from hbstore.web.serving import LIMITS as HTTP
from tests.processes import ROOT

PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
METASTORE = ServerLimits()
OPTIONS = {one.name: one.default for one in typer.main.get_command(app).commands["serve"].params}
MIB = 2**20


def row(begins):
    (line,) = re.findall(rf"^\| {re.escape(begins)}.*$", PAGE, re.MULTILINE)
    return [[int(one.replace(",", "")) for one in re.findall(r"\d[\d,]*", cell)] for cell in line.split("|")[2:-1]]


def test_the_bounds_of_the_page_are_those_of_the_server():
    most = OPTIONS["max_connections"]
    assert row("connections") == [[most]] * 4
    assert row("requests under way") == [[], [OPTIONS["max_requests"]], [OPTIONS["max_requests"]], []]
    assert HTTP.requests == SQL.requests == OPTIONS["max_requests"]
    assert row("silence between calls") == [[], [HTTP.http_idle], [SQL.http_idle], []]
    assert row("time for the first bytes") == [[], [HTTP.login_seconds], [SQL.login_seconds], [METASTORE.login_seconds]]
    pauses = [[METASTORE.read.read_timeout], [guard.BODY_SECONDS], [SQL.read.read_timeout], []]
    assert row("pause within a call") == pauses
    assert row("a reply that is not taken") == [[each.write_timeout] for each in (METASTORE, HTTP, SQL, METASTORE)]
    assert row("a call or a reply that takes longer") == [[OPTIONS["least_rate"] // 1024]] * 4
    calls = [[METASTORE.read.message // MIB], [guard.MAX_BODY // MIB], [SQL.read.message // MIB], []]
    assert row("bytes of a call") == calls
    assert http_transport.MAX_HEAD == sasl.MAX_BODY
    assert row("bytes before a login") == [[], [http.MAX_HEAD // 1024], [sasl.MAX_BODY // 1024], []]
    assert row("memory of all large calls") == [
        [METASTORE.message_memory // MIB],
        [MAX_BODIES // MIB],
        [SQL.message_memory // MIB],
        [],
    ]
    assert OPTIONS["reply_room"] == METASTORE.reply_room
    assert row("memory and temporary files of all long") == [[METASTORE.reply_room // MIB], [], [], []]
    assert row("a long reply waits") == [[METASTORE.reply_wait], [], [], []]
    assert row("a call, or a query") == [[METASTORE.call_seconds], [OPTIONS["max_run_time"]], [], []]
    assert row("a call whose client is gone") == [[METASTORE.gone_after], [], [], []]
    queries = [OPTIONS[name] for name in ("max_running", "max_running_of_user", "max_queued")]
    assert row("queries that run") == [[], queries, [], []]
    assert row("a result") == [[], [OPTIONS["max_result"] // 2**30, OPTIONS["keep_results"]], [], []]


def test_the_page_names_each_bound_that_is_counted():
    named = set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\| `\w+`.*? \|", PAGE, re.MULTILINE))))
    assert {bound.value for bound in Bound} <= named

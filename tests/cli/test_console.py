"""`hbstore console`: a server for the console alone, and a browser that is opened on it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from contextlib import contextmanager

import pytest
import urllib3

from tests.pauses import until

pytestmark = pytest.mark.slow


@contextmanager
def shown(*words, **environment):
    command = [sys.executable, "-m", "hbstore", "console", *words, "--port", "0", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, **environment})
    try:
        yield json.loads(process.stdout.readline())
    finally:
        process.terminate()
        process.stdout.close()
        assert process.wait() == 0


def test_a_browser_is_opened_on_the_console(path, shop, tmp_path):
    browser = tmp_path / "browser"
    browser.write_text(f"#!/bin/sh\necho $1 >{tmp_path}/opened\n")
    browser.chmod(0o755)
    with shown(str(path), BROWSER=f"{browser} %s") as doors:
        assert doors["uri"] is None
        page = urllib3.request("GET", doors["http"], headers={"Accept": "text/html"}).data.decode()
        assert "shop" in page
        opened = tmp_path / "opened"
        until(lambda: opened.exists() and opened.read_text() == f"{doors['http']}\n")
    assert shop


def test_without_a_browser_nothing_is_opened_and_what_is_read_only_stays(path, shop, tmp_path):
    with shown(str(path), "--no-browser", "--read-only", BROWSER=f"touch {tmp_path}/opened") as doors:
        reply = urllib3.request("DELETE", f"{doors['http']}/databases/shop/tables/returns")
        assert reply.status == 403
    assert not (tmp_path / "opened").exists()
    assert shop


def test_a_store_that_is_not_there_is_not_made(run, tmp_path):
    said = run("console", str(tmp_path / "typo.db"), "--no-browser", code=3).stderr
    assert "the store does not exist" in said
    assert list(tmp_path.glob("typo*")) == []


def test_the_port_is_looked_for_where_the_console_will_listen(run, shop, path, monkeypatch):
    monkeypatch.setenv("HBSTORE_SERVE_HOST", "127.0.0.9")
    with socket.create_server(("127.0.0.9", 0)) as other:
        port = other.getsockname()[1]
        said = run("console", str(path), "--no-browser", "--port", str(port), code=3).stderr
    assert f"address=127.0.0.9:{port}" in said
    assert shop


def test_a_taken_port_is_told_with_the_option_of_the_command(run, shop, path):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        said = run("console", str(path), "--no-browser", "--port", str(port), code=3).stderr
    assert f"address=127.0.0.1:{port}" in said
    assert "Choose another with --port; port 0 takes any free port" in said
    assert shop

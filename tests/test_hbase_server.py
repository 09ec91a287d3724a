"""Where tests get their HBase from: what is named counts, and a run that can have none fails instead of skipping."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests import hbase_server

NEEDS_HBASE = "tests/rows/test_must_exist.py::test_hbase"


def run_with(**environment):
    """Run a test that needs HBase by itself: how pytest ended, and what it printed."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith(("HBSTORE_TEST_", "PYTEST_"))}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", NEEDS_HBASE]
    done = subprocess.run(
        command, cwd=hbase_server.ROOT, env={**kept, **environment}, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize("given", ["hbase://host:1", "hbase://host:1/", "hbase://host:1?timeout=5"])
def test_the_server_that_is_named_is_used(monkeypatch, tmp_path, given):
    monkeypatch.setenv("HBSTORE_TEST_HBASE", given)
    with hbase_server.shared_hbase(tmp_path) as url:
        assert url == "hbase://host:1"
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_is_named_and_away_fails_the_run():
    code, printed = run_with(HBSTORE_TEST_HBASE="hbase://127.0.0.1:1")
    assert code == pytest.ExitCode.TESTS_FAILED
    assert "nothing listens at the address of HBase's Thrift gateway" in printed
    assert "skipped" not in printed


def test_without_a_container_and_without_java_the_run_fails(tmp_path):
    code, printed = run_with(PATH=str(tmp_path))
    assert code == pytest.ExitCode.TESTS_FAILED
    assert "tests need a real HBase and there is none. Set HBSTORE_TEST_HBASE=hbase://host:port" in printed
    assert "* no Docker engine answers" in printed
    assert "* dev/hbase: " in printed
    assert "Install " in printed
    assert "skipped" not in printed

"""`make demo`, on a few days of flights."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
import urllib3

from tests import without_linux
from tests.pauses import until
from tests.processes import OWN_MACHINE, listening
from tests.quick_java import OPTIONS

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.spark, pytest.mark.slow]


def run_demo(place, mark, path):
    command = [sys.executable, str(ROOT / "demo" / "flights.py"), "--days", "40", "--tries", "1"]
    command += ["--run", str(place)]
    environment = {**os.environ, "HBSTORE_DEMO_TEST": mark, "COLUMNS": "120", "PYTHONPATH": path}
    environment["SPARK_SUBMIT_OPTS"] = f"{os.environ.get('SPARK_SUBMIT_OPTS', '')} {OPTIONS}".strip()
    hosts = set()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as demo:
        until(lambda: hosts.update(host for host, _ in listening(demo.pid)) or demo.poll() is not None, 600, 0.1)
        assert hosts <= OWN_MACHINE
        return subprocess.CompletedProcess(command, demo.returncode, *demo.communicate())


def marked_processes(mark):
    """The processes that inherited the mark."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"HBSTORE_DEMO_TEST={mark}".encode() in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_bytes())
        except OSError:
            continue
    return found


@contextmanager
def serving_flights(place, mark):
    """The address of the server that `make demo-serve` starts on a run of the demo."""
    options = "ARGS=--http-port 0 --sql-port 0 --json --spark-conf spark.driver.memory=1g"
    venv = Path(sys.executable).parents[1]
    command = ["make", "--no-print-directory", "-o", f"{venv}/.installed", "demo-serve"]
    command += [f"VENV={venv}", f"DEMO={place}", options]
    environment = {**os.environ, "HBSTORE_DEMO_TEST": mark, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=ROOT) as server:
        try:
            yield next(json.loads(line)["http"] for line in server.stdout if line.startswith("{"))
        finally:
            server.terminate()


def test_the_demo_runs_without_what_is_on_linux_alone_and_leaves_no_process_behind(tmp_path):
    """The server of `make demo-serve` runs on Linux as it is."""
    done = run_demo(tmp_path / "run", str(tmp_path), without_linux.PATH)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 of 5 answers are equal" in done.stdout
    doors = re.findall("^(over HTTP|by JDBC) .* ([0-9]+) rows  ", done.stdout, re.MULTILINE)
    assert doors == [("over HTTP", "6"), ("by JDBC", "6")]
    asked = re.findall(r"^Spark asks get_partitions_by_filter\(demo.flights, (.*)\)$", done.stdout, re.MULTILINE)
    assert asked[0] == 'day = "2013-01-07" and origin = "JFK"'
    assert len(asked) == 3
    assert re.findall(r"^Spark reads ([0-9,]+) partitions?$", done.stdout, re.MULTILINE) == ["1", "14", "3"]
    assert done.stdout.count("  scan 1   ") == 3
    assert re.findall("^candidate  ([a-z_]+): ([A-Za-z_]+)", done.stdout, re.MULTILINE) == [
        ("vault_airports_by_month", "COLUMN_NOT_FOUND"),
        ("lake_traffic", "taken"),
        ("vault_traffic", "taken"),
        ("lake_departures", "taken"),
    ]
    drawn = re.findall("^([a-z_]+) +[▁-█ ]+  ([0-9]+ [a-z]+)$", done.stdout, re.MULTILINE)
    assert drawn == [("vault_traffic", "1 month"), ("lake_traffic", "6 days"), ("lake_departures", "1 day")]
    assert done.stderr == ""
    if sys.platform == "linux":
        assert marked_processes(str(tmp_path)) == []
    assert "`make demo-serve` opens the console" in done.stdout
    with serving_flights(tmp_path / "run", str(tmp_path)) as url:
        page = urllib3.request("GET", f"{url}/databases/demo", headers={"Accept": "text/html"})
        assert page.status == 200
        assert 'href="/databases/demo/tables/flights"' in page.data.decode()
    assert marked_processes(str(tmp_path)) == []

"""Servers and jobs listen where they were told to, and nowhere else but for Spark, which answers nobody else."""

from __future__ import annotations

import json
import os
import socket
import struct
import subprocess
import sys
from urllib.parse import urlsplit

import pytest

import hbstore.client
from hbstore import connect
from tests.cli.conftest import SPARK_SECONDS
from tests.cli.test_queries import TWO_DAYS, add_rides
from tests.metastore.serving import Serve
from tests.pauses import SECONDS, until
from tests.processes import OWN_MACHINE, listening
from tests.quick_java import quick_java

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="asks Linux who listens"),
    pytest.mark.slow,
]
ELSEWHERE = "127.0.0.2"
"""An address of the loopback at which nobody listens who was not told to."""

_RPC_REQUEST, _REQUEST = 3, 7


def asked_for(ready):
    """The addresses and ports that the line of a server names."""
    doors = [ready[door] for door in ("uri", "http", "sql", "metrics") if ready[door]]
    return {(where.hostname, where.port) for where in (urlsplit(door.removeprefix("jdbc:")) for door in doors)}


def answer_to_a_stranger(port):
    """What a port of Spark's says to a call that does not say who calls."""
    call = b"anybody there?\n"
    head = struct.pack(">QBQI", 21 + len(call), _RPC_REQUEST, _REQUEST, len(call))
    with socket.create_connection(("127.0.0.1", port), SECONDS) as stranger:
        stranger.sendall(head + call)
        return stranger.recv(1000).decode(errors="replace")


def check_spark(pid, asked):
    """See that only Spark's processes listen where nobody asked them to: on this machine, and to those they know."""
    others = {place: program for place, program in listening(pid).items() if place not in asked}
    assert {host for host, _ in others} <= OWN_MACHINE
    answers = [answer_to_a_stranger(port) for (_, port), program in others.items() if program == "java"]
    assert len(answers) == 3, "the driver, its blocks, and the gateway of Python, which hangs up"
    assert sum("Expected SaslMessage" in answer for answer in answers) == 2
    assert sum(answer == "" or "uth" in answer for answer in answers) >= 1
    return others


@pytest.mark.parametrize("options", [(), ("--processes", "2")], ids=["alone", "several"])
def test_a_metastore_listens_where_it_was_told_to(tmp_path, options):
    options = ("--host", ELSEWHERE, "--metrics-port", "0", *options)
    with Serve(f"sqlite://{tmp_path}/store.db", tmp_path, *options) as server:
        assert len(asked_for(server.ready)) == 2
        assert set(listening(server.pid)) == asked_for(server.ready)


@pytest.mark.spark
@pytest.mark.parametrize("metastore", [(), ("--without-metastore",)], ids=["all", "without-metastore"])
def test_a_server_with_a_spark_listens_where_it_was_told_to(tmp_path, metastore):
    options = ("--http-port", "0", "--sql-port", "0", "--metrics-port", "0", "--spark-master", "local[2]", *metastore)
    with quick_java(), Serve(f"sqlite://{tmp_path}/store.db", tmp_path, *options) as server:
        with hbstore.client.connect(server.ready["http"]) as asking:
            assert asking.query("SELECT 1").wait().rows() == [(1,)]
        check_spark(server.pid, asked_for(server.ready))


@pytest.mark.spark
def test_the_console_listens_where_it_was_told_to(tmp_path):
    connect(f"sqlite://{tmp_path}/store.db").close()
    words = ("console", str(tmp_path / "store.db"), "--port", "0", "--no-browser", "--json")
    with quick_java(), subprocess.Popen([sys.executable, "-m", "hbstore", *words], stdout=subprocess.PIPE) as server:
        try:
            ready = json.loads(server.stdout.readline())
            with hbstore.client.connect(ready["http"]) as asking:
                asking.query("SELECT 1").wait()
            check_spark(server.pid, asked_for(ready))
        finally:
            server.terminate()


@pytest.mark.spark
@pytest.mark.parametrize(("own", "code"), [("--properties-file {}/own.conf", 0), ("", 2)], ids=["own", "defaults"])
def test_a_job_has_the_configuration_of_the_machine(spawn, url, tmp_path, own, code):
    add_rides(url, tmp_path)
    (tmp_path / "own.conf").write_text("spark.sql.shuffle.partitions 1\n")
    (tmp_path / "spark-defaults.conf").write_text("spark.driver.memory nonsense\n")
    environment = {
        "SPARK_CONF_DIR": str(tmp_path),
        "PYSPARK_SUBMIT_ARGS": f"--master local[2] {own.format(tmp_path)} pyspark-shell",
    }
    done = spawn("query", "run", TWO_DAYS, "--database", "shop", env=environment, timeout=SPARK_SECONDS)
    assert done.returncode == code, done.stderr


@pytest.mark.spark
@pytest.mark.parametrize(
    "words",
    [("query", "run", TWO_DAYS), ("analyze", "shop.lake_daily")],
    ids=lambda words: words[0],
)
def test_a_job_listens_on_this_machine_alone(url, tmp_path, words):
    add_rides(url, tmp_path)
    environment = {**os.environ, "HBSTORE_URL": url, "HBSTORE_DATABASE": "shop"}
    environment["PYSPARK_SUBMIT_ARGS"] = "--master local[2] pyspark-shell"
    seen = {}
    command = [sys.executable, "-m", "hbstore", *words]
    with quick_java(), subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment) as job:
        until(lambda: seen.update(listening(job.pid)) or job.poll() is not None, SPARK_SECONDS)
    assert job.returncode == 0
    assert "java" in seen.values()
    assert {host for host, _ in seen} <= OWN_MACHINE

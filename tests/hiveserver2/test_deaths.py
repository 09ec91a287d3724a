"""Drivers' sessions when Spark, the process that takes queries, or the client dies: as PyHive sees it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import closing

import pytest
from pyhive import hive
from pyhive.exc import OperationalError
from thrift.transport.TTransport import TTransportException

import hbstore.client
from tests.metastore.serving import Serve
from tests.pauses import until
from tests.query_service.test_doors import SLOW, processes_of

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("deaths")
    options = ("--http-port", "0", "--sql-port", "0", "--results", str(folder / "results"))
    with Serve(f"sqlite://{folder}/store.db", folder, *options, "--spark-master", "local[2]") as server:
        yield server


def connected(server):
    return closing(hive.connect("127.0.0.1", int(server.ready["sql"].rpartition(":")[2]), username="ann"))


def rows(connection, text):
    with closing(connection.cursor()) as cursor:
        cursor.execute(text)
        return cursor.fetchall()


def test_a_session_dies_with_its_spark_and_finished_rows_do_not(server):
    with connected(server) as connection, closing(connection.cursor()) as finished:
        finished.execute("SELECT id FROM range(3000)")
        first = finished.fetchmany(10)
        rows(connection, "SELECT 1")
        with connected(server) as other:
            running = other.cursor()
            running.execute(SLOW, async_=True)
            until(lambda: running.poll().operationState == 1)
            _, spark = processes_of(server)
            os.kill(spark, signal.SIGKILL)
            until(lambda: running.poll().operationState == 5)
            assert "[SparkLost]" in running.poll().errorMessage
        with pytest.raises(OperationalError, match="SessionLost"):
            rows(connection, "SELECT 1")
        assert len(first) + len(finished.fetchall()) == 3000
        with connected(server) as again:
            assert rows(again, "SELECT 2") == [(2,)]


def test_a_client_that_is_killed_leaves_nothing_running(server):
    port = server.ready["sql"].rpartition(":")[2]
    program = (
        "from pyhive import hive\n"
        f"cursor = hive.connect('127.0.0.1', {port}, username='bob').cursor()\n"
        f"cursor.execute({SLOW!r}, async_=True)\n"
        "cursor.poll()\nprint('runs', flush=True)\nimport signal; signal.pause()\n"
    )
    client = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    try:
        assert client.stdout.readline() == "runs\n"
        with hbstore.client.connect(server.ready["http"]) as asking:
            [query] = asking.queries(user="bob", limit=1)
            assert query.state in ("queued", "running")
            client.kill()
            until(lambda: query.refresh().state == "cancelled")
    finally:
        client.kill()
        client.wait()
        client.stdout.close()


def test_after_the_process_that_takes_queries_died_drivers_connect_again(server):
    connection = connected(server).thing  # which cannot be closed in order any more
    rows(connection, "SELECT 1")
    doors, _ = processes_of(server)
    os.kill(doors, signal.SIGKILL)
    with pytest.raises((TTransportException, OSError)):
        rows(connection, "SELECT 1")

    def answers():
        try:
            with connected(server) as again:
                return rows(again, "SELECT 3") == [(3,)]
        except Exception:  # noqa: BLE001  nobody listens yet
            return False

    until(answers)

"""`hbstore serve` with the door for queries, as processes: asked by programs and by the command line, and killed."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from typer.testing import CliRunner

import hbstore.client
from hbstore import connect
from hbstore.cli import app
from hbstore.cubes import Cubes, PartitionDesc
from hbstore.cubes.logical_tables import TableDescription
from hbstore.errors import NoCandidate, QueryFailed
from hbstore.query_service.query import State
from tests.cli.reference import commands
from tests.cubes.small_cube import CUBE, fact, table
from tests.metastore.client import client
from tests.metastore.serving import Serve, numbers
from tests.pauses import SECONDS, until
from tests.processes import children, text_of
from tests.timelines.strategies import utc

pytestmark = [pytest.mark.spark, pytest.mark.slow]

FINAL = {state.value for state in State if state.is_final}
SLOW = "SELECT count(*) FROM range(0, 1000000000000, 1, 4) AS a WHERE id % 7 = 3"


def serve(folder, *options):
    return Serve(
        f"sqlite://{folder}/store.db",
        folder,
        *("--http-port", "0", "--results", str(folder / "results"), "--spark-master", "local[2]"),
        *("--spark-conf", "spark.sql.shuffle.partitions=2", *options),
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("doors")


@pytest.fixture(scope="module")
def served(folder):
    """A server, with a cube of two days and a table of them."""
    with serve(folder) as server:
        yield server


@pytest.fixture(scope="module")
def asking(served):
    with hbstore.client.connect(served.ready["http"]) as connection:
        yield connection


@pytest.fixture(scope="module")
def shop(asking, folder):
    """The database shop: a cube whose one fact has two days, each with a row."""
    asking.query("CREATE DATABASE shop").wait()
    with connect(f"sqlite://{folder}/store.db") as store:
        cubes = Cubes(store, "shop")
        where = TableDescription(location=str(folder / "rides"), format="parquet")
        daily = table("lake", "DAILY").changed(description=where)
        rides = fact("rides_daily", "minutes bike", daily)
        cubes.create_all([*CUBE, rides])
        asking.query("INSERT INTO shop.lake_rides_daily VALUES (1, 'a', '2015-01-01'), (2, 'b', '2015-01-02')").wait()
        days = [PartitionDesc("DAILY", {"dt": f"2015-01-0{day}"}) for day in (1, 2)]
        cubes.add_partitions("rides_daily", "lake", days, if_not_exists=True)
    return asking


def test_a_cube_is_asked_over_http(shop):
    text = (
        "cube select bike, minutes from rides where time_range_in(start_time, '2015-01-01', '2015-01-03') order by bike"
    )
    query = shop.query(text, database="shop").wait()
    assert query.rows() == [("a", 1), ("b", 2)]
    assert query.to_dict()["plan"]["partitions"]
    longer = text.replace("01-03", "01-04")
    with pytest.raises(NoCandidate, match="2015-01-03"):
        shop.query(longer, database="shop").wait()
    partial = shop.query(longer, database="shop", partial=True).wait()
    assert partial.rows() == query.rows()
    assert partial.missing == [("2015-01-03T00:00:00+00:00", "2015-01-04T00:00:00+00:00")]
    assert query.missing == query.warnings == []
    assert shop.explain(text, database="shop")["sql"].startswith("SELECT")


def test_the_metastore_and_the_queries_have_one_catalog(shop):
    shop.query("CREATE TABLE shop.sales (amount INT, ds STRING) USING parquet PARTITIONED BY (ds)").wait()
    shop.query("INSERT INTO shop.sales VALUES (1, '2013-01-01'), (2, '2013-01-02')").wait()
    assert shop.query("SHOW PARTITIONS shop.sales WHERE ds > '2013-01-01'").wait().rows() == [("ds=2013-01-02",)]
    assert shop.query("ALTER TABLE shop.sales DROP PARTITION (ds = '2013-01-01')").wait().rows() == []
    assert shop.query("SELECT sum(amount) FROM sales", database="shop").wait().rows() == [(2,)]
    with pytest.raises(QueryFailed, match="DIVIDE_BY_ZERO"):
        shop.query("SELECT 1 / 0").wait()


def test_who_waits_for_a_cover_hears_of_what_the_metastore_is_told(shop, served):
    """The metastore's calls run in a process of its own."""
    cubes, day = shop.cubes("shop"), (utc(2015, 1, 3), utc(2015, 1, 4))
    with ThreadPoolExecutor(1) as thread, client(served.port) as metastore:
        waiting = thread.submit(cubes.wait, "rides_daily", *day, seconds=60)
        assert cubes.cover("rides_daily", *day, partial=True).missing
        metastore.append_partition("shop", "lake_rides_daily", ["2015-01-03"])
        assert not waiting.result().missing
        metastore.drop_partition("shop", "lake_rides_daily", ["2015-01-03"], False)


def test_a_running_query_tells_its_progress_and_is_cancelled(asking, served):
    query = asking.query(SLOW)
    until(lambda: query.refresh().to_dict()["progress"]["tasks"] > 0)
    assert query.state == "running"
    said = run({"HBSTORE_SERVER": served.ready["http"]}, "query", "cancel", query.id).stdout
    assert said.strip() in ("cancelling", "cancelled")
    until(lambda: query.refresh().state == "cancelled")
    assert asking.query("SELECT 2").wait().rows() == [(2,)]


def test_the_examples_of_the_commands_run(served, shop):
    environment = {"HBSTORE_SERVER": served.ready["http"], "HBSTORE_DATABASE": "shop"}
    query = shop.query("SELECT 1 AS one, 'two' AS two").wait()
    asked = "cube select minutes from rides where time_range_in(start_time, '2015-01-01', '2015-01-03')"
    for name in ("submit", "explain", "status", "results", "cancel", "list"):
        command = dict(commands())[f"query {name}"]
        lines = re.findall(r"\$ hbstore (.*)", command.epilog)
        assert lines
        for line in lines:
            words = [
                query.id if word == "0d9f…" else asked if word.startswith("cube select") else word
                for word in shlex.split(line.partition(" > ")[0].replace("http://127.0.0.1:8080", served.ready["http"]))
            ]
            words = ["SELECT 1" if word == "SELECT count(*) FROM shop.sales" else word for word in words]
            for more in ((), ("--json",)):
                done = run(environment, *words, *more)
                assert done.exit_code == 0, (words, done.stderr)
                assert done.stdout
    assert run(environment, "query", "results", query.id).stdout_bytes == b"1\ttwo\n"
    assert run(environment, "query", "results", query.id, "--format", "csv").stdout_bytes == b"one,two\r\n1,two\r\n"
    assert run(environment, "query", "run", "--csv", "SELECT 3 AS three").stdout_bytes == b"three\r\n3\r\n"
    assert json.loads(run(environment, "query", "run", "--json", asked).stdout) == {
        "columns": ["minutes"],
        "rows": [[3]],
    }
    failed = run(environment, "query", "run", "SELEC 3")
    assert (failed.exit_code, failed.stdout) == (2, "")
    assert "PARSE_SYNTAX_ERROR" in failed.stderr
    status = "query", "status", shop.query("SELECT 1 / 0").id
    assert [run(environment, *status, *wait).exit_code for wait in (("--wait",), ())] == [2, 0]
    missing = run(environment, "query", "run", asked.replace("01-03", "01-04"))
    assert (missing.exit_code, "[2015-01-03, 2015-01-04)" in missing.stderr) == (1, True)
    partial = run(environment, "query", "run", "--partial", asked.replace("01-03", "01-04"))
    assert (partial.exit_code, partial.stdout) == (0, "3\n")
    assert "nothing is there for [2015-01-03T00:00:00+00:00, 2015-01-04T00:00:00+00:00)" in partial.stderr
    nowhere = run({**environment, "HBSTORE_SERVER": "http://127.0.0.1:1"}, "query", "list")
    assert (nowhere.exit_code, "does not answer" in nowhere.stderr) == (3, True)


def test_the_python_of_the_page_runs(served, shop):
    page = (Path(__file__).parents[2] / "docs" / "query-service.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    shop.query("CREATE TABLE IF NOT EXISTS shop.sales (amount INT, ds STRING) USING parquet PARTITIONED BY (ds)").wait()
    names = {}
    exec(code.replace("http://127.0.0.1:8080", served.ready["http"]), names)  # noqa: S102
    assert names["query"].state == "succeeded"


def run(environment, *words):
    return CliRunner().invoke(app, words, env=environment, catch_exceptions=False)


def processes_of(server):
    """The process that takes queries, and the leader of its Spark's group."""
    (doors,) = (pid for pid in server.children() if "--as-queries" in _command(pid))
    (spark,) = (pid for pid in children(doors) if "spark_process" in _command(pid))
    return doors, spark


def _command(pid):
    return text_of(pid, "cmdline")


def answers(port):
    """Whether the metastore's door takes a connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS):
        return True


@pytest.fixture(scope="module")
def mortal(tmp_path_factory):
    """A server whose processes the tests kill, in the order in which they stand here; the last one kills it."""
    with serve(
        tmp_path_factory.mktemp("mortal"), "--max-running", "4", "--max-running-of-user", "4", "--metrics-port", "0"
    ) as server:
        yield server


def test_metrics_of_queries_outlive_the_process_that_counts_them(mortal):
    server = mortal
    with hbstore.client.connect(server.ready["http"]) as asking:
        done = asking.query("SELECT 1 AS n").wait()
        assert done.rows() == [(1,)]
        with pytest.raises(QueryFailed):
            asking.query("SELECT 1 / 0").wait()
        running = asking.query(SLOW)
        until(lambda: running.refresh().state == "running")
        before = numbers(server)
        assert before['hbstore_queries_total{door="http",state="succeeded"}'] == 1
        assert before['hbstore_queries_total{door="http",state="failed"}'] == 1
        assert before['hbstore_query_errors_total{error="QueryFailed"}'] == 1
        assert before['hbstore_query_seconds_count{door="http"}'] == 2
        assert (before["hbstore_queries_running"], before["hbstore_queries_queued"]) == (1, 0)
        assert before["hbstore_result_rows_fetched_total"] == 1
        assert before["hbstore_result_bytes_fetched_total"] >= 4
        asked = 'hbstore_http_requests_total{method="POST",route="/queries",status="202"}'
        fetched = 'hbstore_http_request_seconds_count{method="GET",route="/queries/{id_}/results"}'
        assert (before[asked], before[fetched]) == (3, 1)
        assert not any(done.id in name for name in before)
        assert "hbstore_metastore_rows_read_total" in before

        doors, spark = processes_of(server)
        os.kill(spark, signal.SIGKILL)
        until(lambda: numbers(server)["hbstore_spark_restarts_total"] == 1)
        until(lambda: running.refresh().state == "failed")
        assert numbers(server)["hbstore_queries_running"] == 0
        os.kill(doors, signal.SIGKILL)
        until(lambda: server.log("a process ended"))
        after = numbers(server)
        assert after[asked] == 3
        assert after['hbstore_query_errors_total{error="SparkLost"}'] == 1
        assert after.get("hbstore_queries_running", 0) == 0
        until(lambda: _state(done) == "succeeded")
        asking.query("SELECT 2").wait()
        again = numbers(server)
        assert again['hbstore_queries_total{door="http",state="succeeded"}'] == 2
        assert (again[asked], again["hbstore_queries_running"]) == (4, 0)


@pytest.mark.parametrize("victim", ["spark", "doors"])
def test_what_is_killed_in_the_middle_loses_nothing_finished_and_shows_nothing_as_running_that_is_not(mortal, victim):
    url, port = mortal.ready["http"], int(mortal.ready["uri"].rpartition(":")[2])
    with hbstore.client.connect(url) as asking:
        finished = [asking.query(f"SELECT {number}") for number in range(5)]
        for query in finished:
            query.wait()
        left = [asking.query(SLOW if number % 4 == 0 else f"SELECT {number}") for number in range(16)]
        until(lambda: any(query.refresh().state == "running" for query in left))
        doors, spark = processes_of(mortal)
        os.kill({"spark": spark, "doors": doors}[victim], signal.SIGKILL)  # Spark ends with who takes its queries
        assert answers(port)
        until(lambda: _state(left[0]) in FINAL)
        for number, query in enumerate(finished):
            assert query.refresh().state == "succeeded"
            assert query.rows() == [(number,)]
        if victim == "spark":  # those that were queued go on
            for query in left:
                if query.refresh().state == "running" or not query.is_final:
                    query.cancel()
        until(lambda: all(_state(query) in FINAL for query in left))
        for number, query in enumerate(left):
            if query.state == "succeeded":
                assert query.rows() == [(number,)]
            elif query.state == "failed":
                assert type(query.error).__name__ in ("SparkLost", "QueryLost")
        assert any(query.state == "failed" for query in left)
        again = asking.query("SELECT 'again'").wait()
        assert again.rows() == [("again",)]
    gone = [spark] if victim == "spark" else [spark, doors]
    until(lambda: not any(map(_command, gone)))


def test_another_server_on_the_store_serves_what_a_dead_one_finished(mortal):
    with hbstore.client.connect(mortal.ready["http"]) as asking:
        finished, runs = asking.query("SELECT 'finished'").wait(), asking.query(SLOW)
        until(lambda: runs.refresh().state == "running")
        dead = [*processes_of(mortal)]
        mortal.kill()
        until(lambda: not any(map(_command, dead)))
    options = ("--without-metastore", "--metrics-port", "0")  # and without that door queries have its tables
    with serve(mortal.folder, *options) as server, hbstore.client.connect(server.ready["http"]) as asking:
        assert server.ready["uri"] is None
        with connect(f"sqlite://{mortal.folder}/store.db") as store:  # where the dead one left its lease
            until(lambda: len(list(store.records.list("server"))) == 1)
        assert asking.get(finished.id).rows() == [("finished",)]
        assert type(asking.get(runs.id).error).__name__ == "QueryLost"
        assert [one.id for one in asking.queries(state="running")] == []
        asking.query("CREATE TABLE sales (amount INT, ds STRING) USING parquet PARTITIONED BY (ds)").wait()
        asking.query("INSERT INTO sales VALUES (1, '2013-01-01'), (2, '2013-01-02')").wait()
        assert asking.query("SELECT sum(amount) FROM sales WHERE ds > '2013-01-01'").wait().rows() == [(2,)]
        assert numbers(server)['hbstore_metastore_calls_total{method="get_partitions_by_filter"}'] > 0


def _state(query):
    """The state of a query, or why the server does not say it now."""
    try:
        return query.refresh().state
    except hbstore.ServerUnavailable as error:
        return str(error)


def test_the_catalog_is_served_beside_the_queries(asking, shop, folder):
    assert "shop" in asking.database_names()
    rides = shop.table("shop.lake_rides_daily")
    assert rides.names() == ["dt=2015-01-01", "dt=2015-01-02"]
    asking.create_database("attic")
    try:
        home = Path(asking.get_database("attic").location.removeprefix("file:"))
        assert home.is_dir()
        assert folder in home.parents
        shop.query("CREATE TABLE attic.old (n INT, ds STRING) USING parquet PARTITIONED BY (ds)").wait()
        assert asking.table("attic.old").add([("a",)]) == 1
        assert asking.query("SHOW PARTITIONS attic.old").wait().rows() == [("ds=a",)]
    finally:
        asking.drop_database("attic", cascade=True)
    assert not home.exists()

"""`hbstore serve`: what it says and logs, its options, its signals, and the processes that share its port."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack

import pytest
import typer

from hbstore import Column, Database, Partition, Table, connect
from hbstore.cli import app
from hbstore.files.warehouse import Warehouse
from hbstore.metastore.serving import Serving
from hbstore.retention.expiry import runs as runs_of
from hbstore.servers.limits import MAX_CONNECTIONS
from hbstore.warehouse.databases import DEFAULT, create_database
from hbstore.warehouse.new_partitions import add_partitions
from hbstore.warehouse.tables import create_table
from tests.metastore.client import HOST, TYPES, client, message
from tests.metastore.serving import ROOT, Serve, numbers, refused
from tests.metastore.writing import says, storage, table_of
from tests.pauses import SECONDS, until
from tests.processes import runs


@pytest.fixture
def url(tmp_path):
    return f"sqlite://{tmp_path}/store.db"


@pytest.fixture
def serve(url, tmp_path):
    """Starts `hbstore serve` on a store in a file: ``serve("--read-only")``."""
    with ExitStack() as stack:

        def start(*options, store=url, **given):
            return stack.enter_context(Serve(store, tmp_path, *options, **given))

        yield start


def command(*words):
    """A run of `hbstore` to its end."""
    return subprocess.run(
        [sys.executable, "-m", "hbstore", *words], capture_output=True, text=True, timeout=SECONDS, check=False
    )


def test_serve_says_where_it_is_and_creates_what_is_missing(serve, url, tmp_path):
    server = serve()
    assert server.ready == {
        "store": url,
        "uri": f"thrift://127.0.0.1:{server.port}",
        "warehouse": f"file:{tmp_path}/warehouse",
        "results": None,
        "metrics": None,
        "http": None,
        "sql": None,
        "logins": {"metastore": "nobody"},
    }
    with client(server.port) as metastore:
        assert metastore.getName() == "hbstore"
    with connect(url) as store:
        found = store.get_database("default")
    assert (found.location, found.owner, found.owner_type) == (f"file:{tmp_path}/warehouse", "public", 2)
    assert (tmp_path / "warehouse").is_dir()
    assert server.terminate() == 0
    assert server.process.stderr.read() == f"Created the store {tmp_path}/store.db\n"
    assert refused(server.port)


def test_the_line_for_people(url, tmp_path):
    words = ["--store", url, "serve", "--warehouse", str(tmp_path), "--port", "0", "--metrics-port", "0"]
    with subprocess.Popen([sys.executable, "-m", "hbstore", *words], stdout=subprocess.PIPE, text=True) as process:
        line = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(SECONDS) == 0
    assert line.startswith(f"serving {url} at thrift://127.0.0.1:")
    assert f", warehouse file:{tmp_path}, metrics http://127.0.0.1:" in line


READ_ONLY = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
MOUNT = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'


@pytest.mark.skipif(
    subprocess.run([*READ_ONLY, "exit 0"], capture_output=True, check=False).returncode != 0,
    reason="nobody may mount here",
)
def test_a_store_on_a_file_system_that_may_only_be_read(tmp_path):
    folder, warehouse = tmp_path / "store", tmp_path / "warehouse"
    folder.mkdir()
    with connect(f"sqlite://{folder}/catalog.db") as store:
        store.create_database(Database("shop"))
    words = [*READ_ONLY, MOUNT, str(folder), sys.executable, "-m", "hbstore", "--store"]
    serving = ["serve", "--read-only", "--json", "--warehouse", str(warehouse), "--port", "0"]
    plain = subprocess.run(
        [*words, f"{folder}/catalog.db", *serving], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert "mode=immutable" in plain.stderr
    url = f"sqlite://{folder}/catalog.db?mode=immutable"
    with subprocess.Popen([*words, url, *serving], cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            port = int(json.loads(process.stdout.readline())["uri"].rpartition(":")[2])
            with client(port) as metastore:
                assert metastore.get_all_databases() == ["shop"]
        finally:
            process.terminate()
        assert process.wait(SECONDS) == 0


@pytest.mark.hbase
def test_the_examples_of_its_help_run(url, tmp_path, request):
    lines = re.findall(r"\$ hbstore (.*)", typer.main.get_command(app).commands["serve"].epilog)
    for line in lines:
        for shown, here in {
            "/data/warehouse": str(tmp_path),
            "hdfs://namenode/warehouse": str(tmp_path),
            "9084": "0",
            "8080": "0",
            "/data/results": str(tmp_path / "results"),
            "serve.log": str(tmp_path / "serve.log"),
        }.items():
            line = line.replace(shown, here)  # noqa: PLW2901
        store = request.getfixturevalue("hbase_url") if "hbase://gateway:9090/shop" in line else url
        words = shlex.split(line.replace("hbase://gateway:9090/shop", store))
        process = subprocess.Popen(
            [sys.executable, "-m", "hbstore", *words, "--port", "0"],
            env={**os.environ, "HBSTORE_URL": store},
            stdout=subprocess.PIPE,
            text=True,
        )
        with process:
            assert process.stdout.readline().startswith(f"serving {store} at thrift://")
            process.terminate()
            assert process.wait(SECONDS) == 0
    assert len(lines) == 4


def test_a_default_database_that_is_there_is_left_alone(serve, url):
    with connect(url) as store:
        store.create_database(Database("default", description="mine", location="s3://mine"))
    serve()
    with connect(url) as store:
        assert store.get_database("default").description == "mine"


def test_the_default_database_of_a_new_store_is_where_the_warehouse_is(serve, url, tmp_path):
    with connect(url) as store:
        store.create_database(DEFAULT)  # as `hbstore init` does, which knows no warehouse
    with client(serve().port) as metastore:
        assert metastore.get_database("default").locationUri == f"file:{tmp_path}/warehouse"
    assert (tmp_path / "warehouse").is_dir()


def test_a_read_only_server_creates_nothing(serve, url, tmp_path):
    missing = command("--store", url, "serve", "--warehouse", str(tmp_path), "--read-only")
    assert (missing.returncode, "the store does not exist" in missing.stderr) == (3, True)
    with connect(url) as store:
        store.create_database("shop")
    server = serve("--read-only")
    with client(server.port) as metastore:
        assert metastore.get_all_databases() == ["shop"]
        with pytest.raises(TYPES.MetaException, match="read-only"):
            metastore.create_database(TYPES.hive_metastore.Database(name="more"))


def test_a_taken_port_is_told(serve, url, tmp_path):
    port = serve().port
    for processes in ("1", "2"):
        words = ["--store", url, "serve", "--warehouse", str(tmp_path / "warehouse"), "--processes", processes]
        result = command(*words, "--port", str(port))
        assert result.returncode == 3
        assert result.stderr.startswith(
            f"Error: the server cannot listen at this address: address=127.0.0.1:{port}, reason=Address"
        )
        metrics = command(*words, "--port", "0", "--metrics-port", str(port))
        assert metrics.returncode == 3
        assert metrics.stderr.startswith("Error: the server cannot listen at this address")


@pytest.mark.parametrize(
    ("processes", "signals"),
    [
        (1, [signal.SIGTERM, signal.SIGTERM]),
        (2, [signal.SIGINT]),
        (2, [signal.SIGTERM, signal.SIGTERM]),
    ],
)
def test_a_signal_ends_it(serve, signals, processes):
    server = serve("--processes", str(processes))
    with client(server.port) as metastore:
        metastore.getName()
        for number in signals:
            server.process.send_signal(number)
        assert server.process.wait(SECONDS) == 0
    assert server.log("a process ended") == []


def test_the_log_of_calls(serve):
    server = serve("--log-calls")
    with client(server.port) as metastore:
        metastore.getName()
        with pytest.raises(TYPES.NoSuchObjectException):
            metastore.get_database("nowhere")
    calls = until(lambda: server.log("call")[1:] and server.log("call"))
    assert [call["method"] for call in calls] == ["getName", "get_database"]
    assert calls[0].keys() == {"time", "level", "event", "method", "client", "seconds", "bytes", "pid"}
    assert calls[1]["error"] == "NoSuchObjectException"
    assert "nowhere" in calls[1]["message"]


def test_without_the_option_only_slow_calls_are_logged(serve):
    server = serve()
    with client(server.port) as metastore:
        metastore.getName()
    assert server.terminate() == 0
    assert server.log() == server.log("call") == []
    server = serve("--slow-seconds", "0")
    with client(server.port) as metastore:
        metastore.getName()
    assert server.terminate() == 0
    (line,) = server.log("slow call")
    assert (line["level"], line["method"]) == ("warning", "getName")


@pytest.mark.parametrize("processes", [1, 2])
def test_metrics_of_all_processes(serve, processes):
    server = serve("--processes", str(processes), "--metrics-port", "0")
    with ExitStack() as stack:
        clients = [stack.enter_context(client(server.port)) for _ in range(20)]
        for metastore in clients:
            metastore.getName()
            with pytest.raises(TYPES.NoSuchObjectException):
                metastore.get_database("nowhere")
        for unknown in (b"getNope", b"getNone"):
            with socket.create_connection((HOST, server.port), timeout=SECONDS) as sock:
                sock.sendall(message("getName").replace(b"getName", unknown))
                assert b"Invalid method name" in sock.recv(1000)
        found = numbers(server)
        assert found['hbstore_metastore_calls_total{method="getName"}'] == 20
        assert found['hbstore_metastore_call_seconds_count{method="get_database"}'] == 20
        assert found['hbstore_metastore_errors_total{error="NoSuchObjectException",method="get_database"}'] == 20
        assert found['hbstore_metastore_calls_total{method="unknown"}'] == 2
        assert "getNope" not in "".join(found)
        until(lambda: numbers(server)['hbstore_door_connections{door="metastore"}'] == 20)
    until(lambda: numbers(server)['hbstore_door_connections{door="metastore"}'] == 0)


def test_deleted_files_go_to_the_trash_unless_they_are_purged(serve, tmp_path):
    trash = tmp_path / "trash"
    server = serve("--processes", "2", "--trash", str(trash))
    with client(server.port) as metastore:
        metastore.create_database(TYPES.hive_metastore.Database(name="shop"))
        for name in ("kept", "purged"):
            metastore.create_table(table_of(name, partitionKeys=[]))
            (tmp_path / f"warehouse/shop.db/{name}/file").write_text(name)
        metastore.drop_table("shop", "kept", True)
        metastore.drop_table_with_environment_context("shop", "purged", True, says(ifPurge="true"))
    assert list((tmp_path / "warehouse/shop.db").iterdir()) == []
    assert [one.read_text() for one in trash.rglob("file")] == ["kept"]


@pytest.mark.parametrize("processes", [1, 2])
def test_all_processes_are_strict_and_delete_files_below_the_given_roots_alone(serve, tmp_path, processes):
    roots = [tmp_path / "own", tmp_path / "more"]
    strict = "--disallow-incompatible-col-type-changes"
    server = serve("--processes", str(processes), strict, *(word for root in roots for word in ("--also-under", root)))
    with client(server.port) as metastore:
        assert metastore.get_config_value("hive.metastore.disallow.incompatible.col.type.changes", "?") == "true"
        metastore.create_database(TYPES.hive_metastore.Database(name="shop"))
        for folder in (*roots, tmp_path / "other"):
            place = storage(location=f"{folder}/sales")
            metastore.create_table(table_of(folder.name, partitionKeys=[], sd=place))
        for root in roots:
            metastore.drop_table("shop", root.name, True)
            assert list(root.iterdir()) == []
        with pytest.raises(TYPES.MetaException, match=f"file:{tmp_path}/other/sales.*--also-under"):
            metastore.drop_table("shop", "other", True)
    assert (tmp_path / "other/sales").exists()


# Several processes


def test_only_the_process_of_the_metastore_reads_the_description_of_its_service(tmp_path):
    """The parent, and the process that takes queries, would start a third more slowly."""
    words = ["--store", f"sqlite://{tmp_path}/store.db", "serve", "--json", "--port", "0", "--http-port", "0"]
    environment = {**os.environ, "PYTHONPROFILEIMPORTTIME": "1"}
    with (
        (tmp_path / "imports").open("w") as imports,
        subprocess.Popen(
            [sys.executable, "-m", "hbstore", *words, "--sql-port", "0", "--warehouse", str(tmp_path / "warehouse")],
            stdout=subprocess.PIPE,
            stderr=imports,
            env=environment,
        ) as server,
    ):
        assert server.stdout.readline()
        server.terminate()
    imported = [line.rpartition("| ")[2].strip() for line in (tmp_path / "imports").read_text().splitlines()]
    assert imported.count("hbstore.cli.serve") == 3
    assert imported.count("hbstore.metastore.protocol") == 1


def serving_pids(server, calls=40):
    """The processes that answer some connections, by the log."""
    before = len(server.log("call"))
    for _ in range(calls):
        with client(server.port) as metastore:
            metastore.getName()
    return {
        call["pid"] for call in until(lambda: server.log("call")[before + calls - 1 :] and server.log("call")[before:])
    }


def test_processes_share_the_port_and_one_that_dies_is_replaced_and_what_it_counted_stays(serve, tmp_path):
    server = serve("--processes", "2", "--log-calls", "--metrics-port", "0", environment={"TMPDIR": str(tmp_path)})
    assert serving_pids(server, 100) == set(server.children())
    victim, other = server.children()
    os.kill(victim, signal.SIGKILL)
    until(lambda: len(server.children()) == 2 and victim not in server.children())
    with client(server.port) as metastore:
        assert metastore.getName() == "hbstore"
    until(lambda: serving_pids(server) == set(server.children()))
    assert other in server.children()
    (line,) = server.log("a process ended")
    assert (line["process"], line["code"]) == (victim, -signal.SIGKILL)
    assert numbers(server)['hbstore_metastore_calls_total{method="getName"}'] >= 141
    until(lambda: numbers(server)['hbstore_door_connections{door="metastore"}'] == 0)  # clients have just gone
    assert list(tmp_path.glob("hbstore-metrics-*"))
    assert server.terminate() == 0
    assert not list(tmp_path.glob("hbstore-metrics-*"))


def test_no_process_outlives_its_parent(serve):
    server = serve("--processes", "2")
    children = server.children()
    server.kill()
    until(lambda: not any(map(runs, children)))
    assert refused(server.port)


def test_a_process_that_is_started_again_makes_no_store_where_its_disk_is_away(serve, url, tmp_path):
    """It served an empty store, which was then in the way of the one that came back."""
    server = serve("--processes", "2", "--log-calls")
    with connect(url) as store:
        store.create_database("shop")
    disk, away = tmp_path / "store.db", tmp_path / "away"
    away.mkdir()
    for file in tmp_path.glob("store.db*"):
        file.rename(away / file.name)
    victim, other = server.children()
    os.kill(victim, signal.SIGKILL)
    (late,) = until(lambda: set(server.children()) - {victim, other})
    until(lambda: late not in server.children())  # as it did not find the store
    assert not disk.exists()
    for file in away.iterdir():
        file.rename(tmp_path / file.name)
    until(lambda: serving_pids(server) == set(server.children()) and len(server.children()) == 2)
    for _ in range(20):  # one of its processes answers each
        with client(server.port) as metastore:
            assert metastore.get_all_databases() == ["default", "shop"]


def test_stopping_processes_ends_their_idle_connections(serve):
    server = serve("--processes", "2")
    with ExitStack() as stack:
        socks = [stack.enter_context(socket.create_connection((HOST, server.port), timeout=SECONDS)) for _ in range(10)]
        for sock in socks:
            sock.sendall(message("getName"))
            assert sock.recv(100)
        assert server.terminate() == 0
        assert all(sock.recv(1) == b"" for sock in socks)


def test_a_store_in_memory_cannot_be_shared(tmp_path):
    result = command("--store", "memory://", "serve", "--warehouse", str(tmp_path), "--processes", "2")
    assert result.returncode == 2
    assert "several processes cannot share a store in memory" in result.stderr


def test_processes_that_cannot_start_are_not_started_for_ever(url, tmp_path):
    log = tmp_path / "no" / "folder" / "serve.log"
    words = ["--warehouse", str(tmp_path), "--processes", "2", "--port", "0", "--log-file", str(log)]
    result = command("--store", url, "serve", *words)
    assert result.returncode == 3
    assert "the operating system refused" in result.stderr


def test_the_options_are_what_the_server_takes_by_itself():
    serving = Serving(Warehouse("/nowhere"))
    defaults = {one.name: one.default for one in typer.main.get_command(app).commands["serve"].params}
    assert defaults["host"] == serving.host
    assert defaults["port"] == serving.port
    assert defaults["slow_seconds"] == serving.slow_seconds
    assert defaults["max_connections"] == serving.limits.connections == MAX_CONNECTIONS
    assert defaults["message_memory"] == serving.limits.message_memory
    assert defaults["max_message"] == serving.limits.read.message
    assert defaults["call_timeout"] == serving.limits.call_seconds
    assert defaults["idle_timeout"] is serving.limits.read.idle_timeout


def test_old_partitions_are_dropped_by_a_server_that_starts_and_not_by_one_that_only_reads(serve, url, tmp_path):
    warehouse = Warehouse(str(tmp_path / "warehouse"))
    with connect(url, create=True) as store:
        create_database(store, warehouse, Database("shop"))
        kept = {"hbstore.retention": "30d"}
        create_table(store, warehouse, Table("shop", "sales", [Column("ds", "date")], parameters=kept))
        add_partitions(store, warehouse, store.get_table("shop", "sales"), [Partition(("2013-01-01",))])
    serve("--read-only")
    server = serve("--processes", "2")
    with connect(url) as store:
        until(lambda: not store.count_partitions("shop", "sales"))
        (run,) = runs_of(store)
        assert (run.table, run.partitions) == ("shop.sales", 1)
    until(lambda: any(" expired undo " in line["event"] for line in server.log()))

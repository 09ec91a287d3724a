"""The doors of `hbstore serve`: which options go together, what is needed for each, and where the server says it is."""

from __future__ import annotations

import json
import socket
import sys
from contextlib import ExitStack, suppress

import pytest

from hbstore.cli.serve_doors import OpenDoors
from tests.hiveserver2.serving import sasl_login
from tests.metastore.serving import Serve
from tests.metastore.serving import refused as server_refused
from tests.pauses import SECONDS


@pytest.fixture
def refused(run, tmp_path):
    """Runs `hbstore serve` with options that will not do: what it says."""

    def start(*options, code=2, **keywords):
        result = run("serve", "--warehouse", str(tmp_path), *options, code=code, **keywords)
        assert result.stdout == ""
        return result.stderr

    return start


@pytest.mark.parametrize("store", ["memory://", "hbase://gateway:9090/shop"])
def test_a_store_that_is_not_in_a_file_has_no_folders_beside_it(run, tmp_path, store):
    said = run("serve", code=2, store=store).stderr
    assert "a store that is not in a file has none beside it" in said
    assert "Give --warehouse DIR, a folder that all servers of the store reach" in said
    said = run("serve", "--warehouse", str(tmp_path), "--http-port", "0", code=2, store=store).stderr
    assert "Give --results DIR" in said


@pytest.mark.parametrize(
    ("options", "advice"),
    [
        (["--http-port", "0"], "leave out --http-port\n"),
        (["--http-port", "0", "--processes", "2"], "leave out --processes and --http-port\n"),
        (["--processes", "2"], "leave out --processes\n"),
    ],
)
def test_a_store_in_memory_has_one_process(refused, tmp_path, options, advice):
    results = ["--results", str(tmp_path)] if "--http-port" in options else []
    said = refused(*options, *results, store="memory://")
    assert "several processes cannot share a store in memory" in said
    assert said.endswith(advice)


def test_without_metastore_there_is_a_door_for_queries(refused):
    said = refused("--without-metastore")
    assert "a server without the metastore's door needs one for queries" in said


@pytest.mark.parametrize("port", ["0", "9083"])
def test_without_metastore_there_is_no_port_for_it(refused, tmp_path, port):
    said = refused("--without-metastore", "--http-port", "0", "--results", str(tmp_path), "--port", port)
    assert "a server without the metastore's door has no port for it" in said


def test_options_for_queries_need_a_door(refused, tmp_path):
    tokens = tmp_path / "tokens"
    tokens.write_text("ann 0123456789abcdef\n")
    tokens.chmod(0o600)
    said = refused("--token-file", str(tokens), "--max-queued", "200")
    assert "the server has no door for queries: options=--token-file, --max-queued" in said


@pytest.mark.parametrize("package", ["fastapi", "fastapi_offline", "uvicorn", "pyarrow"])
def test_what_is_not_installed_is_told_before_anything_starts(refused, tmp_path, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    said = refused("--http-port", "0", "--results", str(tmp_path))
    assert f"a package that --http-port needs is not installed: missing={package}" in said
    assert "[web]'" in said


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "nowhere.example"])  # noqa: S104
@pytest.mark.parametrize(
    ("options", "doors"),
    [
        ([], "--port"),
        (["--metrics-port", "0"], "--port, --metrics-port"),
        (["--http-port", "0", "--without-metastore"], "--http-port"),
        (["--http-port", "0", "--sql-port", "0"], "--port, --http-port, --sql-port"),
        (["--http-port", "0", "--sql-port", "0", "--token-file", "tokens"], "--port"),
        (
            ["--http-port", "0", "--token-file", "tokens", "--without-metastore", "--metrics-port", "0"],
            "--metrics-port",
        ),
    ],
)
def test_a_door_that_asks_nobody_is_not_opened_to_other_machines(refused, host, options, doors):
    said = refused("--host", host, *options)
    assert "other machines would reach doors that ask nobody for a login" in said
    assert f"doors={doors}\n" in said
    assert "--insecure" in said


def test_doors_that_ask_nobody_are_opened_where_that_is_meant(tmp_path):
    store = f"sqlite://{tmp_path}/store.db"
    with Serve(store, tmp_path, "--host", "0.0.0.0", "--insecure", "--metrics-port", "0") as server:  # noqa: S104
        assert server.ready["logins"] == {"metastore": "nobody", "metrics": "nobody"}
        (line,) = server.log("the server is ready")
        assert (line["host"], line["logins"]) == ("0.0.0.0", server.ready["logins"])  # noqa: S104
        assert not server_refused(server.port)


def test_the_limits_of_connections_reach_every_door(tmp_path):
    options = ("--http-port", "0", "--sql-port", "0", "--max-connections", "2", "--results", str(tmp_path / "results"))
    with Serve(f"sqlite://{tmp_path}/store.db", tmp_path, *options) as server, ExitStack() as stack:
        for door, spoken in (("uri", b"\0\0"), ("http", b"GET /health HTTP/1.1\r\n"), ("sql", sasl_login())):
            port = int(server.ready[door].rpartition(":")[2])
            socks = [stack.enter_context(socket.create_connection(("127.0.0.1", port), SECONDS)) for _ in range(3)]
            for sock in socks[:2]:
                sock.sendall(spoken)
            with suppress(ConnectionResetError):
                socks[2].sendall(spoken)
                said = socks[2].recv(1000)
                assert (b"too many" in said) == bool(said) == (door != "uri")
            assert server.log("too many connections: the server refuses more")[-1]["limit"] == 2


def test_a_secret_of_sparks_is_not_on_the_command_line(refused, monkeypatch):
    setting = "spark.hadoop.fs.s3a.secret.key=planted"
    said = refused("--http-port", "0", "--spark-conf", "spark.sql.ansi.enabled=true", "--spark-conf", setting)
    assert "the setting is a secret: setting=spark.hadoop.fs.s3a.secret.key" in said
    assert "planted" not in said
    monkeypatch.setenv("HBSTORE_SERVE_SPARK_CONF", setting)
    assert "the server has no door for queries" in refused()


def test_a_taken_port_is_told_with_its_option(refused, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        said = refused("--http-port", str(port), "--port", "0", "--results", str(tmp_path), code=3)
    assert f"the server cannot listen at this address: address=127.0.0.1:{port}" in said
    assert "Choose another with --host and --http-port; port 0 takes any free port" in said


@pytest.mark.parametrize("other", ["--port", "--sql-port", "--metrics-port"])
def test_two_doors_have_two_ports(refused, tmp_path, other):
    said = refused("--http-port", "8080", other, "8080", "--results", str(tmp_path))
    assert "two doors cannot have one port: ports=" in said
    assert f"{other}=8080" in said


def test_the_line_names_the_doors_that_there_are():
    doors = OpenDoors("sqlite:///s.db", "file:/w", "file:/r", "127.0.0.1", 9083, 8080, 10000, 9084)
    first = (
        "serving sqlite:///s.db at thrift://127.0.0.1:9083, warehouse file:/w, results file:/r,"
        " console and REST http://127.0.0.1:8080, sql jdbc:hive2://127.0.0.1:10000,"
        " metrics http://127.0.0.1:9084/metrics"
    )
    second = "asked for a login: at metastore nobody, at http nobody, at sql nobody, at metrics nobody"
    assert doors.lines(as_json=False) == [first, second]
    alone = OpenDoors("sqlite:///s.db", "file:/w", None, "::1", sql=10000, token_file="/tokens")  # noqa: S106
    assert alone.lines(as_json=False) == [
        "serving sqlite:///s.db, warehouse file:/w, sql jdbc:hive2://[::1]:10000",
        "asked for a login: at sql users of /tokens",
    ]
    assert json.loads(*alone.lines(as_json=True)) == {
        "store": "sqlite:///s.db",
        "uri": None,
        "warehouse": "file:/w",
        "results": None,
        "metrics": None,
        "http": None,
        "sql": "jdbc:hive2://[::1]:10000",
        "logins": {"sql": "users of /tokens"},
    }

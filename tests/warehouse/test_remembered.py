"""The warehouse that a store remembers: servers with another one are told, and say so in one warning."""

from __future__ import annotations

import json
import socket
import subprocess
import sys

import pytest

from hbstore import connect
from hbstore.files.warehouse import Warehouse
from hbstore.warehouse.remembered import other_warehouse, remember_warehouse, remembered_warehouse
from tests.metastore.serving import Serve
from tests.pauses import SECONDS


@pytest.fixture(params=["memory", "sqlite", pytest.param("hbase", marks=pytest.mark.hbase)])
def records(request, tmp_path):
    urls = {"memory": "memory://", "sqlite": f"sqlite://{tmp_path}/store.db"}
    with connect(urls.get(request.param) or request.getfixturevalue("hbase_url")) as store:
        store.records.drop("warehouse", "last")  # that of another test's server
        yield store.records
        store.records.drop("warehouse", "last")


@pytest.fixture
def remember(records):
    def start(path, *, is_named=False):
        earlier = other_warehouse(records, Warehouse(path))
        remember_warehouse(records, Warehouse(path), is_named=is_named)
        return None if earlier is None else earlier.root

    return start


def test_the_first_server_s_is_remembered(remember):
    assert remember("/data/a") is None
    assert remember("file:///data/a/") is None
    assert remember("/data/b") == "file:/data/a"


def test_only_one_that_is_named_takes_its_place(remember):
    remember("/data/a", is_named=True)
    assert [remember("/data/b"), remember("/data/b")] == ["file:/data/a"] * 2
    assert remember("/data/b", is_named=True) == "file:/data/a"
    assert remember("/data/b") is None
    assert remember("/data/a") == "file:/data/b"


def test_a_store_that_may_only_be_read_is_no_error(tmp_path):
    connect(f"sqlite://{tmp_path}/store.db").close()
    with connect(f"sqlite://{tmp_path}/store.db?mode=ro") as store:
        remember_warehouse(store.records, Warehouse("/data/a"), is_named=True)
        assert remembered_warehouse(store.records) is None


def warnings(server):
    server.terminate()
    return [line for line in server.process.stderr.read().splitlines() if line.startswith("Warning")]


def test_servers_warn_at_their_start(tmp_path):
    url = f"sqlite://{tmp_path}/catalog.db"
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    event = "servers of this store use another warehouse"

    with Serve(url, first) as server:
        assert warnings(server) == []
    with Serve(url, second, "--read-only") as server:
        (line,) = warnings(server)
        assert f"use the warehouse file:{first}/warehouse (since " in line
        assert line.endswith(f"start it with --warehouse file:{first}/warehouse")
        (logged,) = server.log(event)
        assert (logged["other"], logged["warehouse"]) == (f"file:{first}/warehouse", f"file:{second}/warehouse")
    with Serve(url, first, "--processes", "2") as server:
        assert warnings(server) == []
    with Serve(url, second, "--processes", "2") as server:
        assert len(warnings(server)) == len(server.log(event)[1:]) == 1
    with Serve(url, second) as server:
        assert warnings(server) == []


@pytest.mark.parametrize("fault", ["port", "folder"])
def test_that_of_a_server_that_does_not_start_is_not_remembered(tmp_path, fault):
    store = tmp_path / "catalog.db"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1] if fault == "port" else 0
        wrong = tmp_path / "wrong" if fault == "port" else store / "wrong"
        command = [
            sys.executable,
            "-m",
            "hbstore",
            "--store",
            store,
            "serve",
            "--port",
            str(port),
            "--warehouse",
            wrong,
        ]
        assert subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode
    with connect(f"sqlite://{store}") as opened:
        assert remembered_warehouse(opened.records) is None


def test_the_default_is_used_and_warns_until_the_operator_names_one(tmp_path):
    url = f"sqlite://{tmp_path}/catalog.db"
    with Serve(url, tmp_path) as server:
        assert warnings(server) == []
    for _ in range(2):
        words = ["--store", url, "serve", "--json", "--port", "0"]
        with subprocess.Popen(
            [sys.executable, "-m", "hbstore", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            assert json.loads(process.stdout.readline())["warehouse"] == f"file:{tmp_path}/catalog-warehouse"
            process.terminate()
            assert process.wait(SECONDS) == 0
            line, ready = process.stderr.read().splitlines()
        assert '"the server is ready"' in ready
        assert line.endswith(
            f"start it with --warehouse file:{tmp_path}/warehouse, or with --warehouse "
            f"file:{tmp_path}/catalog-warehouse to hear no more of this"
        )

"""`hbstore serve` where nothing is there that Linux has and macOS has not."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import urllib.request

import pytest

from tests.metastore.client import TYPES, client
from tests.metastore.serving import Serve
from tests.metastore.writing import STORED, partition_of, table_of
from tests.pauses import SECONDS
from tests.without_linux import PATH
from tests.without_linux.sitecustomize import most_files

WITHOUT_LINUX = {"PYTHONPATH": PATH}

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="hides what is on Linux alone")


def run(*words):
    """A run of Python to its end."""
    return subprocess.run(
        [sys.executable, *words],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        env={**os.environ, **WITHOUT_LINUX},
    )


@pytest.mark.parametrize(
    "use",
    [
        "select.epoll()",
        "selectors.EpollSelector()",
        "socket.SO_REUSEPORT",
        "socket.TCP_KEEPIDLE",
        "socket.MSG_DONTWAIT",
        "os.sched_getaffinity(0)",
        "os.sendfile(1, 0, 0, 1)",
        "os.O_PATH",
        "signal.pidfd_send_signal(0, 0)",
        "ctypes.CDLL(None).malloc_trim(0)",
        "open('/proc/self/status')",
        "pathlib.Path('/proc/meminfo').read_text()",
        "os.open('/dev/shm', os.O_RDONLY)",
        "resource.setrlimit(resource.RLIMIT_NOFILE, resource.getrlimit(resource.RLIMIT_NOFILE)[1:] * 2)",
    ],
)
def test_what_is_hidden_cannot_be_used(use):
    modules = "ctypes, os, pathlib, resource, select, selectors, signal, socket"
    result = run("-c", f"import {modules}\nprint('before')\n{use}")
    assert (result.returncode, result.stdout) == (1, "before\n")


def test_the_server_serves_and_ends(tmp_path):
    options = ("--metrics-port", "0", "--max-connections", "100000")
    with Serve(f"sqlite://{tmp_path}/store.db", tmp_path, *options, environment=WITHOUT_LINUX) as server:
        folder = tmp_path / "warehouse/shop.db/sales"
        with client(server.port) as metastore, client(server.port, framed=True) as framed:
            metastore.create_database(STORED.Database(name="shop"))
            metastore.create_table(table_of())
            metastore.add_partitions([partition_of("2013-01-01", str(hour)) for hour in range(2000)])
            found = framed.get_partitions_by_filter("shop", "sales", "hour >= 1990", -1)
            assert [partition.values[1] for partition in found] == [str(hour) for hour in range(1990, 2000)]
            assert len(metastore.get_partitions("shop", "sales", -1)) == 2000
            assert (folder / "ds=2013-01-01/hour=5").is_dir()
            assert metastore.drop_partition("shop", "sales", ["2013-01-01", "5"], True)
            assert not (folder / "ds=2013-01-01/hour=5").exists()
            with pytest.raises(TYPES.NoSuchObjectException):
                framed.get_partition("shop", "sales", ["2013-01-01", "5"])
            with urllib.request.urlopen(server.ready["metrics"], timeout=SECONDS) as page:  # noqa: S310  our own
                assert b'\nhbstore_door_connections{door="metastore"} 2.0\n' in page.read()
            assert most_files // 2 < resource.prlimit(server.pid, resource.RLIMIT_NOFILE)[0] <= most_files
            assert server.terminate() == 0
        assert [line["event"] for line in server.log() if line["level"] != "info"] == []


def test_several_processes_are_refused_before_anything_is_created(tmp_path):
    store = tmp_path / "store.db"
    result = run("-m", "hbstore", "--store", str(store), *("serve", "--warehouse", str(tmp_path), "--processes", "2"))
    assert result.returncode == 2
    assert result.stderr == (
        "Error: processes cannot share a port on this system: system=linux\n"
        "Hint: Leave out --processes; only Linux spreads the connections of a port over processes\n"
    )
    assert not store.exists()

"""Metastores to copy from and to: real ones of Hive 2.3 and 4.0 on Derby, and hbstore's own endpoint."""

from __future__ import annotations

import importlib
import shutil
import tempfile
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from hbstore import connect
from hbstore.files.warehouse import Warehouse
from hbstore.metastore.process import open_server
from hbstore.metastore.serving import Serving, prepare_store
from hbstore.transfer.connection import Address
from hbstore.transfer.metastore import Metastore
from tests.metastore.serving import Serve
from tests.quick_java import quick_java
from tests.spark.conftest import spark  # noqa: F401  a fixture, which ends with the tests of this folder

DEV_HMS = Path(__file__).parents[2] / "dev" / "hms"
SECONDS = 60


class Other:
    """A metastore somewhere else.

    Attributes:
        port: on this machine.
        uri: with which it is copied from and to.
        root: a folder that its tables may be in.
    """

    def __init__(self, port, root):
        self.port = port
        self.uri = f"thrift://127.0.0.1:{port}"
        self.root = f"file:{root}"

    @contextmanager
    def open(self):
        """A `Metastore` of it."""
        with closing(Metastore(Address.of(self.uri))) as metastore:
            yield metastore


@pytest.fixture(scope="session")
def hms_2():
    """A Hive Metastore 2.3."""
    with _hive_metastore("2.3") as found:
        yield found


@pytest.fixture(scope="session")
def hms_4():
    """A Hive Metastore 4.0, which has no get_table."""
    with _hive_metastore("4.0") as found:
        yield found


@contextmanager
def serving(folder, url=None):
    """hbstore's own endpoint over the store ``url``, by default one in its new folder; ``process`` is the server."""
    folder.mkdir()
    url = url or f"sqlite://{folder}/store.db"
    with Serve(url, folder) as server:
        found = Other(server.port, folder)
        found.url, found.process = url, server
        yield found


@contextmanager
def serving_here(folder):
    """The same in this process, which costs no other Python; it cannot be killed."""
    folder.mkdir()
    url = f"sqlite://{folder}/store.db"
    how = Serving(Warehouse(str(folder / "warehouse")), port=0)
    with connect(url) as store:
        server = open_server(store, how)
        prepare_store(store, how)
        server.start()
        found = Other(server.port, folder)
        found.url = url
        try:
            yield found
        finally:
            server.stop(SECONDS)


@pytest.fixture
def endpoint(request, tmp_path):
    """hbstore's own endpoint over a store of its own: ``endpoint.url``; a process where the parameter says so."""
    with (serving if getattr(request, "param", None) == "process" else serving_here)(tmp_path / "endpoint") as found:
        yield found


@pytest.fixture
def url(tmp_path):
    """The URL of a new SQLite store."""
    return f"sqlite://{tmp_path / 'catalog.db'}"


@pytest.fixture
def store(url):
    """A new SQLite store."""
    with connect(url) as opened:
        yield opened


def dev_hms():
    """The module dev/hms/dev_hms.py, which is no package's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(DEV_HMS)
        return importlib.import_module("dev_hms")


@contextmanager
def _hive_metastore(release):
    folder = Path(tempfile.mkdtemp(prefix="hbstore-hms-"))
    hms = dev_hms().DevHms(folder, database="derby", heap="700m", guarded=True, release=release)
    try:
        with quick_java():
            hms.start()
        yield Other(hms.port, folder / "external")
    finally:
        hms.remove()
        shutil.rmtree(folder, ignore_errors=True)

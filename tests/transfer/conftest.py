"""Metastores to copy from and to: real ones of Hive 2.3 and 4.0 on Derby, and hbstore's own endpoint."""

from __future__ import annotations

import importlib.util
import shutil
import sys
import tempfile
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from hbstore import connect
from hbstore.transfer.connection import Address
from hbstore.transfer.metastore import Metastore
from tests.metastore.serving import Serve

DEV_HMS = Path(__file__).parents[2] / "dev" / "hms"
SECONDS = 60


class Other:
    """A metastore somewhere else.

    Attributes:
        port: on this machine.
        root: a folder that its tables may be in.
        make: makes a `Metastore` of it.
    """

    def __init__(self, port, root):
        self.port = port
        self.uri = f"thrift://127.0.0.1:{port}"
        self.root = f"file:{root}"

    @contextmanager
    def open(self):
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


@pytest.fixture
def endpoint(tmp_path):
    """hbstore's own endpoint over a store of its own: ``endpoint.url``."""
    folder = tmp_path / "endpoint"
    folder.mkdir()
    url = f"sqlite://{folder}/store.db"
    with Serve(url, folder) as server:
        found = Other(server.port, folder)
        found.url, found.process = url, server
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
    if "dev_hms" not in sys.modules:
        sys.path.insert(0, str(DEV_HMS))
        try:
            spec = importlib.util.spec_from_file_location("dev_hms", DEV_HMS / "dev_hms.py")
            module = importlib.util.module_from_spec(spec)
            sys.modules["dev_hms"] = module
            spec.loader.exec_module(module)
        finally:
            sys.path.remove(str(DEV_HMS))
    return sys.modules["dev_hms"]


@contextmanager
def _hive_metastore(release):
    folder = Path(tempfile.mkdtemp(prefix="hbstore-hms-"))
    hms = dev_hms().DevHms(folder, database="derby", heap="700m", guarded=True, release=release)
    try:
        hms.start()
        yield Other(hms.port, folder / "external")
    finally:
        hms.remove()
        shutil.rmtree(folder, ignore_errors=True)

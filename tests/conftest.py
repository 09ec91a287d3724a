"""What all tests share: Hypothesis's settings, `--update-golden`, and a real HBase."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

from tests import hbase_server

settings.register_profile("ci", deadline=None, derandomize=False, print_blob=True)
settings.register_profile(
    "thorough", deadline=None, print_blob=True, max_examples=2000, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_addoption(parser):
    parser.addoption(
        "--update-golden", action="store_true", default=False, help="rewrite golden files instead of comparing"
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """A file's tests run in one worker, and so do all that compare filters, as they count together."""
    from xdist.scheduler import LoadFileScheduling

    class ByFile(LoadFileScheduling):
        def _split_scope(self, nodeid):
            exactness = "tests/exactness/"
            return exactness if nodeid.startswith(exactness) else super()._split_scope(nodeid)

    return ByFile(config, log)


@pytest.fixture(scope="session")
def hbase_server_url():
    """A running HBase as ``hbase://host:port``; see tests/hbase_server.py for where it comes from."""
    base, end = hbase_server.session_hbase()
    yield base
    if end is not None:
        end()


@pytest.fixture(scope="session")
def hbase_url(hbase_server_url):
    """A store URL on a real HBase, with a prefix of this session's own."""
    prefix = hbase_server.fresh_prefix()
    yield f"{hbase_server_url}/{prefix}"
    if os.environ.get("HBSTORE_TEST_HBASE"):
        hbase_server.delete_tables(hbase_server_url, prefix)


@pytest.fixture(scope="session")
def _own_hbase():
    hbase = hbase_server.private_hbase()
    yield hbase
    hbase.remove()


@pytest.fixture
def own_hbase(_own_hbase):
    """An HBase that a test may stop, kill and restart; whole again for the next test.

    It has ``url(prefix)``, ``kill()``, ``kill_one("hbase" | "thrift")``, ``start()`` for what does not run,
    ``restart()``, and the processes ``master`` and ``gateway``.
    """
    _own_hbase.start()
    return _own_hbase

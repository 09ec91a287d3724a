"""What all tests share: Hypothesis's settings, `--update-golden`, and a real HBase."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import hbase_server

# Neither a busy machine nor large examples are a reason to fail: they say nothing about what is shown.
COSTS = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile("random", deadline=None, print_blob=True, max_examples=40, suppress_health_check=COSTS)
# The gate judges a change: the same examples each time, so that what it says is about the change. `make test` looks on.
settings.register_profile("ci", settings.get_profile("random"), derandomize=True, max_examples=25)
settings.register_profile("thorough", settings.get_profile("random"), max_examples=2000)
settings.register_profile("quick", settings.get_profile("ci"), max_examples=15)  # `make check`
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "random"))


def pytest_addoption(parser):
    parser.addoption(
        "--update-golden", action="store_true", default=False, help="rewrite golden files instead of comparing"
    )


@pytest.hookimpl(tryfirst=True)  # before pytest leaves out what -m says
def pytest_collection_modifyitems(config, items):
    """Mark what uses the fixtures ``spark`` and ``browser``, and files that take long; see tests/scheduling.py.

    Leave out what tests/amounts.py says, but where a test is asked for by its name.
    """
    from tests.amounts import left_out
    from tests.scheduling import SLOW

    if not any("::" in argument for argument in config.args):
        left = left_out([item.nodeid for item in items])
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in left])
        items[:] = [item for item in items if item.nodeid not in left]

    for item in items:
        for marker in {"spark", "browser"} & set(item.fixturenames):
            item.add_marker(marker)
        if item.nodeid.startswith(SLOW):
            item.add_marker("slow")


def pytest_collection_finish():
    """Tests and what they import stay for good: looking for garbage among them takes a tenth of all time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """A worker more than there are processors, as tests wait for servers that start, end or are killed."""
    return (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Which worker runs what; see tests/scheduling.py."""
    from tests.scheduling import LongestFirst

    return LongestFirst(config, log)


@pytest.fixture(scope="session")
def hbase_server_url(request, tmp_path_factory):
    """A running HBase as ``hbase://host:port``; see tests/hbase_server.py for where it comes from."""
    folder = tmp_path_factory.getbasetemp()
    stack = ExitStack()
    request.config.add_cleanup(stack.close)  # it may wait for other workers, which no test's timeout is for
    return stack.enter_context(
        hbase_server.shared_hbase(folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder)
    )


@pytest.fixture(scope="session")
def hbase_url(hbase_server_url):
    """A store URL on a real HBase, with a prefix of this session's own."""
    with hbase_server.own_tables(hbase_server_url) as url:
        yield url


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


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """The wheel of this checkout."""
    root = Path(__file__).parents[1]
    folder = tmp_path_factory.mktemp("wheel")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, str(root)], check=True)
    (made,) = folder.glob("hbstore-*.whl")
    return made

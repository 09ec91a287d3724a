"""The corpus, run once in a session: on Spark's embedded metastore, and on endpoints over SQLite and HBase."""

from __future__ import annotations

import os

import pytest

from tests import hbase_server
from tests.metastore.spark.corpus import TOPICS
from tests.metastore.spark.runs import run_corpus


@pytest.fixture(scope="session")
def fresh_hbase_url(hbase_server_url):
    """Makes URLs of stores on HBase that nothing else uses: what is in them is compared as a whole."""
    prefixes = []

    def make():
        prefixes.append(hbase_server.fresh_prefix())
        return f"{hbase_server_url}/{prefixes[-1]}"

    yield make
    if os.environ.get("HBSTORE_TEST_HBASE"):
        for prefix in prefixes:
            hbase_server.delete_tables(hbase_server_url, prefix)


@pytest.fixture(scope="session")
def runs(request, tmp_path_factory):
    """A `Run` by the name of the metastore: those, and those topics, that the chosen tests ask for."""
    chosen = [item.callspec.params for item in request.session.items if "runs" in getattr(item, "fixturenames", ())]
    backends = {params["backend"] for params in chosen}
    # Tests of no statement of their own read the log of the pruning topic.
    topics = {params["statement"].topic if "statement" in params else "pruning" for params in chosen}
    folder = tmp_path_factory.mktemp("corpus")
    stores = {}
    if "sqlite" in backends:
        stores["sqlite"] = f"sqlite://{folder / 'catalog.db'}"
    if "hbase" in backends:
        stores["hbase"] = request.getfixturevalue("fresh_hbase_url")()
    return run_corpus(folder, stores, [name for name in TOPICS if name in topics])

"""The corpus, run once in a session: on Spark's embedded metastore, and on endpoints over SQLite and HBase."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from tests import hbase_server
from tests.metastore.spark.corpus import TOPICS
from tests.metastore.spark.runs import run_corpus


@pytest.fixture(scope="session")
def fresh_hbase_url(hbase_server_url):
    """Makes URLs of stores on HBase that nothing else uses: what is in them is compared as a whole."""
    with ExitStack() as urls:
        yield lambda: urls.enter_context(hbase_server.own_tables(hbase_server_url))


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

"""One process with a Spark, and the corpus, run once in a session on endpoints over SQLite and HBase."""

from __future__ import annotations

from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from tests import hbase_server
from tests.metastore.spark.corpus import TOPICS
from tests.metastore.spark.process import SparkProcess
from tests.metastore.spark.runs import run_corpus


@pytest.fixture(scope="session")
def fresh_hbase_url(hbase_server_url):
    """Makes URLs of stores on HBase that nothing else uses: what is in them is compared as a whole."""
    with ExitStack() as urls:
        yield lambda: urls.enter_context(hbase_server.own_tables(hbase_server_url))


@pytest.fixture(scope="session")
def spark_process(tmp_path_factory):
    """A process that runs functions of the tests, each with a session of Spark on the metastore that it is given."""
    with closing(SparkProcess(tmp_path_factory.mktemp("spark"))) as process:
        yield process


@pytest.fixture(scope="session")
def runs(request, tmp_path_factory, spark_process):
    """A `Run` by the name of the metastore: those, and those topics, that the chosen tests ask for."""
    here = [item for item in request.session.items if item.path.parent == Path(__file__).parent]
    chosen = [item.callspec.params for item in here if "runs" in getattr(item, "fixturenames", ())]
    topics = {}
    for params in chosen:
        # Tests of no statement of their own read the log of the pruning topic.
        topic = params["statement"].topic if "statement" in params else "pruning"
        topics.setdefault(params["backend"], set()).add(topic)
    folder = tmp_path_factory.mktemp("corpus")
    stores = {}
    if "sqlite" in topics:
        stores["sqlite"] = f"sqlite://{folder / 'catalog.db'}"
    if "hbase" in topics:
        stores["hbase"] = request.getfixturevalue("fresh_hbase_url")()
    ordered = {backend: [name for name in TOPICS if name in topics[backend]] for backend in topics}
    return run_corpus(spark_process, folder, stores, ordered)

"""The same by Spark tasks: each opens the store and a connection of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from hbstore import Partition, connect
from hbstore.errors import InvalidUrl, MetastoreUnavailable, TransferConflict
from hbstore.spark import export_metastore, import_metastore
from tests.transfer.sales import NUMBER, held, sell

pytestmark = pytest.mark.spark
PROGRAM = """
import sys
from hbstore.spark import import_metastore
from pyspark.sql import SparkSession

def told(table, done, total):
    print("done", done, flush=True)
    sys.stdin.read()  # until it is killed

spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
import_metastore(spark, sys.argv[1], sys.argv[2], page=10, progress=told)
"""


@pytest.fixture
def source(endpoint):
    """The store behind the endpoint, with shop.sales of 400 partitions."""
    with connect(endpoint.url) as opened:
        sell(opened, "s3://sold")
        yield opened


def test_import(spark, endpoint, source, url):
    told = []
    done = import_metastore(spark, url, endpoint.uri, page=30, progress=lambda *how: told.append(how))
    assert done.is_complete
    assert (done.tables[0].partitions.added, done.tables[0].target.count) == (NUMBER, NUMBER)
    assert told[-1] == ("shop.sales", NUMBER, NUMBER)
    with connect(url) as store:
        assert held(store) == held(source)
    again = import_metastore(spark, url, endpoint.uri, page=30)
    assert (again.tables[0].partitions.same, again.is_complete) == (NUMBER, True)


def test_export(spark, endpoint, url, tmp_path):
    with connect(url) as store:
        sell(store, f"file:{tmp_path}")
        told = []
        done = export_metastore(spark, url, endpoint.uri, page=30, progress=lambda *how: told.append(how))
        assert told[-1] == ("shop.sales: comparing", NUMBER, NUMBER)
        assert done.is_complete
        with connect(endpoint.url) as target:
            assert held(target) == held(store)


@pytest.mark.usefixtures("source")
def test_errors_are_those_of_hbstore(spark, endpoint, url):
    with pytest.raises(InvalidUrl, match="cannot share"):
        import_metastore(spark, "memory://", endpoint.uri)
    import_metastore(spark, url, endpoint.uri)
    with connect(url) as store:
        store.alter_partitions("shop", "sales", [Partition(["7"], location="/elsewhere")])
    with pytest.raises(TransferConflict, match="hour=7"):
        import_metastore(spark, url, endpoint.uri, page=30)

    def told(*_):
        endpoint.process.kill()

    with pytest.raises(MetastoreUnavailable, match="does not answer"):
        import_metastore(spark, url, endpoint.uri, page=5, on_conflict="replace", progress=told)


def test_a_killed_job_goes_on(spark, endpoint, source, url):
    """The driver is killed when some tasks are done; its tasks end with it, sooner or later."""
    command, pipe = [sys.executable, "-c", PROGRAM, url, endpoint.uri], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert any(line.startswith("done") for line in process.stdout)
        process.kill()
    with connect(url, create=False) as store:
        assert 0 < store.count_partitions("shop", "sales") <= NUMBER
        done = import_metastore(spark, url, endpoint.uri, page=10)
        assert done.is_complete
        assert held(store) == held(source)

"""Results on a real HDFS: written by Spark, fetched in pages, and gone when their time is over."""

from __future__ import annotations

import json
import urllib.request

import pytest

import hbstore.client
from hbstore.errors import ResultExpired
from hbstore.query_service.results import Results
from tests.hdfs_server import real_hdfs
from tests.metastore.serving import Serve
from tests.pauses import until

pytestmark = [pytest.mark.spark, pytest.mark.hbase, pytest.mark.slow]


@pytest.fixture(scope="module")
def hdfs(tmp_path_factory):
    with real_hdfs(tmp_path_factory.mktemp("hdfs")) as found:
        yield found


def serve(hdfs, folder, *options):
    return Serve(
        f"sqlite://{folder}/store.db",
        folder,
        *("--http-port", "0", "--results", f"{hdfs.url}/{folder.name}", "--spark-master", "local[2]", *options),
        *(word for setting in hdfs.spark_conf.items() for word in ("--spark-conf", "=".join(setting))),
    )


def test_a_result_is_written_fetched_in_pages_and_removed(hdfs, tmp_path):
    with serve(hdfs, tmp_path) as server, hbstore.client.connect(server.ready["http"]) as asking:
        query = asking.query("SELECT id, concat('row ', id) AS text FROM range(0, 25000, 1, 4)").wait()
        found = query.to_dict()["result"]
        files = hdfs.names(f"/{tmp_path.name}/{query.id}")
        assert "_SUCCESS" in files
        assert sum(name.endswith(".parquet") for name in files) >= 1
        assert found["rows"] == 25_000
        assert found["size"] > 0
        wanted = [(number, f"row {number}") for number in range(25_000)]
        assert query.rows() == wanted

        rows, page = [], ""
        while page is not None:
            url = f"{server.ready['http']}/queries/{query.id}/results?page_size=10000{page}"
            with urllib.request.urlopen(url) as reply:  # noqa: S310  our own
                document = json.load(reply)
            rows += map(tuple, document["rows"])
            page = document["next"] and f"&page={document['next']}"
        assert rows == wanted

        small = asking.query("SELECT 1 AS one").wait()
        assert small.rows() == [(1,)]
        failed = asking.query("SELECT 1 / 0")
        until(lambda: failed.refresh().state == "failed")
        assert hdfs.names(f"/{tmp_path.name}") == {query.id, small.id}

    with (
        serve(hdfs, tmp_path, "--keep-results", "0") as server,
        hbstore.client.connect(server.ready["http"]) as asking,
    ):
        assert asking.get(query.id).rows() == wanted  # another server's, which is kept as long as that one said
        short = asking.query("SELECT 2 AS two").wait()
        until(lambda: short.refresh().state == "expired")
        with pytest.raises(ResultExpired):
            short.rows()
        assert hdfs.names(f"/{tmp_path.name}") == {query.id, small.id}
    Results(f"{hdfs.url}/{tmp_path.name}").remove(query.id)
    assert hdfs.names(f"/{tmp_path.name}") == {small.id}

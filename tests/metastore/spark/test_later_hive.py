"""Spark with Hive's client of 4.1: `spark.sql.hive.metastore.version`, with jars from Maven.

The clients of 3.1 and 4.0 are asked call by call, without Spark, in tests/metastore/clients; that of 3.1 here too where
all is tried (tests/amounts.py). Another client is other classes behind a class loader of its own, so one
process of Spark has all of them, one after the other, each with a server of its own.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.amounts import amount
from tests.hive_expressions.hive import hive_jars
from tests.metastore.clients.later_java import dev_hms
from tests.metastore.serving import Serve
from tests.metastore.spark.later_steps import STEPS
from tests.metastore.spark.process import tell

pytestmark = [pytest.mark.spark, pytest.mark.slow]
RELEASES = amount(["4.1"], ["3.1", "4.1"])
SHOWN = 4000
BY_FILTER = {
    "3.1": "get_partitions_by_filter",
    "4.1": "get_partitions_by_filter_req",
}
"""A client of Hive 4 has methods of its own; that it was loaded shows by them."""
UNKNOWN = "TApplicationException"


@pytest.fixture(scope="module")
def later_runs(tmp_path_factory, spark_process):
    """What became of the steps, and the server's log, by release."""
    folder = tmp_path_factory.mktemp("later")
    with ExitStack() as stack:
        servers = {}
        for release in RELEASES:
            (folder / release).mkdir()
            servers[release] = stack.enter_context(
                Serve(f"sqlite://{folder / release}/store.db", folder / release, "--log-calls")
            )
        uris = {release: server.ready["uri"] for release, server in servers.items()}
        outcomes = spark_process.run(run, folder, json.dumps(uris))
        return {
            release: ([one for one in outcomes if one["release"] == release], server.log())
            for release, server in servers.items()
        }


@pytest.mark.parametrize("release", RELEASES)
def test_statements(later_runs, release):
    outcomes, _ = later_runs[release]
    wrong = []
    for step, outcome in zip(STEPS, outcomes, strict=True):
        rows = sorted(map(json.dumps, outcome.get("rows", ())))
        among = {json.dumps(one) for one in step.among}
        right = (
            outcome.get("error") == step.error
            and among <= set(rows)
            and (step.among or rows == sorted(map(json.dumps, step.rows)))
        )
        if not right:
            wrong.append((step.sql, outcome))
    assert not wrong


@pytest.mark.parametrize("release", RELEASES)
def test_filters(later_runs, release):
    _, log = later_runs[release]
    asked = [(one["filter"], one["partitions"]) for one in log if one.get("method") == BY_FILTER[release]]
    expected = [(_sent(step.filter, release), step.pruned) for step in STEPS if step.filter]
    assert [one for one in asked if one in expected] == expected
    assert not [one for one in log if one.get("error") == UNKNOWN or "traceback" in one]


def _sent(text, release):
    """A filter as Spark writes it for a release: for those of Hive 4 it writes LIKE as SQL does."""
    return text if release == "3.1" else text.replace(".*", "%")


def run(folder, uris):
    """In Spark's process: the steps through each release's client; each outcome is told."""
    from pyspark.errors import PySparkException

    from tests.metastore.spark.session import start_session

    for release, uri in json.loads(uris).items():
        session = start_session(Path(folder) / release, uri, _client(release))
        session.sql("SET hive.exec.dynamic.partition.mode = nonstrict")
        for step in STEPS:
            outcome = {"release": release}
            try:
                outcome["rows"] = [list(row) for row in session.sql(step.sql).collect()]
            except PySparkException as error:
                outcome |= {"error": error.getCondition(), "text": str(error)[:SHOWN]}
            tell(outcome)
        session.stop()


def _client(release):
    """The settings that make Spark load a release's client."""
    jars = [*hive_jars().class_path(release), *dev_hms("hms_jars").client_class_path(release)]
    return {
        "spark.sql.hive.metastore.version": hive_jars().RELEASES[release],
        "spark.sql.hive.metastore.jars": "path",
        "spark.sql.hive.metastore.jars.path": ",".join(f"{jar}.jar" if jar.endswith("*") else jar for jar in jars),
    }.items()

"""Every statement of the corpus does on the endpoint what it does on Spark's embedded metastore.

And the endpoint's log shows that Spark leaves the choice of partitions to it: which filter it sends, and which scans
that costs. All tests of the runs stand in this one file: pytest-xdist would repeat the runs for another one.
"""

from __future__ import annotations

import json

import pyspark
import pytest

from tests.metastore.spark.corpus import STATEMENTS
from tests.metastore.spark.pruning import PRUNED, SMALL, UNPRUNED, WIDE
from tests.metastore.spark.runs import recorded
from tests.metastore.spark.statement import Kind

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1200)]
BACKENDS = ["sqlite", pytest.param("hbase", marks=pytest.mark.hbase)]
ON_HBASE = {"pruning"}
"""Topics whose statements ask a backend for what test_two_servers.py and the contract of stores do not."""
SHOWN = 6000
READS = {"get_partitions_by_filter", "get_partitions", "get_partitions_by_expr", "get_partition_names"}
"""What a SELECT may ask for partitions by."""


def cases():
    """Each statement with each metastore that it is run on."""
    for statement in STATEMENTS:
        yield pytest.param(statement, "sqlite", id=f"{statement.name}-sqlite")
        if statement.topic in ON_HBASE:
            yield pytest.param(statement, "hbase", id=f"{statement.name}-hbase", marks=pytest.mark.hbase)


@pytest.fixture(scope="module")
def expected():
    """What the embedded metastore says of each statement."""
    return recorded()[1]


def test_all_is_recorded():
    version, outcomes = recorded()
    assert version == pyspark.__version__
    assert list(outcomes) == [statement.name for statement in STATEMENTS]


def fits(statement, outcome):
    """Whether an outcome is of the kind that the corpus says it is: two failures, or no rows twice, prove little."""
    if statement.kind is Kind.FAILS:
        return "error" in outcome and outcome["error"]["condition"] == statement.condition
    if "error" in outcome:
        return False
    if statement.kind is Kind.NONE:
        return not outcome["rows"]
    return statement.kind in {Kind.DOES, Kind.FOLDERS} or bool(outcome["rows"])


def compared(statement, outcome):
    """What has to be equal of two outcomes: error conditions and the exceptions' classes, or rows."""
    if "error" in outcome:
        return [f"{outcome['error']['condition']} by {one}" for one in outcome["error"]["causes"]]
    found = [json.dumps(row, ensure_ascii=False) for row in outcome["rows"]]
    return found if statement.kind is Kind.ORDERED else sorted(found)


def shown(statement, outcome):
    """An outcome for whoever reads a failure."""
    if "error" in outcome:
        return f"error {outcome['error']['condition']}\n{outcome['error'].get('text')}"[:SHOWN]
    return "\n".join(compared(statement, outcome) or ["no rows"])[:SHOWN]


@pytest.mark.parametrize(("statement", "backend"), [*cases()])
def test_as_on_the_embedded_metastore(runs, expected, statement, backend):
    expected, got = expected[statement.name], runs[backend].outcomes[statement.name]
    if not fits(statement, expected):
        pytest.fail(
            f"not what the corpus says: {statement.kind.value}\n{statement.text}\n{shown(statement, expected)}",
            pytrace=False,
        )
    if compared(statement, expected) != compared(statement, got):
        texts = f"-- expected\n{shown(statement, expected)}\n-- got\n{shown(statement, got)}"
        pytest.fail(f"{statement.text}\n{texts}", pytrace=False)


@pytest.mark.parametrize("backend", BACKENDS)
def test_nothing_is_refused_but_filters_that_spark_spoils(runs, backend):
    """Spark goes on with all partitions after such an error, so the statements alone would not show it."""
    failed = [call for call in runs[backend].calls if call["event"] != "call" and "error" in call]
    assert {(call["method"], call["filter"]) for call in failed} <= {("get_partitions_by_filter", 'p like ".*".*"')}
    assert not [line for line in runs[backend].calls if "traceback" in line]


@pytest.fixture
def reads(runs, backend):
    """How Spark read partitions of the pruning topic's tables, in order; INSERTs read them by other methods."""
    return [call for call in runs[backend].calls if call.get("table") in {SMALL, WIDE} and call["method"] in READS]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("place", range(len(PRUNED)), ids=lambda place: PRUNED[place].condition[:60])
def test_the_filter_arrives_and_is_planned(reads, place):
    expected, call = PRUNED[place], reads[place]
    assert (call["method"], call["table"]) == ("get_partitions_by_filter", expected.table)
    assert call["filter"] == expected.sent
    assert call["scans"] == list(expected.scans)
    assert call["partitions"] == expected.partitions


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_select_asks_once_and_lists_all_only_where_spark_pushes_nothing(reads):
    assert len(reads) == len(PRUNED) + len(UNPRUNED)
    for call in reads[len(PRUNED) :]:
        assert (call["method"], call["scans"], call["partitions"]) == ("get_partitions", ["scan all"], 16)

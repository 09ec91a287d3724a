"""Spark leaves the choice of partitions to the endpoint: which filter it sends, and which scans that costs."""

from __future__ import annotations

import pytest

from tests.metastore.spark.pruning import PRUNED, SMALL, UNPRUNED, WIDE

pytestmark = [
    pytest.mark.spark,
    pytest.mark.timeout(1200),
    pytest.mark.parametrize("backend", ["sqlite", pytest.param("hbase", marks=pytest.mark.hbase)]),
]
READS = {"get_partitions_by_filter", "get_partitions", "get_partitions_by_expr", "get_partition_names"}
"""What a SELECT may ask for partitions by."""


@pytest.fixture
def reads(runs, backend):
    """How Spark read partitions of the topic's tables, in order; INSERTs read them by other methods."""
    return [call for call in runs[backend].calls if call.get("table") in {SMALL, WIDE} and call["method"] in READS]


@pytest.mark.parametrize("place", range(len(PRUNED)), ids=lambda place: PRUNED[place].condition[:60])
def test_the_filter_arrives_and_is_planned(reads, place):
    expected, call = PRUNED[place], reads[place]
    assert (call["method"], call["table"]) == ("get_partitions_by_filter", expected.table)
    assert call["filter"] == expected.sent
    assert call["scans"] == list(expected.scans)
    assert call["partitions"] == expected.partitions


def test_every_select_asks_once_and_lists_all_only_where_spark_pushes_nothing(reads):
    assert len(reads) == len(PRUNED) + len(UNPRUNED)
    for call in reads[len(PRUNED) :]:
        assert (call["method"], call["scans"], call["partitions"]) == ("get_partitions", ["scan all"], 16)

"""What is counted of calls."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hbstore.metastore.calls import CallRecord
from hbstore.metastore.metrics import UNKNOWN, Metrics
from hbstore.metastore.protocol import METHODS


def value(metrics, name, **labels):
    return metrics.registry.get_sample_value(f"hbstore_metastore_{name}", labels)


def test_calls_errors_and_seconds_by_method():
    metrics = Metrics()
    for seconds in (0.0002, 0.2, 20.0):
        metrics.observe(CallRecord("get_table", seconds=seconds))
    metrics.observe(CallRecord("get_table", error="NoSuchObjectException"))
    assert value(metrics, "calls_total", method="get_table") == 4
    assert value(metrics, "errors_total", method="get_table", error="NoSuchObjectException") == 1
    assert value(metrics, "call_seconds_sum", method="get_table") == 20.2002
    assert value(metrics, "call_seconds_bucket", method="get_table", le="0.25") == 3
    assert value(metrics, "call_seconds_bucket", method="get_table", le="30.0") == 4


def test_partitions_that_are_written_are_not_returned():
    metrics = Metrics(writing={"add_partitions"})
    metrics.observe(CallRecord("get_partitions", notes={"partitions": 5, "rows_read": 7}))
    metrics.observe(CallRecord("get_table", notes={"table": "shop.sales"}))
    metrics.observe(CallRecord("add_partitions", notes={"partitions": 3}))
    metrics.observe(CallRecord("add_partitions", error="MetaException", notes={"partitions": 100}))
    assert value(metrics, "partitions_returned_total") == 5
    assert value(metrics, "partitions_written_total") == 3
    assert value(metrics, "rows_read_total") == 7


def test_connections():
    metrics = Metrics()
    for change in (1, 1, -1):
        metrics.door.connected(change)
    assert metrics.registry.get_sample_value("hbstore_door_connections", {"door": "metastore"}) == 1


@given(st.lists(st.text()))
def test_names_that_clients_make_up_are_one(names):
    metrics = Metrics()
    for name in ["getName", *names]:
        metrics.observe(CallRecord(name, error="TApplicationException.UNKNOWN_METHOD"))
    labels = {
        sample.labels["method"]
        for metric in metrics.registry.collect()
        for sample in metric.samples
        if "method" in sample.labels
    }
    assert labels <= {*METHODS, UNKNOWN}
    assert (UNKNOWN in labels) == bool(set(names) - set(METHODS))

"""What Prometheus may ask of the metastore: calls, errors, latency, partitions, rows, connections.

Labels have few values: a method that the service does not have is ``unknown``, whatever clients call it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from prometheus_client import CollectorRegistry, Counter, Histogram

from hbstore.metastore.calls import CallRecord
from hbstore.metastore.protocol import METHODS
from hbstore.servers.door_metrics import DoorMetrics

UNKNOWN: Final = "unknown"
_BUCKETS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """The numbers of one process.

    Args:
        writing: the methods that change something; the partitions of their calls are not returned, but written.

    Attributes:
        registry: where they are.
        door: hears what happens at the metastore's door.

    >>> metrics = Metrics()
    >>> metrics.observe(CallRecord("get_partitions", seconds=0.02, notes={"partitions": 3}))
    >>> metrics.registry.get_sample_value("hbstore_metastore_partitions_returned_total")
    3.0
    """

    def __init__(self, writing: Collection[str] = ()) -> None:
        self._writing = writing
        self.registry = CollectorRegistry()
        self._calls = Counter("hbstore_metastore_calls", "Calls.", ["method"], registry=self.registry)
        self._errors = Counter(
            "hbstore_metastore_errors", "Calls answered with an error.", ["method", "error"], registry=self.registry
        )
        self._seconds = Histogram(
            "hbstore_metastore_call_seconds",
            "Seconds until a call's reply is ready to be sent.",
            ["method"],
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self._returned = Counter(
            "hbstore_metastore_partitions_returned", "Partitions in replies.", registry=self.registry
        )
        self._written = Counter(
            "hbstore_metastore_partitions_written", "Partitions added, changed or dropped.", registry=self.registry
        )
        self._rows = Counter(
            "hbstore_metastore_rows_read", "Rows that scans looked at for replies.", registry=self.registry
        )
        self.door = DoorMetrics(self.registry).door("metastore")
        self._of_method: dict[str, tuple[Any, Any]] = {}

    def observe(self, record: CallRecord) -> None:
        """Count a call."""
        method = record.method if record.method in METHODS else UNKNOWN
        series = self._of_method.get(method)
        if series is None:
            series = self._of_method[method] = (self._calls.labels(method), self._seconds.labels(method))
        calls, seconds = series
        calls.inc()
        seconds.observe(record.seconds)
        if record.error is not None:
            self._errors.labels(method, record.error).inc()
        elif record.notes:
            partitions = self._written if method in self._writing else self._returned
            partitions.inc(record.noted("partitions") or 0)
            self._rows.inc(record.noted("rows_read") or 0)

"""What Prometheus may ask of queries: how many wait and run, how they ended and when, what was fetched, how Spark is.

The process that takes queries keeps these numbers where the processes of the metastore keep theirs
(`hbstore.metastore.metrics`), so one page shows all, and what was counted is not lost when the process dies.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric

from hbstore.query_service.observing import QueryObserver, SparkState
from hbstore.query_service.query import Query
from hbstore.query_service.servers import count_leases
from hbstore.store.records import Records
from hbstore.warehouse.metrics import SPARK_STATE

HTTP: Final = "http"
SQL: Final = "sql"
_BUCKETS: Final = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0)


class QueryMetrics(QueryObserver):
    """The numbers of one process that takes queries.

    >>> metrics = QueryMetrics(CollectorRegistry())
    >>> metrics.queue(2, 1)
    >>> metrics.registry.get_sample_value("hbstore_queries_queued")
    2.0
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self.registry = registry
        self._ended = Counter("hbstore_queries", "Queries that ended.", ["state", "door"], registry=registry)
        self._errors = Counter("hbstore_query_errors", "Queries that failed.", ["error"], registry=registry)
        self._seconds = Histogram(
            "hbstore_query_seconds",
            "Seconds from a query's submission to its end.",
            ["door"],
            buckets=_BUCKETS,
            registry=registry,
        )
        self._queued = Gauge(
            "hbstore_queries_queued", "Queries that wait.", registry=registry, multiprocess_mode="livesum"
        )
        self._running = Gauge(
            "hbstore_queries_running", "Queries that run.", registry=registry, multiprocess_mode="livesum"
        )
        self._rows = Counter("hbstore_result_rows_fetched", "Rows of results read for users.", registry=registry)
        self._bytes = Counter(
            "hbstore_result_bytes_fetched", "Bytes of results read for users, in Arrow's form.", registry=registry
        )
        self._restarts = Counter("hbstore_spark_restarts", "Times that Spark died.", registry=registry)
        self._spark = Gauge(
            SPARK_STATE, "1 for the state that Spark is in.", ["state"], registry=registry, multiprocess_mode="livesum"
        )
        self.spark(SparkState.ABSENT)

    def queue(self, waiting: int, running: int) -> None:
        """So many queries wait and run now."""
        self._queued.set(waiting)
        self._running.set(running)

    def ended(self, query: Query) -> None:
        """Count a query that ended."""
        door = HTTP if query.request.session is None else SQL
        self._ended.labels(query.state.value, door).inc()
        if query.ended_at is not None:
            self._seconds.labels(door).observe((query.ended_at - query.submitted_at).total_seconds())
        if query.problem is not None:
            self._errors.labels(query.problem.error).inc()

    def fetched(self, rows: int, size: int) -> None:
        """Count what was fetched."""
        self._rows.inc(rows)
        self._bytes.inc(size)

    def spark_lost(self) -> None:
        """Count an end of Spark."""
        self._restarts.inc()

    def spark(self, state: SparkState) -> None:
        """Spark is so now."""
        for known in SparkState:
            self._spark.labels(known.value).set(known is state)


def look_at_leases(records: Records) -> Iterator[Metric]:
    """The leases of the servers of a store that take queries."""
    leases = GaugeMetricFamily(
        "hbstore_store_leases", "Leases of servers that take queries: current or overdue.", labels=["state"]
    )
    for state, number in count_leases(records, datetime.now(UTC)).items():
        leases.add_metric([state], number)
    yield leases

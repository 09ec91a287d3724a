"""What Prometheus may ask of requests over HTTP. A route's template is the label, not the path: ids are without end."""

from __future__ import annotations

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram

from hbstore.web.guard import AnsweredRequest

OTHER: Final = "other"
"""The route of requests that came to none, such as those that were refused."""

_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class RequestMetrics:
    """The numbers of requests.

    >>> metrics = RequestMetrics(CollectorRegistry())
    >>> metrics.observe(AnsweredRequest("GET", "/queries/{id_}", 200, 0.02))
    >>> labels = {"method": "GET", "route": "/queries/{id_}", "status": "200"}
    >>> metrics.registry.get_sample_value("hbstore_http_requests_total", labels)
    1.0
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self.registry = registry
        self._requests = Counter("hbstore_http_requests", "Requests.", ["method", "route", "status"], registry=registry)
        self._seconds = Histogram(
            "hbstore_http_request_seconds",
            "Seconds until a reply is sent to its end.",
            ["method", "route"],
            buckets=_BUCKETS,
            registry=registry,
        )

    def observe(self, answered: AnsweredRequest) -> None:
        """Count a request."""
        method = answered.method if answered.method in _METHODS else OTHER
        route = answered.route or OTHER
        self._requests.labels(method, route, str(answered.status)).inc()
        self._seconds.labels(method, route).observe(answered.seconds)

"""What is counted of requests."""

from __future__ import annotations

from prometheus_client import CollectorRegistry

from hbstore.query_service.access import Access
from hbstore.web.metrics import RequestMetrics
from tests.pauses import until


def requests(metrics):
    return {
        (one.labels["method"], one.labels["route"], one.labels["status"]): one.value
        for metric in metrics.registry.collect()
        for one in metric.samples
        if one.name == "hbstore_http_requests_total"
    }


def test_requests_are_counted_by_the_template_of_their_route(asking):
    metrics = RequestMetrics(CollectorRegistry())
    ask = asking(Access(), observe=metrics.observe)
    query = ask("POST", "/queries", {"text": "select 1"}).json()["id"]
    for path in (f"/queries/{query}", f"/queries/{query}?wait=0", "/queries/5f", f"/queries/{query}/results", "/docs"):
        ask("GET", path)
    ask("GET", "/nowhere")
    ask("PROPFIND", "/queries")
    ask("GET", "/health", headers={"Host": "evil.example"})
    ask("POST", "/explain", {"text": 1})

    until(lambda: sum(requests(metrics).values()) == 10)
    assert requests(metrics) == {
        ("POST", "/queries", "202"): 1,
        ("GET", "/queries/{id_}", "200"): 2,
        ("GET", "/queries/{id_}", "404"): 1,
        ("GET", "/queries/{id_}/results", "409"): 1,
        ("GET", "/docs", "200"): 1,
        ("GET", "other", "404"): 1,
        ("other", "/queries", "405"): 1,
        ("GET", "other", "403"): 1,
        ("POST", "/explain", "400"): 1,
    }
    labels = {"method": "GET", "route": "/queries/{id_}"}
    assert metrics.registry.get_sample_value("hbstore_http_request_seconds_count", labels) == 3


def test_an_address_with_its_form_counts_as_the_one_without(asking, catalog):
    metrics = RequestMetrics(CollectorRegistry())
    ask = asking(Access(), catalog=catalog, observe=metrics.observe)
    for path in ("/databases", "/databases.json"):
        assert ask("GET", path).status == 200
    until(lambda: requests(metrics) == {("GET", "/databases", "200"): 2})

"""What /docs shows of the routes of queries: what each answers with, errors included."""

from __future__ import annotations

ROUTES = {
    ("post", "/queries"): "202",
    ("get", "/queries"): "200",
    ("get", "/queries/{id_}"): "200",
    ("delete", "/queries/{id_}"): "200",
    ("get", "/queries/{id_}/events"): "200",
    ("get", "/queries/{id_}/plan"): "200",
    ("get", "/queries/{id_}/results"): "200",
    ("post", "/explain"): "200",
}


def test_all_routes_describe_their_replies_and_errors(ask):
    paths = ask("GET", "/openapi.json").json()["paths"]
    described = {
        (method, path): operation["responses"]
        for path, operations in paths.items()
        for method, operation in operations.items()
        if "queries" in operation["tags"]
    }
    assert described.keys() == ROUTES.keys()
    for route, status in ROUTES.items():
        replies = described[route]
        assert replies.keys() == {status, "default"}
        assert all("schema" in content or "itemSchema" in content for content in replies[status]["content"].values())
        assert replies["default"]["content"].keys() == {"application/problem+json"}

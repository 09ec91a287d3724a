"""The examples of replies that /docs shows: each route has some, and they are what the server answers."""

from __future__ import annotations

import json

import pytest
from pydantic import TypeAdapter

from hbstore import errors
from hbstore.cubes import Cubes, PartitionDesc
from hbstore.web.queries import query_examples as examples
from hbstore.web.queries.query_routes import query_routes
from hbstore.web.queries.waiting import QueryWaiting
from tests.cubes.rides import rides

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


@pytest.fixture
def described(ask):
    """The descriptions of the routes of queries."""
    paths = ask("GET", "/openapi.json").json()["paths"]
    return {
        (method, path): one
        for path, methods in paths.items()
        for method, one in methods.items()
        if "queries" in one["tags"]
    }


def test_all_routes_have_examples_of_replies_and_of_errors(described):
    assert described.keys() == ROUTES.keys()
    for route, status in ROUTES.items():
        replies = described[route]["responses"]
        assert replies.keys() == {status, "default"}
        for kind, content in replies[status]["content"].items():
            assert content["schema"]
            assert content.get("example") or kind == "application/vnd.apache.arrow.stream"
        assert replies["default"]["content"].keys() == {"application/problem+json"}


def test_the_examples_validate(described, served):
    for route in query_routes(served[0], QueryWaiting(served[0])).routes:
        for method in route.methods:
            status = ROUTES[method.lower(), route.path]
            for kind, content in described[method.lower(), route.path]["responses"][status]["content"].items():
                if kind == "application/json":
                    model = TypeAdapter(route.response_model)
                    validated = model.validate_json(json.dumps(content["example"]))
                    # FastAPI shows no null.
                    assert model.dump_python(validated, mode="json", exclude_none=True) == content["example"]


def test_what_is_explained_is_explained_so(ask, served):
    store = served[0].store
    store.create_database("shop")
    cubes = Cubes(store, "shop")
    cubes.create_all(rides("/data/rides"))
    cubes.add_partitions("daily", "lake", [PartitionDesc("DAILY", {"dt": f"2015-01-{day}"}) for day in (16, 17)])
    reply = ask("POST", "/explain", {"text": examples.TEXT, "database": "shop"})
    assert reply.json() == examples.EXPLAINED


def test_errors_are_examples_of_what_the_server_says(ask, described):
    reply = ask("GET", "/queries/5f").json()
    shown = described["get", "/queries/{id_}"]["responses"]["default"]["content"]["application/problem+json"]
    assert {**shown["examples"]["QueryNotFound"]["value"], "request": ""} == {**reply, "request": ""}
    for one in described.values():
        for name, example in one["responses"]["default"]["content"]["application/problem+json"]["examples"].items():
            assert example["value"].keys() == reply.keys()
            assert example["value"]["error"] == name
            assert issubclass(getattr(errors, name), errors.HbstoreError)


def test_results_are_shown_in_each_format(described):
    content = described["get", "/queries/{id_}/results"]["responses"]["200"]["content"]
    page = content["application/json"]["example"]
    assert page.keys() == {"columns", "rows", "next"}
    assert page["rows"] == [["a", 7], ["b", 12]]
    assert content["application/x-ndjson"]["example"] == '{"bike":"a","fare":7}\n{"bike":"b","fare":12}\n'
    assert content["text/csv; charset=utf-8; header=present"]["example"] == "bike,fare\r\na,7\r\nb,12\r\n"

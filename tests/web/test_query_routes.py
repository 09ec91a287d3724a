"""Queries over HTTP: asked, followed, listed, cancelled."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from hbstore.query_service.messages import Done, Failed, Planned, Progressed, Started
from hbstore.query_service.query import QueryProblem, QueryProgress
from tests.pauses import until
from tests.query_service.test_service import ROWS


def submit(ask, text="select 1", **fields):
    reply = ask("POST", "/queries", {"text": text, **fields})
    assert reply.status == 202
    return reply.json()["id"]


def test_a_query_is_asked_and_followed_to_its_end(ask, served):
    service, _ = served
    reply = ask("POST", "/queries", {"text": "select 1", "user": "ann", "name": "one"})
    query = reply.json()
    assert reply.headers["Location"] == f"/queries/{query['id']}"
    assert (query["state"], query["request"]["user"], query["request"]["name"]) == ("queued", "ann", "one")
    service.runner.heard(Started(query["id"]))
    service.runner.heard(Planned(query["id"], {"sql": "SELECT 1"}, ()))
    assert ask("GET", f"/queries/{query['id']}").json()["state"] == "running"
    assert ask("GET", f"/queries/{query['id']}/plan").json() == {"sql": "SELECT 1"}
    service.runner.heard(Done(query["id"], ROWS))
    ended = ask("GET", f"/queries/{query['id']}?wait=5").json()
    assert (ended["state"], ended["result"]["rows"]) == ("succeeded", 1)


def test_now_is_a_time_in_words(ask):
    for now in ("2015-01-16T00:00:00Z", "2015-01-16T01:00:00+01:00", None):
        asked = ask("POST", "/queries", {"text": "select 1", "now": now}).json()["request"]["now"]
        assert asked in (now and "2015-01-16T00:00:00Z", now)
    for now in (0, 1421366400, 1.5, "0", "1421366400", "-1.5", True, "today"):
        refused = ask("POST", "/queries", {"text": "select 1", "now": now})
        assert (refused.status, refused.json()["fields"]["at"]) == (400, "body.now"), now


def test_a_key_makes_two_requests_one_query(ask):
    made = [
        ask("POST", "/queries", {"text": "select 1"}, headers={"Idempotency-Key": "k"}).json()["id"] for _ in range(2)
    ]
    assert made[0] == made[1]
    other = ask("POST", "/queries", {"text": "select 2"}, headers={"Idempotency-Key": "k"})
    assert (other.status, other.json()["error"]) == (400, "InvalidInput")


def test_events_tell_each_change_until_the_end(ask, served):
    service, _ = served
    id_ = submit(ask)
    reply = ask("GET", f"/queries/{id_}/events", preload_content=False)
    assert reply.headers["Content-Type"].startswith("text/event-stream")
    lines = (line for chunk in reply.stream() for line in chunk.decode().splitlines())
    seen = []
    for line in lines:
        if line.startswith("data: "):
            query = json.loads(line[6:])
            seen.append((query["state"], query["progress"]["tasks_done"]))
            if seen == [("queued", 0)]:
                service.runner.heard(Started(id_))
            elif seen[-1] == ("running", 0):
                service.runner.heard(Progressed(id_, QueryProgress(tasks=4, tasks_done=2)))
            elif seen[-1] == ("running", 2):
                service.runner.heard(Done(id_, ROWS))
    assert seen == [("queued", 0), ("running", 0), ("running", 2), ("succeeded", 2)]


def test_many_requests_wait_at_once_and_all_hear_of_the_end(ask, served):
    """More than the server has threads."""
    service, _ = served
    id_ = submit(ask)
    with ThreadPoolExecutor(100) as threads:
        replies = [threads.submit(ask, "GET", f"/queries/{id_}?wait=30") for _ in range(100)]
        until(lambda: len(service.changes._listeners) == 1)
        assert ask("GET", "/health").status == 200
        service.runner.heard(Started(id_))
        service.runner.heard(Done(id_, ROWS))
        assert {reply.result().json()["state"] for reply in replies} == {"succeeded"}


def test_queries_are_listed_in_pages(ask):
    ids = [submit(ask, user=user) for user in ("ann", "bob", "ann")]
    first = ask("GET", "/queries?limit=2").json()
    rest = ask("GET", f"/queries?limit=2&before={first['before']}").json()
    assert sorted(one["id"] for one in first["queries"] + rest["queries"]) == sorted(ids)
    assert rest["before"] is None
    assert len(ask("GET", "/queries?user=ann").json()["queries"]) == 2
    assert ask("GET", "/queries?state=running&state=failed").json()["queries"] == []


def test_a_query_is_cancelled(ask, served):
    _, spark = served
    runs = submit(ask)
    assert ask("DELETE", f"/queries/{runs}").status == 200
    assert spark.cancels == [runs]


def test_a_failed_query_says_why(ask, served):
    service, _ = served
    id_ = submit(ask)
    service.runner.heard(Started(id_))
    service.runner.heard(
        Failed(id_, QueryProblem(error="NoCandidate", text="no fact has it", fields={"cause": "X"}, hint="Ask less"))
    )
    problem = ask("GET", f"/queries/{id_}").json()["problem"]
    assert (problem["error"], problem["fields"], problem["hint"]) == ("NoCandidate", {"cause": "X"}, "Ask less")


@pytest.mark.parametrize(
    ("method", "path", "document", "status", "error"),
    [
        ("GET", "/queries/5f", None, 404, "QueryNotFound"),
        ("DELETE", "/queries/..%2Fx", None, 404, "InvalidInput"),
        ("GET", "/nowhere", None, 404, "InvalidInput"),
        ("PUT", "/queries", None, 405, "InvalidInput"),
        ("POST", "/queries", {}, 400, "InvalidInput"),
        ("POST", "/queries", {"text": ""}, 400, "InvalidInput"),
        ("POST", "/queries", {"text": "select 1", "nane": "x"}, 400, "InvalidInput"),
        ("POST", "/queries", {"text": "select 1", "options": {"join_typ": "x"}}, 400, "InvalidInput"),
        ("POST", "/queries", {"text": ["select 1"]}, 400, "InvalidInput"),
        ("POST", "/queries", {"text": "select 1", "name": "x" * 1_001}, 400, "InvalidInput"),
        ("GET", "/queries?limit=0", None, 400, "InvalidInput"),
        ("GET", "/queries?state=done", None, 400, "InvalidInput"),
        ("POST", "/explain", {"text": "cube select x from nothing"}, 404, "DatabaseNotFound"),
        ("POST", "/explain", {"text": "cube select ("}, 400, "CubeSyntaxError"),
    ],
)
def test_what_cannot_be_answered_is_a_problem_with_a_name_and_a_hint(ask, method, path, document, status, error):
    reply = ask(method, path, document)
    problem = reply.json()
    assert reply.headers["Content-Type"] == "application/problem+json"
    assert (reply.status, problem["status"], problem["error"]) == (status, status, error)
    assert problem["hint"]


def test_no_plan_is_a_conflict(ask):
    reply = ask("GET", f"/queries/{submit(ask)}/plan")
    assert (reply.status, reply.json()["error"]) == (409, "QueryNotFinished")


def test_a_full_queue_says_when_to_ask_again(ask, served):
    service, _ = served
    service.runner.limits = type(service.runner.limits)(running=1, queued=1)
    submit(ask)
    submit(ask)
    reply = ask("POST", "/queries", {"text": "select 1"})
    assert (reply.status, reply.json()["error"], reply.headers["Retry-After"]) == (429, "TooManyQueries", "1")


def test_the_description_works_without_a_network(ask):
    page = ask("GET", "/docs").data.decode()
    assert "http://" not in page.replace("http://localhost", "")
    assert "https://" not in page
    assert ask("GET", "/openapi.json").json()["paths"]["/queries"]["post"]

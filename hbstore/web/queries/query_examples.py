"""Examples of replies for /docs. They are made by what makes the replies, so that they cannot differ."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pyarrow as pa

from hbstore.errors import HbstoreError, QueryNotFinished, QueryNotFound, ResultExpired, TooManyQueries
from hbstore.query_service.formats import MEDIA_TYPES, csv, json_page, ndjson
from hbstore.query_service.positions import Position
from hbstore.query_service.query import Query, QueryProgress, QueryResult, Request, ResultColumn, State
from hbstore.web.problems import MEDIA_TYPE, problem
from hbstore.web.queries.waiting import server_sent

Replies = dict[int | str, dict[str, Any]]
"""What replies there are, by their status, as FastAPI takes them."""

TEXT: Final = "cube select bike, fare from rides where time_range_in(start_time, '2015-01-16', '2015-01-18')"
_ID: Final = "f7d3a5c1b2e40d9f8a6b1c2d3e4f5a6b"
_AT: Final = datetime(2026, 1, 5, 8, 30, tzinfo=UTC)
_SQL: Final = """\
SELECT
  `rides`.`bike` AS `bike`,
  SUM(`rides`.`fare`) AS `fare`
FROM (
  SELECT
    `bike`,
    `fare`
  FROM `shop`.`lake_daily`
  WHERE
    `dt` IN ('2015-01-16', '2015-01-17')
) AS `rides`
GROUP BY
  `rides`.`bike`"""
PLAN: Final[dict[str, Any]] = {
    "sql": _SQL,
    "partitions": {"lake_daily": ["lake_daily DAILY [2015-01-16, 2015-01-18)"]},
    "moments": {},
    "candidates": [
        {
            "table": "lake_daily",
            "fact": "daily",
            "storage": "lake",
            "weight": 0.0,
            "able": True,
            "taken": True,
            "cause": None,
            "detail": "",
            "missing": [],
        }
    ],
    "missing": [],
    "warnings": [],
    "needs_utc": False,
}
EXPLAINED: Final = {"text": f"lake_daily: 2 partitions\n  DAILY [2015-01-16, 2015-01-18)\n\n{_SQL}", **PLAN}
_COLUMNS: Final = (ResultColumn(name="bike", type="string"), ResultColumn(name="fare", type="bigint"))
_ROWS: Final = pa.record_batch({"c0": ["a", "b"], "c1": [7, 12]})
QUEUED: Final = Query(
    id=_ID, request=Request(text=TEXT, database="shop", user="ann"), server="5b0e" * 8, submitted_at=_AT
)
RUNNING: Final = QUEUED.changed(
    state=State.RUNNING,
    started_at=_AT + timedelta(seconds=1),
    progress=QueryProgress(stages=2, tasks=8, tasks_done=3, rows=1200),
    plan=PLAN,
)
SUCCEEDED: Final = RUNNING.changed(
    state=State.SUCCEEDED,
    ended_at=_AT + timedelta(seconds=4),
    expires_at=_AT + timedelta(hours=48, seconds=4),
    progress=QueryProgress(stages=2, stages_done=2, tasks=8, tasks_done=8, rows=3400),
    result=QueryResult(columns=_COLUMNS, rows=2, size=912),
)
NOT_FOUND: Final = QueryNotFound(
    "the query does not exist", query="5f", hint="`hbstore query list` shows the queries that the server keeps"
)
NOT_FINISHED: Final = QueryNotFinished(
    "the query has no result", query=_ID, state="running", hint="Its state says why, or when to ask again"
)
EXPIRED: Final = ResultExpired("the result is no longer there", query=_ID, hint="Ask the query again")
TOO_MANY: Final = TooManyQueries("the server is about to stop", hint="Ask again when it runs again")


def replies(example: object, *errors: HbstoreError, status: int = 200) -> Replies:
    """The replies of a route that answers with JSON.

    Args:
        example: of the document.
        errors: examples of those that it may answer with.
        status: of the reply.
    """
    return {status: {"content": {"application/json": {"example": example}}}, **_errors(*errors)}


def texts(content: Mapping[str, str], *errors: HbstoreError) -> Replies:
    """The replies of a route that streams texts.

    Args:
        content: an example for each media type.
        errors: as `replies`.
    """
    schema = {"type": "string"}
    return {
        200: {"content": {kind: {"schema": schema, "example": text} for kind, text in content.items()}},
        **_errors(*errors),
    }


def document(query: Query) -> dict[str, Any]:
    """A query as replies hold it."""
    return query.model_dump(mode="json")


def events() -> Replies:
    """The replies of the route of events."""
    return texts({"text/event-stream": server_sent(RUNNING) + server_sent(SUCCEEDED)}, NOT_FOUND)


def rows(*errors: HbstoreError) -> Replies:
    """The replies of the route of results, in each format."""
    batches = [(_ROWS, Position(0, _ROWS.num_rows))]
    page = json.loads(b"".join(json_page(_COLUMNS, batches, lambda position: position.token(_ID))))
    lines = {name: b"".join(write(_COLUMNS, [_ROWS])).decode() for name, write in (("ndjson", ndjson), ("csv", csv))}
    result_replies = texts({MEDIA_TYPES[name]: text for name, text in lines.items()}, *errors)
    result_replies[200]["content"] |= {
        MEDIA_TYPES["json"]: {"schema": {"type": "object"}, "example": page},
        MEDIA_TYPES["arrow"]: {"schema": {"type": "string", "format": "binary"}},
    }
    return result_replies


def _errors(*errors: HbstoreError) -> Replies:
    """All errors come in one form."""
    scope = {"state": {"request_id": "9c0e5d1f2a3b4c5d"}}
    some = {type(error).__name__: {"value": json.loads(bytes(problem(scope, error).body))} for error in errors}
    content = {MEDIA_TYPE: {"schema": {"type": "object"}, "examples": some}}
    return {"default": {"description": "An error, as a problem document (RFC 9457)", "content": content}}

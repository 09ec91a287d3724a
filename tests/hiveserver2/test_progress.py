"""How far a statement is, as its client is told."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hbstore.hiveserver2.progress import HEADERS, StatementLog, bar
from hbstore.query_service.query import Query, QueryProgress, Request, State

HALF = QueryProgress(stages=2, stages_done=1, tasks=8, tasks_done=4, rows=12_345)


def query(*, seconds, state=State.RUNNING, **fields):
    began = datetime.now(UTC) - timedelta(seconds=seconds)
    request = Request(text="SELECT 1")
    return Query(id="5f", request=request, state=state, server="s", submitted_at=began, started_at=began, **fields)


def test_the_bar_has_the_nine_cells_that_beeline_needs():
    shown = bar(query(seconds=2, progress=HALF))
    assert [len(row) for row in shown.rows] == [len(HEADERS)] == [9]
    assert (shown.part, shown.summary) == (0.5, "STAGES: 01/02")
    assert abs(shown.started / 1000 - datetime.now(UTC).timestamp() + 2) < 1


def test_a_short_statement_and_one_that_does_not_run_have_no_bar():
    assert bar(query(seconds=0, progress=HALF)) is None
    assert bar(query(seconds=9, progress=HALF, state=State.SUCCEEDED)) is None
    assert bar(query(seconds=9, progress=HALF, state=State.QUEUED)) is None


def test_a_bar_before_spark_has_planned_tasks():
    assert bar(query(seconds=2)).part == 0.0


def test_each_line_of_the_log_is_told_once():
    log = StatementLog()
    assert log.lines(query(seconds=0, warnings=("one",))) == ["query 5f", "one"]
    assert log.lines(query(seconds=0, progress=HALF, warnings=("one",))) == []
    line = "stages 1 of 2, tasks 4 of 8, 12,345 rows read"
    assert log.lines(query(seconds=2, progress=HALF, warnings=("one", "two"))) == ["two", line]
    assert log.lines(query(seconds=2, progress=HALF, warnings=("one", "two"))) == []

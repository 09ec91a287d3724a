"""The log: which calls are in it, what its lines say, and where they go."""

from __future__ import annotations

import json
import logging

import pytest

from hbstore.metastore.call_log import LONGEST_LIST, LONGEST_TEXT, call_log
from hbstore.metastore.calls import CallRecord
from hbstore.servers.logs import JsonLines, logging_to

CALLS = [
    CallRecord("get_table", seconds=0.01),
    CallRecord("get_partitions", seconds=2.0),
    CallRecord("get_table", seconds=0.01, error="NoSuchObjectException", message="no such table"),
    CallRecord("get_table", seconds=2.0, error="NoSuchObjectException"),
    CallRecord("getNope", seconds=0.01, error="TApplicationException.UNKNOWN_METHOD"),
    CallRecord("get_table", seconds=0.01, error="MetaException", message="HBase does not answer"),
    CallRecord("get_table", seconds=2.0, error="TApplicationException.INTERNAL_ERROR"),
]


def logged(tmp_path, *records, **given):
    """The lines of a log of some calls."""
    path = tmp_path / "some.log"
    observe = call_log(slow_seconds=1.0, **given)
    with logging_to(str(path)):
        for record in records:
            observe(record)
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(
    ("all_calls", "expected"),
    [
        (False, [None, "slow call", None, "slow call", None, "failed call", "failed call"]),
        (True, ["call", "slow call", "call", "slow call", "call", "failed call", "failed call"]),
    ],
)
def test_which_calls_are_logged(tmp_path, all_calls, expected):
    lines = [logged(tmp_path / str(number), call, all_calls=all_calls) for number, call in made_folders(tmp_path)]
    assert [line[0]["event"] if line else None for line in lines] == expected
    assert {line[0]["level"] for line in lines if line and line[0]["event"] != "call"} == {"warning"}
    assert {line[0]["level"] for line in lines if line and line[0]["event"] == "call"} <= {"info"}


def made_folders(tmp_path):
    for number, call in enumerate(CALLS):
        (tmp_path / str(number)).mkdir()
        yield number, call


def test_what_a_line_says(tmp_path):
    notes = {"table": "shop.sales", "filter": 'ds = "é\n"', "scans": ["get ds = 1"], "partitions": 1, "rows_read": 1}
    record = CallRecord("get_partitions_by_filter", "127.0.0.1:4000", 0.00123456, 789, notes=notes)
    (line,) = logged(tmp_path, record, all_calls=True)
    assert line.pop("time").endswith("Z")
    assert line.pop("pid")
    assert line == {
        "level": "info",
        "event": "call",
        "method": "get_partitions_by_filter",
        "client": "127.0.0.1:4000",
        "seconds": 0.001235,
        "bytes": 789,
        **notes,
    }


def test_long_notes_are_cut_short(tmp_path):
    notes = {"filter": "x" * 1_000_000, "scans": ["y" * 1_000_000] * 10_000}
    (line,) = logged(tmp_path, CallRecord("get_partitions_by_filter", notes=notes), all_calls=True)
    assert line["filter"] == "x" * LONGEST_TEXT + "…"
    assert line["scans"] == ["y" * LONGEST_TEXT + "…"] * LONGEST_LIST + ["… 9,900 more"]


def test_a_log_that_was_moved_away_is_begun_anew(tmp_path):
    path = tmp_path / "some.log"
    logger = logging.getLogger("hbstore.servers.server")
    with logging_to(str(path)):
        logger.warning("one")
        path.rename(tmp_path / "old.log")
        logger.warning("two")
    assert "one" in (tmp_path / "old.log").read_text()
    assert "two" in path.read_text()
    assert "one" not in path.read_text()


def test_the_log_goes_to_stderr_and_a_traceback_is_in_its_line(capsys):
    with logging_to(None):
        try:
            int("nothing")
        except ValueError:
            logging.getLogger("hbstore.metastore").exception("%s failed", "get_table")
    logging.getLogger("hbstore.metastore").warning("after the server is gone this is not its log")
    (line,) = capsys.readouterr().err.splitlines()
    assert json.loads(line)["event"] == "get_table failed"
    assert "ValueError" in json.loads(line)["traceback"]


def test_a_log_that_cannot_be_written(tmp_path):
    with pytest.raises(OSError, match="No such file"), logging_to(str(tmp_path / "no" / "some.log")):
        pass


def test_a_record_without_fields():
    record = logging.LogRecord("hbstore", logging.INFO, "", 0, "text of %s", ("another",), None)
    assert json.loads(JsonLines().format(record))["event"] == "text of another"


def test_what_takes_time_to_say_is_asked_for_only_where_it_is_logged(tmp_path):
    asked = []
    notes = {"scans": lambda: asked.append("scans") or ["get ds = 1"], "partitions": 1}
    assert logged(tmp_path, CallRecord("get_partitions_by_filter", seconds=0.01, notes=notes)) == []
    assert asked == []
    (line,) = logged(tmp_path, CallRecord("get_partitions_by_filter", seconds=2.0, notes=notes))
    assert (line["scans"], asked) == (["get ds = 1"], ["scans"])

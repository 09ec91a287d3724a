"""HiveServer2 4.0.1 over hbstore does what it did over a Hive Metastore 4.0.1, statement by statement.

Hive's JDBC driver 4.0.1 drives it. What it did there is recorded (tests/recordings.py).
"""

from __future__ import annotations

import json
import re
from contextlib import ExitStack

import pytest

from tests.hiveserver2.clients.jdbc import driver
from tests.metastore.clients.hive_server import Session, hive_server
from tests.metastore.clients.hive_statements import (
    COLUMNS,
    FEWER,
    MORE,
    NOT_SHOWN,
    PREDICATES,
    ROWS,
    SHOWN_OTHERWISE,
    drops,
    load,
    shows,
    spec,
)
from tests.metastore.clients.hive_work import STATEMENTS
from tests.metastore.serving import Serve
from tests.recordings import plain

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(900)]
NOT_ANSWERED = {"get_partitions_spec_by_expr"}
"""Where hbstore does not read an expression, HiveServer2 selects partitions itself."""


@pytest.fixture(scope="module")
def both(request, recording, tmp_path_factory):
    """A function that runs statements in a session over hbstore; what came of them there, and over a Hive Metastore.

    What there is at its start, each session has made itself, so a run of one test is a recording of its own.
    """
    folder = tmp_path_factory.mktemp("hive-server")
    sessions = {}
    with ExitStack() as stack:
        machine = stack.enter_context(driver("4.0", folder))

        def session(name, uri, warehouse):
            if name not in sessions:
                own = folder / name
                own.mkdir()
                port = stack.enter_context(hive_server(uri, warehouse, own))
                sessions[name] = Session(machine, port, [str(warehouse), str(own)])
            return sessions[name]

        def run(key, statements):
            def ask():
                theirs = session("theirs", *request.getfixturevalue("hive_4")[:2])
                return [theirs.run(one) for one in statements]

            own = session("ours", ours.ready["uri"], ours.folder / "warehouse")
            return plain([own.run(one) for one in statements]), recording.answer(key, ask)

        ours = stack.enter_context(Serve(f"sqlite://{folder}/store.db", folder, "--log-calls"))
        yield run
        for one in sessions.values():
            one.run("DROP DATABASE IF EXISTS expressions CASCADE")
            one.close()
        unknown = {line["method"] for line in ours.log() if line.get("error") == "TApplicationException.UNKNOWN_METHOD"}
        assert unknown == NOT_ANSWERED


def test_statements(both):
    ours, theirs = ([_without_vector(one) for one in side] for side in both("statements", STATEMENTS))
    wrong = [one for one in zip(STATEMENTS, ours, theirs, strict=True) if one[1] != one[2]]
    assert not wrong, "\n".join(f"{statement}\n  ours   {ours}\n  theirs {theirs}" for statement, ours, theirs in wrong)


def test_selects(both, tmp_path):
    prepare = ["CREATE DATABASE IF NOT EXISTS expressions", *load("selects", tmp_path)]
    queries = [f"SELECT id FROM expressions.selects WHERE {one}" for one in PREDICATES]
    sides = both("selects", [*prepare, *queries, *(f"EXPLAIN DEPENDENCY {one}" for one in queries)])
    assert [side[: len(prepare)] for side in sides] == [[[]] * len(prepare)] * 2
    selected, explained = len(prepare), len(prepare) + len(queries)
    rows = [[sorted(map(json.dumps, one)) for one in side[selected:explained]] for side in sides]
    assert rows[0] == rows[1]
    inputs = [[sorted(re.findall('"partitionName":"([^"]*)"', str(one))) for one in side[explained:]] for side in sides]
    found, expected = (dict(zip(PREDICATES, side, strict=True)) for side in inputs)
    assert {one for one in PREDICATES if found[one] != expected[one]} == {*FEWER, MORE}
    assert all(set(found[one]) < set(expected[one]) for one in FEWER)
    assert set(found[MORE]) > set(expected[MORE])


def _without_vector(rows):
    """Rows without the sketch of a column's values: a Hive Metastore keeps it to itself unless its settings say so."""
    return rows if isinstance(rows, str) else [row for row in rows if row[0] != "bit_vector"]


def test_shown_partitions(both):
    fill = " ".join(f"PARTITION ({spec(row)})" for row in ROWS)
    prepare = [
        "CREATE DATABASE IF NOT EXISTS expressions",
        f"CREATE TABLE expressions.shown (id INT) PARTITIONED BY ({COLUMNS})",
        f"ALTER TABLE expressions.shown ADD {fill}",
    ]
    statements = shows("shown")
    ours, theirs = both("shown", [*prepare, *statements])
    del ours[:3], theirs[:3]
    wrong = {one: (own, real) for one, own, real in zip(statements, ours, theirs, strict=True) if own != real}
    refused = {f"SHOW PARTITIONS expressions.shown WHERE {one}" for one in NOT_SHOWN}
    assert set(wrong) == refused | {f"SHOW PARTITIONS expressions.shown {one}" for one in SHOWN_OTHERWISE}, wrong
    assert all("Hive's expression cannot be read" in str(wrong[one][0]) for one in refused)


def test_drops(both):
    statements = drops()
    ours, theirs = both("drops", statements)
    assert [one for one in zip(statements, ours, theirs, strict=True) if one[1] != one[2]] == []
    assert any(len(one) < len(ROWS) for one in ours[4::3])

"""HiveServer2 4.0.1 over hbstore does what it does over a Hive Metastore 4.0.1, statement by statement.

Two servers of it run at once, driven through Hive's JDBC driver 4.0.1.
"""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
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

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(900)]
NOT_ANSWERED = {"get_partitions_spec_by_expr"}
"""Where hbstore does not read an expression, HiveServer2 selects partitions itself."""


@pytest.fixture(scope="module")
def both(hive_4, tmp_path_factory):
    """A function that runs statements in a session over hbstore and in one over a Hive Metastore, at once."""
    folder = tmp_path_factory.mktemp("hive-server")
    with ExitStack() as stack:
        theirs, their_warehouse, _ = hive_4
        ours = stack.enter_context(Serve(f"sqlite://{folder}/store.db", folder, "--log-calls"))
        places = [(ours.ready["uri"], ours.folder / "warehouse"), (theirs, their_warehouse)]
        machine = stack.enter_context(driver("4.0", folder))
        sessions = []
        for number, (uri, warehouse) in enumerate(places):
            (folder / str(number)).mkdir()
            port = stack.enter_context(hive_server(uri, warehouse, folder / str(number)))
            sessions.append(Session(machine, port, [str(warehouse), str(folder / str(number))]))

        def run(statements):
            with ThreadPoolExecutor(2) as threads:
                running = [
                    threads.submit(lambda session=session: [session.run(one) for one in statements])
                    for session in sessions
                ]
                return [one.result() for one in running]

        yield run
        run(["DROP DATABASE IF EXISTS expressions CASCADE"])
        for session in sessions:
            session.close()
        unknown = {line["method"] for line in ours.log() if line.get("error") == "TApplicationException.UNKNOWN_METHOD"}
        assert unknown == NOT_ANSWERED


def test_statements(both):
    ours, theirs = ([_without_vector(one) for one in side] for side in both(STATEMENTS))
    wrong = [one for one in zip(STATEMENTS, ours, theirs, strict=True) if one[1] != one[2]]
    assert not wrong, "\n".join(f"{statement}\n  ours   {ours}\n  theirs {theirs}" for statement, ours, theirs in wrong)


def test_selects(both, tmp_path):
    prepare = ["CREATE DATABASE IF NOT EXISTS expressions", *load("selects", tmp_path)]
    ours, theirs = both(prepare)
    assert ours == theirs == [[]] * len(prepare)
    queries = [f"SELECT id FROM expressions.selects WHERE {one}" for one in PREDICATES]
    rows = [[sorted(map(json.dumps, one)) for one in side] for side in both(queries)]
    assert rows[0] == rows[1]
    inputs = [
        [sorted(re.findall('"partitionName":"([^"]*)"', str(one))) for one in side]
        for side in both([f"EXPLAIN DEPENDENCY {one}" for one in queries])
    ]
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
    ours, theirs = both([*prepare, *statements])
    del ours[:3], theirs[:3]
    wrong = {one: (own, real) for one, own, real in zip(statements, ours, theirs, strict=True) if own != real}
    refused = {f"SHOW PARTITIONS expressions.shown WHERE {one}" for one in NOT_SHOWN}
    assert set(wrong) == refused | {f"SHOW PARTITIONS expressions.shown {one}" for one in SHOWN_OTHERWISE}, wrong
    assert all("Hive's expression cannot be read" in str(wrong[one][0]) for one in refused)


def test_drops(both):
    statements = drops()
    ours, theirs = both(statements)
    assert [one for one in zip(statements, ours, theirs, strict=True) if one[1] != one[2]] == []
    assert any(len(one) < len(ROWS) for one in ours[4::3])

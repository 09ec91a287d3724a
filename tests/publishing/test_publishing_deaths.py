"""Processes that are killed where they publish, on SQLite and on HBase: all see what is decided, and nothing else."""

from __future__ import annotations

from random import Random

import pytest

from hbstore import connect
from hbstore.publishing import Publisher
from tests.fuzz.kills import kills
from tests.pauses import let_go_on
from tests.processes import Process
from tests.publishing.dying import recover_later
from tests.publishing.jobs import prepare
from tests.publishing.publishing_processes import publish_until_killed

BEFORE = 10
"""Rows of partition a before any job."""


@pytest.fixture(params=["sqlite", pytest.param("hbase", marks=pytest.mark.hbase)])
def url(request, tmp_path):
    return f"sqlite://{tmp_path}/store.db" if request.param == "sqlite" else request.getfixturevalue("hbase_url")


@pytest.fixture
def root(tmp_path):
    return tmp_path / "sales"


@pytest.fixture
def store(url, root):
    with connect(url) as store:
        store.drop_database("shop", cascade=True, if_exists=True)
        prepare(store, root)
        yield store
        store.drop_database("shop", cascade=True)


def decided(url):
    """How many jobs are decided: what another process sees that only reads partitions. They are whole."""
    with connect(url) as other:
        rows = {
            one.values[0]: int(one.parameters["numRows"])
            for one in other.get_partitions_by_filter("shop", "sales", "ds = 'a' or ds = 'd'")
        }
        assert rows["a"] - BEFORE == rows.get("d", 0)
        assert other.count_partitions("shop", "sales") == 3 + ("d" in rows)
        return rows.get("d", 0)


def shown(root, partition):
    return sum(1 for path in (root / f"ds={partition}").glob("part*") if path.is_file())


def check_finished(store, root, jobs):
    """Once somebody has looked after the table, the files are there that the partitions say, and no others."""
    Publisher(store).roll_forward_before_use(store.table_row("shop", "sales"))
    assert (shown(root, "a"), shown(root, "d")) == (jobs, jobs)
    recover_later(store, ("shop", "sales"))
    assert store.publications.of(store.table_row("shop", "sales")) == []
    assert not list(root.rglob(".*"))
    assert [problem for problem in store.check("shop", "sales") if problem is not None] == []


@pytest.mark.parametrize(("where", "jobs"), [("before", 0), ("after", 1), ("showing", 1)])
def test_a_process_that_dies_by_the_decision(url, store, root, where, jobs):
    process = Process("tests.publishing.publishing_processes", publish_until_killed.__name__, url, root, "job", where)
    process.heard(2)
    assert process.kill() == [["begin", "0"]]
    assert decided(url) == jobs
    check_finished(store, root, jobs)


def test_processes_that_die_anywhere(url, store, root):
    random, jobs = Random(7), 0
    for turn in range(6):
        arguments = (url, root, f"job{turn}", "anywhere")
        process = Process("tests.publishing.publishing_processes", publish_until_killed.__name__, *arguments)
        process.heard(random.randint(1, 4))
        let_go_on(random, 0.2)
        said = process.kill()
        done = jobs + sum(line[0] == "published" for line in said)
        jobs = decided(url)
        assert done <= jobs <= done + 1
        check_finished(store, root, jobs)
    assert jobs > 0


@pytest.mark.slow
def test_jobs_that_are_killed_beside_renames_and_exchanges():
    """`make fuzz ARGS="--kills 40"` goes on from there."""
    *rounds, last = kills(35, 1)
    assert len(rounds) == 1
    assert last.endswith("nothing lost, nothing twice")

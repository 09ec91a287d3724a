"""Processes that are killed in the middle of exchanges with files, on SQLite and on HBase, while others read."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from random import Random

import pytest

from hbstore import connect
from hbstore.publishing import Publisher, exchange_files
from tests.amounts import amount
from tests.pauses import let_go_on
from tests.processes import Process
from tests.publishing.dying import recover_later
from tests.publishing.exchange_processes import DAYS, EACH, HERE, MOVED, THERE, exchange_until_killed, prepare

ROUNDS = amount(3, 30)
STAYING = DAYS * EACH - MOVED


@pytest.fixture(params=["sqlite", pytest.param("hbase", marks=pytest.mark.hbase)])
def url(request, tmp_path):
    return f"sqlite://{tmp_path}/store.db" if request.param == "sqlite" else request.getfixturevalue("hbase_url")


@pytest.fixture
def root(tmp_path):
    return tmp_path / "warehouse"


@pytest.fixture
def store(url, root):
    with connect(url) as store:
        store.drop_database("m", cascade=True, if_exists=True)
        prepare(store, root)
        yield store
        store.drop_database("m", cascade=True)


def missing(store, table):
    """How many of a table's partitions have no file of theirs where they say."""
    found = store.get_partitions_by_filter(*table, None)
    files = [(one.values, Path(one.location.removeprefix("file:")) / "rows") for one in found]
    return sum(1 for values, file in files if not (file.exists() and file.read_text() == "/".join(values)))


def counts(store):
    return store.count_partitions(*HERE), store.count_partitions(*THERE)


def look(store, *, helping):
    """What is seen while the exchange goes on."""
    if helping:
        Publisher(store).roll_forward_before_use(store.table_row(*THERE))
    assert store.count_partitions(*HERE) in (STAYING, STAYING + MOVED)
    assert store.count_partitions(*THERE) in (0, MOVED)


def test_no_partition_is_lost_or_doubled_and_no_file_either(url, store, root):
    random = Random(url)
    exchanged = 0
    for turn in range(ROUNDS):
        process = Process("tests.publishing.exchange_processes", exchange_until_killed.__name__, url, root)
        process.heard(2 if turn == 0 else random.randint(1, 3))  # so that one is exchanged at least
        let_go_on(random, 0.3, partial(look, store, helping=turn % 3 == 0))
        said = process.kill()
        assert all(line[1:] == [str(MOVED), "0"] for line in said if line[0] == "exchanged")
        exchanged += sum(line[0] == "exchanged" for line in said)
        assert counts(store) in ((STAYING + MOVED, 0), (STAYING, MOVED))
        assert missing(store, HERE) + missing(store, THERE) <= exchange_files._BATCH
        Publisher(store).roll_forward_before_use(store.table_row(*random.choice((HERE, THERE))))
        assert missing(store, HERE) == missing(store, THERE) == 0
        recover_later(store, HERE, THERE)
        for table in (HERE, THERE):
            assert store.publications.of(store.publications.row(*table)) == []
            places = {one.location.rsplit("/", 3)[1] for one in store.get_partitions_by_filter(*table, None)}
            assert places <= {table[1]}
            assert all(problem is None for problem in store.check(*table))
    assert exchanged > 0

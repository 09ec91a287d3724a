"""Records: small texts that belong to no database."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from hbstore import connect
from hbstore.errors import ConcurrentChange, InvalidInput, InvalidName, StoreBusy
from hbstore.store.check import check_catalog
from hbstore.store.documents import MAX_DOCUMENT
from hbstore.store.partition_store import PartitionStore
from hbstore.store.records import Records, check_record
from hbstore.transactions.log import LOG, Intent, Log
from hbstore.transactions.transactions import Transactions
from hbstore.transactions.waiting import Patience
from tests.backends import BACKENDS, backend_url, without_records
from tests.pauses import without_pauses


@pytest.fixture(params=BACKENDS)
def store(request, tmp_path):
    with connect(backend_url(request, tmp_path)) as store:
        without_records(store)
        yield store


@pytest.fixture
def records(store):
    return store.records


def test_a_record_is_created_once_changed_and_dropped(records):
    assert records.get("note", "monday") is None
    assert records.change("note", "monday", lambda text: text + "!") is None
    assert records.create("note", "monday", "a")
    assert not records.create("note", "monday", "b")
    assert records.change("note", "monday", lambda text: text + "!") == "a!"
    assert records.change("note", "monday", lambda _: None) == records.get("note", "monday") == "a!"
    assert records.drop("note", "monday")
    assert not records.drop("note", "monday")
    assert records.get("note", "monday") is None
    assert records.change("note", "monday", lambda text: text + "!") is None
    assert records.create("note", "monday", "b")


def test_records_are_listed_by_kind_in_order_of_their_names(records):
    for name in ("b", "a-1", "B", "c"):
        assert records.create("note", name, f"the {name}")
    assert records.create("note_", "a", "of another kind")
    records.drop("note", "c")
    assert list(records.list("note")) == [(name, f"the {name}") for name in ("B", "a-1", "b")]
    assert [name for name, _ in records.list("note", start="a-2")] == ["b"]
    assert [name for name, _ in records.list("note", start="a-1", limit=1)] == ["a-1"]
    assert list(records.list("note", limit=0)) == []
    assert list(records.list("other")) == []
    with pytest.raises(InvalidInput, match="negative"):
        records.list("note", limit=-1)


def test_a_record_is_dropped_only_as_it_is_expected(records):
    records.create("note", "monday", "a")
    with pytest.raises(ConcurrentChange, match="another writer"):
        records.drop("note", "monday", expected="b")
    assert records.get("note", "monday") == "a"
    assert records.drop("note", "monday", expected="a")
    assert not records.drop("note", "monday", expected="a")


@pytest.mark.parametrize("text", ["", "\ud800", "x" * (MAX_DOCUMENT + 1), 5])
def test_texts_that_no_record_can_have(records, text):
    with pytest.raises(InvalidInput):
        records.create("note", "monday", text)
    records.create("note", "monday", "a")
    with pytest.raises(InvalidInput):
        records.change("note", "monday", lambda _: text)
    assert records.get("note", "monday") == "a"


def test_what_a_step_raises_leaves_the_record(records):
    records.create("note", "monday", "a")
    with pytest.raises(ZeroDivisionError):
        records.change("note", "monday", lambda _: 1 // 0)
    assert records.get("note", "monday") == "a"


def test_a_record_that_others_keep_changing_is_not_tried_for_ever(store, monkeypatch):
    without_pauses(monkeypatch)
    store.records.create("note", "monday", "a")
    for change in (
        lambda mine: mine.change("note", "monday", lambda text: text + "!"),
        lambda mine: mine.drop("note", "monday"),
    ):
        with pytest.raises(ConcurrentChange):
            change(Records(Transactions(Busy(store.rows), Patience(total=0.0))))
    assert store.records.get("note", "monday") == "a"


def test_a_store_waits_as_long_as_it_is_told_to():
    """For a transaction of another process, which may be alive."""
    with connect("memory://?atomic=false") as store:
        store.records.create("note", "monday", "a")
        key = b"Qnote\0monday"
        log = store.rows.get(key)[LOG]
        locked = replace(Log.decode(log), intent=Intent("1732500000/lake1/4711/5e0f", b"Qnote\0friday", 0, 0))
        assert store.rows.compare_and_put(key, LOG, log, locked.encode())
        hasty = PartitionStore(store.rows, patience=0.0)
        with pytest.raises(StoreBusy) as caught:
            hasty.records.drop("note", "monday")
        assert caught.value.fields["holder"] == "process 4711 on lake1"
        assert hasty.records.get("note", "monday") == "a"
        assert store.records.drop("note", "monday")


class Busy:
    """Rows in which another writer is always faster."""

    atomic = False

    def __init__(self, rows):
        self._rows = rows
        self.get = rows.get

    def compare_and_put(self, key, *_):
        log = self._rows.get(key)[LOG]
        self._rows.compare_and_put(key, LOG, log, Log.decode(log).given_up().encode())
        return False


@pytest.mark.parametrize("name", ["", "a/b", "..", "a\0b", "é", "x" * 129])
def test_what_cannot_name_a_record_names_none(records, name):
    with pytest.raises(InvalidName, match="letters, digits"):
        records.create("note", name, "{}")
    assert records.get("note", name) is None


def test_changes_of_many_writers_all_happen(records):
    records.create("count", "all", "0")

    def count_up(_):
        for _ in range(20):
            records.change("count", "all", lambda text: str(int(text) + 1))

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(count_up, range(4)))
    assert records.get("count", "all") == "80"


def test_one_of_many_creators_wins(records):
    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(lambda at: records.create("note", "monday", str(at)), range(8)))
    assert made.count(True) == 1
    assert records.get("note", "monday") == str(made.index(True))


def test_dropping_a_database_leaves_records(store, records):
    store.create_database("note")
    records.create("note", "monday", "{}")
    store.drop_database("note", cascade=True)
    assert records.get("note", "monday") == "{}"


def test_the_check_of_a_store_names_records_that_are_damaged(store, records):
    def problems():
        """Of records; an HBase may hold what other tests damaged."""
        return [str(problem) for _, _, problem in check_catalog(store.rows) if problem and problem.table == "records"]

    records.create("note", "monday", "{}")
    assert problems() == []
    key = next(key for key, _ in store.rows.scan_catalog(b"Q", b"R"))
    check_record(key, Log.decode(store.rows.get(key)[LOG]).state)
    damaged = {b"Qnote\0a/b": Log(state=b"{}").encode(), b"Qnote\0z": Log(state=b"\xff").encode()}
    for key, content in damaged.items():
        store.rows.compare_and_put(key, LOG, None, content)
    first, second = problems()
    assert "not the key of a record" in first
    assert "not UTF-8" in second
    for key in damaged:
        store.rows.remove_row(key)
    assert problems() == []

"""Records: small texts that belong to no database."""

from concurrent.futures import ThreadPoolExecutor
from itertools import combinations_with_replacement

import pytest

from hbstore import connect
from hbstore.errors import CommitStateUnknown, ConcurrentChange, InvalidInput, InvalidName, StoreUnavailable
from hbstore.store.check import check_catalog
from hbstore.store.documents import MAX_DOCUMENT
from hbstore.store.partition_store import PartitionStore
from hbstore.store.records import Records, check_record
from hbstore.store.table_row import DEFINITION
from tests.backends import BACKENDS, backend_url, without_records
from tests.pauses import without_pauses
from tests.store.faults import Crash, Fault, FaultyRows
from tests.store.stepping import FOREVER, play, schedules


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


def test_every_change_is_told_from_the_one_before(store, records):
    """Else a writer that is behind would take the record for the one that it has read."""
    records.create("note", "monday", "a")
    key = next(key for key, _ in store.rows.scan_catalog(b"Q", b"R"))
    cells = [store.rows.get(key)[DEFINITION]]
    for text in ("b", "a"):
        records.change("note", "monday", lambda _, text=text: text)
        cells.append(store.rows.get(key)[DEFINITION])
    assert len(set(cells)) == 3
    assert not store.rows.compare_and_put(key, DEFINITION, cells[0], b"12345678late")


def test_a_record_that_others_keep_changing_is_not_tried_for_ever(store, monkeypatch):
    without_pauses(monkeypatch)
    store.records.create("note", "monday", "a")
    for change in (
        lambda mine: mine.change("note", "monday", lambda text: text + "!"),
        lambda mine: mine.drop("note", "monday"),
    ):
        with pytest.raises(ConcurrentChange):
            change(Records(Busy(store.rows)))
    assert store.records.get("note", "monday") == "a"


class Busy:
    """Rows in which another writer is always faster."""

    def __init__(self, rows):
        self.get = rows.get

    def compare_and_put(self, *_):
        return False


ACTS = {
    "create": lambda store: store.records.create("note", "monday", "mine"),
    "create in turn": lambda store: store.records.create("note", "monday", "yours"),
    "add a": lambda store: store.records.change("note", "monday", lambda text: text + "a"),
    "add b": lambda store: store.records.change("note", "monday", lambda text: text + "b"),
    "drop": lambda store: store.records.drop("note", "monday"),
    "drop what was": lambda store: store.records.drop("note", "monday", expected="was"),
    "get": lambda store: store.records.get("note", "monday"),
    "list": lambda store: tuple(store.records.list("note")),
}


def prepared(text):
    store = connect("memory://?atomic=false")
    if text is not None:
        store.records.create("note", "monday", text)
    return store


def outcome(text, acts, schedule):
    store = prepared(text)
    results, calls = play(store.rows, acts, schedule)
    return (tuple(results), store.records.get("note", "monday")), calls


@pytest.mark.parametrize("text", [None, "was"])
@pytest.mark.parametrize("names", list(combinations_with_replacement(ACTS, 2)), ids=" and ".join)
def test_two_at_once_do_as_one_behind_the_other(names, text, monkeypatch):
    without_pauses(monkeypatch)
    acts = [ACTS[name] for name in names]
    serial = [outcome(text, acts, [(number, FOREVER)]) for number in (0, 1)]
    allowed = {found for found, _ in serial}
    lengths = [max(calls[number] for _, calls in serial) + 2 for number in (0, 1)]
    for schedule in schedules(lengths):
        assert outcome(text, acts, schedule)[0] in allowed, schedule


@pytest.mark.parametrize("text", [None, "was"])
@pytest.mark.parametrize("name", ["create", "add a", "drop", "drop what was"])
@pytest.mark.parametrize("fault", Fault)
@pytest.mark.parametrize("url", ["memory://", "memory://?atomic=false"])
def test_a_write_that_goes_wrong_is_made_or_not_and_its_answer_says_so(url, fault, name, text):
    with connect(url) as store:
        if text is not None:
            store.records.create("note", "monday", text)
        untouched = store.records.get("note", "monday")
        rows = FaultyRows(store.rows, fault, at=0)
        try:
            result = ACTS[name](PartitionStore(rows))
        except (StoreUnavailable, Crash):
            result = "refused"
        except CommitStateUnknown:
            result = "unknown"
        made = {"create": "mine", "add a": "wasa"}.get(name)
        seen = store.records.get("note", "monday")
        assert seen in (untouched, made)
        if not rows.struck:  # there was nothing to write
            assert seen == untouched
            assert not result
        elif fault in (Fault.REFUSED, Fault.GONE):
            assert (result, seen) == ("refused", untouched)
        elif fault is Fault.LOST_ANSWER:  # reading tells that it was made
            assert (result, seen) == (made if name == "add a" else True, made)
        elif fault not in (Fault.CRASH, Fault.CRASH_AFTER):
            assert result == "unknown"


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
    check_record(key, store.rows.get(key)[DEFINITION])
    damaged = {b"Qnote\0a/b": b"12345678{}", b"Qnote\0z": b"12345678\xff"}
    for key, content in damaged.items():
        store.rows.compare_and_put(key, DEFINITION, None, content)
    first, second = problems()
    assert "not the key of a record" in first
    assert "not UTF-8" in second
    for key in damaged:
        store.rows.clear(key, DEFINITION)
    assert problems() == []

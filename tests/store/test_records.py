"""Records: small texts that belong to no database."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from hbstore.errors import InvalidName
from hbstore.store.check import check_catalog
from hbstore.store.records import Records, check_record
from hbstore.store.table_row import DEFINITION


@pytest.fixture
def records(store):
    return Records(store.rows)


def test_a_record_is_created_once_changed_and_dropped(records):
    assert records.get("note", "monday") is None
    assert records.change("note", "monday", lambda text: text + "!") is None
    assert records.create("note", "monday", "a")
    assert not records.create("note", "monday", "b")
    assert records.change("note", "monday", lambda text: text + "!") == "a!"
    assert records.change("note", "monday", lambda _: None) == records.get("note", "monday") == "a!"
    records.drop("note", "monday")
    records.drop("note", "monday")
    assert records.get("note", "monday") is None
    assert records.create("note", "monday", "b")


def test_records_are_listed_by_kind_in_order_of_their_names(records):
    for name in ("b", "a-1", "B", "c"):
        assert records.create("note", name, f"the {name}")
    assert records.create("note_", "a", "of another kind")
    records.drop("note", "c")
    assert list(records.list("note")) == [(name, f"the {name}") for name in ("B", "a-1", "b")]
    assert [name for name, _ in records.list("note", start="a-2")] == ["b"]
    assert list(records.list("other")) == []


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
    records.create("note", "monday", "{}")
    assert list(check_catalog(store.rows)) == []
    key = next(key for key, _ in store.rows.scan_catalog(b"Q", b"R"))
    check_record(key, store.rows.get(key)[DEFINITION])
    store.rows.compare_and_put(b"Qnote\0a/b", DEFINITION, None, b"12345678{}")
    store.rows.compare_and_put(b"Qnote\0z", DEFINITION, None, b"12345678\xff")
    problems = [str(problem) for _, _, problem in check_catalog(store.rows)]
    assert len(problems) == 2
    assert "not the key of a record" in problems[0]
    assert "cannot be decoded" in problems[1]

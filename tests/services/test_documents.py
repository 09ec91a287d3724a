"""Documents: created, read, replaced, listed, dropped, and every error."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore import (
    AlreadyExists,
    ConcurrentChange,
    DatabaseNotFound,
    InvalidInput,
    InvalidName,
    StoreUnavailable,
    connect,
)
from hbstore.errors import CommitStateUnknown, CorruptRow
from hbstore.store.documents import MAX_DOCUMENT, document_key
from hbstore.store.partition_store import PartitionStore
from hbstore.store.table_row import DEFINITION
from tests.store.faults import Crash, Fault, FaultyRows
from tests.store.stepping import play, schedules


@pytest.fixture
def documents(services):
    return services.store.documents


def faulty(services, fault, at):
    return PartitionStore(FaultyRows(services.rows, fault, at))


def test_a_document_is_kept_as_it_is(documents):
    text = '{"name": "sales", "of": "Zürich \\u0000 \U0001f6b2"}'
    documents.create("Shop", "fact", "Sales", text)
    assert documents.get("SHOP", "fact", "SALES") == text
    assert documents.get("shop", "cube", "sales") is None
    assert documents.get("shop", "fact", "sale") is None


@pytest.mark.parametrize("name", ["none", "", "a b", "ü"])
def test_what_is_not_there_nor_can_be_is_none(documents, name):
    assert documents.get("shop", "fact", name) is None
    assert documents.get("none", "fact", "sales") is None


def test_names_differ_by_more_than_case(documents):
    documents.create("shop", "fact", "sales", "one")
    with pytest.raises(AlreadyExists) as caught:
        documents.create("SHOP", "fact", "SALES", "two")
    assert caught.value.fields == {"kind": "fact", "name": "shop.sales"}
    assert documents.get("shop", "fact", "sales") == "one"


def test_documents_are_listed_by_kind_in_order(services, documents):
    services.store.create_database("shop2")
    for database, kind, name in [
        ("shop", "fact", "b"),
        ("shop", "fact", "a"),
        ("shop", "fact", "gone"),
        ("shop", "facts", "c"),
        ("shop", "cube", "d"),
        ("shop2", "fact", "e"),
    ]:
        documents.create(database, kind, name, name * 2)
    assert documents.drop("shop", "fact", "gone") is True
    assert documents.names("Shop", "fact") == ["a", "b"]
    assert documents.all("shop", "fact") == [("a", "aa"), ("b", "bb")]
    assert documents.names("shop", "facts") == ["c"]
    assert documents.names("none", "fact") == documents.all("none", "fact") == []


def test_a_document_is_replaced_where_it_is_what_is_expected(documents):
    documents.create("shop", "fact", "sales", "one")
    documents.replace("shop", "fact", "Sales", "one", "two")
    with pytest.raises(ConcurrentChange):
        documents.replace("shop", "fact", "sales", "one", "three")
    with pytest.raises(ConcurrentChange):
        documents.replace("shop", "fact", "other", "one", "three")
    assert documents.get("shop", "fact", "sales") == "two"
    assert documents.names("shop", "fact") == ["sales"]


def test_a_document_is_dropped_once_and_if_it_is_what_is_expected(documents):
    documents.create("shop", "fact", "sales", "one")
    with pytest.raises(ConcurrentChange):
        documents.drop("shop", "fact", "sales", expected="two")
    assert documents.drop("shop", "fact", "sales", expected="one") is True
    assert documents.drop("shop", "fact", "sales") is False
    assert documents.drop("shop", "fact", "sales", expected="one") is False
    documents.create("shop", "fact", "sales", "again")
    assert documents.get("shop", "fact", "sales") == "again"


@pytest.mark.parametrize("kind", ["", "Fact", "a b", "fact\0", "x" * 33, None])
def test_kinds_are_words(documents, kind):
    for call in (lambda: documents.create("shop", kind, "sales", ""), lambda: documents.names("shop", kind)):
        with pytest.raises(InvalidName):
            call()


@pytest.mark.parametrize("name", ["", "a b", "a\0b", "ü", "x" * 129])
def test_names_are_identifiers(documents, name):
    with pytest.raises(InvalidName):
        documents.create("shop", "fact", name, "")
    assert documents.names("shop", "fact") == []


@pytest.mark.parametrize("text", ["\ud800", "x" * (MAX_DOCUMENT + 1)])
def test_what_cannot_be_stored_is_refused(documents, text):
    with pytest.raises(InvalidInput):
        documents.create("shop", "fact", "sales", text)
    documents.create("shop", "fact", "sales", "one")
    with pytest.raises(InvalidInput):
        documents.replace("shop", "fact", "sales", "one", text)
    assert documents.get("shop", "fact", "sales") == "one"


def test_a_document_needs_its_database(documents):
    with pytest.raises(DatabaseNotFound):
        documents.create("none", "fact", "sales", "one")
    assert documents.get("none", "fact", "sales") is None


def test_the_documents_of_a_dropped_database_go(services, documents):
    services.store.create_database("shop2")
    for database in ("shop", "shop2"):
        documents.create(database, "fact", "sales", "one")
        documents.create(database, "cube", "sales", "one")
    services.store.drop_database("shop")
    services.store.create_database("shop")
    assert documents.names("shop", "fact") == documents.names("shop", "cube") == []
    assert documents.names("shop2", "fact") == documents.names("shop2", "cube") == ["sales"]


@pytest.mark.parametrize("before", [True, False])
def test_a_document_is_not_left_in_a_database_that_is_dropped_meanwhile(services, before):
    class DroppingRows(FaultyRows):
        def compare_and_put(self, key, cell, expected, value):
            if key.startswith(b"M") and value and before:
                services.store.drop_database("shop", if_exists=True)
            made = super().compare_and_put(key, cell, expected, value)
            if key.startswith(b"M") and value and not before:
                services.store.drop_database("shop", if_exists=True)
            return made

    with pytest.raises(DatabaseNotFound):
        PartitionStore(DroppingRows(services.rows)).documents.create("shop", "fact", "sales", "one")
    services.store.create_database("shop")
    assert services.store.documents.names("shop", "fact") == []


def test_an_equal_document_later_is_another_one(services, documents):
    documents.create("shop", "fact", "sales", "one")
    key = document_key("shop", "fact", "sales")
    first = services.rows.get(key)[DEFINITION]
    documents.replace("shop", "fact", "sales", "one", "two")
    documents.replace("shop", "fact", "sales", "two", "one")
    assert documents.get("shop", "fact", "sales") == "one"
    assert not services.rows.compare_and_put(key, DEFINITION, first, b"late")


CHANGES = [
    lambda store: store.documents.create("shop", "fact", "new", "one"),
    lambda store: store.documents.replace("shop", "fact", "old", "one", "two"),
    lambda store: store.documents.drop("shop", "fact", "old"),
]
DONE = [{"old": "one", "new": "one"}, {"old": "two"}, {}]


@pytest.mark.parametrize("fault", [Fault.CRASH, Fault.CRASH_AFTER, Fault.LOST_ANSWER, Fault.LOST_CALL, Fault.GONE])
@pytest.mark.parametrize("number", range(len(CHANGES)))
def test_a_change_is_made_or_not_whatever_fails(services, documents, number, fault):
    documents.create("shop", "fact", "old", "one")
    try:
        CHANGES[number](faulty(services, fault, 0))
    except (Crash, CommitStateUnknown):
        acknowledged = False
    except StoreUnavailable:
        acknowledged = None
    else:
        acknowledged = True
    found = dict(documents.all("shop", "fact"))
    assert found in ({"old": "one"}, DONE[number])
    if acknowledged:
        assert found == DONE[number]
    if acknowledged is None:
        assert found == {"old": "one"}


def test_a_lost_answer_is_found_out(services, documents):
    faulty(services, Fault.LOST_ANSWER, 0).documents.create("shop", "fact", "sales", "one")
    faulty(services, Fault.LOST_ANSWER, 0).documents.replace("shop", "fact", "sales", "one", "two")
    assert documents.get("shop", "fact", "sales") == "two"


def test_of_two_writers_at_once_one_is_told():
    """Whatever the order of their calls: who is acknowledged has changed the document, and nobody else has."""
    acts = [
        lambda store: store.documents.replace("shop", "fact", "sales", "one", "two"),
        lambda store: store.documents.replace("shop", "fact", "sales", "one", "three"),
        lambda store: store.documents.drop("shop", "fact", "sales", expected="one"),
    ]
    outcomes = set()
    for first, second in ((0, 1), (0, 2), (2, 1)):
        for schedule in schedules((4, 4)):
            with connect("memory://?atomic=false") as store:
                store.create_database("shop")
                store.documents.create("shop", "fact", "sales", "one")
                results, _ = play(store.rows, [acts[first], acts[second]], schedule)
                lost = [result == "ConcurrentChange" or result is False for result in results]
                assert sum(lost) == 1, (schedule, results)
                winner = (first, second)[lost.index(False)]
                assert store.documents.get("shop", "fact", "sales") == ("two", "three", None)[winner]
                outcomes.add((first, second, winner))
    assert len(outcomes) == 6


def test_check_names_damaged_documents(services, documents):
    documents.create("shop", "fact", "sales", "{}")
    assert [problem for _, _, problem in services.store.check_catalog() if problem] == []
    damaged = {
        document_key("shop", "fact", "sales"): b"12345678\xff",
        b"Mshop\0fact": b"12345678{}",
        b"Mshop\0fact\0A B": b"12345678{}",
    }
    try:
        for key, cell in damaged.items():
            services.rows.clear(key, DEFINITION)
            assert services.rows.compare_and_put(key, DEFINITION, None, cell)
        found = [(database, table, problem) for database, table, problem in services.store.check_catalog() if problem]
        assert {problem.key for _, _, problem in found} == {key.hex() for key in damaged}
        assert {(database, table) for database, table, _ in found} == {("shop", None)}
        with pytest.raises(CorruptRow):
            documents.get("shop", "fact", "sales")
    finally:
        for key in damaged:
            services.rows.clear(key, DEFINITION)


@given(st.dictionaries(st.from_regex(r"[a-z0-9_]{1,10}", fullmatch=True), st.text(st.characters(codec="utf-8"))))
def test_any_documents_are_kept(texts):
    with connect("memory://") as store:
        store.create_database("shop")
        for name, text in texts.items():
            store.documents.create("shop", "fact", name, text)
        assert store.documents.all("shop", "fact") == sorted(texts.items())

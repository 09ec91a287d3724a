"""Documents: put, read, listed, removed, and every error."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore import DatabaseNotFound, InvalidInput, InvalidName, connect
from hbstore.errors import CorruptRow
from hbstore.store.documents import MAX_DOCUMENT, document_key
from hbstore.transactions.log import LOG, Log
from tests.pauses import idle
from tests.services.documents import put, remove


@pytest.fixture
def documents(services):
    return services.store.documents


def test_a_document_is_kept_as_it_is(services, documents):
    text = '{"name": "sales", "of": "Zürich \\u0000 \U0001f6b2"}'
    put(services.store, "Shop", "fact", "Sales", text)
    assert documents.get("SHOP", "fact", "SALES") == text
    assert documents.get("shop", "cube", "sales") is None
    assert documents.get("shop", "fact", "sale") is None


@pytest.mark.parametrize("name", ["none", "", "a b", "ü"])
def test_what_is_not_there_nor_can_be_is_none(documents, name):
    assert documents.get("shop", "fact", name) is None
    assert documents.get("none", "fact", "sales") is None


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
        put(services.store, database, kind, name, name * 2)
    remove(services.store, "shop", "fact", "gone")
    assert documents.names("Shop", "fact") == ["a", "b"]
    assert documents.all("shop", "fact") == [("a", "aa"), ("b", "bb")]
    assert documents.names("shop", "facts") == ["c"]
    assert documents.names("none", "fact") == documents.all("none", "fact") == []


def test_a_document_is_replaced_and_removed(services, documents):
    put(services.store, "shop", "fact", "sales", "one")
    put(services.store, "SHOP", "fact", "Sales", "two")
    assert documents.all("shop", "fact") == [("sales", "two")]
    for _ in range(2):
        remove(services.store, "shop", "fact", "Sales")
        assert documents.get("shop", "fact", "sales") is None
    put(services.store, "shop", "fact", "sales", "again")
    assert documents.get("shop", "fact", "sales") == "again"


@pytest.mark.parametrize("kind", ["", "Fact", "a b", "fact\0", "x" * 33, None])
def test_kinds_are_words(services, documents, kind):
    for call in (lambda: put(services.store, "shop", kind, "sales", ""), lambda: documents.names("shop", kind)):
        with pytest.raises(InvalidName):
            call()


@pytest.mark.parametrize("name", ["", "a b", "a\0b", "ü", "x" * 129])
def test_names_are_identifiers(services, documents, name):
    with pytest.raises(InvalidName):
        put(services.store, "shop", "fact", name, "")
    assert documents.names("shop", "fact") == []


@pytest.mark.parametrize("text", ["", "\ud800", "x" * (MAX_DOCUMENT + 1)])
def test_what_cannot_be_stored_is_refused(services, documents, text):
    with pytest.raises(InvalidInput):
        put(services.store, "shop", "fact", "sales", text)
    put(services.store, "shop", "fact", "sales", "one")
    with pytest.raises(InvalidInput):
        put(services.store, "shop", "fact", "sales", text)
    assert documents.get("shop", "fact", "sales") == "one"


def test_a_document_needs_its_database(services, documents):
    with pytest.raises(DatabaseNotFound):
        put(services.store, "none", "fact", "sales", "one")
    assert documents.get("none", "fact", "sales") is None


def test_the_documents_of_a_dropped_database_go(services, documents):
    services.store.create_database("shop2")
    for database in ("shop", "shop2"):
        put(services.store, database, "fact", "sales", "one")
        put(services.store, database, "cube", "sales", "one")
    services.store.drop_database("shop")
    services.store.create_database("shop")
    assert documents.names("shop", "fact") == documents.names("shop", "cube") == []
    assert documents.names("shop2", "fact") == documents.names("shop2", "cube") == ["sales"]


def test_check_names_damaged_documents(services, documents):
    put(services.store, "shop", "fact", "sales", "{}")
    assert [problem for _, _, problem in services.store.check_catalog() if problem] == []
    damaged = {
        document_key("shop", "fact", "sales"): Log(state=b"\xff").encode(),
        document_key("shop", "fact", "taxes"): b"{}",
        b"Mshop\0fact": Log(state=b"{}").encode(),
        b"Mshop\0fact\0A B": Log(state=b"{}").encode(),
    }
    try:
        for key in damaged:
            services.rows.remove_row(key)
        idle(0.01)  # HBase hides what is put in the millisecond of a deletion
        for key, cell in damaged.items():
            assert services.rows.compare_and_put(key, LOG, None, cell)
        found = [(database, table, problem) for database, table, problem in services.store.check_catalog() if problem]
        assert {problem.key for _, _, problem in found} == {key.hex() for key in damaged}
        assert {(database, table) for database, table, _ in found} == {("shop", None)}
        with pytest.raises(CorruptRow):
            documents.get("shop", "fact", "sales")
    finally:
        for key in damaged:
            services.rows.remove_row(key)


@given(
    st.dictionaries(
        st.from_regex(r"[a-z0-9_]{1,10}", fullmatch=True), st.text(st.characters(codec="utf-8"), min_size=1)
    )
)
def test_any_documents_are_kept(texts):
    with connect("memory://") as store:
        store.create_database("shop")
        for name, text in texts.items():
            put(store, "shop", "fact", name, text)
        assert store.documents.all("shop", "fact") == sorted(texts.items())

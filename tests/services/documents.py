"""Documents as the rooms above the store write them: as a part of a change."""

from __future__ import annotations

from hbstore.store.documents import put_document, remove_document


def put(store, database, kind, name, text):
    """Put a document in a change of its own."""
    store.documents.transactions.run(lambda transaction: put_document(transaction, database, kind, name, text))


def remove(store, database, kind, name):
    """Remove a document in a change of its own."""
    store.documents.transactions.run(lambda transaction: remove_document(transaction, database, kind, name))

"""All backends as parameters of a fixture, and the URL of each."""

from __future__ import annotations

import pytest

from hbstore.store.records import RECORD_KEYS

BACKENDS = ["memory", "nonatomic", "sqlite", pytest.param("hbase", marks=pytest.mark.hbase)]


def backend_url(request, folder):
    """The URL of a fixture's backend; a file is made in a folder, and one HBase serves all tests."""
    if request.param == "hbase":
        return request.getfixturevalue("hbase_url")
    return {"memory": "memory://", "nonatomic": "memory://?atomic=false"}.get(
        request.param, f"sqlite://{folder}/store.db"
    )


def without_records(store):
    """Remove the records of a store, which an HBase keeps from one test to the next."""
    for key, _ in list(store.rows.scan_catalog(*RECORD_KEYS)):
        kind, name = key[1:].decode().split("\0")
        store.records.drop(kind, name)

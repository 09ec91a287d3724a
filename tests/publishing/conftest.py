"""Stores between whose tables partitions are exchanged, two folders at a time."""

from __future__ import annotations

import pytest

from hbstore import PartitionStore
from hbstore.publishing import exchange_files
from hbstore.publishing.unfinished import UNFINISHED
from hbstore.rows import connect as connect_rows
from tests.pauses import without_patience
from tests.publishing.exchanges import prepare


@pytest.fixture(params=["memory://", "memory://?atomic=false"])
def url(request, monkeypatch):
    monkeypatch.setattr(exchange_files, "_BATCH", 2)
    without_patience(monkeypatch)
    return request.param


@pytest.fixture
def store(url, tmp_path):
    with PartitionStore(connect_rows(url)) as store:
        prepare(store, tmp_path)
        yield store


@pytest.fixture(autouse=True)
def _nothing_unfinished(monkeypatch):
    """Jobs of tests have the same ids, and a try of one test is none of another."""
    monkeypatch.setattr(UNFINISHED, "_tries", {})

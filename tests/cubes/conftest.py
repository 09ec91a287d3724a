"""Stores on all backends with the model of tests/cubes/samples/rides.yaml."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from hbstore import connect
from hbstore.cubes import Cubes, PartitionDesc, read_documents
from hbstore.cubes.query import rewriting
from hbstore.cubes.rereading import lost_by, written
from tests.backends import BACKENDS, backend_url

RIDES = read_documents(Path(__file__).parent / "samples" / "rides.yaml")
NOW = dt.datetime(2016, 6, 15, 12, tzinfo=dt.UTC)


@pytest.fixture(autouse=True)
def _whole_queries_are_read_again(monkeypatch):
    """Not their expressions alone: what is written of any query of these tests must be the tree that was meant."""

    def reread(query, *, pretty=False):
        text = written(query, pretty=pretty)
        lost = lost_by(query, text)
        assert lost is None, (str(lost), text)
        return text

    monkeypatch.setattr(rewriting, "written", reread)


@pytest.fixture(params=BACKENDS)
def url(request, tmp_path):
    return backend_url(request, tmp_path)


@pytest.fixture
def store(url):
    with connect(url) as store:
        for database in store.database_names():  # one HBase serves all tests
            store.drop_database(database, cascade=True)
        store.create_database("shop")
        yield store


@pytest.fixture
def empty(store):
    """Cubes without any."""
    return cubes_of(store)


@pytest.fixture
def cubes(empty):
    """The cubes of the samples."""
    empty.create_all(RIDES)
    return empty


def cubes_of(store):
    return Cubes(store, "shop", clock=lambda: NOW)


def sample(name):
    return next(one for one in RIDES if one.name == name)


def without_storage(document, storage):
    """A fact or a dimension table that is on one storage less."""
    return document.changed(storage_tables=[one for one in document.storage_tables if one.storage != storage])


def on(document, storage, /, **fields):
    """A fact with one of its storage tables changed."""
    tables = [one.changed(**fields) if one.storage == storage else one for one in document.storage_tables]
    return document.changed(storage_tables=tables)


def days(*texts, **fields):
    """Daily partitions."""
    return [PartitionDesc("DAILY", {"dt": text}, **fields) for text in texts]


def hour(text, kind="city", booked=None):
    """An hourly partition of rides_raw."""
    return PartitionDesc("HOURLY", {"dt": text, "bt": booked or text}, {"bike_kind": kind})

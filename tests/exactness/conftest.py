"""Stores that all tests of a session share, and the tally of what they compare."""

from __future__ import annotations

import pytest

from hbstore import connect
from tests.exactness import tally


@pytest.fixture(scope="session", autouse=True)
def _tally():
    with pytest.MonkeyPatch.context() as monkeypatch:
        tally.watch(monkeypatch.setattr)
        yield


@pytest.fixture(scope="session")
def stores(tmp_path_factory):
    """A store on each backend that needs no server."""
    path = tmp_path_factory.mktemp("exactness") / "store.db"
    found = [connect("memory://"), connect("memory://?atomic=false"), connect(f"sqlite://{path}")]
    yield found
    for store in found:
        store.close()

"""A store that is served over HTTP, and opened by the test itself as well."""

from __future__ import annotations

import pytest

from hbstore import connect
from hbstore.files.warehouse import Warehouse
from hbstore.query_service.access import Access
from hbstore.warehouse.service import Service
from hbstore.web.app import application
from hbstore.web.serving import http_served
from tests.query_service.test_service import serving


@pytest.fixture
def store(tmp_path):
    """The store of the server, opened by the test itself."""
    with connect(f"sqlite://{tmp_path}/store.db") as store:
        yield store


@pytest.fixture
def serve(store, tmp_path):
    """Serve the store, and connect to that."""
    with serving(store, tmp_path) as (service, _):
        catalog = Service(store, Warehouse(str(tmp_path / "warehouse"), also_under=()))
        with http_served(application(service, Access(), catalog=catalog), "127.0.0.1", 0) as port:
            yield f"http://127.0.0.1:{port}"

"""An application that is served at a port of the loopback, over a query service whose Spark is a script."""

from __future__ import annotations

import json
from contextlib import ExitStack

import pytest
import urllib3

from hbstore import connect
from hbstore.query_service.access import Access
from hbstore.web.app import application
from hbstore.web.serving import http_served
from tests.query_service.test_service import serving
from tests.web.catalog import filled


@pytest.fixture
def served(tmp_path):
    """The service and what its Spark was told."""
    with connect(f"sqlite://{tmp_path}/store.db") as store, serving(store, tmp_path) as (service, spark):
        yield service, spark


@pytest.fixture
def catalog(served, tmp_path):
    """The store with a catalog in it, and the warehouse."""
    return filled(served[0].store, tmp_path / "warehouse")


@pytest.fixture
def asking(served):
    """Serve with some access; a function that asks: method, path, document, and more of urllib3's."""
    with ExitStack() as stack:
        pool = stack.enter_context(urllib3.PoolManager())

        def serve(access, **options):
            app = application(served[0], access, **options)
            port = stack.enter_context(http_served(app, "127.0.0.1", 0))

            def ask(method, path, document=None, *, body=None, headers=None, **more):
                headers = {"Host": "localhost", **(headers or {})}
                if document is not None:
                    body, headers = json.dumps(document), {"Content-Type": "application/json", **headers}
                return pool.request(method, f"http://127.0.0.1:{port}{path}", body=body, headers=headers, **more)

            return ask

        yield serve


@pytest.fixture
def ask(asking):
    return asking(Access())


@pytest.fixture
def browse(asking, catalog):
    """Ask a server with a catalog."""
    return asking(Access(), catalog=catalog)

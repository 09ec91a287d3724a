"""A server with a catalog, and a browser."""

from __future__ import annotations

from collections import defaultdict
from contextlib import ExitStack

import pytest

from hbstore import connect
from hbstore.query_service.access import Access
from hbstore.web.app import application
from hbstore.web.serving import http_served
from tests.console.browser import NARROW, WIDE, Tab, started_browser
from tests.query_service.test_service import serving
from tests.web.catalog import filled


@pytest.fixture(scope="package")  # while Playwright runs, no test of another package can call asyncio.run
def browser():
    with started_browser() as browser:
        yield browser


@pytest.fixture(scope="package")
def pages():
    """Empty pages by the options of their contexts: a new one takes Chromium as long as four addresses of one."""
    return defaultdict(list)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("console")


@pytest.fixture(scope="module")
def queries(folder):
    """A query service whose Spark is a script, and what that was told."""
    with connect(f"sqlite://{folder}/store.db") as store, serving(store, folder) as served:
        yield served


@pytest.fixture(scope="module")
def catalog(queries, folder):
    """The store with a catalog in it, and the warehouse. Tests of a module share it and may add to it."""
    return filled(queries[0].store, folder / "warehouse")


@pytest.fixture(scope="module")
def url(queries, catalog):
    """The address of the server."""
    with http_served(application(queries[0], Access(), catalog=catalog), "127.0.0.1", 0) as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def tabs(browser, pages, url, request):
    """A function that opens a tab."""
    update = request.config.getoption("--update-golden", default=False)
    with ExitStack() as stack:

        def tab(*, narrow=False, dark=False, **options):
            size, colours = NARROW if narrow else WIDE, "dark" if dark else "light"
            empty = pages[narrow, dark, *options.items()]
            page = empty.pop() if empty else browser.new_page(viewport=size, color_scheme=colours, **options)
            tab = Tab(page, url, update=update)
            stack.callback(empty.append, page)
            stack.callback(tab.leave)
            return tab

        yield tab


@pytest.fixture
def tab(tabs):
    return tabs()

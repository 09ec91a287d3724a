"""Every link of every page leads somewhere: the pages of all rooms of the console, from the first one on."""

from __future__ import annotations

from collections import deque
from html.parser import HTMLParser
from urllib.parse import urldefrag, urljoin

import pytest
import urllib3

from tests.web.cubes import modelled

MOST = 300
"""Addresses that are asked for, as zooming alone leads to more and more of them."""


class Links(HTMLParser):
    """The addresses that a page leads to."""

    def __init__(self):
        super().__init__()
        self.addresses = []

    def handle_starttag(self, tag, attrs):
        self.addresses += [value for name, value in attrs if name == "href" and tag in ("a", "link")]


@pytest.fixture(scope="module", autouse=True)
def _model(catalog):
    modelled(catalog.store)


def test_every_link_leads_somewhere(url):
    seen, left, pages = set(), deque([f"{url}/"]), set()
    while left and len(seen) < MOST:
        address = left.popleft()
        if address in seen:
            continue
        seen.add(address)
        reply = urllib3.request("GET", address, headers={"Accept": "text/html"}, redirect=True)
        assert reply.status == 200, (address, reply.data[:300])
        if not reply.headers["Content-Type"].startswith("text/html"):
            continue
        links = Links()
        links.feed(reply.data.decode())
        pages.add(address.removeprefix(url).partition("?")[0])
        left += [there for link in links.addresses if (there := urldefrag(urljoin(address, link))[0]).startswith(url)]
    sales = "/databases/shop/tables/sales"
    assert {"/databases/shop", sales, f"{sales}/plan", f"{sales}/partitions", "/queries"} <= pages
    assert {"/databases/shop/model", "/databases/shop/timelines", "/databases/shop/facts/rides_daily"} <= pages

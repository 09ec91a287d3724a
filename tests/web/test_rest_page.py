"""What docs/rest.md says is so: its requests are asked in their order, and the replies are as they stand there."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import quote

import hbstore.client
from hbstore.query_service.access import Access
from hbstore.web.app import application
from hbstore.web.serving import http_served
from tests.web.catalog import filled
from tests.web.cubes import modelled

TEXT = (Path(__file__).parents[2] / "docs" / "rest.md").read_text(encoding="utf-8")


def agrees(shown, found):
    """Whether a reply holds what is shown of it."""
    if shown == "…":
        return found is not None
    if isinstance(shown, dict):
        return isinstance(found, dict) and all(agrees(value, found.get(name)) for name, value in shown.items())
    if isinstance(shown, list):
        return len(shown) == len(found) and all(map(agrees, shown, found))
    return shown == found


def test_the_requests_of_the_page_are_answered_as_it_says(browse):
    examples = re.findall(r"^```http\n(.*?)\n\n(\d+)\n(.*?)\n```$", TEXT, re.DOTALL | re.MULTILINE)
    assert len(examples) == TEXT.count("```http") >= 6
    for request, status, shown in examples:
        line, _, body = request.partition("\n")
        method, _, address = line.partition(" ")
        reply = browse(method, quote(address, safe="/?=&,"), json.loads(body) if body else None)
        assert reply.status == int(status), reply.data
        assert agrees(json.loads(shown), reply.json()), reply.json()


def test_what_it_says_of_python_runs(served, tmp_path):
    examples = re.findall(r"^```python\n(.*?)```$", TEXT, re.DOTALL | re.MULTILINE)
    catalog = filled(served[0].store, tmp_path / "warehouse")
    cubes = modelled(catalog.store)
    with http_served(application(served[0], Access(), catalog=catalog), "127.0.0.1", 0) as port:
        names = {"hbstore": hbstore}
        for example in examples:
            exec(example.replace("8080", str(port)), names)  # noqa: S102  the page's own
    assert catalog.store.count_partitions("shop", "sales", "ds = '2013-01-05'") == 1
    assert [one.values for one in cubes.partitions("rides_daily", "lake", "dt >= '2015-01-31'")] != []
    assert len(examples) == 2


def test_the_page_names_each_address_of_the_application(browse):
    for path in browse("GET", "/openapi.json").json()["paths"]:
        if path.startswith("/databases"):
            assert path.rsplit("/", 1)[1].replace(":path", "") in TEXT, path

"""HTTP as its book has it: Accept with weights and order, HEAD, Allow, packed texts, tags of static files."""

from __future__ import annotations

import gzip
import re

import pytest

from tests.web.catalog import SALES

PARTITIONS = f"{SALES}/partitions"
FIREFOX = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
JAVA = "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2"


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        (None, "application/json"),
        ("*/*", "application/json"),
        ("application/json", "application/json"),
        ("text/html", "text/html"),
        (FIREFOX, "text/html"),
        ("application/json;q=0.9, text/html", "text/html"),
        ("text/html, application/json", "text/html"),
        ("application/json, text/html", "application/json"),
        ("text/html;q=0, application/json", "application/json"),
        ("text/html;q=0", "application/json"),
        ("text/html;q=0.5, */*", "application/json"),
        (JAVA, "application/json"),
        ("text/csv, text/html;q=0.5", "text/csv"),
        ("text/csv;q=0.1, application/x-ndjson;q=0.9", "application/x-ndjson"),
        ("application/x-ndjson;q=0.9, text/csv;q=0.1, */*;q=0.5", "application/x-ndjson"),
        ("text/*", "text/csv"),
        ("text/csv;q=0, */*", "application/json"),
        ("application/json;q=high, ;, text/csv", "application/json"),
    ],
)
def test_a_form_is_chosen_by_weight_and_then_by_order(browse, accept, kind):
    reply = browse("GET", PARTITIONS, headers={} if accept is None else {"Accept": accept})
    assert (reply.status, reply.headers["Content-Type"].partition(";")[0]) == (200, kind)


@pytest.mark.parametrize(
    "path", ["/health", "/databases", PARTITIONS, f"{PARTITIONS}?format=ndjson", "/static/live.js"]
)
def test_head_is_get_without_a_body(browse, path):
    whole, head = browse("GET", path), browse("HEAD", path)
    assert whole.data
    assert (head.status, head.data) == (200, b"")
    for name in ("Content-Type", "Content-Length", "ETag", "Vary"):
        assert head.headers.get(name) == whole.headers.get(name)
    assert browse("HEAD", "/databases/none").status == 404


def test_a_wrong_method_is_told_the_right_ones(browse):
    for method, path, allowed in (
        ("PUT", "/queries", "HEAD, GET, POST"),
        ("OPTIONS", "/databases", "HEAD, GET, POST"),
        ("DELETE", "/health", "HEAD, GET"),
        ("POST", "/static/live.js", "HEAD, GET"),
        ("POST", SALES, "HEAD, DELETE, GET, PATCH"),
    ):
        reply = browse(method, path)
        assert reply.status == 405
        assert set(reply.headers["Allow"].split(", ")) == set(allowed.split(", ")), path


def test_each_address_tells_the_methods_that_are_described(browse):
    """Also those that stand beside names of partitions, such as …/partitions/drop."""
    described = browse("GET", "/openapi.json").json()["paths"]
    for path, operations in described.items():
        names = {"database": "shop", "table": "sales", "name": "ds=2013-01-01", "kind": "cubes"}
        address = re.sub(r"{(\w+)}", lambda match, names=names: names.get(match[1], "x"), path)
        reply = browse("OPTIONS", address)
        wanted = {method.upper() for method in operations} | ({"HEAD"} if "get" in operations else set())
        told = set(reply.headers.get("Allow", "").split(", "))
        assert (reply.status, told) == (405, wanted), (path, reply.data)


FORMS = {
    "": ("json", "thrift"),
    "/partitions": ("json", "ndjson", "arrow", "csv"),
    "/partitions/names": ("json", "text"),
    "/partitions/ds=2013-01-01/hour=5": ("json", "thrift"),
}


def test_each_form_that_may_be_asked_for_is_described(browse):
    described = browse("GET", "/openapi.json").json()["paths"]
    for behind, forms in FORMS.items():
        path = f"/databases/{{database}}/tables/{{table}}{re.sub('/ds=.*', '/{name}', behind)}"
        content = described[path]["get"]["responses"]["200"]["content"]
        sent = [browse("GET", f"{SALES}{behind}?format={form}") for form in forms]
        assert [reply.headers["Content-Type"].partition(";")[0] for reply in sent] == list(content), path


def test_large_texts_are_packed_for_who_takes_them_so(browse):
    for path in ("/openapi.json", "/static/console.css", f"{PARTITIONS}?format=ndjson"):
        plain = browse("GET", path)
        assert "Content-Encoding" not in plain.headers
        packed = browse("GET", path, headers={"Accept-Encoding": "br, gzip;q=0.5"}, decode_content=False)
        assert packed.headers["Content-Encoding"] == "gzip", path
        assert "Accept-Encoding" in packed.headers["Vary"]
        assert gzip.decompress(packed.data) == plain.data
        refused = browse("GET", path, headers={"Accept-Encoding": "gzip;q=0"}, decode_content=False)
        assert refused.data == plain.data


def test_what_is_small_or_has_a_strong_tag_or_is_no_text_is_sent_as_it_is(browse):
    for path in ("/health", SALES, f"{PARTITIONS}?format=arrow"):
        assert "Content-Encoding" not in browse("GET", path, headers={"Accept-Encoding": "gzip"}).headers


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_static_files_are_kept_and_asked_for_by_their_tags(browse, encoding):
    path, headers = "/static/console.css", {"Accept-Encoding": encoding}
    reply = browse("GET", path, headers=headers)
    assert (reply.status, reply.headers["Cache-Control"]) == (200, "no-cache")
    again = browse("GET", path, headers={**headers, "If-None-Match": reply.headers["ETag"]})
    assert (again.status, again.data) == (304, b"")
    assert browse("GET", "/databases").headers["Cache-Control"] == "no-store"

"""The model over HTTP: read and changed in each of its forms, with versions, and all that is refused."""

from __future__ import annotations

import json

import pytest

from hbstore import Table
from hbstore.cubes import Storage, parse_documents, write_documents
from hbstore.files.warehouse import Warehouse
from hbstore.query_service.access import Access
from hbstore.warehouse.service import Service
from hbstore.web.guard import MAX_BODY
from tests.web.cubes import HTTP_MODEL, modelled

YAML, XML = {"Content-Type": "application/yaml"}, {"Content-Type": "application/xml"}
FACT = f"{HTTP_MODEL}/facts/rides_daily"
LAKE = f"{HTTP_MODEL}/storages/lake"


@pytest.fixture
def cubes(catalog):
    return modelled(catalog.store)


def everything(cubes):
    kinds = ("storage", "cube", "derived_cube", "dimension", "fact", "dimtable")
    return [one for kind in kinds for one in cubes.list(kind)]


@pytest.mark.parametrize("form", ["json", "yaml", "xml"])
def test_the_model_goes_out_and_comes_back_in_each_form(browse, cubes, form):
    before = everything(cubes)
    reply = browse("GET", f"{HTTP_MODEL}?format={form}")
    kind = reply.headers["Content-Type"].partition(";")[0]
    assert (reply.status, kind, reply.headers["Vary"]) == (200, f"application/{form}", "Accept")
    assert parse_documents(reply.data.decode(), form) == before
    assert browse("GET", HTTP_MODEL, headers={"Accept": f"application/{form}"}).data == reply.data
    cubes.drop("cube", "rides", cascade=True)
    kept = browse("POST", HTTP_MODEL, body=reply.data, headers={"Content-Type": f"application/{form}"})
    assert kept.status == 200, kept.data
    assert {(one["name"], one["action"]) for one in kept.json()["steps"]} >= {("rides", "create"), ("lake", "keep")}
    assert everything(cubes) == before


def test_one_kind_is_listed(browse, cubes):
    assert [one["name"] for one in browse("GET", f"{HTTP_MODEL}?kind=storages").json()] == ["archive", "lake"]
    assert [one["kind"] for one in browse("GET", f"{HTTP_MODEL}.json?kind=facts").json()] == ["fact"]
    assert browse("GET", f"{HTTP_MODEL}?kind=fact").status == 400
    cubes.store.create_database("attic")
    assert browse("GET", "/databases/attic/model").json() == []
    assert browse("GET", "/databases/none/model").json()["error"] == "DatabaseNotFound"


def test_an_entity_is_read_in_each_form_with_an_etag_of_its_own(browse, cubes):
    tags = set()
    for form in ("json", "yaml", "xml"):
        reply = browse("GET", f"{FACT}?format={form}")
        assert parse_documents(reply.data.decode(), form) == [cubes.fact("rides_daily")]
        tag = reply.headers["ETag"]
        tags.add(tag)
        again = browse("GET", f"{FACT}?format={form}", headers={"If-None-Match": tag})
        assert (again.status, again.data) == (304, b"")
    assert len(tags) == 3
    described = browse("GET", f"{FACT}?users=true").json()
    assert described == cubes.describe("fact", "rides_daily")
    assert described["tables"] == {"lake": "lake_rides_daily", "archive": "archive_rides_daily"}
    assert browse("GET", f"{HTTP_MODEL}/facts/none").json()["error"] == "ModelNotFound"
    assert browse("GET", f"{HTTP_MODEL}/cubes/none").status == 404
    assert browse("GET", f"{HTTP_MODEL}/nothings/none").status == 400


def test_put_creates_and_alters(browse, cubes):
    attic = {"kind": "storage", "name": "attic"}
    created = browse("PUT", f"{HTTP_MODEL}/storages/attic", attic)
    assert (created.status, created.json()) == (201, attic)
    text = b"{kind: storage, name: attic, endpoint: 's3://attic'}"
    altered = browse("PUT", f"{HTTP_MODEL}/storages/attic", body=text, headers=YAML)
    assert altered.status == 200
    assert cubes.get("storage", "attic").endpoint == "s3://attic"
    assert altered.headers["ETag"] != created.headers["ETag"]
    again = browse("PUT", f"{HTTP_MODEL}/storages/attic", attic, headers={"If-None-Match": "*"})
    assert (again.status, again.json()["error"]) == (412, "VersionMismatch")


def test_if_match_is_about_what_was_read(browse, cubes):
    tag = browse("GET", f"{LAKE}?format=yaml").headers["ETag"]
    new = {"kind": "storage", "name": "lake", "endpoint": "s3://1"}
    assert browse("PUT", LAKE, new, headers={"If-Match": tag}).status == 200
    for method, path, body in (
        ("PUT", LAKE, {**new, "endpoint": "s3://2"}),
        ("DELETE", f"{LAKE}?cascade=true", None),
        ("PUT", f"{HTTP_MODEL}/storages/attic", {"kind": "storage", "name": "attic"}),
    ):
        reply = browse(method, path, body, headers={"If-Match": tag})
        assert (reply.status, reply.json()["error"]) == (412, "VersionMismatch"), path
    assert cubes.get("storage", "lake").endpoint == "s3://1"
    assert browse("PUT", LAKE, new, headers={"If-Match": "*"}).status == 200


def test_a_change_between_the_look_and_the_change_is_noticed(browse, cubes, monkeypatch):
    """The version is compared in the change itself."""
    from hbstore.cubes import Cubes

    tag = browse("GET", LAKE).headers["ETag"]
    for name in ("alter", "drop"):
        change = getattr(Cubes, name)

        def late(self, *arguments, change=change, name=name, **options):
            monkeypatch.undo()
            Cubes(self.store, "shop").alter(Storage(name="lake", endpoint=f"s3://{name}"))
            return change(self, *arguments, **options)

        monkeypatch.setattr(Cubes, name, late)
        if name == "alter":
            body = {"kind": "storage", "name": "lake", "endpoint": "s3://mine"}
            reply = browse("PUT", LAKE, body, headers={"If-Match": tag})
        else:
            tag = browse("GET", LAKE).headers["ETag"]
            reply = browse("DELETE", f"{LAKE}?cascade=true", headers={"If-Match": tag})
        assert (reply.status, reply.json()["error"]) == (412, "VersionMismatch")
        assert cubes.get("storage", "lake").endpoint == f"s3://{name}"


def test_a_check_changes_nothing(browse, cubes):
    before = everything(cubes)
    changed = cubes.fact("rides_daily").changed(weight=3.0).to_dict()
    documents = [changed, {"kind": "storage", "name": "attic"}, {"kind": "storage", "name": "lake"}]
    reply = browse("POST", f"{HTTP_MODEL}?check=true", documents).json()
    assert reply == {
        "check": True,
        "steps": [
            {"kind": "storage", "name": "attic", "action": "create"},
            {"kind": "storage", "name": "lake", "action": "keep"},
            {"kind": "fact", "name": "rides_daily", "action": "alter"},
        ],
    }
    assert everything(cubes) == before
    assert browse("POST", HTTP_MODEL, documents).json() == {**reply, "check": False}
    assert cubes.fact("rides_daily").weight == 3.0


def test_a_wrong_document_keeps_all_out(browse, cubes):
    before = everything(cubes)
    bad = {"kind": "fact", "name": "f", "cube": "nothing", "columns": [{"name": "a", "type": "int"}]}
    for query in ("", "?check=true"):
        reply = browse("POST", HTTP_MODEL + query, [{"kind": "storage", "name": "attic"}, bad])
        assert (reply.status, reply.json()["error"]) == (400, "InvalidModel")
        assert reply.headers["Content-Type"] == "application/problem+json"
    assert everything(cubes) == before


def test_a_name_that_another_table_has_is_refused_by_a_check_too(browse, cubes, catalog):
    catalog.store.create_table(Table(cubes.database, "lake_more"))
    more = cubes.fact("rides_daily").to_dict() | {"name": "more"}
    for query in ("", "?check=true"):
        reply = browse("POST", HTTP_MODEL + query, [more])
        assert (reply.status, reply.json()["error"]) == (409, "AlreadyExists")


def test_only_creating_and_only_altering(browse, cubes):
    lake, attic = {"kind": "storage", "name": "lake", "endpoint": "s3://x"}, {"kind": "storage", "name": "attic"}
    assert browse("POST", f"{HTTP_MODEL}?only=create", [lake]).json()["error"] == "AlreadyExists"
    kept = browse("POST", f"{HTTP_MODEL}?only=create&if_not_exists=true", [lake, attic]).json()["steps"]
    assert {one["name"]: one["action"] for one in kept} == {"lake": "keep", "attic": "create"}
    assert browse("POST", f"{HTTP_MODEL}?only=alter", [{"kind": "storage", "name": "n"}]).status == 404
    assert browse("POST", f"{HTTP_MODEL}?only=keep", [lake]).status == 400
    assert cubes.get("storage", "lake").endpoint is None


def test_entities_are_dropped(browse, cubes):
    used = browse("DELETE", LAKE)
    assert (used.status, used.json()["error"]) == (409, "ModelInUse")
    assert browse("DELETE", FACT).json() == {"kind": "fact", "name": "rides_daily"}
    assert browse("DELETE", FACT).status == 404
    assert browse("DELETE", f"{LAKE}?cascade=true").status == 200
    assert cubes.names("storage") == ["archive"]
    assert "lake_stations" not in cubes.store.table_names("shop")


BILLION = b"<!DOCTYPE a [<!ENTITY b 'cc'>]><x_storage name='&b;'/>"


@pytest.mark.parametrize(
    ("body", "headers", "error"),
    [
        (b"{", {"Content-Type": "application/json"}, "InvalidModel"),
        (b"kind: [", YAML, "InvalidModel"),
        (b"a: &b c\nd: *b", YAML, "InvalidModel"),
        (b"<x_storage", XML, "InvalidModel"),
        (BILLION, XML, "InvalidModel"),
        (b"<x_model a='b'/>", XML, "InvalidModel"),
        (b"<x_model><x_nothing/></x_model>", XML, "InvalidModel"),
        (b"{}", {"Content-Type": "text/csv"}, "InvalidInput"),
        (b"\xff", YAML, "InvalidInput"),
        (b"{kind: nothing, name: a}", YAML, "InvalidModel"),
        (b"[" * 100_000, {"Content-Type": "application/json"}, "InvalidModel"),
        (b" " * (MAX_BODY + 1), YAML, "RequestTooLarge"),
    ],
)
@pytest.mark.parametrize(("method", "path"), [("POST", HTTP_MODEL), ("PUT", LAKE)])
def test_a_body_that_is_no_model_is_a_named_error(browse, cubes, body, headers, error, method, path):
    before = everything(cubes)
    reply = browse(method, path, body=body, headers=headers)
    assert (reply.status, reply.json()["error"]) == (413 if error == "RequestTooLarge" else 400, error), reply.data
    assert reply.json()["hint"]
    assert everything(cubes) == before


@pytest.mark.usefixtures("cubes")
def test_the_body_is_about_the_address(browse):
    lake, attic = {"kind": "storage", "name": "lake"}, {"kind": "storage", "name": "attic"}
    for body in (attic, [lake, attic], [], {"kind": "dimension", "name": "lake", "dim_attributes": []}):
        assert browse("PUT", LAKE, body).status == 400
    assert browse("PUT", f"{HTTP_MODEL}/storages/LAKE", lake).status == 200


@pytest.mark.usefixtures("cubes")
def test_a_read_only_server_refuses(asking, catalog, tmp_path):
    read_only = Service(catalog.store, Warehouse(str(tmp_path / "warehouse")), read_only=True)
    ask = asking(Access(), catalog=read_only)
    lake = {"kind": "storage", "name": "lake"}
    for method, path, body in (("POST", HTTP_MODEL, [lake]), ("PUT", LAKE, lake), ("DELETE", LAKE, None)):
        reply = ask(method, path, body)
        assert (reply.status, reply.json()["error"]) == (403, "StoreReadOnly")
    assert ask("GET", LAKE).status == 200


def test_texts_are_kept_as_they_are(browse, cubes):
    said = "<b>&\"'\n\té\u2028</b>"
    body = {"kind": "storage", "name": "lake", "description": said}
    assert browse("PUT", LAKE, body).status == 200
    for form in ("json", "yaml", "xml"):
        reply = browse("GET", f"{LAKE}?format={form}")
        assert parse_documents(reply.data.decode(), form)[0].description == said
    assert json.loads(browse("GET", LAKE).data)["description"] == said
    assert write_documents([cubes.get("storage", "lake")], "xml")
    control = {**body, "description": "\x01"}
    assert browse("PUT", LAKE, control).status == 200
    assert browse("GET", f"{LAKE}?format=xml").json()["error"] == "InvalidModel"

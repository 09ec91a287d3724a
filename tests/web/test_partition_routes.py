"""Partitions over HTTP: by filter in each form, in pages, by name, counted and explained."""

import csv
import io
import json
from base64 import b64decode
from dataclasses import replace
from urllib.parse import quote, urlencode

import pyarrow as pa
import pytest

from hbstore import Column, Partition, Table, TableNotFound
from hbstore.files.warehouse import Warehouse
from hbstore.model.structs import decode_partition
from hbstore.warehouse.service import Service
from hbstore.web.catalog import partition_listing
from tests.web.catalog import SALES

PARTITIONS = f"{SALES}/partitions"


def get(browse, path, headers=None, **query):
    return browse("GET", f"{path}?{urlencode(query)}", headers=headers)


@pytest.mark.parametrize(
    ("address", "hint"),
    [
        (f"{SALES}/partitions?filtr=hour%20%3D%205", "Did you mean filter?"),
        (f"{SALES}?filter=ds", "This path takes format"),
    ],
)
def test_a_parameter_that_a_path_does_not_have_is_no_filter_that_selects_everything(browse, address, hint):
    reply = browse("GET", address, headers={"Accept": "application/json"})
    problem = json.loads(reply.data)
    assert (reply.status, problem["error"]) == (400, "InvalidInput")
    assert hint in problem["hint"]


def test_a_filter_selects_partitions(browse, catalog):
    found = get(browse, PARTITIONS, filter="ds > '2013-01-01' and hour = 5").json()
    assert found["next"] is None
    (first, second) = found["partitions"]
    assert first == {
        "name": "ds=2013-01-02/hour=5",
        "values": ["2013-01-02", "5"],
        "location": f"{catalog.store.get_table('shop', 'sales').location}/ds=2013-01-02/hour=5",
        "parameters": {"numRows": "100", "totalSize": "5000"},
        "create_time": 1,
        "last_access_time": 0,
    }
    assert second["name"] == "ds=2013-01-03/hour=5"


@pytest.mark.parametrize("kind", [PARTITIONS, f"{PARTITIONS}/names"])
def test_pages_are_the_whole_list(browse, catalog, kind):
    names, token = [], None
    for expected in (30, 30, 12):
        reply = get(browse, kind, limit=30, **({} if token is None else {"page": token}))
        document = reply.json()
        found = document["names"] if "names" in document else [one["name"] for one in document["partitions"]]
        names += found
        token = document["next"]
        assert (len(found), reply.headers.get("X-Next-Page")) == (expected, token)
    assert token is None
    assert names == catalog.store.table("shop.sales").names()


def test_a_page_goes_on_behind_what_was_dropped(browse, catalog):
    first = get(browse, f"{PARTITIONS}/names", filter="hour = 5", limit=1).json()
    catalog.store.table("shop.sales").drop([("2013-01-01", "5"), ("2013-01-02", "5")])
    rest = get(browse, f"{PARTITIONS}/names", filter="hour = 5", page=first["next"]).json()
    assert rest == {"names": ["ds=2013-01-03/hour=5"], "next": None}


def test_a_token_is_of_one_listing(browse, catalog):
    token = get(browse, PARTITIONS, filter="hour = 5", limit=1).json()["next"]
    for query in (
        {"filter": "hour = 6", "page": token},
        {"page": "nonsense"},
        {"filter": "hour = 5", "page": token[:-1]},
    ):
        reply = get(browse, PARTITIONS, **query)
        assert (reply.status, reply.json()["error"]) == (400, "InvalidInput")
    table = catalog.store.get_table("shop", "sales")
    catalog.store.drop_table("shop", "sales")
    catalog.store.create_table(table)
    assert get(browse, PARTITIONS, filter="hour = 5", page=token).status == 400


@pytest.mark.parametrize("step", [7, 72, 2_000])
def test_streams_hold_all_partitions(browse, catalog, monkeypatch, step):
    monkeypatch.setattr(partition_listing, "STEP", step)
    wanted = [one.values for one in catalog.store.table("shop.sales").partitions()]
    lines = get(browse, PARTITIONS, format="ndjson")
    assert lines.headers["Content-Type"] == "application/x-ndjson"
    assert [tuple(json.loads(line)["values"]) for line in lines.data.splitlines()] == wanted
    table = pa.ipc.open_stream(get(browse, PARTITIONS, format="arrow").data).read_all()
    assert [tuple(one) for one in table["values"].to_pylist()] == wanted
    assert dict(table["parameters"][0].as_py()) == {"numRows": "100", "totalSize": "5000"}
    text = get(browse, f"{PARTITIONS}/names", format="text")
    assert text.data.decode().splitlines() == catalog.store.table("shop.sales").names()
    assert len(get(browse, PARTITIONS, format="ndjson", limit=10).data.splitlines()) == 10


def test_streams_of_nothing_are_whole(browse):
    assert get(browse, PARTITIONS, filter="hour = 99", format="ndjson").data == b""
    table = pa.ipc.open_stream(get(browse, PARTITIONS, filter="hour = 99", format="arrow").data).read_all()
    assert (table.num_rows, table.column_names[0]) == (0, "name")
    assert get(browse, PARTITIONS, filter="hour = 99").json() == {"partitions": [], "next": None}


def test_a_stream_reads_no_more_than_it_is_asked_for(catalog, monkeypatch):
    """Whatever the listing's size, a page of it is all that is there at once."""
    monkeypatch.setattr(partition_listing, "STEP", 10)
    sizes = []
    read = catalog.store.read_payloads
    monkeypatch.setattr(
        catalog.store,
        "read_payloads",
        lambda *given, **named: sizes.append(named["max_parts"]) or read(*given, **named),
    )
    pages = partition_listing.PartitionListing(Service(catalog.store, Warehouse("/wh")), "shop", "sales").pages(
        None, None
    )
    assert len(next(pages).payloads) == 10
    assert sizes == [11]
    assert sum(len(one.payloads) for one in pages) == 62
    assert sizes == [11] * 8


def _another_sales(store):
    """Another table comes to the name of ``shop.sales``."""
    sales = store.get_table("shop", "sales")
    store.rename_table("shop", "sales", replace(sales, name="sold"))
    store.create_table(sales)
    store.add_partitions("shop", "sales", [Partition(("2013-02-01", "1"))])


def test_a_stream_ends_where_another_table_gets_the_name(catalog, monkeypatch):
    monkeypatch.setattr(partition_listing, "STEP", 10)
    store, listing = (
        catalog.store,
        partition_listing.PartitionListing(Service(catalog.store, Warehouse("/wh")), "shop", "sales"),
    )
    pages = listing.pages(None, None)
    next(pages)
    _another_sales(store)
    with pytest.raises(TableNotFound, match="another one has its name"):
        list(pages)


def test_a_token_holds_for_its_table_alone_when_another_gets_the_name_while_it_is_read(browse, catalog, monkeypatch):
    store = catalog.store
    token = get(browse, PARTITIONS, limit=2).json()["next"]
    table_row = store.table_row

    def slow(*named):
        row = table_row(*named)
        monkeypatch.undo()
        _another_sales(store)
        return row

    monkeypatch.setattr(store, "table_row", slow)
    reply = get(browse, PARTITIONS, page=token)
    assert (reply.status, reply.json()["error"]) == (404, "TableNotFound")


def test_accept_says_the_form_as_well(browse):
    kinds = {
        "application/x-ndjson": b'{"name"',
        "application/json": b'{"partitions"',
        "text/html, */*": b"<!doctype html>",
    }
    for kind, begin in kinds.items():
        assert get(browse, PARTITIONS, headers={"Accept": kind}, fields="name").data.startswith(begin)
    assert browse("GET", f"{PARTITIONS}.json", headers={"Accept": "application/x-ndjson"}).json()["next"] is None


def test_fields_are_what_is_sent(browse, catalog):
    (one,) = get(browse, PARTITIONS, filter="hour = 5", limit=1, fields="thrift,storage, name").json()["partitions"]
    assert list(one) == ["thrift", "storage", "name"]
    stored = catalog.store.get_partition("shop", "sales", ("2013-01-01", "5"))
    assert decode_partition(b64decode(one["thrift"])) == stored
    assert one["storage"]["columns"] == [{"name": "amount", "type": "decimal(10,2)", "comment": "in euros"}]
    arrow = get(browse, PARTITIONS, filter="hour = 5", fields="thrift", format="arrow").data
    assert pa.ipc.open_stream(arrow).read_all()["thrift"][0].as_py() == stored.payload
    for wrong in ("nothing", "", "name,nothing"):
        assert get(browse, PARTITIONS, fields=wrong).json()["error"] == "InvalidInput"
    assert get(browse, PARTITIONS, fields="storage", format="arrow").status == 400


def test_a_partition_is_read_by_its_name(browse):
    listed = get(browse, PARTITIONS, filter="hour = 5", limit=1).json()["partitions"][0]
    for name in ("ds=2013-01-01/hour=5", "hour=5/ds=2013-01-01"):
        found = browse("GET", f"{PARTITIONS}/{name}").json()
        assert {field: found[field] for field in listed} == listed
    missing = browse("GET", f"{PARTITIONS}/ds=2013-01-01/hour=99")
    assert (missing.status, missing.json()["error"]) == (404, "PartitionNotFound")
    odd = browse("GET", f"{PARTITIONS}/ds=2013-01-01")
    assert (odd.status, odd.json()["error"]) == (400, "InvalidPartitionValue")


@pytest.mark.parametrize("value", ["a/b", "50%", "é ü", "a=b:c", "x.json", "a?b#c"])
def test_names_are_escaped_like_all_texts_in_addresses(browse, catalog, value):
    catalog.store.create_table(Table("shop", "odd", [Column("s", "string")], location="file:/odd"))
    catalog.store.table("shop.odd").add([Partition((value,))])
    (name,) = browse("GET", "/databases/shop/tables/odd/partitions/names").json()["names"]
    assert browse("GET", f"/databases/shop/tables/odd/partitions/{quote(name)}").json()["values"] == [value]


def test_partitions_are_counted(browse):
    assert get(browse, f"{PARTITIONS}/count", filter="hour in (5, 6)").json() == {"count": 6}
    assert browse("GET", f"{PARTITIONS}/count").json() == {"count": 72}


def test_a_plan_is_explained_and_measured(browse, catalog):
    text = "ds = '2013-01-01' and hour != 5"
    plan = get(browse, f"{SALES}/plan", filter=text).json()
    explained = catalog.store.explain("shop", "sales", text)
    assert plan == {**explained.to_dict(), "text": str(explained)}
    measured = get(browse, f"{SALES}/plan", filter=text, analyze="true").json()
    assert (measured["rows_returned"], measured["kept"]["partitions"], measured["of"]["partitions"]) == (23, 23, 72)


@pytest.mark.parametrize(
    ("filter", "error"),
    [("hour =", "FilterSyntaxError"), ("month = 5", "UnknownColumnError"), ("hour = 'x'", "FilterTypeError")],
)
@pytest.mark.parametrize("path", [PARTITIONS, f"{PARTITIONS}/names", f"{PARTITIONS}/count", f"{SALES}/plan"])
def test_a_filter_that_cannot_be_used_is_explained(browse, path, filter, error):
    for more in ({}, {"format": "ndjson"} if path == PARTITIONS else {}):
        reply = get(browse, path, filter=filter, **more)
        assert (reply.status, reply.json()["error"]) == (400, error)
    assert get(browse, path, filter="hour =").json()["highlight"]


def test_the_dialect_of_like_can_be_hive_s(browse):
    assert get(browse, f"{PARTITIONS}/count", filter="ds like '2013-.*-02'", like_dialect="hive2").json() == {
        "count": 24
    }


def test_a_spec_names_texts(browse, catalog):
    odd = [("2013-01-09", hour) for hour in ("5", "05", "5.0", "five", "a/b")]
    catalog.store.table("shop.sales").add([Partition(one) for one in odd], invalid_values="keep")
    for text, name in (
        ("5", "hour=5"),
        ("05", "hour=05"),
        ("5.0", "hour=5.0"),
        ("five", "hour=five"),
        ("a%2Fb", "hour=a%2Fb"),
    ):
        for spec in (f"hour={text}", f"HOUR={text}/ds=2013-01-09"):
            query = {"spec": spec, "filter": "ds > '2013-01-03'"}
            assert get(browse, f"{PARTITIONS}/names", **query).json()["names"] == [f"ds=2013-01-09/{name}"]
            assert [one["name"] for one in get(browse, PARTITIONS, **query).json()["partitions"]] == [
                f"ds=2013-01-09/{name}"
            ]
    pages = get(browse, f"{PARTITIONS}/names", spec="hour=5", limit=2).json()
    rest = get(browse, f"{PARTITIONS}/names", spec="hour=5", page=pages["next"]).json()
    assert pages["names"] + rest["names"] == [f"ds=2013-01-0{day}/hour=5" for day in (1, 2, 3, 9)]
    assert get(browse, f"{PARTITIONS}/names", spec="hour=6", page=pages["next"]).json()["error"] == "InvalidInput"
    for wrong in ("hour", "", "region=eu", "hour=5/HOUR=5", "hour=", "=5"):
        reply = get(browse, f"{PARTITIONS}/names", spec=wrong)
        assert (reply.status, reply.json()["error"]) == (400, "InvalidPartitionValue"), wrong


def test_csv_has_values_numbers_and_locations(browse):
    lines = get(browse, PARTITIONS, format="csv").data.decode().split("\r\n")
    assert lines[0] == "ds,hour,rows,files,size,created,location"
    assert lines[1].startswith("2013-01-01,0,100,,5000,1970-01-01T00:00:01Z,")
    assert len(lines) == 1 + 72 + 1
    reply = browse("GET", f"{PARTITIONS}?filter=hour%20%3D%2099", headers={"Accept": "text/csv"})
    assert reply.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert reply.data == b"ds,hour,rows,files,size,created,location\r\n"


def test_csv_quotes_what_it_must(browse, catalog):
    store = catalog.store
    store.create_table(Table("shop", "quoted", [Column("name", "string")], location="s3://shop/quoted"))
    store.table("shop.quoted").add([Partition(('a "b", c\nd',), location="s3://shop/quoted/a")])
    text = get(browse, "/databases/shop/tables/quoted/partitions", format="csv").data.decode()
    ((_, *_), row) = csv.reader(io.StringIO(text, newline=""))
    assert (row[0], row[-1]) == ('a "b", c\nd', "s3://shop/quoted/a")

"""The page about a server, in a browser: what is late or stuck, queries, disks; and servers that lack something."""

from __future__ import annotations

import datetime as dt
import http.client
import time
from contextlib import suppress

import pytest

from hbstore import Column, Database, Table, connect
from hbstore.console import status_pages
from hbstore.errors import SparkLost
from hbstore.files.warehouse import Warehouse
from hbstore.model.service_objects import LockComponent, LockLevel, LockType
from hbstore.publishing import Manifest, PartitionWrite
from hbstore.publishing.dropped_files import unfinished_drops
from hbstore.query_service.access import Access
from hbstore.query_service.messages import Cancelled
from hbstore.query_service.observing import SparkState
from hbstore.query_service.query import QueryProblem
from hbstore.release import VERSION
from hbstore.store.partition_store import PartitionStore
from hbstore.warehouse import health
from hbstore.warehouse.databases import create_database
from hbstore.warehouse.service import Service
from hbstore.warehouse.tables import create_table, drop_table
from hbstore.web.app import application
from hbstore.web.serving import http_served
from tests.console.browser import LOOKS
from tests.console.facts import got, hired
from tests.console.finishing import failed, started, submitted
from tests.query_service.test_service import serving
from tests.store.faults import Crash, Fault, FaultyRows
from tests.web.catalog import filled

DAILY = {"cube.storagetable.time.partcols": "dt", "cube.storagetable.update.periods": "DAILY"}


@pytest.fixture(scope="module", autouse=True)
def troubled(catalog, queries):
    """A store with what somebody is called for: holes, a failed query, a dead publication, a lock that waits."""
    store, service = catalog.store, queries[0]
    catalog.warehouse.make_folder(catalog.warehouse.root)
    hired(store)
    today = dt.datetime.now(dt.UTC).date()
    parameters = {**DAILY, "last_modified_by": "eve"}
    store.create_table(Table("shop", "daily", [Column("dt", "string")], parameters=parameters))
    store.table("shop.daily").add([(str(today - dt.timedelta(days=number)),) for number in (3, 4, 6)])
    store.create_table(Table("shop", "gone", [Column("dt", "string")]))
    store.drop_table("shop", "gone")
    write = PartitionWrite(("2013-01-01", "5"), "s3://shop/sales/new")
    manifest = Manifest("7", "s3://shop/sales/_hbstore/7", (write,)).encode()
    store.publications.lease(store.table_row("shop", "sales"), "7", {}, manifest, until=time.time() - 5_000)
    component = LockComponent(LockType.EXCLUSIVE, LockLevel.TABLE, "shop", "sales")
    for user, host in (("ann", "lake1"), ("bob", "lake2")):
        store.hive.locks.lock([component], user=user, host=host)
    failed(service, QueryProblem(error="QueryFailed", text="the table is not there"), text="select n", user="ann")
    runs = submitted(service, text="select bike, sum(fare) from rides_raw group by bike", user="bob")
    started(service, runs, tasks=8, tasks_done=3)
    service.clock.now += dt.timedelta(minutes=12)
    yield
    service.runner.heard(Cancelled(runs))


def region(tab, name):
    return [
        " ".join(line.split())
        for line in tab.page.get_by_role("region", name=name).locator("tbody tr").all_inner_texts()
    ]


@LOOKS
def test_what_somebody_is_called_for_is_on_one_page(tabs, narrow, dark):
    tab = tabs(narrow=narrow, dark=dark)
    tab.open("/databases")
    tab.page.get_by_role("link", name="Status").click()
    tab.page.wait_for_url("**/status")
    assert tab.text("h1") == "Status"
    late = region(tab, "Timelines that are behind or have holes")
    assert late[0].startswith("shop.daily – DAILY dt ")
    assert " 2 days 1 1 " in late[0]
    assert late[1].startswith("city.lake_hires hires HOURLY dt 2015-04-21-08 ")
    assert late[1].endswith("hours 54 4 2015-04-15-02")
    assert "Nothing in a catalog says when data are due." in tab.text()
    assert region(tab, "Queries that run")[0].endswith("12 min 0 s 3 of 8")
    assert region(tab, "Queries that failed")[0].endswith("the table is not there QueryFailed")
    assert "Spark runs." in tab.text()
    assert region(tab, "What is stuck")[0].startswith("shop.sales publication, overdue 1 h 23 min")
    assert region(tab, "What is stuck")[0].endswith("Finish Give up …")
    assert region(tab, "Locks that wait")[0].startswith("shop.sales bob lake2 lock 2 ann lake1 lock 1")
    changed = region(tab, "What changed last")
    assert any(line.startswith("shop.gone table dropped") for line in changed)
    assert any(line.startswith("shop.daily table") and "eve last altered it, process" in line for line in changed)
    assert any(line.split()[1] == "store" for line in region(tab, "Room on disks"))
    assert "The store's file has" in tab.text()
    assert f"hbstore {VERSION}" in " ".join(tab.text("section:has(#versions)").split())
    tab.check()
    if not narrow and not dark:
        tab.picture("status", whole=False)


def test_no_column_is_out_of_sight_on_a_telephone(tabs):
    tab = tabs(narrow=True)
    tab.open("/status")
    widths = "all => all.map(one => [one.scrollWidth, one.clientWidth])"
    assert all(inside <= outside for inside, outside in tab.page.locator(".wide").evaluate_all(widths))
    shown = tab.page.locator("td[data-label='Newest hole']").first
    assert shown.evaluate("cell => getComputedStyle(cell, '::before').content") == '"Newest hole"'


def test_the_tiles_lead_to_the_parts(tab):
    tab.open("/status")
    tiles = [" ".join(text.split()) for text in tab.page.locator(".tiles a").all_inner_texts()]
    assert tiles[0] == "ready server"
    assert tiles[3:7] == ["1 query runs", "1 query failed", "running Spark", "2 stuck"]
    for link in tab.page.locator(".tiles a").all():
        assert tab.page.locator(link.get_attribute("href")).count() == 1


def test_of_many_queries_the_newest_are_looked_at_and_those_that_run_here(url, monkeypatch):
    monkeypatch.setattr(status_pages, "_LOOKED", 0)
    text = got(url, "/status")
    assert "sum(fare) from rides_raw" in text
    assert "the table is not there" not in text


def test_a_spark_that_does_not_start_says_why(tab, queries):
    runner = queries[0].runner
    before = runner._state, runner._problem
    runner._problem = SparkLost("queries need Spark, and Spark needs Java", hint="Install a JDK 17")
    runner._spark_is(SparkState.FAILED)
    tab.open("/status")
    assert "Spark did not start" in tab.text()
    assert "Install a JDK 17." in tab.text(".problem")
    tab.check()
    runner._problem = before[1]
    runner._spark_is(before[0])


def test_a_server_without_java(url, monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    text = " ".join(got(url, "/status").split())
    assert '<dt>Java</dt><dd><span class="quiet">none installed</span>' in text


def test_a_store_with_nothing_in_it(tmp_path):
    with connect("memory://") as store, serving(store, tmp_path) as (service, _):
        catalog = Service(store, filled_warehouse(tmp_path))
        with http_served(application(service, Access(), catalog=catalog), "127.0.0.1", 0) as port:
            text = got(f"http://127.0.0.1:{port}", "/status")
    assert "No table keeps timelines, so nothing says what is late." in text
    assert "Nobody has asked a query yet." in text
    assert "Nothing has changed yet." in text
    assert "The store is in no file of this machine." in text


def filled_warehouse(folder):
    with connect("memory://") as other:
        return filled(other, folder / "warehouse").warehouse


def test_a_store_that_does_not_answer_is_named_and_the_rest_is_shown(queries, catalog, monkeypatch):
    monkeypatch.setattr(health, "KEPT", 0.0)
    gone = Service(PartitionStore(FaultyRows(catalog.store.rows, Fault.GONE, 0)), catalog.warehouse)
    with http_served(application(queries[0], Access(), catalog=gone), "127.0.0.1", 0) as port:
        text = got(f"http://127.0.0.1:{port}", "/status")
    assert "The server is not ready: it cannot use its store." in text
    assert "Late or with holes" not in text
    assert "Spark runs." in text
    assert VERSION in text


def test_a_part_that_cannot_be_read_says_why_and_hides_no_other(url, monkeypatch):
    def refuse(*_, **__):
        raise SparkLost("the lock table is damaged", hint="Restore it")

    monkeypatch.setattr(status_pages, "waiting_locks", refuse)
    text = got(url, "/status")
    assert "the lock table is damaged" in text
    assert "publication, overdue" in text


def test_who_has_no_token_sees_nothing(queries, catalog):
    with http_served(
        application(queries[0], Access(tokens={"0123456789abcdef": "ann"}), catalog=catalog), "127.0.0.1", 0
    ) as port:
        assert "shop" not in got(f"http://127.0.0.1:{port}", "/status", 401)


def sent(port, path, **headers):
    """The status of the reply to a button, and where it leads or what it says."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    form = {"Accept": "text/html", "Content-Type": "application/x-www-form-urlencoded"}
    connection.request("POST", path, headers={**form, **headers})
    reply = connection.getresponse()
    found = reply.status, reply.getheader("Location") or reply.read().decode()
    connection.close()
    return found


@pytest.fixture
def stuck(tmp_path):
    """A store with a dead publication and a table whose drop was not finished, and its warehouse."""
    with connect("memory://") as store:
        warehouse = Warehouse(str(tmp_path / "wh"))
        create_database(store, warehouse, Database("shop"))
        for name in ("sales", "gone"):
            create_table(store, warehouse, Table("shop", name, [Column("dt", "string")]))
        (tmp_path / "wh/shop.db/gone/rows").write_text("rows")
        manifest = Manifest("7", f"file:{tmp_path}/wh/shop.db/sales/_hbstore/7", ()).encode()
        store.publications.lease(store.table_row("shop", "sales"), "7", {}, manifest, until=time.time() - 5_000)
        with pytest.MonkeyPatch.context() as patch, suppress(Crash):
            now = time.time()
            patch.setattr(time, "time", lambda: now - 500)
            patch.setattr(Warehouse, "delete", lambda *_, **__: crash())
            drop_table(store, warehouse, "shop", "gone", delete=True)
        yield store, warehouse


def crash():
    raise Crash


def test_what_is_stuck_is_finished_or_given_up_by_those_who_may(stuck, queries, tmp_path):
    store, warehouse = stuck
    (drop,) = unfinished_drops(store)
    finish, give_up = "/publications/shop.sales/finish", f"/publications/shop.gone/{drop.id}/abandon"

    def at(*, read_only=False, **tokens):
        catalog = Service(store, warehouse, read_only=read_only)
        return http_served(application(queries[0], Access(**tokens), catalog=catalog), "127.0.0.1", 0)

    with at(read_only=True) as port:
        text = got(f"http://127.0.0.1:{port}", "/status")
        assert "hbstore publications finish shop.sales" in text
        assert "<button" not in text
        for path in (finish, give_up):
            assert sent(port, path)[0] == 403
    with at(tokens={"0123456789abcdef": "ann"}) as port:
        for path in (finish, give_up):
            assert sent(port, path)[0] == 401
            assert sent(port, path, Authorization="Bearer 0123456789abcdef", Origin="http://elsewhere")[0] == 403
        assert len(unfinished_drops(store)) == 1
        assert sent(port, finish, Authorization="Bearer 0123456789abcdef") == (303, "/status#stuck")
    assert store.publications.of(store.table_row("shop", "sales")) == []
    with at() as port:
        assert "drop, files not deleted" in got(f"http://127.0.0.1:{port}", "/status")
        status, text = sent(port, give_up)
        assert (status, f"{tmp_path}/wh/shop.db/gone" in text) == (200, True)
        assert sent(port, give_up)[0] == 404
        assert "Every publication and every change is finished" in got(f"http://127.0.0.1:{port}", "/status")
    assert (tmp_path / "wh/shop.db/gone/rows").exists()

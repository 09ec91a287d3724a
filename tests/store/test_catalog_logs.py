"""What logs say of the objects of a catalog: who changed each last, also of those that were dropped."""

from __future__ import annotations

import os

from hbstore import Column, Table
from hbstore.store.catalog_logs import CatalogObject, catalog_objects
from hbstore.transactions.log import Log
from tests.services.documents import put as put_document


def seen(store):
    return {(one.kind, one.name): one for one in catalog_objects(store.rows)}


def test_databases_tables_and_documents_are_seen_with_their_last_change(store):
    store.create_database("city")
    store.create_table(Table("city", "rides", [Column("ds", "date")]))
    put_document(store, "city", "fact", "hires", "{}")
    before = seen(store)
    assert {("database", "city"), ("table", "city.rides"), ("fact", "city.hires")} <= before.keys()
    store.table("city.rides").add([("2015-01-01",)])
    after = seen(store)
    table = after["table", "city.rides"]
    assert (table.log.sequence, table.is_there) == (before["table", "city.rides"].log.sequence + 1, True)
    assert table.changed_at >= after["database", "city"].changed_at > 0
    assert table.changed_by.startswith(f"process {os.getpid()} on ")
    assert after["database", "city"].log.last == before["database", "city"].log.last


def test_a_dropped_table_still_has_a_log(store):
    store.create_database("city")
    store.create_table(Table("city", "gone", [Column("ds", "date")]))
    store.drop_table("city", "gone")
    gone = seen(store)["table", "city.gone"]
    assert (gone.is_there, gone.log.sequence) == (False, 2)


def test_a_log_that_does_not_say_who():
    nobody = CatalogObject("table", ("city", "rides"), Log(last="damaged"))
    assert (nobody.changed_at, nobody.changed_by) == (None, None)

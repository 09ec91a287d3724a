"""Timelines and holes over HTTP."""

from hbstore import Column, Table
from hbstore.web.catalog.timeline_routes import TimelineDocument
from tests.web.catalog import SALES

DECLARED = {"cube.storagetable.time.partcols": "dt", "cube.storagetable.update.periods": "DAILY,MONTHLY"}


def test_a_table_s_timelines_tell_times_and_holes(browse, catalog):
    store = catalog.store
    store.create_table(Table("shop", "timed", [Column("dt", "string")], parameters=DECLARED))
    path = "/databases/shop/tables/timed/timelines"
    empty = browse("GET", path).json()["timelines"]
    assert [(one["update_period"], one["first"], one["missing"]) for one in empty] == [
        ("DAILY", None, 0),
        ("MONTHLY", None, 0),
    ]
    store.table("shop.timed").add([(f"2015-01-0{day}",) for day in (1, 2, 4, 7)])
    daily = browse("GET", path).json()["timelines"][0]
    assert (daily["partition_column"], daily["first"], daily["latest"]) == ("dt", "2015-01-01", "2015-01-07")
    assert (daily["times"], daily["missing"]) == (4, 3)
    assert daily["holes"] == [
        {"start": "2015-01-03", "end": "2015-01-04"},
        {"start": "2015-01-05", "end": "2015-01-07"},
    ]
    assert len(browse("GET", f"{path}?holes=1").json()["timelines"][0]["holes"]) == 1
    assert TimelineDocument.model_validate(daily) == TimelineDocument.of(
        store.table("shop.timed").timelines["DAILY"], 9
    )


def test_a_table_may_keep_none(browse):
    assert browse("GET", f"{SALES}/timelines").json() == {"timelines": []}
    assert browse("GET", "/databases/shop/tables/none/timelines").json()["error"] == "TableNotFound"

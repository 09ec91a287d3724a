"""Facts over HTTP: timelines, covers in pages, partitions registered and dropped."""

from __future__ import annotations

import datetime as dt
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore.cubes import Cover, CoverPartitions, CoverRun, Cubes
from hbstore.cubes.fact_times import Coverable
from hbstore.files.warehouse import Warehouse
from hbstore.query_service.access import Access
from hbstore.timelines import RangesPartitionTimeline, UpdatePeriod
from hbstore.timelines.factory import timeline_of
from hbstore.timelines.runs import joined
from hbstore.warehouse.service import Service
from hbstore.web.cubes.fact_documents import CoverDocument
from tests.timelines.strategies import utc
from tests.web.cubes import FACT, days, modelled

XML = """<x_partition_list>
  <x_partition fact_or_dimension_table_name="rides_daily" update_period="DAILY">
    <time_partition_spec><part_spec_element key="dt" value="2015-02-02T00:00:00"/></time_partition_spec>
  </x_partition>
</x_partition_list>"""


@pytest.fixture
def cubes(catalog):
    return modelled(catalog.store)


def test_timelines_of_all_storages_and_periods(browse, cubes):
    found = browse("GET", f"{FACT}/timelines").json()["timelines"]
    assert [(one["storage_table"], one["update_period"], one["times"]) for one in found] == [
        ("lake_rides_daily", "HOURLY", 1),
        ("lake_rides_daily", "DAILY", 2),
        ("archive_rides_daily", "DAILY", 0),
    ]
    assert "properties" not in found[0]
    cubes.add_partitions("rides_daily", "lake", days("2015-02-02", "2015-02-04"))
    chosen = f"{FACT}/timelines?storage=lake&update_period=daily&time_dimension=start_time"
    (one,) = browse("GET", f"{chosen}&holes=1&properties=true").json()["timelines"]
    assert (one["missing"], one["holes"]) == (3, [{"start": "2015-01-31", "end": "2015-02-02"}])
    again = timeline_of("lake_rides_daily", UpdatePeriod.DAILY, "dt", one["properties"])
    assert list(again) == list(cubes.timelines("rides_daily", storage="lake", update_period="DAILY")[0])


@pytest.mark.parametrize(
    ("query", "status", "error"),
    [
        ("timelines?storage=none", 404, "ModelNotFound"),
        ("timelines?update_period=FORTNIGHTLY", 400, "UnknownUpdatePeriod"),
        ("timelines?time_dimension=none", 400, "UnknownTimeDimension"),
        ("timelines?holes=-1", 400, "InvalidInput"),
        ("cover?from=2015-01-30&to=2015-01-29", 400, "InvalidTimeRange"),
        ("cover?from=2015-01-30", 400, "InvalidInput"),
        ("cover?from=yesterday&to=2015-02", 400, "TimeRangeSyntaxError"),
        ("cover?from=2015-01-30Tnoon&to=2015-02", 400, "TimeRangeSyntaxError"),
        ("cover?from=2015-01-30T99&to=2015-02", 400, "InvalidTime"),
        ("cover?from=0001-01-01T00:00:00%2B10:00&to=2015-02", 400, "InvalidTime"),
        ("cover?from=2015-01-29&to=2015-02-02", 409, "Uncoverable"),
        ("cover?from=2015-01-29&to=2015-01-30&limit=0", 400, "InvalidInput"),
        ("cover?from=2015-01-29&to=2015-01-30&time_dimension=x", 400, "UnknownTimeDimension"),
        ("cover?from=2015-01-29&to=2015-02-02&partial=true&page=next", 400, "TimeRangeSyntaxError"),
        ("cover?from=2015-01-29&to=2015-02-02&partial=true&page=2015-02-30T00:00:00Z", 400, "InvalidTime"),
        ("wait?from=2015-01-30&to=2015-01-29", 400, "InvalidTimeRange"),
        ("wait?from=2015-01-29&to=2015-01-30&seconds=-1", 400, "InvalidInput"),
        ("wait?from=2015-01-29&to=2015-01-30&seconds=1e9", 400, "InvalidInput"),
        ("wait?from=2015-01-29&to=2015-01-30&seconds=nan", 400, "InvalidInput"),
        ("partitions?storage=none", 404, "ModelNotFound"),
        ("partitions", 400, "InvalidInput"),
    ],
)
@pytest.mark.usefixtures("cubes")
def test_what_cannot_be_asked_is_a_named_error(browse, query, status, error):
    reply = browse("GET", f"{FACT}/{query}", redirect=False)
    assert (reply.status, reply.json()["error"]) == (status, error), reply.data
    assert reply.json()["hint"]


@pytest.mark.usefixtures("cubes")
def test_a_fact_that_is_not_there(browse):
    for query in ("timelines", "cover?from=2015&to=2016", "wait?from=2015&to=2016", "partitions"):
        for path in ("/databases/shop/facts/none", "/databases/none/facts/rides_daily"):
            assert browse("GET", f"{path}/{query}").json()["error"] == "ModelNotFound"


@pytest.mark.usefixtures("cubes")
def test_a_cover_says_partitions_and_what_is_missing(browse):
    reply = browse("GET", f"{FACT}/cover?from=2015-01-29&to=2015-02-01&partial=true").json()
    assert reply == {
        "fact": "rides_daily",
        "complete": False,
        "partitions": 3,
        "runs": [
            {
                "storage_table": "lake_rides_daily",
                "update_period": "DAILY",
                "from": "2015-01-29",
                "to": "2015-01-31",
                "partitions": 2,
            },
            {
                "storage_table": "lake_rides_daily",
                "update_period": "HOURLY",
                "from": "2015-01-31-00",
                "to": "2015-01-31-01",
                "partitions": 1,
            },
        ],
        "missing": [{"from": "2015-01-31T01:00:00Z", "to": "2015-02-01T00:00:00Z"}],
        "next": None,
    }
    zone = quote("2015-01-29T01:00:00+01:00")
    whole = browse("GET", f"{FACT}/cover?from={zone}&to=2015-01-31T01:00:00").json()
    assert (whole["complete"], whole["partitions"], whole["missing"]) == (True, 3, [])


@pytest.mark.usefixtures("cubes")
def test_a_cover_of_a_million_hours_is_small(browse):
    reply = browse("GET", f"{FACT}/cover?from=1901&to=2021&partial=true")
    assert len(reply.data) < 2_000
    assert reply.json()["partitions"] == 3


def pages(cover, limit):
    """What a client puts together that follows ``next``."""
    found, start = [], utc(2015, 1, 1)
    while start is not None:
        found.append(CoverDocument.of("f", cover(start), limit))
        start = found[-1].next
    return found


def test_a_page_takes_no_week_that_the_whole_cover_leaves():
    """The whole range holds a quarter, whose end no week crosses; the second page alone holds none."""
    week, quarter, start, end = UpdatePeriod.WEEKLY, UpdatePeriod.QUARTERLY, utc(2015, 1, 1), utc(2015, 5, 1)
    weeks = RangesPartitionTimeline("t", week, "dt")
    weeks.add_all(map(week.parse, ("2015-W02", "2015-W10", "2015-W14")))
    now = Coverable({week: [weeks], quarter: [RangesPartitionTimeline("t", quarter, "dt")]}, (None, None))
    runs = [
        run.start
        for page in pages(lambda since: now.cover_since(since, start, end, partial=True), 1)
        for run in page.runs
    ]
    assert runs == ["2015-W02", "2015-W10"]
    assert [
        run.period.format_index(run.start) for run in now.cover(utc(2015, 3, 2), end, partial=True).partitions.runs
    ] == [
        "2015-W10",
        "2015-W14",
    ]


def test_a_page_after_which_a_month_was_registered_is_covered_by_itself():
    day, month, end = UpdatePeriod.DAILY, UpdatePeriod.MONTHLY, utc(2015, 3, 1)
    days, months = RangesPartitionTimeline("t", day, "dt"), RangesPartitionTimeline("t", month, "dt")
    days.add_all(map(day.parse, ("2015-01-10", "2015-01-20", "2015-01-21")))
    now = Coverable({day: [days], month: [months]}, (None, None))
    first = CoverDocument.of("f", now.cover(utc(2015, 1, 1), end, partial=True), 1)
    months.add(month.parse("2015-01"))
    rest = CoverDocument.of("f", now.cover_since(first.next, utc(2015, 1, 1), end, partial=True), 10)
    assert [(run.start, run.end) for run in rest.runs] == [("2015-01-20", "2015-01-22")]
    assert [(one.start, one.end) for one in rest.missing] == [(utc(2015, 1, 22), end)]


@given(st.data(), st.integers(1, 5))
def test_pages_of_a_cover_are_the_cover(data, limit):
    """Of any periods, also of weeks and months, which do not lie within each other."""
    start, end = utc(2015, 1, 1), utc(2015, 5, 1)
    periods = data.draw(st.lists(st.sampled_from(list(UpdatePeriod)[3:]), min_size=1, max_size=3, unique=True))
    timelines = {}
    for period in periods:
        first, last = period.ceil_index(moment(start)), period.floor_index(moment(end))
        made = RangesPartitionTimeline("t", period, "dt")
        indexes = data.draw(st.sets(st.integers(first, max(first, last - 1)), max_size=12))
        made.add_all(map(period.time, indexes))
        timelines[period] = [made]
    now = Coverable(timelines, (None, None))
    whole = now.cover(start, end, partial=True)
    found = pages(lambda since: now.cover_since(since, start, end, partial=True), limit)
    assert [run for page in found for run in page.runs] == CoverDocument.of("f", whole, 10**9).runs
    missing = joined((one.start, one.end) for page in found for one in page.missing)
    assert missing == list(whole.missing)
    assert all(len(page.runs) <= limit for page in found)
    assert {page.complete for page in found[:1]} == {not whole.missing}


def moment(time):
    return (time - dt.datetime(1, 1, 1, tzinfo=dt.UTC)) // dt.timedelta(microseconds=1)


def test_pages_divide_what_is_missing():
    day = UpdatePeriod.DAILY
    first = day.index(utc(2015, 1, 2))
    runs = [CoverRun(day, first, first + 1, "t"), CoverRun(day, first + 3, first + 4, "t")]
    missing = [
        (utc(2015, 1, 1), utc(2015, 1, 2)),
        (utc(2015, 1, 3), utc(2015, 1, 5)),
        (utc(2015, 1, 6), utc(2015, 2, 1)),
    ]
    page = CoverDocument.of("f", Cover(CoverPartitions(runs), missing), 1)
    assert (page.next, len(page.missing), page.partitions) == (utc(2015, 1, 5), 2, 1)


def test_partitions_are_registered_altered_and_dropped(browse, cubes):
    path = f"{FACT}/partitions?storage=lake"
    new = [{"update_period": "DAILY", "time": {"dt": "2015-02-01"}, "parameters": {"numRows": "7"}}]
    assert browse("POST", path, new).json() == {"table": "shop.lake_rides_daily", "partitions": 1}
    again = browse("POST", path, new)
    assert (again.status, again.json()["error"]) == (409, "AlreadyExists")
    assert browse("POST", f"{path}&if_not_exists=true", new).json()["partitions"] == 0
    assert browse("POST", path, body=XML, headers={"Content-Type": "application/xml"}).json()["partitions"] == 1
    (found,) = cubes.partitions("rides_daily", "lake", "dt = '2015-02-01'")
    assert found.parameters["numRows"] == "7"
    moved = [{**new[0], "location": "s3://elsewhere/1"}]
    assert browse("PATCH", path, moved).json()["partitions"] == 1
    (found,) = cubes.partitions("rides_daily", "lake", "dt = '2015-02-01'")
    assert found.location == "s3://elsewhere/1"
    yaml = b"- {update_period: DAILY, time: {dt: 2015-02-01}}\n- {update_period: DAILY, time: {dt: 2015-02-02}}\n"
    dropped = browse("DELETE", path, body=yaml, headers={"Content-Type": "application/yaml"})
    assert dropped.json() == {"table": "shop.lake_rides_daily", "partitions": 2}
    assert browse("DELETE", path, new).json()["error"] == "PartitionNotFound"


def test_a_request_is_registered_wholly_or_not_at_all(browse, cubes):
    def one(time, period="DAILY", **more):
        return {"update_period": period, "time": {"dt": time}, **more}

    path, before = f"{FACT}/partitions?storage=lake", cubes.partitions("rides_daily", "lake")
    for body, error in (
        ([one("2015-03-01"), one("2015-01-29")], "AlreadyExists"),
        ([one("2015-03-01"), one("2015-03-01-00")], "InvalidTime"),
        ([one("2015-03-01"), one("2015-W01", "WEEKLY")], "InvalidPartition"),
        ([one("2015-03-01"), one("2015-03-02", "FORTNIGHTLY")], "InvalidModel"),
        ([one("2015-03-01"), {**one("2015-03-02"), "table": "other"}], "InvalidInput"),
        ([one("2015-03-01", nothing=1)], "InvalidModel"),
        (["a"], "InvalidModel"),
        ("a", "InvalidModel"),
    ):
        reply = browse("POST", path, body)
        assert reply.json()["error"] == error, reply.data
        assert reply.status in (400, 409)
    assert browse("POST", f"{FACT}/partitions", [one("2015-03-01")]).json()["error"] == "InvalidInput"
    assert browse("POST", f"{FACT}/partitions?storage=none", [one("2015-03-01")]).json()["error"] == "ModelNotFound"
    assert cubes.partitions("rides_daily", "lake") == before


@pytest.mark.usefixtures("cubes")
def test_a_listing_is_that_of_the_storage_table(browse):
    path = f"{FACT}/partitions?storage=lake&filter=dt%20%3E%20%272015-01-29%27&fields=name"
    reply = browse("GET", path, redirect=False)
    assert (reply.status, reply.headers["Location"].partition("?")[0]) == (
        307,
        "/databases/shop/tables/lake_rides_daily/partitions",
    )
    listed = browse("GET", path).json()["partitions"]
    assert [one["name"] for one in listed] == ["dt=2015-01-30", "dt=2015-01-31-00"]


def test_the_newest_partition_of_a_dimension_table(browse, cubes):
    path = "/databases/shop/dimtables/stations/latest?other=country%3Dnl"
    assert browse("GET", path).json()["error"] == "PartitionNotFound"
    new = [{"update_period": "DAILY", "time": {"dt": "2015-02-01"}, "other": {"country": "nl"}}]
    assert browse("POST", "/databases/shop/facts/stations/partitions", new).status == 200
    assert browse("GET", path).json()["values"] == ["latest", "nl"]
    assert browse("GET", f"{path}&format=thrift").data == cubes.latest("stations", "lake", {"country": "nl"}).payload
    assert browse("GET", path.replace("country", "planet")).json()["error"] == "InvalidPartition"
    assert browse("GET", "/databases/shop/dimtables/rides_daily/latest?storage=lake").status == 404


def test_a_read_only_server_refuses(asking, catalog, cubes, tmp_path):
    read_only = Service(catalog.store, Warehouse(str(tmp_path / "warehouse")), read_only=True)
    ask = asking(Access(), catalog=read_only)
    for method in ("POST", "PATCH", "DELETE"):
        assert ask(method, f"{FACT}/partitions?storage=lake", []).json()["error"] == "StoreReadOnly"
    assert ask("GET", f"{FACT}/timelines").status == 200
    assert isinstance(cubes, Cubes)

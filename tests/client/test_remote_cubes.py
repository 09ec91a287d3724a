"""Cubes over HTTP answer as those of a store do: by the same tests, and beside the store itself."""

from __future__ import annotations

import datetime as dt

import pytest

import hbstore.client
from hbstore.cubes import Cubes, PartitionDesc, Storage, Uncoverable
from hbstore.errors import ConcurrentChange, InvalidName, InvalidTime, InvalidTimeRange, VersionMismatch
from hbstore.timelines import UpdatePeriod
from tests.cubes.conftest import RIDES, days, hour
from tests.cubes.test_catalog import (
    test_a_database_that_is_not_there_has_no_lists,
    test_a_fact_has_its_storage_tables,
    test_descriptions_say_what_uses_what,
    test_documents_are_created_in_an_order_that_works,
    test_dropping_a_cube_with_what_belongs_to_it,
    test_dropping_a_storage_with_what_is_on_it,
    test_other_words_are_no_kinds,
    test_what_is_created_is_read_as_it_was,
    test_what_is_used_is_not_dropped,
)
from tests.cubes.test_partitions import (
    test_a_batch_is_registered_wholly_or_not_at_all,
    test_a_month_is_not_taken_for_a_quarter,
    test_partitions_are_kept_with_their_period_and_in_the_timelines,
    test_partitions_are_updated,
    test_what_is_there_is_passed_over_when_told_to,
)
from tests.cubes.test_putting import (
    test_a_change_names_what_it_replaces,
    test_a_check_says_what_would_be_done_and_changes_nothing,
    test_one_that_is_wrong_keeps_all_others_out,
    test_only_creating_and_only_altering,
)
from tests.cubes.test_waiting import (
    test_a_fact_that_is_dropped_meanwhile_ends_the_wait,
    test_a_wait_ends_with_what_is_missing_when_its_time_is_over,
    test_what_cannot_be_waited_for_is_refused,
    test_what_is_complete_needs_no_waiting,
)
from tests.timelines.strategies import utc

__all__ = [
    "test_a_batch_is_registered_wholly_or_not_at_all",
    "test_a_change_names_what_it_replaces",
    "test_a_check_says_what_would_be_done_and_changes_nothing",
    "test_a_database_that_is_not_there_has_no_lists",
    "test_a_fact_has_its_storage_tables",
    "test_a_fact_that_is_dropped_meanwhile_ends_the_wait",
    "test_a_month_is_not_taken_for_a_quarter",
    "test_a_wait_ends_with_what_is_missing_when_its_time_is_over",
    "test_descriptions_say_what_uses_what",
    "test_documents_are_created_in_an_order_that_works",
    "test_dropping_a_cube_with_what_belongs_to_it",
    "test_dropping_a_storage_with_what_is_on_it",
    "test_one_that_is_wrong_keeps_all_others_out",
    "test_only_creating_and_only_altering",
    "test_other_words_are_no_kinds",
    "test_partitions_are_kept_with_their_period_and_in_the_timelines",
    "test_partitions_are_updated",
    "test_what_cannot_be_waited_for_is_refused",
    "test_what_is_complete_needs_no_waiting",
    "test_what_is_created_is_read_as_it_was",
    "test_what_is_there_is_passed_over_when_told_to",
    "test_what_is_used_is_not_dropped",
]


@pytest.fixture
def empty(serve, store):
    """Cubes of a server, without any. The tests look into the store itself as well."""
    store.create_database("shop")
    with hbstore.client.connect(serve) as connection:
        found = connection.cubes("shop")
        found.store = store
        yield found


@pytest.fixture
def cubes(empty):
    """The cubes of the samples."""
    empty.create_all(RIDES)
    return empty


@pytest.fixture
def local(store):
    return Cubes(store, "shop")


def test_it_answers_as_the_store_does(cubes, local):
    assert [cubes.list(kind) for kind in ("cube", "fact")] == [local.list(kind) for kind in ("cube", "fact")]
    assert cubes.get("cube", "fares") == local.get("cube", "fares")
    cubes.add_partitions("rides_daily", "lake", days("2015-01-01", "2015-01-02", "2015-01-04", "2015-02-01"))
    cubes.add_partitions("rides_daily", "archive", days("2015-01-04", "2015-01-06"))
    for storage in (None, "archive"):
        found, there = (one.timelines("rides_daily", storage=storage) for one in (cubes, local))
        assert list(map(repr, found)) == list(map(repr, there))
        assert [list(one) for one in found] == [list(one) for one in there]
    start, end = utc(2015, 1, 1), utc(2015, 3, 1, 12)
    found, there = (one.cover("rides_daily", start, end, partial=True) for one in (cubes, local))
    assert (found, found.partitions.runs) == (there, there.partitions.runs)
    with pytest.raises(Uncoverable) as caught:
        cubes.cover("rides_daily", start, end)
    assert caught.value.missing == there.missing
    assert cubes.partitions("rides_daily", "lake", "dt > '2015-01-02'") == local.partitions(
        "rides_daily", "lake", "dt > '2015-01-02'"
    )
    assert cubes.storage_table("stations", "lake") == local.storage_table("stations", "lake")
    assert cubes.only_storage("rides_raw") == local.only_storage("rides_raw") == "lake"


def test_a_cover_of_many_pages_is_one(cubes, local, monkeypatch):
    monkeypatch.setattr("hbstore.client.remote_cubes._RUNS", 2)
    cubes.add_partitions("rides_daily", "lake", days(*(f"2015-01-{day:02}" for day in range(1, 20, 2))))
    start, end = utc(2015, 1, 1), utc(2015, 2, 1)
    found, there = (one.cover("rides_daily", start, end, partial=True) for one in (cubes, local))
    assert (found.partitions.runs, found.missing) == (there.partitions.runs, there.missing)
    assert len(found.partitions.runs) == 10


def test_times_of_any_kind_are_sent_as_they_are(cubes, local):
    zone = dt.timezone(dt.timedelta(hours=2))
    desc = PartitionDesc(UpdatePeriod.DAILY, {"dt": dt.datetime(2015, 1, 29, 2, tzinfo=zone)}, parameters={"a": "b"})
    assert cubes.add_partitions("Rides_Daily", "Lake", [desc]) == 1
    (found,) = local.partitions("rides_daily", "lake")
    assert (found.values, found.parameters["a"]) == (("2015-01-29",), "b")
    assert cubes.add_partitions("rides_raw", "lake", [hour("2015-01-29-06", None)]) == 1
    assert local.partitions("rides_raw", "lake")[0].values[2] == "__HIVE_DEFAULT_PARTITION__"
    for time in (dt.datetime(2015, 1, 30), 5):  # noqa: DTZ001  it is what is refused
        with pytest.raises(InvalidTime):
            cubes.add_partitions("rides_daily", "lake", [PartitionDesc("DAILY", {"dt": time})])
    for range_ in ((utc(2015, 1, 2), utc(2015, 1, 1)), (dt.datetime(2015, 1, 1), utc(2015, 1, 2))):  # noqa: DTZ001
        with pytest.raises((InvalidTime, InvalidTimeRange)):
            cubes.cover("rides_daily", *range_)


def test_the_newest_dump_of_a_dimension_table(cubes, local):
    north = {"district": "north"}
    assert cubes.latest("stations", "lake", north) is None
    cubes.add_partitions("stations", "lake", days("2015-01-29", other=north))
    assert cubes.latest("stations", "lake", north) == local.latest("stations", "lake", north) is not None
    assert cubes.latest("stations", "lake", {"district": None}) is None


def test_a_change_that_comes_too_late_is_told(cubes, local):
    read = cubes.get("storage", "lake")
    local.alter(Storage(name="lake", endpoint="s3://theirs"))
    with pytest.raises(ConcurrentChange):
        cubes.alter(read.changed(endpoint="s3://mine"), replaces=read)
    now = cubes.get("storage", "lake")
    if_match = cubes._if_match

    def late(*arguments):
        found = if_match(*arguments)
        local.alter(Storage(name="lake", endpoint="s3://between"))
        return found

    cubes._if_match = late
    with pytest.raises(VersionMismatch):
        cubes.alter(now.changed(endpoint="s3://mine"), replaces=now)
    assert local.get("storage", "lake").endpoint == "s3://between"


def test_a_wait_is_told_by_the_server(cubes, local, monkeypatch):
    asked, document = [], cubes._transport.document

    def noted(method, path, **options):
        asked.append(path.rpartition("/")[2])
        if len(asked) == 1:
            local.add_partitions("rides_daily", "lake", days("2015-01-01"))
        return document(method, path, **options)

    monkeypatch.setattr(cubes._transport, "document", noted)
    assert len(cubes.wait("rides_daily", utc(2015, 1, 1), utc(2015, 1, 2)).partitions) == 1
    assert asked == ["wait", "cover"]


def test_a_database_is_named_as_one(serve):
    with hbstore.client.connect(serve) as connection, pytest.raises(InvalidName):
        connection.cubes("a b")

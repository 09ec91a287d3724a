"""Partition commit: partitions that a stream fills are announced when they are complete, and not before."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import functions as f

from hbstore import Column, Partition, Table, connect
from hbstore.errors import FileOperationFailed, InvalidInput
from hbstore.spark import PartitionCommit, stream_to_table
from hbstore.spark.streams.commit import ANNOUNCED, COMPLETE, Announcer
from tests.pauses import until
from tests.spark import streaming_process

BEGIN = datetime(2013, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
PATTERN = "$ds $hour:00:00"


@pytest.fixture
def store(tmp_path):
    with connect("memory://") as store:
        store.create_database("shop")
        columns = [Column("ds", "string"), Column("hour", "int")]
        provider = {"spark.sql.sources.provider": "parquet"}
        data = [Column("id", "bigint")]
        store.create_table(
            Table("shop", "sales", columns, data, location=f"file:{tmp_path}/sales", parameters=provider)
        )
        yield store


def state(store):
    """By hour: what the partition says of itself."""
    found = store.get_partitions_by_filter("shop", "sales", None)
    return {int(one.values[1]): one.parameters.get(COMPLETE) for one in found}


def add(store, tmp_path, *hours, complete="false", **others):
    for hour in hours:
        place = tmp_path / f"sales/ds=2013-01-01/hour={hour}"
        place.mkdir(parents=True)
        one = Partition(["2013-01-01", str(hour)], location=f"file:{place}", parameters={COMPLETE: complete}, **others)
        store.add_partitions("shop", "sales", [one])


def announced(announcer, store, watermark=None, written=()):
    return [int(hour) for _, hour in announcer.announce(store, "shop", "sales", written, watermark)]


def test_the_watermark_announces_partitions_whose_time_and_delay_it_has_passed(store, tmp_path):
    add(store, tmp_path, 0, 1, 2)
    announcer = Announcer(None, PartitionCommit("partition-time", HOUR, PATTERN))
    assert announced(announcer, store) == []
    assert announced(announcer, store, BEGIN + timedelta(minutes=59)) == []
    assert announced(announcer, store, BEGIN + HOUR) == [0]
    assert state(store) == {0: "true", 1: "false", 2: "false"}
    assert announced(announcer, store, BEGIN + HOUR) == []
    assert announced(announcer, store, BEGIN + 9 * HOUR) == [1, 2]
    found = store.get_partition("shop", "sales", ["2013-01-01", "0"])
    assert datetime.fromisoformat(found.parameters[ANNOUNCED]) > BEGIN


def test_the_clock_announces_partitions_that_are_older_than_the_delay(store, tmp_path):
    add(store, tmp_path, 1, create_time=int(datetime.now(UTC).timestamp()) - 100)
    assert announced(Announcer(None, PartitionCommit(delay=HOUR)), store) == []
    assert announced(Announcer(None, PartitionCommit(delay=timedelta(seconds=99))), store) == [1]


def test_partitions_of_others_and_those_without_a_time_are_left_alone(store, tmp_path):
    add(store, tmp_path, 0, complete="true")
    store.add_partitions("shop", "sales", [Partition(["someday", "1"], parameters={COMPLETE: "false"})])
    store.add_partitions("shop", "sales", [Partition(["2013-01-01", "2"])])
    announcer = Announcer(None, PartitionCommit("partition-time", HOUR, PATTERN))
    assert announced(announcer, store, BEGIN + 99 * HOUR, ["ds=2013-01-01/hour=2"]) == []
    assert state(store) == {0: "true", 1: "false", 2: None}


def test_policies_come_in_their_order_and_before_the_partition_says_that_it_is_complete(spark, store, tmp_path):
    add(store, tmp_path, 7)
    place = tmp_path / "sales/ds=2013-01-01/hour=7/_SUCCESS"
    seen = []

    def look(partition):
        seen.append((partition.values, place.exists(), state(store)))

    commit = PartitionCommit(policies=(look, "success-file", look))
    assert announced(Announcer(spark, commit), store) == [7]
    values = ("2013-01-01", "7")
    assert seen == [(values, False, {7: "false"}), (values, True, {7: "false"})]
    assert state(store) == {7: "true"}


def test_a_file_that_cannot_be_written_leaves_the_partition_for_the_next_time(spark, store):
    place = "nosuch://bucket/hour=7"
    store.add_partitions("shop", "sales", [Partition(["a", "7"], location=place, parameters={COMPLETE: "false"})])
    announcer = Announcer(spark, PartitionCommit(policies=("success-file",)))
    with pytest.raises(FileOperationFailed, match="that announces a partition cannot be written: location=nosuch://"):
        announced(announcer, store)
    assert state(store) == {7: "false"}


def test_rows_that_come_while_policies_are_carried_out_leave_it_for_the_next_time(store, tmp_path):
    add(store, tmp_path, 7)
    changed = Partition(["2013-01-01", "7"], parameters={COMPLETE: "false", "numRows": "8"})
    late = [changed]

    def write(_):
        if late:
            store.alter_partitions("shop", "sales", [late.pop()])

    announcer = Announcer(None, PartitionCommit(policies=(write,)))
    assert announced(announcer, store) == []
    assert state(store) == {7: "false"}
    assert announced(announcer, store) == [7]
    assert store.get_partition("shop", "sales", ["2013-01-01", "7"]).parameters["numRows"] == "8"


@pytest.mark.parametrize(
    ("commit", "text"),
    [
        (PartitionCommit("someday"), "the trigger is unknown"),
        (PartitionCommit(policies=("email",)), "the policy is unknown"),
        (PartitionCommit("partition-time"), "cannot read a time"),
        (PartitionCommit("partition-time", extractor="$day 00:00"), "cannot read a time"),
        (PartitionCommit("partition-time", extractor="2013-01-01"), "cannot read a time"),
    ],
)
def test_what_cannot_be_announced_is_named(store, commit, text):
    with pytest.raises(InvalidInput, match=text):
        commit.check(store.get_table("shop", "sales"))


@pytest.mark.parametrize(
    ("ds", "hour", "expected"),
    [("2013-01-01", "5", BEGIN + 5 * HOUR), ("2013-1-1", "05", BEGIN + 5 * HOUR), ("2013-02-30", "5", None)],
)
def test_times_in_values(ds, hour, expected):
    assert PartitionCommit("partition-time", extractor=PATTERN).time_of({"ds": ds, "hour": hour}) == expected


@pytest.fixture
def events(spark, tmp_path):
    """Adds events of hours to a source, a file at a time; rows of the source, with the watermark at the last event."""
    source = tmp_path / "source"
    source.mkdir()

    def add_events(number, *hours):
        path = tmp_path / f"{number}.json"
        lines = [{"id": hour, "at": f"{BEGIN + hour * HOUR:%Y-%m-%dT%H:30:00Z}"} for hour in hours]
        path.write_text("".join(json.dumps(one) + "\n" for one in lines))
        os.utime(path, (1_357_000_000 + number,) * 2)
        path.rename(source / path.name)

    reader = spark.readStream.schema("id long, at timestamp").option("maxFilesPerTrigger", 1)
    timed = reader.json(str(source)).withWatermark("at", "0 seconds")
    return add_events, timed.select("id", f.date_format("at", "yyyy-MM-dd").alias("ds"), f.hour("at").alias("hour"))


def test_a_query_announces_what_its_last_batch_has_made_due(store, tmp_path, events):
    add_events, rows = events
    asked = []
    commit = PartitionCommit("partition-time", HOUR, PATTERN, (lambda one: asked.append(int(one.values[1])),))
    options = {"checkpoint": str(tmp_path / "checkpoint"), "trigger": {"availableNow": True}, "commit": commit}
    for number, hour in enumerate((0, 3, 5, 9)):
        add_events(number, hour)
        stream_to_table(rows, store, "shop.sales", **options).awaitTermination()
        assert asked == [0, 3, 5][:number]
    assert state(store) == {0: "true", 3: "true", 5: "true", 9: "false"}


@pytest.mark.parametrize(
    ("commit", "expected"),
    [
        (PartitionCommit("partition-time", HOUR, PATTERN), {0: "true", 1: "true", 2: "false"}),
        (PartitionCommit(delay=timedelta(seconds=4)), dict.fromkeys(range(3), "true")),
    ],
)
def test_a_query_announces_while_no_rows_come(store, tmp_path, events, commit, expected):
    add_events, rows = events
    for hour in range(3):
        add_events(hour, hour)
    query = stream_to_table(rows, store, "shop.sales", checkpoint=str(tmp_path / "checkpoint"), commit=commit)
    try:
        until(lambda: state(store) == expected)
        assert query.isActive
        assert query.awaitTermination(1) is False
    finally:
        query.stop()
    assert query.exception() is None


def test_a_policy_that_fails_ends_a_query_that_waits_for_rows(store, tmp_path, events):
    add_events, rows = events
    broken = [True]

    def ask(_):
        if broken:
            raise RuntimeError("broken on purpose")

    options = {"checkpoint": str(tmp_path / "checkpoint"), "commit": PartitionCommit(policies=(ask,))}
    add_events(0, 7)
    query = stream_to_table(rows, store, "shop.sales", **options)
    with pytest.raises(StreamingQueryException, match=r"partitions of shop\.sales cannot be announced: broken on purp"):
        query.awaitTermination()
    assert "broken on purpose" in str(query.exception())
    assert not query.isActive
    assert state(store) == {7: "false"}
    broken.clear()
    query = stream_to_table(rows, store, "shop.sales", **options)
    try:
        until(lambda: state(store) == {7: "true"})
    finally:
        query.stop()


def test_what_a_killed_process_has_not_announced_the_next_start_does(spark, tmp_path):
    url = f"sqlite://{tmp_path}/catalog.db"
    with connect(url) as store:
        store.create_database("shop")
        provider = {"spark.sql.sources.provider": "parquet"}
        columns = [Column("hour", "string")], [Column("id", "bigint")]
        store.create_table(Table("shop", "events", *columns, location=f"file:{tmp_path}/events", parameters=provider))
        (tmp_path / "source").mkdir()
        (tmp_path / "source/0.json").write_text('{"id": 1, "seconds": 0}\n')
        command = [sys.executable, "-m", "tests.spark.streaming_process", url, str(tmp_path), "dies"]
        job = subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)
        ended = job.wait()
        with suppress(ProcessLookupError):
            os.killpg(job.pid, signal.SIGKILL)  # its JVM
        assert ended == -signal.SIGKILL
        (left,) = store.get_partitions_by_filter("shop", "events", None)
        assert (left.parameters[COMPLETE], left.parameters["numRows"]) == ("false", "1")
        rows = streaming_process.events(spark, tmp_path)
        asked = []
        commit = PartitionCommit(policies=("success-file", asked.append))
        options = {"checkpoint": f"{tmp_path}/checkpoint", "trigger": {"availableNow": True}, "commit": commit}
        stream_to_table(rows, store, "shop.events", **options).awaitTermination()
        (partition,) = store.get_partitions_by_filter("shop", "events", None)
        assert (partition.parameters[COMPLETE], partition.parameters["numRows"]) == ("true", "1")
        assert [one.values for one in asked] == [("2013-01-01-00",)]
        assert (tmp_path / "events/hour=2013-01-01-00/_SUCCESS").exists()


def test_a_query_announces_and_goes_on_where_it_ended(store, tmp_path, events):
    add_events, rows = events
    asked = []

    def ask(partition):
        asked.append(int(partition.values[1]))
        if broken:
            raise RuntimeError("broken on purpose")

    def run():
        options = {"checkpoint": str(tmp_path / "checkpoint"), "trigger": {"availableNow": True}}
        commit = PartitionCommit("partition-time", HOUR, PATTERN, ("success-file", ask))
        stream_to_table(rows, store, "shop.sales", commit=commit, **options).awaitTermination()

    broken = False
    for at in range(4):
        add_events(at, at)
    run()
    assert state(store) == {0: "true", 1: "true", 2: "true", 3: "false"}
    assert sorted(asked) == [0, 1, 2]
    marked = {int(path.parent.name[5:]) for path in (tmp_path / "sales").rglob("_SUCCESS")}
    assert marked == set(asked)
    add_events(4, 5)
    add_events(5, 0, 6)
    add_events(6, 7)
    broken = True
    with pytest.raises(StreamingQueryException, match="broken on purpose"):
        run()
    broken = False
    run()
    assert {hour for hour, complete in state(store).items() if complete == "true"} == {0, 1, 2, 3, 5, 6}
    assert asked.count(0) > 1, "late rows have it announced again"
    counts = [int(one.parameters["numRows"]) for one in store.get_partitions_by_filter("shop", "sales", None)]
    assert sum(counts) == 8

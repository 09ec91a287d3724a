"""A streaming query that is killed again and again: in the end every event is in the table once."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hbstore import Column, Table, connect
from hbstore.publishing import Publisher
from hbstore.spark.footers import row_counts
from hbstore.spark.streams.commit import COMPLETE
from hbstore.store.stream_batches import Stream
from hbstore.timelines import UpdatePeriod
from tests.amounts import amount
from tests.pauses import let_go_on, until
from tests.spark.written_rows import rows_of_files

EVENTS = 20_000
HOURS = 24
LONGEST = 4.0
"""Seconds for which a run may work."""

pytestmark = [pytest.mark.spark]
KILLS = {"sqlite": amount(2, 15), "hbase": amount(1, 15)}


@pytest.fixture(params=["sqlite", pytest.param("hbase", marks=pytest.mark.hbase)])
def url(request, tmp_path):
    """A store with a table of hours, which keeps a timeline."""
    url = request.getfixturevalue("hbase_url") if request.param == "hbase" else f"sqlite:///{tmp_path}/catalog.db"
    with connect(url) as store:
        store.create_database("shop", if_not_exists=True)
        store.drop_table("shop", "events", if_exists=True)
        declared = {
            "spark.sql.sources.provider": "parquet",
            "cube.storagetable.time.partcols": "hour",
            "cube.storagetable.update.periods": "HOURLY",
        }
        location = f"file:{tmp_path}/events"
        columns = [Column("hour", "string")], [Column("id", "bigint")]
        store.create_table(Table("shop", "events", *columns, location=location, parameters=declared))
        yield url
        store.drop_table("shop", "events")


def write_source(folder, files):
    """The events in the order of their hours, but for some that are late: a batch has several partitions."""
    folder.mkdir()
    size = EVENTS // files + 1
    for at in range(files):
        path = folder / f"{at:04}.json"
        with path.open("w") as file:
            for number in range(at * size, min((at + 1) * size, EVENTS)):
                file.write(json.dumps({"id": number, "seconds": seconds_of(number)}) + "\n")
        os.utime(path, (1_357_000_000 + at,) * 2)
    return size


def seconds_of(number):
    seconds = number * HOURS * 3_600 // EVENTS
    return seconds if number % 7 else max(0, seconds - 3_600)


def hour_of(number):
    return f"{datetime(2013, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds_of(number)):%Y-%m-%d-%H}"


class Query:
    """The streaming process, in a group of its own with Spark's JVM."""

    def __init__(self, url, folder):
        command = [sys.executable, "-m", "tests.spark.streaming_process", url, str(folder)]
        self._said = folder / "stderr"
        with self._said.open("w") as said:
            self._job = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=said, text=True, start_new_session=True
            )

    def read(self, word):
        """What the process says after a word; None if it ends without it."""
        for line in self._job.stdout:
            if line.startswith(word):
                return line.removeprefix(word).strip()
        return None

    def said(self):
        """The end of what the process says of its errors."""
        return self._said.read_text(errors="replace")[-5000:]

    def end(self):
        """Kill what is still there of it."""
        os.killpg(self._job.pid, signal.SIGKILL)
        self._job.wait()
        self._job.stdout.close()


def check_unfinished(store, folder):
    """What holds before anybody finishes what the killed one decided: nothing is announced that is not there."""
    there = store.get_partitions_by_filter("shop", "events", None)
    marked = {path.parent.name.removeprefix("hour=") for path in (folder / "events").glob("*/_SUCCESS")}
    assert marked <= {one.values[0] for one in there}
    for one in there:
        assert one.parameters[COMPLETE] == "false" or one.values[0] in marked
        assert int(one.parameters["numRows"]) <= rows_in(one), f"{one.values} was announced before its data"
    assert hours_of_timeline(store) <= {one.values[0] for one in there}


def hours_of_timeline(store):
    (timeline,) = store.timelines.of("shop.events")
    return set(map(UpdatePeriod.HOURLY.format, timeline.iterate()))


def rows_in(partition):
    files = Path(partition.location.removeprefix("file:")).iterdir()
    return sum(row_counts("parquet", [f"file:{path}" for path in files if path.name[0] not in "._"]))


def check_finished(store, stream, size, kills):
    """Whole files, each once, and as many batches recorded; how many files.

    A batch is one file. But Spark that is killed after it chose a file, and before it said so in the checkpoint, takes
    the next one into the same batch when it is started again.
    """
    Publisher(store).recover("shop.events")
    there = store.get_partitions_by_filter("shop", "events", None)
    found = [(event, one.values[0]) for one in there for event in rows_of_files(one, "id")]
    done = (max(one for one, _ in found) // size + 1) if found else 0
    events = range(min(done * size, EVENTS))
    assert sorted(one for one, _ in found) == list(events)
    assert all(hour == hour_of(one) for one, hour in found)
    counts = {one.values[0]: int(one.parameters["numRows"]) for one in there}
    assert counts == Counter(map(hour_of, events))
    assert hours_of_timeline(store) == counts.keys()
    last = store.publications.batches(store.publications.row("shop", "events"), stream).last
    assert done - kills <= last + 1 <= done
    return done


@pytest.mark.timeout(600 + 60 * KILLS["hbase"])
def test_every_event_is_there_once_however_often_the_query_is_killed(url, tmp_path):
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")  # noqa: T201  pytest shows it where the test fails
    chance = random.Random(seed)
    kills = KILLS[url.partition(":")[0]]
    size = write_source(tmp_path / "source", 8 + 3 * kills)
    stream, progress = None, [0]
    for kill in range(kills):
        query = Query(url, tmp_path)
        try:
            started = query.read("started")
            assert started, query.said()
            assert stream in {None, Stream(started, "shop.events")}
            stream = Stream(started, "shop.events")
            # Spark cannot restart a query that was killed while it wrote its first offset (docs/streams.md).
            until((tmp_path / "checkpoint" / "offsets" / "0").exists)
            let_go_on(chance, LONGEST)
        finally:
            query.end()
        with connect(url) as store:
            check_unfinished(store, tmp_path)
            progress.append(check_finished(store, stream, size, kill + 1))
    assert progress == sorted(progress)
    query = Query(url, tmp_path)
    try:
        assert query.read("done") is not None, query.said()
    finally:
        query.end()
    with connect(url) as store:
        check_unfinished(store, tmp_path)
        assert check_finished(store, stream, size, kills) * size >= EVENTS
        there = store.get_partitions_by_filter("shop", "events", None)
        assert [one.parameters[COMPLETE] for one in there] == ["true"] * HOURS
        assert store.publications.of(store.publications.row("shop", "events")) == []
    folder = tmp_path / "events"
    hidden = [path for path in folder.rglob(".*") if not path.name.endswith(".crc")]
    assert hidden == []
    assert not [path for path in (folder / "_hbstore").rglob("*") if path.is_file()]

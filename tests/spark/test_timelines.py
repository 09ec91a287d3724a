"""Building timelines by a Spark job: what is found, writers beside it, tasks and drivers that die, several builders."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark import TaskContext

import hbstore
from benchmarks.spark_session import spark_session
from hbstore.spark import rebuild_timelines
from hbstore.spark import timelines as under_test
from hbstore.spark.timelines import _Task
from hbstore.store.table_row import TableRow, table_key
from hbstore.store.timeline_cell import Building, decode_state
from hbstore.store.timelines.build import PATIENCE, TimelineBuilder, time_columns
from hbstore.store.timelines.stored_timelines import StoredTimelines
from hbstore.timelines import classes, register
from hbstore.timelines.declaration import PARTITION_UPDATE_PERIOD, TIME_PARTITION_COLUMNS, UPDATE_PERIODS
from hbstore.times.update_period import UpdatePeriod
from hbstore.transactions.resolving import Resolver
from tests.pauses import SECONDS, idle, until
from tests.processes import ROOT
from tests.spark.settings import SMALL
from tests.timelines.own_class import NAME, CountedRunsTimeline

DECLARED = {TIME_PARTITION_COLUMNS: "dt,pt", UPDATE_PERIODS: "HOURLY,DAILY,MONTHLY,QUARTERLY"}
ROW = table_key("shop", "sales")
DAY = UpdatePeriod.DAILY


def partitions(days):
    """Hours and days, quarters that say so and months that do not, and what has no times."""
    for day in range(days):
        text = DAY.format_index(735_000 + day)
        yield hbstore.Partition((f"{text}-06", f"{text}-07", "eu"))
        if day % 7:
            yield hbstore.Partition((text, None, "us"))
        if day % 25 == 0:
            yield hbstore.Partition(("2013-04", f"no time {day}", "eu"))
            yield hbstore.Partition(("latest", None, f"region {day}"))
    yield hbstore.Partition(("2014-04", "2014-07", "eu"), parameters={PARTITION_UPDATE_PERIOD: "quarterly"})


@pytest.fixture
def sales(make_table, url):
    """Makes shop.sales with partitions from before it declared its times."""

    def make(at=url, days=300):
        store = make_table(at, dt="string", pt="string", region="string")
        store.add_partitions("shop", "sales", partitions(days))
        declare(store)
        return store

    return make


def declare(store, more=None):
    table = store.get_table("shop", "sales")
    store.alter_table(replace(table, parameters={**table.parameters, **DECLARED, **(more or {})}))


def at_once(store):
    """What one process collects and stores."""
    found = TimelineBuilder(store._tables).build("shop", "sales")
    return found, stored(store)


def stored(store):
    """The timelines as they stand in the table's row, which nothing was done for."""
    known = StoredTimelines(store._tables).read("shop.sales")
    return {key: timeline.to_properties() for key, timeline in known.items()}


def states(store):
    row = TableRow.of(ROW, *Resolver(store.rows).read(ROW, timelines=True))
    columns = time_columns(row)
    return [decode_state(row.cells, columns, name) for name, _, _ in columns.names()]


def is_being_built(store):
    return all(isinstance(state, Building) for state in states(store))


class Meanwhile(threading.Thread):
    """Does something as soon as the timelines are being built."""

    def __init__(self, store, act):
        super().__init__()
        self._store, self._act, self._error = store, act, None
        self.start()

    def run(self):
        try:
            until(lambda: is_being_built(self._store))
            self._act()
        except BaseException as error:  # noqa: BLE001  shown by done()
            self._error = error

    def done(self):
        self.join(SECONDS)
        assert not self.is_alive()
        if self._error is not None:
            raise self._error


class SlowTask(_Task):
    """Takes its time, so that what happens meanwhile does."""

    def run(self, keys):
        idle(1)
        return super().run(keys)


class DyingTask(_Task):
    """The first of them dies when it is half done, two times: two Pythons, not as many as there are slices."""

    def run(self, keys):
        found = super().run(keys)
        if TaskContext.get().partitionId() == 0 and TaskContext.get().attemptNumber() < 2:
            os._exit(1)
        return found


# What is found


@pytest.mark.spark
@pytest.mark.parametrize("slices", [None, 1, 40])
def test_the_same_is_found_and_stored_as_in_one_process(spark, url, sales, slices):
    store = sales()
    found, known = at_once(store)
    declare(store, {"cube.storagetable.partition.timeline.cache.present": "false"})
    assert found.left_out_count == 12
    again = rebuild_timelines(spark, url, "SHOP.Sales", slices)
    assert (again.partitions, again.times, again.left_out_count) == (
        found.partitions,
        found.times,
        found.left_out_count,
    )
    assert again.left_out == found.left_out
    assert not any(isinstance(state, Building) for state in states(store))
    assert stored(store) == known


@pytest.mark.spark
def test_a_table_without_partitions(spark, url, sales):
    store = sales(days=0)
    store.drop_partitions("shop", "sales", [("2014-04", "2014-07", "eu")])
    assert rebuild_timelines(spark, url, "shop.sales").partitions == 0
    assert all(timeline.is_empty() for timeline in store.timelines.of("shop.sales"))


@pytest.mark.spark
def test_mistakes_are_found_before_a_job_starts(spark, url, make_table):
    with pytest.raises(hbstore.InvalidUrl, match="memory"):
        rebuild_timelines(spark, "memory://", "shop.sales")
    make_table(dt="string")
    with pytest.raises(hbstore.errors.TimelineNotFound):
        rebuild_timelines(spark, url, "shop.sales")
    with pytest.raises(hbstore.TableNotFound):
        rebuild_timelines(spark, url, "shop.other")
    with pytest.raises(hbstore.InvalidInput, match="slices=0"):
        rebuild_timelines(spark, url, "shop.sales", 0)


@pytest.mark.spark
def test_the_default_takes_the_place_of_a_class_that_is_not_installed(spark, url, sales, monkeypatch):
    store = sales()
    register(CountedRunsTimeline)
    declare(store, {"cube.storagetable.partition.timeline.cache.DAILY.dt.storage.class": NAME})
    monkeypatch.setattr(classes, "_registered", {})
    assert rebuild_timelines(spark, url, "shop.sales").unknown_classes == (NAME,)
    assert len(store.timelines.of("shop.sales", DAY, "dt")) == 1


# Others meanwhile


def write_meanwhile(spark, at, store, monkeypatch):
    monkeypatch.setattr(under_test, "_Task", SlowTask)
    assert not is_being_built(store)

    def write():
        for day in range(20):
            text = DAY.format_index(736_000 + day)
            store.add_partitions("shop", "sales", [hbstore.Partition((text, None, region)) for region in ("eu", "us")])
            store.drop_partitions("shop", "sales", [(text, None, "eu")])
            first = DAY.format_index(735_000 + day)
            store.drop_partitions("shop", "sales", [(f"{first}-06", f"{first}-07", "eu")])
            if day % 2:
                store.drop_partitions("shop", "sales", [(text, None, "us")])
        assert all(state.affected for state in states(store)[:1])
        assert is_being_built(store)

    meanwhile = Meanwhile(store, write)
    rebuild_timelines(spark, at, "shop.sales", 8)
    meanwhile.done()
    assert [text for text in store.timelines.check("shop.sales") if "cannot be determined" not in text] == [
        "… and the times of 2 more partitions"
    ]
    hours, days = store.timelines.of("shop.sales", column="dt")[:2]
    assert hours.update_period.format(hours.first()) == f"{DAY.format_index(735_020)}-06"
    assert days.update_period.format(days.latest()) == DAY.format_index(736_018)


@pytest.mark.spark
def test_writers_beside_the_job_are_not_lost(spark, url, sales, monkeypatch):
    write_meanwhile(spark, url, sales(), monkeypatch)


@pytest.mark.spark
def test_whoever_loses_to_another_builder_builds_again(spark, url, sales, monkeypatch):
    store = sales()
    _, known = at_once(store)
    monkeypatch.setattr(under_test, "_Task", SlowTask)
    builders = []

    def build():
        builders.append({state.builder for state in states(store)})
        TimelineBuilder(store._tables).begin("shop", "sales", patience=2)  # and is gone
        builders.append({state.builder for state in states(store)})

    meanwhile = Meanwhile(store, build)
    assert rebuild_timelines(spark, url, "shop.sales", 4).partitions > 300
    meanwhile.done()
    assert builders[0] != builders[1]
    assert stored(store) == known


# Tasks and drivers that die


@pytest.mark.spark
def test_a_task_that_dies_is_run_again(spark, url, sales, monkeypatch):
    store = sales()
    found, known = at_once(store)
    monkeypatch.setattr(under_test, "_Task", DyingTask)
    assert rebuild_timelines(spark, url, "shop.sales", 3) == found
    assert stored(store) == known


@pytest.mark.spark
def test_a_job_that_fails_holds_nobody_up(spark, url, sales, monkeypatch):
    store = sales()
    _, known = at_once(store)

    class FailingTask(_Task):
        def run(self, keys):
            raise RuntimeError(keys)

    monkeypatch.setattr(under_test, "_Task", FailingTask)
    with pytest.raises(Exception, match="RuntimeError"):
        rebuild_timelines(spark, url, "shop.sales")
    assert all(state.until <= time.time() for state in states(store))
    assert stored(store) == known


def drive(url):
    """A driver in a process of its own that is killed while its job runs."""
    under_test._Task = SlowTask
    with spark_session("local[1]", Path(url.removeprefix("sqlite://")).parent, SMALL) as spark:
        rebuild_timelines(spark, url, "shop.sales", 500)


@pytest.mark.spark
def test_a_driver_that_dies_is_waited_for_a_moment_and_then_others_build(spark, url, sales):
    store = sales()
    _, known = at_once(store)
    command = [sys.executable, "-c", f"from tests.spark.test_timelines import drive; drive({url!r})"]
    driver = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until(lambda: driver.poll() is not None or is_being_built(store))
        first = {state.until for state in states(store)}
        until(lambda: driver.poll() is not None or not first & {state.until for state in states(store)})  # it reports
    finally:
        driver.send_signal(signal.SIGKILL)
        driver.wait(SECONDS)
    left = states(store)
    assert all(isinstance(state, Building) for state in left)
    assert max(state.until for state in left) < time.time() + PATIENCE
    rebuild_timelines(spark, url, "shop.sales", 4)
    assert stored(store) == known


# HBase


@pytest.mark.spark
@pytest.mark.hbase
def test_hbase_with_writers_beside_the_job(spark, hbase_url, sales, monkeypatch):
    store = sales(hbase_url)
    found, known = at_once(store)
    assert rebuild_timelines(spark, hbase_url, "shop.sales", 8) == found
    assert stored(store) == known
    write_meanwhile(spark, hbase_url, store, monkeypatch)

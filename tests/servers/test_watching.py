"""What is looked for in the background: a scrape waits for no look, and what a failed look showed is gone."""

from __future__ import annotations

import threading

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily

from hbstore.servers import watching
from hbstore.servers.watching import Watch
from tests.pauses import SECONDS, until


def shown(watch):
    """The values of all series, by name and label."""
    return {
        " ".join([sample.name, *sample.labels.values()]): sample.value
        for metric in watch.collect()
        for sample in metric.samples
    }


@pytest.fixture
def started():
    """Starts a watch, which the test's end closes."""
    watches = []

    def start(looks):
        watches.append(Watch(looks))
        watches[-1].start()
        return watches[-1]

    yield start
    for watch in watches:
        watch.close()


def test_what_a_failed_look_showed_is_gone_until_the_next_that_succeeds():
    outcomes = iter([7, OSError("the disk is gone"), 8])

    def look():
        outcome = next(outcomes)
        if isinstance(outcome, Exception):
            raise outcome
        yield GaugeMetricFamily("free", "Free.", outcome)

    watch = Watch({"disk": look})
    assert shown(watch) == {"hbstore_watch_failures_total disk": 0}
    seen = []
    for _ in range(3):
        watch.look("disk")
        seen.append(shown(watch))
    assert [one.get("free") for one in seen] == [7, None, 8]
    assert [one["hbstore_watch_failures_total disk"] for one in seen] == [0, 1, 1]


def test_a_look_that_fails_in_the_middle_shows_nothing():
    def look():
        yield GaugeMetricFamily("free", "Free.", 1)
        raise ValueError

    watch = Watch({"disk": look})
    watch.look("disk")
    assert shown(watch) == {"hbstore_watch_failures_total disk": 1}


def test_a_look_that_hangs_holds_up_neither_the_scrape_nor_others(started):
    hangs, go_on = threading.Event(), threading.Event()

    def look_at_store():
        hangs.set()
        assert go_on.wait(SECONDS)
        yield GaugeMetricFamily("tables", "Tables.", 3)

    watch = started({"store": look_at_store, "disk": lambda: [GaugeMetricFamily("free", "Free.", 7)]})
    assert hangs.wait(SECONDS)
    until(lambda: "free" in shown(watch))
    assert "tables" not in shown(watch)
    go_on.set()
    until(lambda: "tables" in shown(watch))


def test_what_is_old_counts_no_more(monkeypatch):
    watch = Watch({"disk": lambda: [GaugeMetricFamily("free", "Free.", 7)]})
    watch.look("disk")
    assert "free" in shown(watch)
    monkeypatch.setattr(watching, "LATE", -3600.0)
    assert "free" not in shown(watch)


def test_it_looks_again_and_again_and_not_after_its_end(started, monkeypatch):
    monkeypatch.setattr(watching, "EVERY", 0.0)
    monkeypatch.setattr(watching, "REST", 0.0)
    looked, number = threading.Semaphore(0), iter(range(1_000_000))

    def look():
        looked.release()
        yield GaugeMetricFamily("looks", "Looks.", next(number))

    watch = started({"disk": look})
    for _ in range(3):
        assert looked.acquire(timeout=SECONDS)
    watch.close()
    until(lambda: not any(thread.name == "hbstore-watch-disk" for thread in threading.enumerate()))


def test_a_registry_takes_it():
    registry = CollectorRegistry()
    watch = Watch({"disk": lambda: [GaugeMetricFamily("free", "Free.", 7)]})
    registry.register(watch)
    watch.look("disk")
    assert registry.get_sample_value("free") == 7

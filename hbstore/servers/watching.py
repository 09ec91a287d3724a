"""Numbers that somebody has to look for, such as the free bytes of a disk: a scrape shows what was seen last.

Each look has a thread of its own, so that a scrape waits for none, and one that hangs holds up no other. What a look
shows is gone when the look fails, and when none has ended for long: no number is better than an old one.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from threading import Event, Thread
from typing import Final, TypeAlias

from prometheus_client.core import CounterMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from hbstore.servers.logs import Complaints

Look: TypeAlias = Callable[[], Iterable[Metric]]
"""What is looked for; it may take long, and raise anything."""

EVERY: Final = 15.0
"""Seconds between two looks."""

REST: Final = 20.0
"""A look that takes long is followed by a rest of so many times that, so that it costs a small part of a processor."""

LATE: Final = 60.0
"""Seconds after which a look that was due is late: what the last one saw counts no more."""

_PATIENCE: Final = 1.0
"""Seconds for which the end waits for a look: its store is closed then."""

_COMPLAINTS: Final = Complaints(logging.getLogger("hbstore.servers.watching"))


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a look saw, and when the next one is due, by the monotonic clock."""

    metrics: tuple[Metric, ...] = ()
    due: float = 0.0


class Watch(Collector):
    """Looks again and again, and shows what it saw to Prometheus.

    Args:
        looks: by their names, which are labels.

    >>> from prometheus_client.core import GaugeMetricFamily
    >>> watch = Watch({"disk": lambda: [GaugeMetricFamily("free_bytes", "Free bytes.", 7)], "tape": lambda: 1 / 0})
    >>> watch.look("disk")
    >>> watch.look("tape")
    >>> [(sample.name, sample.labels, sample.value) for metric in watch.collect() for sample in metric.samples]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('free_bytes', {}, 7),
     ('hbstore_watch_failures_total', {'look': 'disk'}, 0),
     ('hbstore_watch_failures_total', {'look': 'tape'}, 1)]
    """

    def __init__(self, looks: Mapping[str, Look]) -> None:
        self._looks = dict(looks)
        self._seen = {name: _Seen() for name in self._looks}
        self._failures = dict.fromkeys(self._looks, 0)
        self._closed = Event()
        self._threads = [
            Thread(target=self._keep_looking, args=(name,), name=f"hbstore-watch-{name}", daemon=True)
            for name in self._looks
        ]

    def start(self) -> None:
        """Begin to look."""
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Look no more; a look that is under way is waited for, but not for long."""
        self._closed.set()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(_PATIENCE)

    def look(self, name: str) -> None:
        """Look once."""
        began = time.monotonic()
        metrics: tuple[Metric, ...] = ()
        try:
            metrics = tuple(self._looks[name]())
        except Exception as error:  # noqa: BLE001  the server goes on, and so does the watch
            if not self._closed.is_set():  # the store may have been closed meanwhile
                self._failures[name] += 1
                _COMPLAINTS.say("what the metrics show could not be looked at", look=name, error=str(error))
        now = time.monotonic()
        self._seen[name] = _Seen(metrics, now + max(EVERY, REST * (now - began)))

    def collect(self) -> Iterator[Metric]:
        """What was seen last, and how many looks have failed. It waits for nothing."""
        now = time.monotonic()
        for seen in self._seen.values():
            if now < seen.due + LATE:
                yield from seen.metrics
        failures = CounterMetricFamily(
            "hbstore_watch_failures", "Looks at what the metrics show that failed.", labels=["look"]
        )
        for name, number in self._failures.items():
            failures.add_metric([name], number)
        yield failures

    def _keep_looking(self, name: str) -> None:
        while not self._closed.wait(self._seen[name].due - time.monotonic()):
            self.look(name)

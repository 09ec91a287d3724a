"""What Prometheus may ask of a door: its clients, what it holds for them, and which bounds ended something."""

from __future__ import annotations

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge

from hbstore.servers.bounds import Bound, DoorWatch

_GAUGES: Final = {
    "connections": "Clients connected.",
    "requests": "Requests under way over HTTP.",
    "reply_bytes": "Bytes of long replies in memory and in temporary files.",
    "replies_waiting": "Long replies that wait for room.",
}


class DoorMetrics:
    """The numbers of the doors of one process.

    >>> metrics = DoorMetrics(CollectorRegistry())
    >>> door = metrics.door("metastore")
    >>> door.connected(1)
    >>> door.ended(Bound.READING)
    >>> metrics.registry.get_sample_value("hbstore_door_connections", {"door": "metastore"})
    1.0
    >>> metrics.registry.get_sample_value("hbstore_door_ended_total", {"door": "metastore", "bound": "reading"})
    1.0
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self.registry = registry
        self._gauges = {
            name: Gauge(f"hbstore_door_{name}", text, ["door"], registry=registry, multiprocess_mode="livesum")
            for name, text in _GAUGES.items()
        }
        self._ended = Counter(
            "hbstore_door_ended",
            "Clients, calls and replies that a bound refused or ended.",
            ["door", "bound"],
            registry=registry,
        )

    def door(self, name: str) -> DoorWatch:
        """What hears of the door of this name."""
        return _Counted({key: gauge.labels(name) for key, gauge in self._gauges.items()}, self._ended, name)


class _Counted(DoorWatch):
    """Counts what it hears; each bound has a series from the beginning, so that an alert can wait for it."""

    __slots__ = ("_ended", "_gauges")

    def __init__(self, gauges: dict[str, Gauge], ended: Counter, name: str) -> None:
        self._gauges = gauges
        self._ended = {bound: ended.labels(name, bound.value) for bound in Bound}

    def connected(self, change: int) -> None:
        self._gauges["connections"].inc(change)

    def requests(self, change: int) -> None:
        self._gauges["requests"].inc(change)

    def replies(self, size: int) -> None:
        self._gauges["reply_bytes"].inc(size)

    def waiting(self, change: int) -> None:
        self._gauges["replies_waiting"].inc(change)

    def ended(self, bound: Bound) -> None:
        self._ended[bound].inc()

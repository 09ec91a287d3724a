"""Whether a server can do its work: it reads and writes its store, and says what else is wrong.

A server that cannot use its store is not *ready*: nobody should send it clients. One that lacks something else, such as
room on a disk, is ready and has *problems*.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Lock
from typing import Final

from hbstore.errors import HbstoreError, StoreUnavailable
from hbstore.files.warehouse import Warehouse
from hbstore.model.frozen import FrozenDict
from hbstore.release import VERSION, commit
from hbstore.rows.urls import parse_url
from hbstore.store.partition_store import PartitionStore

KEPT: Final = 2.0
"""Seconds for which a look counts: asking often costs the store nothing."""

LITTLE_ROOM: Final = 1 << 30
"""Free bytes below which a disk is a problem."""

AHEAD: Final = timedelta(seconds=2)
"""How far the clock of another server may be ahead of this one's."""

_KIND: Final = "health"
_NAME: Final = "last"


@dataclass(frozen=True, slots=True)
class Health:
    """What a look found.

    Attributes:
        ready: whether the store can be read, and written unless the server only reads.
        problems: what is wrong, by ``store``, ``warehouse``, ``disk`` and ``clock``; empty where all is well. A server
            adds ``processes`` and ``spark``, which it alone knows of.
    """

    ready: bool = True
    problems: Mapping[str, str] = field(default_factory=FrozenDict)

    def with_problem(self, kind: str, text: str | None) -> Health:
        """With one more problem; None: there is none."""
        return self if text is None else replace(self, problems=FrozenDict({**self.problems, kind: text}))

    def to_dict(self) -> dict[str, bool | dict[str, str]]:
        """What is answered to who asks over HTTP.

        >>> Health().with_problem("spark", "Spark does not start").to_dict()
        {'ready': True, 'problems': {'spark': 'Spark does not start'}}
        """
        return {"ready": self.ready, "problems": dict(self.problems)}


def liveness(*, spark: bool) -> dict[str, bool | str | None]:
    """What is answered over HTTP to who asks whether the server lives: so, whether its Spark is there, and what it is.

    >>> liveness(spark=False)["ok"]
    True
    """
    return {"ok": True, "spark": spark, "version": VERSION, "commit": commit()}


@dataclass(slots=True)
class HealthCheck:
    """Looks at what a server needs, at most once in `KEPT` seconds."""

    _lock: Lock = field(default_factory=Lock)
    _last: Health = field(default_factory=Health)
    _until: float = 0.0

    def look(self, store: PartitionStore, warehouse: Warehouse, *, write: bool) -> Health:
        """The health now. A read and a write of one row of the store, and a look at the warehouse."""
        with self._lock:
            if time.monotonic() >= self._until:
                self._last = _look(store, warehouse, write=write)
                self._until = time.monotonic() + KEPT
            return self._last


def _look(store: PartitionStore, warehouse: Warehouse, *, write: bool) -> Health:
    problems: dict[str, str] = {}
    ready = True
    if write:
        store.rows.keep_reserve()
    try:
        late = _use(store, write=write)
    except HbstoreError as error:
        ready = False
        problems["store"] = str(error)
    else:
        if late is not None:
            problems["clock"] = late
    try:
        if not warehouse.exists(warehouse.root):
            problems["warehouse"] = f"there is no folder {warehouse.root} yet"
    except HbstoreError as error:
        problems["warehouse"] = str(error)
    little = _room(store)
    if little is not None:
        problems["disk"] = little
    return Health(ready, FrozenDict(problems))


def _use(store: PartitionStore, *, write: bool) -> str | None:
    """Read a row of the store, and write it; what is wrong with this machine's clock beside that of the last writer."""
    now = datetime.now(UTC)
    written = store.records.get(_KIND, _NAME)
    if write:
        text = now.isoformat()  # another one each time, so that it is written
        if written is None:
            store.records.create(_KIND, _NAME, text)
        elif store.records.change(_KIND, _NAME, lambda _: text) is None:
            raise StoreUnavailable("a row of the store was lost", record=_NAME, hint="Run `hbstore check`")
    if written is not None and datetime.fromisoformat(written) > now + AHEAD:
        return (
            f"another server wrote at {written}, and here it is {now.isoformat(timespec='seconds')}: set clocks by NTP"
        )
    return None


def _room(store: PartitionStore) -> str | None:
    url = parse_url(store.rows.url)
    if url.scheme != "sqlite":
        return None
    return little_room(Path(url.place).absolute().parent, "the store")


def little_room(folder: Path, use: str) -> str | None:
    """What is wrong with the room in a folder; None: nothing.

    Args:
        folder: which.
        use: what it is for, such as ``the store``.

    >>> little_room(Path("/no/such/folder"), "results")
    'the folder of results cannot be looked at: No such file or directory'
    """
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return f"the folder of {use} cannot be looked at: {error.strerror}"
    return f"{free:,} bytes are free in {folder}" if free < LITTLE_ROOM else None

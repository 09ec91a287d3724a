"""Which servers are alive: each renews a lease in the store, and holds a lock on its machine.

A server that is killed cannot say so. Servers on the same machine see it at once, as the system takes the lock off a
process that ends; servers on other machines see it when the lease has run out. Their clocks must agree within seconds.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import socket
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from hbstore.store.records import Records

RENEWED_EVERY: Final = 2.0
"""Seconds between two renewals of a lease."""

_KIND: Final = "server"
_LASTS: Final = timedelta(seconds=10)


@dataclass(slots=True)
class Servers:
    """This server among those of a store.

    Attributes:
        records: where leases are.
        clock: the time now.
        folder: where the servers of this machine have their locks.
        id: this server's.
    """

    records: Records
    clock: Callable[[], datetime]
    folder: Path = field(default_factory=lambda: Path(tempfile.gettempdir()) / f"hbstore-servers-{os.getuid()}")
    id: str = field(default_factory=lambda: secrets.token_hex(16))
    _lock: int | None = None

    def enter(self) -> None:
        """Take the lock and the lease."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        self._lock = os.open(self._file(self.id), os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self.records.create(_KIND, self.id, self._lease())

    def renew(self) -> None:
        """Let the lease last from now on; to be called every `RENEWED_EVERY` seconds."""
        if self.records.change(_KIND, self.id, lambda _: self._lease()) is None:
            self.records.create(_KIND, self.id, self._lease())  # others took this server for dead

    def leave(self) -> None:
        """Give lease and lock back."""
        self.records.drop(_KIND, self.id)
        if self._lock is not None:
            with suppress(OSError):
                self._file(self.id).unlink()
            os.close(self._lock)
            self._lock = None

    def is_alive(self, server: str) -> bool:
        """Whether a server runs. One read."""
        if server == self.id:
            return self._lock is not None
        text = self.records.get(_KIND, server)
        if text is None:
            return False
        lease = json.loads(text)
        if lease["host"] == socket.gethostname():
            held = self._is_held(server)
            if held is not None:
                return held
        return self.clock() < datetime.fromisoformat(lease["renewed_at"]) + _LASTS

    def forget_the_dead(self) -> None:
        """Remove the leases and locks of dead servers. O(servers)."""
        for server, _ in list(self.records.list(_KIND)):
            if not self.is_alive(server):
                self.records.drop(_KIND, server)
                with suppress(OSError):
                    self._file(server).unlink()

    def _lease(self) -> str:
        return json.dumps({"host": socket.gethostname(), "renewed_at": self.clock().isoformat()})

    def _file(self, server: str) -> Path:
        return self.folder / f"{server}.lock"

    def _is_held(self, server: str) -> bool | None:
        """Whether a process holds a server's lock; None where there is no such file on this machine."""
        try:
            lock = os.open(self._file(server), os.O_RDWR)
        except OSError:
            return None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(lock)
        return False


def count_leases(records: Records, now: datetime) -> dict[str, int]:
    """How many leases of servers are ``current``, and how many ``overdue``, as their servers died. O(servers).

    Args:
        records: where leases are.
        now: the time.
    """
    renewed = [datetime.fromisoformat(json.loads(text)["renewed_at"]) for _, text in records.list(_KIND)]
    current = sum(now < at + _LASTS for at in renewed)
    return {"current": current, "overdue": len(renewed) - current}

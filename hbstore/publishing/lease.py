"""A lease of partitions that a process holds: it says that it lives, and hears when it was taken for dead."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from threading import Lock

from hbstore.publishing.manifest import ALIVE
from hbstore.store.partition_store import PartitionStore
from hbstore.store.table_row import TableRow


@dataclass(slots=True)
class Lease:
    """A publication that holds partitions while this process changes their files.

    Attributes:
        store: the catalog.
        row: the table's.
        id: of the publication.
        alive: seconds for which the process is taken to be alive when it has said so.
    """

    store: PartitionStore
    row: TableRow
    id: str
    alive: float = ALIVE
    _said: float = field(default_factory=time.monotonic)
    _lock: Lock = field(default_factory=Lock)

    def keep(self) -> None:
        """Say that the process lives, if it has not said so for some seconds; to be called before each file.

        Several threads may do so at once.

        Raises:
            PublicationLost: it was taken for dead; others may change the partitions.
        """
        with self._lock:
            if time.monotonic() - self._said > self.alive / 4:
                self.say()

    def say(self) -> None:
        """Say that the process lives.

        Raises:
            PublicationLost: it was taken for dead; others may change the partitions.
        """
        self.store.publications.extend(self.row, self.id, time.time() + self.alive)
        self._said = time.monotonic()

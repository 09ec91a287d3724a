"""A lease of partitions that a process holds: it says that it lives, and hears when it was taken for dead."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from threading import Lock

from hbstore.errors import DatabaseNotFound, TableNotFound
from hbstore.publishing.manifest import ALIVE
from hbstore.store.partition_store import PartitionStore
from hbstore.store.publication_steps import publication_lost
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

    def check(self) -> None:
        """See that no other process has finished this one's work, or given it up. One read, O(1).

        Raises:
            PublicationLost: it has.
        """
        try:
            now = self.store.publications.row(self.row.table.database, self.row.table.name)
        except (TableNotFound, DatabaseNotFound):
            raise publication_lost(self.row, self.id) from None
        if now.table_id != self.row.table_id or all(one.id != self.id for one in self.store.publications.of(now)):
            raise publication_lost(self.row, self.id)

    def say(self) -> None:
        """Say that the process lives.

        Raises:
            PublicationLost: it was taken for dead; others may change the partitions.
        """
        self.store.publications.extend(self.row, self.id, time.time() + self.alive)
        self._said = time.monotonic()

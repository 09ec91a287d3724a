"""A lease of partitions that a process holds: it says that it lives, and hears when it was taken for dead."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

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
    """

    store: PartitionStore
    row: TableRow
    id: str
    _said: float = field(default_factory=time.monotonic)

    def keep(self) -> None:
        """Say that the process lives, if it has not said so for some seconds; to be called before each file.

        Raises:
            PublicationLost: it was taken for dead; others may change the partitions.
        """
        if time.monotonic() - self._said > ALIVE / 4:
            self.store.publications.extend(self.row, self.id, time.time() + ALIVE)
            self._said = time.monotonic()

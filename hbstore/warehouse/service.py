"""What a server serves."""

from __future__ import annotations

from dataclasses import dataclass, field

from hbstore.files.warehouse import Warehouse
from hbstore.publishing.publisher import Publisher
from hbstore.store.partition_store import PartitionStore
from hbstore.store.table_row import TableRow
from hbstore.warehouse.health import Health, HealthCheck


@dataclass(frozen=True, slots=True)
class Service:
    """What all calls and requests to a server share.

    Attributes:
        store: databases, tables, partitions.
        warehouse: where their files are.
        read_only: refuse what changes anything.
        strict_types: refuse to change a column's type to one that Hive does not convert it into.
    """

    store: PartitionStore
    warehouse: Warehouse
    read_only: bool = False
    strict_types: bool = False
    _check: HealthCheck = field(default_factory=HealthCheck, compare=False, repr=False)

    def health(self) -> Health:
        """Whether the store can be used now, and what else is wrong; see `HealthCheck.look`."""
        return self._check.look(self.store, self.warehouse, write=not self.read_only)

    def show_files(self, row: TableRow) -> None:
        """Show the files of what jobs have decided about a table, before a client reads them.

        Args:
            row: the table's, read with its partitions or after them.
        """
        if not self.read_only:
            Publisher(self.store).roll_forward_before_use(row)

"""Adding the partitions of a file in batches: errors name the line, and say how to go on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from hbstore.cli.failures import message
from hbstore.cli.spec_file import SpecFile
from hbstore.errors import AlreadyExists, HbstoreError
from hbstore.keys.partition_names import partition_name
from hbstore.keys.row_key import row_key
from hbstore.model.objects import Partition, Table
from hbstore.model.structs import PartitionEncoder
from hbstore.store.partition_store import PartitionStore
from hbstore.store.puts import InvalidValues, cells_of
from hbstore.store.table_row import Definition
from hbstore.texts.wording import plural


@dataclass(slots=True)
class Loading:
    """Adds partitions from a file, batch by batch.

    Attributes:
        store: where to.
        table: the table.
        if_not_exists: pass over partitions that are there already.
        invalid_values: what to do with values that do not fit their type.
        read: how many lines were read, of batches that are through.
        added: how many partitions were added.
    """

    store: PartitionStore
    table: Table
    if_not_exists: bool
    invalid_values: InvalidValues
    read: int = field(default=0, init=False)
    added: int = field(default=0, init=False)

    def batches(self, source: SpecFile, size: int) -> Iterator[None]:
        """Add the partitions of a file; an error says how far it came and how to go on."""
        try:
            waiting: list[tuple[int, Partition]] = []
            for partition in self._checked(source):
                waiting.append((source.line, partition))
                if len(waiting) == size:
                    self._add(source, waiting)
                    waiting.clear()
                    yield
            self._add(source, waiting)
        except (HbstoreError, KeyboardInterrupt) as error:
            error.add_note(self._how_to_go_on())
            raise

    def _checked(self, source: SpecFile) -> Iterator[Partition]:
        """The file's partitions, each found fit to be stored while its line is still known."""
        definition, encoder = Definition(self.table, b""), PartitionEncoder(self.table)
        for partition in source.partitions():
            try:
                row_key(definition.prefix, cells_of(definition, partition.values, self.invalid_values))
                encoder.encode(partition)
            except HbstoreError as error:
                source.refuse(message(error), error.hint)
            yield partition

    def _add(self, source: SpecFile, batch: list[tuple[int, Partition]]) -> None:
        database, name = self.table.database, self.table.name
        partitions = [partition for _, partition in batch]
        try:
            self.added += self.store.add_partitions(
                database, name, partitions, self.if_not_exists, invalid_values=self.invalid_values
            )
        except AlreadyExists as error:
            columns = self.table.partition_column_names
            lines = {partition_name(columns, partition.values): line for line, partition in batch}
            error.fields |= {"file": source.name, "line": lines.get(str(error.fields.get("partition")), "?")}
            raise
        self.read += len(batch)

    def _how_to_go_on(self) -> str:
        if not self.added:
            return "nothing was added"
        again = "repeat the command" if self.if_not_exists else "repeat the command with --if-not-exists"
        return f"{plural(self.added, 'partition')} had been added before; to go on, {again}"

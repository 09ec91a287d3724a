"""Keeping what was found of partitions with them, unless they are not what they were when that began.

Column statistics are written first, then the parameters, which say that there are some, in one change that expects the
partitions as they were read. Where that fails as one of them has changed, the others are written without it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from hbstore.errors import PartitionNotFound
from hbstore.model.objects import Partition, Table
from hbstore.spark.analysis.summary import Summary, SummaryColumn, to_hive
from hbstore.spark.analysis.whole import ROWS, SIZE
from hbstore.store.manifest import EXCHANGES, Manifest
from hbstore.store.partition_store import PartitionStore
from hbstore.store.puts import partition_key
from hbstore.store.table_step import TableStep
from hbstore.warehouse.quick_statistics import ACCURATE, NUM_FILES, TOTAL_SIZE

Values: TypeAlias = tuple[str, ...]

NUM_ROWS: Final = "numRows"
RAW_SIZE: Final = "rawDataSize"

_BASIC: Final = "BASIC_STATS"
_COLUMNS: Final = "COLUMN_STATS"
_CHANGED: Final = "transient_lastDdlTime"


@dataclass(frozen=True, slots=True)
class Found:
    """What was found of a partition.

    Attributes:
        partition: as it was read before.
        rows: how many rows it has.
        files: how many files.
        size: their bytes.
        summaries: of its columns, by name.
    """

    partition: Partition
    rows: int
    files: int
    size: int
    summaries: Mapping[str, Summary]


def known_rows(partition: Partition, columns: Sequence[SummaryColumn]) -> int | None:
    """How many rows a partition has, if it has all statistics that an analysis of some columns gives; else None.

    Spark writes ``numRows=0`` with files of a Hive format that have rows: this is believed of no files alone. And it
    lets its own numbers stand when files come: they are believed while its bytes are those of the files.
    """
    numbers = {}
    for name in (NUM_ROWS, NUM_FILES, TOTAL_SIZE, ROWS, SIZE):
        text = partition.parameters.get(name, "")
        if text.isascii() and text.isdecimal():
            numbers[name] = int(text)
    rows = numbers.get(ROWS, numbers.get(NUM_ROWS))
    if rows is None or NUM_FILES not in numbers or TOTAL_SIZE not in numbers:
        return None
    if numbers.get(SIZE, numbers[TOTAL_SIZE]) != numbers[TOTAL_SIZE]:
        return None
    if not rows and numbers[TOTAL_SIZE] and ROWS not in numbers:
        return None
    has = _accurate(partition.parameters).get(_COLUMNS, {})
    return rows if all(has.get(column.name.lower()) == "true" for column in columns) else None


@dataclass(frozen=True, slots=True)
class StatisticsCommit:
    """Keeps statistics with the partitions of one table.

    Attributes:
        store: the store.
        table: the table.
        columns: the columns that were summed up.
    """

    store: PartitionStore
    table: Table
    columns: Sequence[SummaryColumn]

    def write(self, findings: Sequence[Found]) -> tuple[set[Values], set[Values]]:
        """Write what was found of partitions that are what they were, all or none.

        Returns:
            The values of these, and of those that are something else now, or that a job is writing. Those that are gone
            are in neither.

        Raises:
            StoreBusy: other writers kept changing them.
        """
        database, name = self.table.database, self.table.name
        changed: set[Values] = set()
        written: set[Values] = set()

        def write(step: TableStep) -> set[Values]:
            fresh, others = self._fresh(step, findings)
            changed.update(others)
            self._forget_columns(written & others)
            writing = [finding for finding in fresh if finding.partition.values not in changed]
            puts = [put for finding in writing if (put := self._with_parameters(finding)) is not None]
            if self.columns and writing:
                self.store.column_statistics.write_partitions(database, name, self._statistics(writing))
                written.update(finding.partition.values for finding in writing)
            step.change(put=puts, unchanged=[finding.partition for finding in writing])
            return {finding.partition.values for finding in writing}

        hint = "Analyze the other partitions later"
        return self.store.change(str(self.table), write, outrun=(PartitionNotFound,), hint=hint), changed

    def _forget_columns(self, values: Collection[Values]) -> None:
        """Take away column statistics that were written when their partitions had changed already."""
        for one in values:
            for column in self.columns:
                with suppress(PartitionNotFound):
                    self.store.column_statistics.delete_partition(
                        self.table.database, self.table.name, one, column.name
                    )

    def busy(self, partitions: Iterable[Partition]) -> set[Values]:
        """The values of those of some partitions whose files are on their way, into their folders or with these."""
        row = self.store.publications.row(self.table.database, self.table.name)
        keys: set[bytes] = set()
        for publication in self.store.publications.of(row):
            moves = publication.decided or publication.id.startswith(EXCHANGES)
            data = self.store.publications.manifest(row, publication.id) if moves else None
            if data is not None:
                keys |= {partition_key(row, one.values) for one in Manifest.decode(data).partitions}
        return {one.values for one in partitions if keys and partition_key(row, one.values) in keys}

    def _fresh(self, step: TableStep, findings: Sequence[Found]) -> tuple[list[Found], set[Values]]:
        """Those that are what they were, and the values of the others that are there.

        What a job decides changes the partition. An exchanged partition's folder moves before its location changes.
        """
        values = [finding.partition.values for finding in findings]
        busy = self.busy(finding.partition for finding in findings)
        payloads = {partition.values: partition.payload for partition in step.partitions(values)}
        fresh = [
            finding
            for finding in findings
            if payloads.get(finding.partition.values) == finding.partition.payload
            and finding.partition.values not in busy
        ]
        return fresh, payloads.keys() & set(values) - {finding.partition.values for finding in fresh}

    def _statistics(self, found: Sequence[Found]) -> dict[tuple[str, ...], list[Any]]:
        return {
            one.partition.values: [to_hive(column, one.summaries[column.name]) for column in self.columns]
            for one in found
        }

    def _with_parameters(self, finding: Found) -> Partition | None:
        """The partition with its statistics; None if it has them."""
        before = finding.partition.parameters
        counts = {NUM_ROWS: str(finding.rows), NUM_FILES: str(finding.files), TOTAL_SIZE: str(finding.size)}
        same = all(before.get(name) == text for name, text in counts.items())
        of_columns = dict(_accurate(before).get(_COLUMNS, {})) if same else {}
        of_columns |= {column.name.lower(): "true" for column in self.columns}
        accurate = {_BASIC: "true"} | ({_COLUMNS: of_columns} if of_columns else {})
        after = {
            **{name: text for name, text in before.items() if same or name != RAW_SIZE},
            **counts,
            ROWS: counts[NUM_ROWS],
            SIZE: counts[TOTAL_SIZE],
            ACCURATE: json.dumps(accurate, separators=(",", ":")),
        }
        if after == before:
            return None
        return replace(finding.partition, parameters={**after, _CHANGED: str(int(time.time()))})


def _accurate(parameters: Mapping[str, str]) -> dict[str, Any]:
    """What is said to be accurate, as Hive writes it; what does not decode says nothing."""
    with suppress(ValueError):
        found = json.loads(parameters.get(ACCURATE, "{}"))
        if isinstance(found, dict) and isinstance(found.get(_COLUMNS, {}), dict):
            return found
    return {}

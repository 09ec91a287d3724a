"""Partitions as rows: the cells, the key and the bytes of each, and the times that it has in its table's timelines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias

from hbstore.errors import (
    AlreadyExists,
    HbstoreError,
    InvalidInput,
    InvalidPartitionValue,
    InvalidTime,
    PartitionNotFound,
    TimelineMismatch,
)
from hbstore.keys.partition_names import partition_name
from hbstore.keys.row_key import MAX_KEY, fits, row_key, split_key, text_cell
from hbstore.model.objects import Partition, PartitionValues, Table, listed
from hbstore.model.structs import PartitionEncoder
from hbstore.rows.interface import PartitionRow
from hbstore.servers.call_limits import check_wanted
from hbstore.store.changes import Change
from hbstore.store.companion_keys import is_companion
from hbstore.store.table_row import Definition, TableRow
from hbstore.store.time_columns import AffectedTimes, TimeColumns, collected
from hbstore.store.value_texts import column_texts
from hbstore.texts.arguments import expect_choice

InvalidValues: TypeAlias = Literal["reject", "keep"]
"""What to do with text that does not fit its column's type: refuse it, or keep it. Filters match it where engines read
a value from it."""

NEEDS_PARTITIONS: Final = 'Give a list of Partition objects, such as [Partition(("2013-01-01", "5"))]'
NEEDS_VALUES: Final = 'Give a list of partitions, such as [("2013-01-01", "5")]; specs (dicts) and Partitions do, too'
"""What to do where a call takes many partitions and is given something else."""

MAX_PAYLOAD: Final = 8 * 1024 * 1024
"""Bytes of a stored partition; HBase takes 10 MiB in a cell, and a store should be movable to another backend."""

MAX_PREFIX: Final = 2 * 129
"""Bytes of names of a database and a table of 128 characters, each with the NUL behind it: the keys of every partition
fit below them, so that they can be exchanged and imported."""


class Puts:
    """Rows of partitions that are put, and what a change says of them, by key.

    Args:
        row: the table.
        invalid_values: what to do with values that do not fit their column's type.
        created: the create time, in seconds since 1970, of partitions that have none.

    ``untimed`` has the errors of those that may have no times, by their keys.
    """

    def __init__(self, row: TableRow, invalid_values: InvalidValues, created: int = 0) -> None:
        expect_choice("invalid_values", invalid_values, "reject", "keep")
        self.rows: dict[bytes, PartitionRow] = {}
        self.values: dict[bytes, tuple[str, ...]] = {}
        self.times: dict[bytes, list[tuple[str, int]]] = {}
        self.untimed: dict[bytes, HbstoreError] = {}
        self._definition = row.definition
        self._invalid_values = invalid_values
        self._columns = row.definition.time_columns
        self._cells = CellMaker(row.definition)
        self._encoder = PartitionEncoder(row.table, created)

    def put(self, partition: Partition, *, may_be_untimed: bool = False) -> bytes:
        """Its key. What has the same key stays what it was first.

        Args:
            partition: what is put.
            may_be_untimed: whether it may have no times that can be told, as what is under the key has none either.

        Raises:
            InvalidPartitionValue: a value does not fit its type, or they are too many, too few or too long.
            InvalidTime, TimelineMismatch: the table keeps timelines, and the partition's times fit none.
            InvalidInput: the partition is too large.
        """
        check_wanted()
        definition = self._definition
        cells = self._cells.of(partition.values, self._invalid_values)
        key = _new_key(definition, cells)
        if key not in self.rows:
            self.rows[key] = PartitionRow(key, cells, _payload(self._encoder, partition, definition.table))
            self.values[key] = partition.values
            if self._columns is not None:
                try:
                    self.times[key] = self._columns.times(cells, partition.parameters)
                except (InvalidTime, TimelineMismatch) as error:
                    if not may_be_untimed:
                        raise
                    self.times[key], self.untimed[key] = [], error
        return key


class CellMaker:
    """Makes the cells of many partitions of a table, and one object of each text that comes again."""

    __slots__ = ("_by_text", "_definition")

    def __init__(self, definition: Definition) -> None:
        self._definition = definition
        self._by_text: list[dict[str, tuple[bytes, bool]]] = [{} for _ in definition.schema.types]
        """By columns: the cell of each text, and whether it fits the column."""

    def of(self, values: Sequence[str], invalid_values: InvalidValues) -> tuple[bytes, ...]:
        """The cells of a partition's values.

        Raises:
            InvalidPartitionValue: too many or too few values, or one that does not fit its type and is not to be kept.
        """
        types = self._definition.schema.types
        if len(values) != len(types):
            raise InvalidPartitionValue(
                "a partition needs one value for each partition column",
                table=self._definition.table,
                values=len(values),
                columns=", ".join(self._definition.schema.names),
                hint="Give them in the order of the columns",
            )
        cells = []
        for at, text in enumerate(values):
            cell = self._by_text[at].get(text)
            if cell is None:
                cell = self._by_text[at][text] = text_cell(types[at], text), fits(types[at], text)
            if not cell[1] and invalid_values == "reject":
                raise InvalidPartitionValue(
                    "a partition value does not fit its column's type",
                    column=self._definition.schema.names[at],
                    type=types[at].name,
                    value=repr(text),
                    hint="Correct it, or keep it as text with invalid_values='keep' (--keep-invalid)",
                )
            cells.append(cell[0])
        return tuple(cells)


def affected_by(columns: TimeColumns, change: Change, stored: Mapping[bytes, bytes]) -> AffectedTimes:
    """The times that a change adds, and those that partitions had which are there now and lose them."""
    width = len(columns.table.partition_columns)
    added: list[tuple[str, int]] = []
    lost: list[tuple[str, int]] = []
    leaving: list[bytes] = []
    for key in {*change.times, *change.deletes}:
        before: list[tuple[str, int]] = []
        if key in stored and not is_companion(key):
            cells = split_key(key, width)[1]
            before = columns.stored_times(cells, stored[key])
        after = change.times.get(key, [])
        if before != after:
            added += after
            lost += before
            if before:
                leaving.append(stored[key])
    return AffectedTimes(collected(added), collected(lost), frozenset(leaving))


def _new_key(definition: Definition, cells: tuple[bytes, ...]) -> bytes:
    """A partition's key, refused where it would be too long under another name of up to 128 characters."""
    key = row_key(definition.prefix, cells)
    size = MAX_PREFIX + len(key) - len(definition.prefix)
    if size > MAX_KEY:
        raise InvalidPartitionValue(
            "the partition values are too long",
            bytes=size,
            limit=MAX_KEY,
            hint="Shorten the values: they must fit into a row key together with names of 128 characters",
        )
    return key


def reusable_values(values: PartitionValues) -> PartitionValues:
    """Values that can be read more than once, refused here where they are no values at all."""
    return values if isinstance(values, Mapping | Partition) else listed(values)


def texts_of(row: TableRow, values: PartitionValues) -> tuple[str, ...]:
    """Values of a partition as texts in the order of the table's columns; a spec is read by them."""
    return column_texts(row.definition.schema.names, row.definition.schema.types, values)


def partition_key(row: TableRow, values: PartitionValues) -> bytes:
    """The row key of a partition: of its values as they are written.

    Raises:
        InvalidPartitionValue: too many or too few values.
    """
    return row_key(row.definition.prefix, cells_of(row.definition, texts_of(row, values), "keep"))


def cells_of(definition: Definition, values: Sequence[str], invalid_values: InvalidValues) -> tuple[bytes, ...]:
    """The cells of one partition's values, as of `CellMaker`."""
    return CellMaker(definition).of(values, invalid_values)


def no_such_partition(table: Table, values: Sequence[str]) -> PartitionNotFound:
    """The error for values of which a table has no partition."""
    return PartitionNotFound(
        "the partition does not exist",
        table=table,
        partition=partition_name(table.partition_column_names, values),
        hint=f"List the partitions with `hbstore partitions {table}`",
    )


def already_exists(
    table: Table, values: Sequence[str], why: str = "already exists", *, adding: bool = False
) -> AlreadyExists:
    """The error for a partition that is in the way; when adding, those that are there can be passed over."""
    pass_over = "if_not_exists=True (--if-not-exists) skips existing partitions" if adding else ""
    return AlreadyExists(
        f"the partition {why}",
        table=table,
        partition=partition_name(table.partition_column_names, values),
        hint=pass_over or "Drop it first, or give other values",
    )


def _payload(encoder: PartitionEncoder, partition: Partition, table: Table) -> bytes:
    """A partition's bytes, refused before anything is decided where a backend could not take them afterwards."""
    payload = encoder.encode(partition)
    if len(payload) > MAX_PAYLOAD:
        raise InvalidInput(
            "the partition is too large",
            table=table,
            partition=partition_name(table.partition_column_names, partition.values),
            bytes=len(payload),
            limit=MAX_PAYLOAD,
            hint="Shorten its parameters",
        )
    return payload

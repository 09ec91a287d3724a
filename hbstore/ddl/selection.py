"""Which partitions specs, conditions and filters select.

Values are compared by type, as everywhere: ``hour = '05'`` selects the partition ``hour=5``. A value that is none of
its column's type selects the partitions that were kept with that very text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from hbstore.ddl.statements import Condition, PartitionSpec
from hbstore.errors import InvalidPartitionValue
from hbstore.filters.parser import parse_filter
from hbstore.filters.tree import And, Comparison, ExpressionTree, Operator, Text, joined
from hbstore.keys import TAG_TEXT, text_cell
from hbstore.model import Table
from hbstore.name_lists import partition_names
from hbstore.names import spec_values
from hbstore.plans.scan_plan import MultiScanPlan
from hbstore.store.partition_store import PartitionStore
from hbstore.store.table_row import TableRow
from hbstore.warehouse.partial_values import PartialValues


def conditions_of(table: Table, spec: PartitionSpec | None) -> tuple[Condition, ...]:
    """A spec, whole or partial, as conditions; none for no spec, which selects all partitions.

    Raises:
        InvalidPartitionValue: as `values_of`.
    """
    values = {} if spec is None else values_of(table, spec)
    return tuple(Condition(column, Operator.EQ, value) for column, value in values.items())


def selected_names(
    store: PartitionStore, table: Table, conditions: Sequence[Condition], filter: str | None = None
) -> list[str]:
    """The names of the partitions that conditions and a filter select, in key order.

    Raises:
        InvalidPartitionValue: a condition names a column that is not a partition column, or its value is empty.
        FilterTypeError: a value cannot be compared with its column.
    """
    partial = _selection(table, conditions, filter)
    if not partial.others:
        return store.partition_names(table.database, table.name, partial.where)

    def collect(_: TableRow, __: MultiScanPlan, batches: Iterator[Sequence[bytes]]) -> list[str]:
        columns = table.partition_column_names
        return [name for batch in partial.select(batches) for name in partition_names(columns, batch)]

    return store.read_payloads(table.database, table.name, partial.where, collect)


def values_of(table: Table, spec: PartitionSpec) -> dict[str, str]:
    """The values of a spec by the table's own names of its columns, in their order.

    Raises:
        InvalidPartitionValue: it names a column that is not a partition column, or one twice; or a value is empty.
    """
    by_column: dict[str, str] = {}
    for column, value in spec.values:
        if column.lower() in by_column:
            raise InvalidPartitionValue(
                "a partition spec names a column twice",
                column=column,
                hint="Name it once; each partition has a spec of its own",
            )
        _check_not_empty(column, value)
        by_column[column.lower()] = value
    columns = table.partition_column_names
    values = spec_values(columns, by_column)
    return {column: value for column, value in zip(columns, values, strict=True) if value is not None}


def whole_values(table: Table, spec: PartitionSpec) -> tuple[str, ...]:
    """The values of a spec that names all partition columns, in their order.

    Raises:
        InvalidPartitionValue: as `values_of`, or it leaves out a column.
    """
    values = values_of(table, spec)
    missing = [column for column in table.partition_column_names if column not in values]
    if missing:
        raise InvalidPartitionValue(
            "the partition spec leaves out columns",
            table=table,
            missing=", ".join(missing),
            hint=f"Write PARTITION ({', '.join(f'{name} = …' for name in table.partition_column_names)})",
        )
    return tuple(values.values())


def check_types(table: Table, values: Sequence[str]) -> None:
    """See that new values are of their columns' types.

    Raises:
        InvalidPartitionValue: one is not.
    """
    for column, kind, value in zip(table.partition_columns, table.key_types, values, strict=True):
        if text_cell(kind, value)[:1] == TAG_TEXT:
            raise InvalidPartitionValue(
                "a partition value does not fit its column's type",
                column=column.name,
                type=column.type,
                value=repr(value),
                hint="Correct the value, or write NULL for the null partition",
            )


def _selection(table: Table, conditions: Iterable[Condition], filter: str | None) -> PartialValues:
    columns = {column.name.lower(): at for at, column in enumerate(table.partition_columns)}
    parts: list[ExpressionTree] = []
    others: dict[int, str] = {}
    for condition in conditions:
        at = columns.get(condition.column.lower())
        if at is None:
            spec_values(table.partition_column_names, {condition.column: condition.value})  # which says that it is none
            continue
        _check_not_empty(condition.column, condition.value)
        if condition.operator is Operator.EQ and text_cell(table.key_types[at], condition.value)[:1] == TAG_TEXT:
            if others.setdefault(at, condition.value) != condition.value:
                raise InvalidPartitionValue(
                    "a partition spec names a column twice", column=condition.column, hint="Name it once"
                )
        else:
            parts.append(Comparison(table.partition_columns[at].name, condition.operator, Text(condition.value)))
    tree = parse_filter(filter)
    if tree is not None:
        parts.append(tree)
    return PartialValues(joined(And, parts) if parts else None, others)


def _check_not_empty(column: str, value: str) -> None:
    if not value:
        raise InvalidPartitionValue(
            "a partition value is empty", column=column, hint="Write NULL for the null partition"
        )

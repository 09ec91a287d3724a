"""Which partitions specs, conditions and filters select.

``hour = '05'`` means the text of a value, as specs do everywhere: it selects ``hour=05``, and not ``hour=5``. All other
comparisons are by type.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hbstore.ddl.statements import Condition, PartitionSpec
from hbstore.errors import InvalidPartitionValue
from hbstore.filters.parser import parse_filter
from hbstore.filters.tree import (
    And,
    Between,
    Comparison,
    ExpressionTree,
    In,
    Like,
    Not,
    Operator,
    SpecValue,
    Text,
    joined,
)
from hbstore.keys.partition_names import spec_values
from hbstore.keys.row_key import fits
from hbstore.model.objects import Table
from hbstore.store.partition_store import PartitionStore
from hbstore.texts.like import parse_like


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
    return store.partition_names(table.database, table.name, _selection(table, conditions, filter))


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
        if not fits(kind, value):
            raise InvalidPartitionValue(
                "a partition value does not fit its column's type",
                column=column.name,
                type=column.type,
                value=repr(value),
                hint="Correct the value, or write NULL for the null partition",
            )


def _selection(table: Table, conditions: Iterable[Condition], filter: str | None) -> ExpressionTree | None:
    columns = {column.name.lower(): column.name for column in table.partition_columns}
    parts: list[ExpressionTree] = []
    for condition in conditions:
        column = columns.get(condition.column.lower())
        if column is None:
            spec_values(table.partition_column_names, {condition.column: condition.value})  # which says that it is none
            continue
        for value in (condition.value, *condition.others):
            _check_not_empty(condition.column, value)
        tree = _tree(column, condition)
        parts.append(Not(tree) if condition.negated else tree)
    where = parse_filter(filter)
    if where is not None:
        parts.append(where)
    return joined(And, parts) if parts else None


def _tree(column: str, condition: Condition) -> ExpressionTree:
    first, *others = map(Text, (condition.value, *condition.others))
    match condition.operator:
        case Operator.EQ:
            return SpecValue(column, condition.value)
        case "LIKE":
            return Like(column, parse_like(condition.value, "sql"))
        case "IN":
            return In(column, (first, *others))
        case "BETWEEN":
            return Between(column, first, others[0])
        case operator:
            return Comparison(column, operator, first)


def _check_not_empty(column: str, value: str) -> None:
    if not value:
        raise InvalidPartitionValue(
            "a partition value is empty", column=column, hint="Write NULL for the null partition"
        )

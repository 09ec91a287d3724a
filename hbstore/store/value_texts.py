"""Values of partitions as Python has them, as the texts that Hive and Spark write of them in a column of some type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from hbstore.errors import FilterTypeError, InvalidPartitionValue
from hbstore.filters.builder import literal
from hbstore.keys.partition_names import spec_values
from hbstore.keys.row_key import NULL_PARTITION, cell_text
from hbstore.keys.types import ColumnType, StringType
from hbstore.model.objects import Partition, PartitionValue, PartitionValues, Table, listed, partition_value_texts
from hbstore.plans.literals import place
from hbstore.texts.arguments import expect

_SUITING: Final = {
    "DateType": "a date, such as date(2013, 1, 1)",
    "TimestampType": "a datetime without a time zone",
    "IntegerType": "an int",
    "DecimalType": "a Decimal or an int that it holds without rounding",
    "FloatType": "a float that it holds without rounding",
    "BooleanType": "True or False",
}
"""What suits a column, by the class of its type."""


def column_texts(columns: Sequence[str], types: Sequence[ColumnType], values: PartitionValues) -> tuple[str, ...]:
    """Partition values as texts in column order: of a date ``2013-01-01``, of True ``true``; texts stay as they are.

    Raises:
        InvalidPartitionValue: as of `partition_value_texts`, or a value does not suit its column.

    >>> from datetime import date
    >>> column_texts(["ds", "hour"], sales.definition.key_types, {"hour": 5, "ds": date(2013, 1, 1)})
    ('2013-01-01', '5')
    """
    if isinstance(values, Partition):
        return values.values
    return partition_value_texts(in_columns(columns, types, values))


def in_columns(
    columns: Sequence[str], types: Sequence[ColumnType], values: PartitionValues
) -> Sequence[PartitionValue]:
    """What `column_texts` makes texts of, but for None and the empty text, which stay."""
    given = listed(values, columns)
    if not are_texts(given) and len(given) == len(columns):  # where there are too many or too few, no type is known
        return list(map(value_text, columns, types, given))
    return given


def partial_spec_texts(table: Table, spec: Mapping[str, PartitionValue]) -> dict[str, str]:
    """The texts of a partial spec, by the columns of the table; that of the null partition is its name.

    Raises:
        InvalidInput: it is no dict.
        InvalidPartitionValue: it names another column, or one of them twice, or a value does not suit its column.

    >>> partial_spec_texts(sales.definition, {"HOUR": 5})
    {'hour': '5'}
    """
    expect("spec", spec, Mapping, hint='Give a dict, such as {"ds": "2013-01-01"}; None is the null partition')
    columns, named = table.partition_column_names, {column.lower() for column in spec if isinstance(column, str)}
    triples = zip(columns, table.key_types, spec_values(columns, spec), strict=True)
    return {
        column: value_text(column, column_type, value) or NULL_PARTITION
        for column, column_type, value in triples
        if column.lower() in named
    }


def are_texts(values: PartitionValues) -> bool:
    """Whether all of some values are texts or None, so that no column's type is needed to write them."""
    if isinstance(values, Partition):
        return True
    for value in values.values() if isinstance(values, Mapping) else values:
        if value is not None and not isinstance(value, str):
            return False
    return True


def value_text(column: str, column_type: ColumnType, value: object) -> str | None:
    """The text of a value in a column: just what ``col(column) == value`` selects. None stays None.

    Raises:
        InvalidPartitionValue: the value does not suit the column's type.

    >>> from hbstore.keys.types import parse_type
    >>> value_text("price", parse_type("decimal(10,2)"), 5)
    '5.00'
    """
    if value is None or isinstance(value, str):
        return value
    try:
        given = literal(value)
    except FilterTypeError as error:
        raise _unsuited(column, column_type, value, error.hint) from None
    try:
        at, after = place(column, column_type, given)
    except FilterTypeError:
        at = after = b""
    if at < after:
        return cell_text(column_type, at)
    if isinstance(column_type, StringType):
        raise _unsuited(column, column_type, value, f"Give its text, such as {str(value)!r}")
    raise _unsuited(column, column_type, value, f"Give {_SUITING[type(column_type).__name__]}, or its text")


def _unsuited(column: str, column_type: ColumnType, value: object, hint: str | None) -> InvalidPartitionValue:
    return InvalidPartitionValue(
        "a partition value does not fit its column's type",
        column=column,
        type=column_type.name,
        value=repr(value),
        hint=hint,
    )

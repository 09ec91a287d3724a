"""Databases, tables and partitions as values.

All of them are frozen: sequences become tuples, mappings become `FrozenDict`, names of databases and tables become
lower case. Their bytes are the business of `hbstore.model.structs`.

>>> table = Table("Shop", "sales", partition_columns=[Column("ds", "date"), Column("hour", "int")])
>>> str(table), table.partition_column_names
('shop.sales', ('ds', 'hour'))
>>> Partition(values=("2013-01-01", None)).values
('2013-01-01', '__HIVE_DEFAULT_PARTITION__')

``later_fields`` of any of them are fields that the Hive Metastore's struct has since later versions than 2.3, such as a
write id, as Thrift's binary protocol writes them. Nothing here reads them; they are kept and handed on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, fields, replace
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from operator import attrgetter
from types import NoneType
from typing import Final, TypeAlias

from hbstore.errors import InvalidInput, InvalidName, InvalidPartitionValue, InvalidType
from hbstore.keys.partition_names import identifier, spec_values
from hbstore.keys.row_key import NULL_PARTITION
from hbstore.keys.types import ColumnType, parse_type
from hbstore.model.frozen import FrozenDict, freeze_mapping, freeze_sequence
from hbstore.pictures.html_table import html_table
from hbstore.texts.arguments import expect, expect_flags, expect_many, expect_numbers
from hbstore.texts.wording import clipped, plural

_REPR: Final = 80
"""Characters of one part of a repr at most, so that it stays a line."""

_VALUES: Final = (
    'Write ("2013-01-01", "5") or {"ds": "2013-01-01", "hour": "5"}; several partitions are a list of these'
)
_A_COLUMN: Final = 'Give columns as Column("ds", "date")'
_EMPTY: FrozenDict[str, str] = FrozenDict()


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the data or of the partitioning; the type is Hive's text, such as ``array<struct<a:int>>``."""

    name: str
    type: str
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class Order:
    """A column that the files are sorted by: ``order`` is 1 for ascending, 0 for descending.

    >>> StorageDescriptor(sort_columns=[Order("amount", 1)]).sort_columns
    (Order(column='amount', order=1),)
    """

    column: str
    order: int


@dataclass(frozen=True, slots=True)
class SerDe:
    """The class that reads and writes rows, and its parameters.

    >>> line = SerDe(library="org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe", parameters={"field.delim": ","})
    >>> StorageDescriptor(serde=line).serde == line
    True
    """

    name: str | None = None
    library: str | None = None
    parameters: Mapping[str, str] = _EMPTY
    later_fields: bytes = b""

    def __post_init__(self) -> None:
        freeze_mapping(self, "parameters")


@dataclass(frozen=True, slots=True)
class Skew:
    """Columns with few frequent values, those values, and the folders of their rows.

    >>> Skew(["region"], [["eu"]]).values
    (('eu',),)
    """

    columns: Sequence[str] = ()
    values: Sequence[Sequence[str]] = ()
    locations: Mapping[tuple[str, ...], str] = field(default_factory=FrozenDict)

    def __post_init__(self) -> None:
        freeze_sequence(self, "columns")
        hint = "Give a list of lists of texts"
        lists = [expect_many("values", one, hint=hint) for one in expect_many("values", self.values, hint=hint)]
        object.__setattr__(self, "values", tuple(map(tuple, lists)))
        freeze_mapping(self, "locations")


@dataclass(frozen=True, slots=True, repr=False)
class StorageDescriptor:
    """How files are stored: formats, buckets, serde. The location stands in the `Table` or `Partition` itself.

    In a partition, ``columns`` are those that the table had when its files were written; in a table, they stand in
    `Table.columns` and are empty here.
    """

    columns: Sequence[Column] = ()
    input_format: str | None = None
    output_format: str | None = None
    compressed: bool = False
    num_buckets: int = -1
    serde: SerDe = SerDe()
    bucket_columns: Sequence[str] = ()
    sort_columns: Sequence[Order] = ()
    parameters: Mapping[str, str] = _EMPTY
    skew: Skew | None = None
    stored_as_sub_directories: bool = False
    later_fields: bytes = b""

    def __post_init__(self) -> None:
        for name in ("columns", "bucket_columns", "sort_columns"):
            freeze_sequence(self, name)
        expect("serde", self.serde, SerDe, hint="Give a SerDe")
        expect_flags(compressed=self.compressed, stored_as_sub_directories=self.stored_as_sub_directories)
        freeze_mapping(self, "parameters")

    def __repr__(self) -> str:
        formats = [one for one in (self.serde.library, self.input_format) if isinstance(one, str) and one]
        return (
            f"<StorageDescriptor {clipped([*formats, 'no format'][0], _REPR)}, {plural(len(self.columns), 'column')}>"
        )


@dataclass(frozen=True, slots=True)
class Grant:
    """A privilege and who granted it; ``grantor_type`` is 1 for a user, 2 for a role, 3 for a group."""

    privilege: str
    create_time: int = 0
    grantor: str | None = None
    grantor_type: int | None = None
    grant_option: bool = False


@dataclass(frozen=True, slots=True)
class Privileges:
    """What users, groups and roles may do, by their names.

    >>> Privileges(users={"ann": [Grant("SELECT")]}).users["ann"][0].privilege
    'SELECT'
    """

    users: Mapping[str, Sequence[Grant]] = field(default_factory=FrozenDict)
    groups: Mapping[str, Sequence[Grant]] = field(default_factory=FrozenDict)
    roles: Mapping[str, Sequence[Grant]] = field(default_factory=FrozenDict)

    def __post_init__(self) -> None:
        for name in ("users", "groups", "roles"):
            hint = 'Give a dict of lists, such as {"ann": [Grant("SELECT")]}'
            grants: Mapping[str, Sequence[Grant]] = expect(name, getattr(self, name), Mapping, hint=hint)
            lists = {who: tuple(expect_many(name, given, Grant, hint=hint)) for who, given in grants.items()}
            object.__setattr__(self, name, FrozenDict(lists))


@dataclass(frozen=True, slots=True, repr=False)
class Database:
    """A database; ``owner_type`` is 1 for a user, 2 for a role, 3 for a group.

    Raises:
        InvalidName: the name is not letters, digits and underscores.
    """

    name: str
    description: str | None = None
    location: str | None = None
    parameters: Mapping[str, str] = _EMPTY
    owner: str | None = None
    owner_type: int | None = None
    privileges: Privileges | None = None
    later_fields: bytes = b""

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", identifier("database", self.name))
        freeze_mapping(self, "parameters")

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<Database {self.name}{_at(self.location)}>"


@dataclass(frozen=True, slots=True, repr=False)
class Table:
    """A table: its name, its columns, and the storage that its partitions inherit.

    Args:
        database: the database's name.
        name: the table's name.
        partition_columns: what partitions differ in, most significant first; none for an unpartitioned table.
        columns: the columns of the data; taken from ``storage`` where they stand only there.
        location: where its files are, as a URI.

    Raises:
        InvalidName: a name of the database, table or a column that cannot be, or one that stands twice among the data
            columns, or among the partition columns. As in a Hive Metastore, a partition column may have the name of a
            data column; `check_columns_apart` is for those who cannot tell the two apart.
        InvalidType: a partition column's type is unknown or cannot partition a table.
        InvalidInput: ``columns`` and the columns of ``storage`` differ.

    >>> Table("shop", "sales", partition_columns=[Column("ds", "date")]).key_types
    (DateType(name='date'),)
    """

    database: str
    name: str
    partition_columns: Sequence[Column] = ()
    columns: Sequence[Column] = ()
    location: str | None = None
    parameters: Mapping[str, str] = _EMPTY
    owner: str | None = None
    table_type: str = "MANAGED_TABLE"
    storage: StorageDescriptor = StorageDescriptor()
    create_time: int = 0
    last_access_time: int = 0
    retention: int = 0
    view_original_text: str | None = None
    view_expanded_text: str | None = None
    privileges: Privileges | None = None
    temporary: bool = False
    rewrite_enabled: bool | None = None
    later_fields: bytes = b""

    def __post_init__(self) -> None:
        object.__setattr__(self, "database", identifier("database", self.database))
        object.__setattr__(self, "name", identifier("table", self.name))
        freeze_sequence(self, "partition_columns")
        freeze_sequence(self, "columns")
        freeze_mapping(self, "parameters")
        self._keep_columns_once()
        expect_flags(temporary=self.temporary)
        expect_numbers(create_time=self.create_time)
        expect("rewrite_enabled", self.rewrite_enabled, bool, NoneType, hint="Give True, False or None")
        _check_column_names(self.columns)
        _check_column_names(self.partition_columns)
        try:
            _key_types(tuple(column.type for column in self.partition_columns))
        except InvalidType as error:
            column = next(one.name for one in self.partition_columns if one.type == error.fields["type"])
            raise InvalidType(error.text, hint=error.hint, column=column, type=error.fields["type"]) from None

    def _keep_columns_once(self) -> None:
        """Columns stand here and not in the storage, so that replacing either leaves no stale copy."""
        columns = expect("storage", self.storage, StorageDescriptor, hint="Give a StorageDescriptor").columns
        if not columns:
            return
        if self.columns and self.columns != columns:
            raise InvalidInput(
                "the columns of the table and of its storage differ",
                table=self,
                hint="Give the columns only to the table",
            )
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "storage", replace(self.storage, columns=()))

    def __str__(self) -> str:
        return f"{self.database}.{self.name}"

    def __repr__(self) -> str:
        keys = ", ".join(f"{column.name} {column.type}" for column in self.partition_columns) or "not partitioned"
        return f"<Table {self} ({clipped(keys, _REPR)}), {plural(len(self.columns), 'column')}{_at(self.location)}>"

    def _repr_html_(self) -> str:
        """Its columns as a table for notebooks."""
        return html_table(f"{self}{_at(self.location)}", column_rows(self.columns, self.partition_columns))

    @property
    def key_types(self) -> tuple[ColumnType, ...]:
        """The types of the partition columns.

        >>> [one.name for one in sales.definition.key_types]
        ['date', 'int']
        """
        return _key_types(tuple(column.type for column in self.partition_columns))

    @property
    def partition_column_names(self) -> tuple[str, ...]:
        """The names of the partition columns.

        >>> sales.definition.partition_column_names
        ('ds', 'hour')
        """
        return tuple(column.name for column in self.partition_columns)


@dataclass(frozen=True, slots=True, init=False, repr=False, eq=False)
class Partition:
    """A partition: its values as text, where it is, and what differs from its table.

    Args:
        values: one for each partition column; None is the null partition. Texts are kept as given; an int, a bool, a
            date or a datetime becomes the text that Hive writes of it. How decimals and floats are written, and ints
            among them, depends on the column: give those to the table in a tuple or a spec.
        location: where its files are; None until it is stored: then the table's location and the partition's name.
        parameters: such as numRows.
        create_time: seconds since 1970.
        last_access_time: seconds since 1970, or 0.
        storage: how its files are stored; None inherits the table's.
        privileges: who may do what.
        later_fields: fields of later versions of the Hive Metastore, unchanged.

    Attributes:
        payload: the bytes that it was read from; None if it was made here.

    Raises:
        InvalidPartitionValue: the values are no sequence, or one is of another type, or no UTF-8.
        InvalidInput: they are a spec: which of them belongs to which column only a table says.

    >>> Partition([date(2013, 1, 1), 5]) == Partition(values=("2013-01-01", "5"))
    True
    """

    values: tuple[str, ...]
    location: str | None = None
    parameters: Mapping[str, str] = _EMPTY
    create_time: int = 0
    last_access_time: int = 0
    storage: StorageDescriptor | None = None
    privileges: Privileges | None = None
    later_fields: bytes = b""
    payload: bytes | None = field(default=None, init=False, repr=False, compare=False)

    # By hand, as it takes more than it keeps: any iterable and None are given, a tuple of texts is read.
    def __init__(
        self,
        values: Iterable[PartitionValue],
        *,
        location: str | None = None,
        parameters: Mapping[str, str] = _EMPTY,
        create_time: int = 0,
        last_access_time: int = 0,
        storage: StorageDescriptor | None = None,
        privileges: Privileges | None = None,
        later_fields: bytes = b"",
    ) -> None:
        put = object.__setattr__
        put(self, "values", partition_value_texts(values))
        put(self, "location", location)
        put(self, "parameters", parameters)
        freeze_mapping(self, "parameters")
        put(self, "create_time", create_time)
        put(self, "last_access_time", last_access_time)
        put(self, "storage", storage)
        put(self, "privileges", privileges)
        put(self, "later_fields", later_fields)
        put(self, "payload", None)

    # By hand, too: one that was read from a store is of another class, and equal to one that says the same.
    def __eq__(self, other: object) -> bool:
        return _content(self) == _content(other) if isinstance(other, Partition) else NotImplemented

    def __hash__(self) -> int:
        return hash(_content(self))

    def __repr__(self) -> str:
        return f"<Partition {clipped(repr(self.values), _REPR)}{_at(self.location)}>"


_content: Final = attrgetter(*(one.name for one in fields(Partition) if one.compare))
"""All that a partition says, its payload aside."""


PartitionValue: TypeAlias = "str | int | float | Decimal | date | datetime | bool | None"
"""A value of a partition: its text, or a value that its column can be compared with; None is the null partition."""
PartitionValues: TypeAlias = Sequence[PartitionValue] | Mapping[str, PartitionValue] | Partition
"""Which partition: a value for each column in their order, a spec, or a `Partition`."""


def partition_value_texts(
    values: PartitionValues | Iterable[PartitionValue], columns: Sequence[str] | None = None
) -> tuple[str, ...]:
    """Partition values as texts in column order; None and ``""`` become Hive's name for the null partition.

    Args:
        values: texts in column order; where the columns are known also a spec, or the values of a `Partition`.
        columns: the names of the partition columns.

    Raises:
        InvalidPartitionValue: it is none of these; a value has no text that every column writes so, or cannot be
            written as UTF-8; a spec does not name just the partition columns.
        InvalidInput: it is a spec, and the columns are not known.

    >>> partition_value_texts(["a", None])
    ('a', '__HIVE_DEFAULT_PARTITION__')
    >>> partition_value_texts(["", 5, True, datetime(2013, 1, 1, 5)])
    ('__HIVE_DEFAULT_PARTITION__', '5', 'true', '2013-01-01 05:00:00')
    >>> partition_value_texts({"Hour": "5", "ds": "a"}, ["ds", "hour"])
    ('a', '5')
    """
    if columns is not None and isinstance(values, Partition):
        return values.values
    texts = [value if value is None or isinstance(value, str) else _text(value) for value in listed(values, columns)]
    try:
        "".join(filter(None, texts)).encode()
    except UnicodeEncodeError:
        raise InvalidPartitionValue(
            "a partition value cannot be written as UTF-8", values=ascii(texts), hint="Remove the lone surrogate"
        ) from None
    return tuple([value or NULL_PARTITION for value in texts])


def listed(
    values: PartitionValues | Iterable[PartitionValue], columns: Sequence[str] | None = None
) -> Sequence[PartitionValue]:
    """Partition values as they are given, in column order: what `partition_value_texts` makes texts of."""
    if isinstance(values, tuple | list):
        return values
    if isinstance(values, Mapping):
        if columns is None:
            raise InvalidInput(
                "a partition spec cannot be read without its table's columns",
                spec=dict(values),
                hint="Give the values alone, in the order of the table's partition columns",
            )
        return spec_values(columns, values, whole=True)
    if isinstance(values, str | bytes | bytearray | AbstractSet) or not isinstance(values, Iterable):
        raise InvalidPartitionValue("partition values are not a sequence", type=type(values).__name__, hint=_VALUES)
    return tuple(values)


def _text(value: object) -> str:
    """The text that Hive writes of a value, in whatever column."""
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(int(value))
        case datetime(tzinfo=None):
            text = value.isoformat(" ")
            return text.rstrip("0") if value.microsecond else text
        case date() if not isinstance(value, datetime):
            return value.isoformat()
    raise InvalidPartitionValue(
        "the text of a partition value is not known",
        value=repr(value),
        type=type(value).__name__,
        hint="Give its text, or give decimals and floats in a tuple or a dict to a table, which knows their columns",
    )


def column_rows(columns: Sequence[Column], partition_columns: Sequence[Column]) -> list[tuple[str, str, str, str]]:
    """What people read of a table's columns: of each its name, its type, what it is, and its comment.

    >>> column_rows([], [Column("ds", "date", "in UTC")])
    [('ds', 'date', 'partition column', 'in UTC')]
    """
    roles = [(column, "") for column in columns] + [(column, "partition column") for column in partition_columns]
    return [(column.name, column.type, role, column.comment or "") for column, role in roles]


def _at(location: str | None) -> str:
    return "" if location is None else f" at {clipped(str(location), _REPR)}"


def check_columns_apart(table: Table) -> Table:
    """The table itself, if no partition column has the name of a data column.

    Raises:
        InvalidName: one has.

    >>> check_columns_apart(Table("shop", "sales", [Column("ds", "date")], [Column("amount", "double")]))
    <Table shop.sales (ds date), 1 column>
    """
    _check_column_names((*table.columns, *table.partition_columns))
    return table


def _check_column_names(columns: Sequence[Column]) -> None:
    seen: set[str] = set()
    for column in columns:
        expect("columns", column, Column, hint=_A_COLUMN)
        expect(f"type of {column.name!r}", column.type, str, hint=_A_COLUMN)
        if not isinstance(column.name, str) or not column.name.strip():
            raise InvalidName("a column has no name", name=repr(column.name), hint="Give every column a name")
        if column.name.lower() in seen:
            raise InvalidName(
                "two columns have the same name",
                name=column.name,
                hint="Column names must differ in more than upper and lower case",
            )
        seen.add(column.name.lower())


@lru_cache(maxsize=1024)
def _key_types(texts: tuple[str, ...]) -> tuple[ColumnType, ...]:
    return tuple(parse_type(text) for text in texts)

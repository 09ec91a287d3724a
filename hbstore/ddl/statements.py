"""Statements as values, printed as text that parses to the same statement.

>>> table = TableName("sales", "shop")
>>> print(ShowPartitions(table, PartitionSpec((("ds", "2013-01-01"),)), "hour > 5"))
SHOW PARTITIONS shop.sales PARTITION (ds = '2013-01-01') WHERE hour > 5
>>> print(DropPartitions(table, ((Condition("ds", Operator.LT, "2013-02-01"),),), purge=True))
ALTER TABLE shop.sales DROP PARTITION (ds < '2013-02-01') PURGE
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from hbstore.ddl.texts import quoted_name, quoted_string
from hbstore.filters.tree import Operator
from hbstore.keys.row_key import NULL_PARTITION


@dataclass(frozen=True, slots=True)
class TableName:
    """A table; without a database it is one of the current database.

    >>> print(TableName("sales", "shop"))
    shop.sales
    """

    name: str
    database: str | None = None

    def __str__(self) -> str:
        before = "" if self.database is None else f"{quoted_name(self.database)}."
        return before + quoted_name(self.name)


@dataclass(frozen=True, slots=True)
class PartitionSpec:
    """Partition columns and their values, as texts; `NULL_PARTITION` is the null partition's.

    >>> print(PartitionSpec((("ds", "2013-01-01"), ("hour", "5"))))
    (ds = '2013-01-01', hour = '5')
    """

    values: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return f"({', '.join(f'{quoted_name(column)} = {_value(value)}' for column, value in self.values)})"


@dataclass(frozen=True, slots=True)
class AddedPartition:
    """A partition to add, and where its files are if not below its table's.

    >>> print(AddedPartition(PartitionSpec((("ds", "2013-01-01"),)), "s3://shop/old"))
    PARTITION (ds = '2013-01-01') LOCATION 's3://shop/old'
    """

    spec: PartitionSpec
    location: str | None = None

    def __str__(self) -> str:
        place = "" if self.location is None else f" LOCATION {quoted_string(self.location)}"
        return f"PARTITION {self.spec}{place}"


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition in DROP PARTITION; ``others`` are the further values of IN, or the upper bound of BETWEEN.

    LIKE, IN and BETWEEN may be negated.

    >>> print(Condition("ds", Operator.LT, "2013-02-01"))
    ds < '2013-02-01'
    >>> print(Condition("hour", "BETWEEN", "5", ("7",)))
    hour BETWEEN '5' AND '7'
    >>> print(Condition("ds", "LIKE", "2013%", negated=True))
    ds NOT LIKE '2013%'
    """

    column: str
    operator: Operator | Literal["LIKE", "IN", "BETWEEN"]
    value: str
    others: tuple[str, ...] = ()
    negated: bool = False

    def __str__(self) -> str:
        operator = self.operator.value if isinstance(self.operator, Operator) else self.operator
        operator = f"NOT {operator}" if self.negated else operator
        value = _value(self.value) if self.operator is Operator.EQ else quoted_string(self.value)
        if self.operator == "IN":
            value = f"({', '.join(map(quoted_string, (self.value, *self.others)))})"
        elif self.operator == "BETWEEN":
            value = f"{value} AND {quoted_string(self.others[0])}"
        return f"{quoted_name(self.column)} {operator} {value}"


@dataclass(frozen=True, slots=True)
class AddPartitions:
    """ALTER TABLE … ADD PARTITION."""

    table: TableName
    partitions: tuple[AddedPartition, ...]
    if_not_exists: bool = False

    def __str__(self) -> str:
        condition = " IF NOT EXISTS" if self.if_not_exists else ""
        return f"ALTER TABLE {self.table} ADD{condition} {' '.join(map(str, self.partitions))}"


@dataclass(frozen=True, slots=True)
class DropPartitions:
    """ALTER TABLE … DROP PARTITION: what any of the conjunctions of conditions selects."""

    table: TableName
    selected: tuple[tuple[Condition, ...], ...]
    if_exists: bool = False
    purge: bool = False

    def __str__(self) -> str:
        condition = " IF EXISTS" if self.if_exists else ""
        which = ", ".join(f"PARTITION ({', '.join(map(str, conditions))})" for conditions in self.selected)
        return f"ALTER TABLE {self.table} DROP{condition} {which}{' PURGE' if self.purge else ''}"


@dataclass(frozen=True, slots=True)
class RenamePartition:
    """ALTER TABLE … PARTITION … RENAME TO PARTITION."""

    table: TableName
    spec: PartitionSpec
    renamed: PartitionSpec

    def __str__(self) -> str:
        return f"ALTER TABLE {self.table} PARTITION {self.spec} RENAME TO PARTITION {self.renamed}"


@dataclass(frozen=True, slots=True)
class SetLocation:
    """ALTER TABLE … SET LOCATION of a table, or of a partition: files stay where they are."""

    table: TableName
    spec: PartitionSpec | None
    location: str

    def __str__(self) -> str:
        return f"ALTER TABLE {self.table}{_spec(self.spec)} SET LOCATION {quoted_string(self.location)}"


@dataclass(frozen=True, slots=True)
class ExchangePartitions:
    """ALTER TABLE … EXCHANGE PARTITION: the partitions of ``source`` come to ``table``."""

    table: TableName
    specs: tuple[PartitionSpec, ...]
    source: TableName

    def __str__(self) -> str:
        several = f"({', '.join(map(str, self.specs))})"
        specs = str(self.specs[0]) if len(self.specs) == 1 else several
        return f"ALTER TABLE {self.table} EXCHANGE PARTITION {specs} WITH TABLE {self.source}"


@dataclass(frozen=True, slots=True)
class TruncateTable:
    """TRUNCATE TABLE: a whole table, or the partitions that a spec selects."""

    table: TableName
    spec: PartitionSpec | None = None

    def __str__(self) -> str:
        return f"TRUNCATE TABLE {self.table}{_spec(self.spec)}"


@dataclass(frozen=True, slots=True)
class SetProperties:
    """ALTER TABLE … SET TBLPROPERTIES: names and values."""

    table: TableName
    properties: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        shown = ", ".join(f"{quoted_string(name)} = {quoted_string(value)}" for name, value in self.properties)
        return f"ALTER TABLE {self.table} SET TBLPROPERTIES ({shown})"


@dataclass(frozen=True, slots=True)
class UnsetProperties:
    """ALTER TABLE … UNSET TBLPROPERTIES: names."""

    table: TableName
    names: tuple[str, ...]
    if_exists: bool = False

    def __str__(self) -> str:
        condition = " IF EXISTS" if self.if_exists else ""
        return f"ALTER TABLE {self.table} UNSET TBLPROPERTIES{condition} ({', '.join(map(quoted_string, self.names))})"


@dataclass(frozen=True, slots=True)
class ShowPartitions:
    """SHOW PARTITIONS; ``filter`` is text in the filter language, ``order`` columns, each with whether it falls."""

    table: TableName
    spec: PartitionSpec | None = None
    filter: str | None = None
    order: tuple[tuple[str, bool], ...] = ()
    limit: int | None = None

    def __str__(self) -> str:
        columns = ", ".join(f"{quoted_name(column)}{' DESC' if falls else ''}" for column, falls in self.order)
        order = f" ORDER BY {columns}" if columns else ""
        limit = "" if self.limit is None else f" LIMIT {self.limit}"
        return f"SHOW PARTITIONS {self.table}{_spec(self.spec)}{_where(self.filter)}{order}{limit}"


@dataclass(frozen=True, slots=True)
class ShowColumns:
    """SHOW COLUMNS."""

    table: TableName

    def __str__(self) -> str:
        return f"SHOW COLUMNS IN {self.table}"


@dataclass(frozen=True, slots=True)
class ShowProperties:
    """SHOW TBLPROPERTIES: of a name, or of all."""

    table: TableName
    name: str | None = None

    def __str__(self) -> str:
        return f"SHOW TBLPROPERTIES {self.table}{'' if self.name is None else f' ({quoted_string(self.name)})'}"


@dataclass(frozen=True, slots=True)
class ShowCreateTable:
    """SHOW CREATE TABLE."""

    table: TableName

    def __str__(self) -> str:
        return f"SHOW CREATE TABLE {self.table}"


@dataclass(frozen=True, slots=True)
class ShowTableExtended:
    """SHOW TABLE EXTENDED: the tables whose names match, or a partition of the table of that name."""

    pattern: str
    database: str | None = None
    spec: PartitionSpec | None = None

    def __str__(self) -> str:
        return f"SHOW TABLE EXTENDED{_in(self.database)} LIKE {quoted_string(self.pattern)}{_spec(self.spec)}"


@dataclass(frozen=True, slots=True)
class ShowTables:
    """SHOW TABLES."""

    database: str | None = None
    pattern: str | None = None

    def __str__(self) -> str:
        return f"SHOW TABLES{_in(self.database)}{_like(self.pattern)}"


@dataclass(frozen=True, slots=True)
class ShowDatabases:
    """SHOW DATABASES."""

    pattern: str | None = None

    def __str__(self) -> str:
        return f"SHOW DATABASES{_like(self.pattern)}"


@dataclass(frozen=True, slots=True)
class Describe:
    """DESCRIBE a table, one of its partitions, or one of its columns."""

    table: TableName
    spec: PartitionSpec | None = None
    column: str | None = None
    extended: bool = False

    def __str__(self) -> str:
        column = "" if self.column is None else f" {quoted_name(self.column)}"
        return f"DESCRIBE {'EXTENDED ' if self.extended else ''}{self.table}{_spec(self.spec)}{column}"


@dataclass(frozen=True, slots=True)
class UseDatabase:
    """USE: the database of tables that are named without one."""

    database: str

    def __str__(self) -> str:
        return f"USE {quoted_name(self.database)}"


@dataclass(frozen=True, slots=True)
class ExplainPartitions:
    """EXPLAIN PARTITIONS: the scans that a filter becomes."""

    table: TableName
    filter: str | None = None

    def __str__(self) -> str:
        return f"EXPLAIN PARTITIONS {self.table}{_where(self.filter)}"


@dataclass(frozen=True, slots=True)
class RepairTable:
    """MSCK REPAIR TABLE; ``change`` is what may be done: ADD, DROP or SYNC, which is both.

    With ``dry_run``, MSCK TABLE, nothing is done.
    """

    table: TableName
    change: str = "ADD"
    dry_run: bool = False

    def __str__(self) -> str:
        return f"MSCK {'' if self.dry_run else 'REPAIR '}TABLE {self.table} {self.change} PARTITIONS"


@dataclass(frozen=True, slots=True)
class AnalyzeTable:
    """ANALYZE TABLE … COMPUTE STATISTICS; ``columns`` are those of FOR COLUMNS, "all" those of FOR ALL COLUMNS.

    With ``noscan`` no file is read: files and bytes are counted, and no columns are named.
    """

    table: TableName
    spec: PartitionSpec | None = None
    columns: tuple[str, ...] | Literal["all"] | None = None
    noscan: bool = False

    def __str__(self) -> str:
        what = " NOSCAN" if self.noscan else _for_columns(self.columns)
        return f"ANALYZE TABLE {self.table}{_spec(self.spec)} COMPUTE STATISTICS{what}"


@dataclass(frozen=True, slots=True)
class CubeQuery:
    """CUBE SELECT …, which Spark answers; ``start`` is where it begins in the text that was parsed."""

    text: str
    start: int = field(default=0, compare=False)

    def __str__(self) -> str:
        return self.text


Change: TypeAlias = (
    AddPartitions | DropPartitions | RenamePartition | SetLocation | ExchangePartitions | TruncateTable | RepairTable
)
"""Statements that change partitions and their files."""

Write: TypeAlias = Change | SetProperties | UnsetProperties | AnalyzeTable
"""Statements that change anything."""

Statement: TypeAlias = (
    Write
    | ShowPartitions
    | ShowColumns
    | ShowCreateTable
    | ShowProperties
    | ShowTableExtended
    | ShowTables
    | ShowDatabases
    | Describe
    | UseDatabase
    | ExplainPartitions
    | CubeQuery
)


def _value(value: str) -> str:
    return "NULL" if value == NULL_PARTITION else quoted_string(value)


def _spec(spec: PartitionSpec | None) -> str:
    return "" if spec is None else f" PARTITION {spec}"


def _where(filter: str | None) -> str:
    return "" if filter is None else f" WHERE {filter}"


def _for_columns(columns: tuple[str, ...] | Literal["all"] | None) -> str:
    if columns is None:
        return ""
    return " FOR ALL COLUMNS" if columns == "all" else f" FOR COLUMNS {', '.join(map(quoted_name, columns))}"


def _in(database: str | None) -> str:
    return "" if database is None else f" IN {quoted_name(database)}"


def _like(pattern: str | None) -> str:
    return "" if pattern is None else f" LIKE {quoted_string(pattern)}"

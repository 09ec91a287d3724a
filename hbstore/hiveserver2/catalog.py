"""JDBC's metadata calls, answered from the store without Spark.

There is one catalog, whose name is empty. Besides tables and views, the model's cubes, dimensions and facts are views,
with their fields as columns; the remarks say how to ask them. A table of the same name hides such a view.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from hbstore.hiveserver2 import result_types
from hbstore.hiveserver2.listings import (
    CATALOGS,
    COLUMNS,
    CROSS_REFERENCE,
    FUNCTIONS,
    PRIMARY_KEYS,
    SCHEMAS,
    TABLE_TYPES,
    TABLES,
    TYPE_INFO,
    CatalogRows,
    listing,
)
from hbstore.hiveserver2.relations import TABLE, VIEW, Relation, relations
from hbstore.hiveserver2.result_types import TYPES, result_type
from hbstore.hiveserver2.said_of_columns import SaidOfColumns, constraints_of
from hbstore.model.constraints import ConstraintKind
from hbstore.store.partition_store import PartitionStore
from hbstore.warehouse.name_patterns import NamePattern

_CATALOG: Final = ""
_NO_NULLS: Final = 0
_NULLABLE: Final = 1
_SEARCHABLE: Final = 3
"""In any condition; 0: in none."""

_LETTERS: Final = (result_types.STRING, result_types.VARCHAR, result_types.CHAR)
_PARAMETERS: Final = {"decimal": "precision,scale", "varchar": "length", "char": "length"}


@dataclass(frozen=True, slots=True)
class JdbcCatalog:
    """The catalog of a store in the words of JDBC.

    Attributes:
        store: whose.

    >>> JdbcCatalog(store).columns("shop", "sal%", "am%").batch.select(["COLUMN_NAME", "TYPE_NAME"]).to_pylist()
    [{'COLUMN_NAME': 'amount', 'TYPE_NAME': 'DECIMAL(10,2)'}]
    """

    store: PartitionStore

    def catalogs(self) -> CatalogRows:
        """None that has a name."""
        return listing(CATALOGS, "", [])

    def schemas(self, schema: str | None) -> CatalogRows:
        """The databases, by name.

        Args:
            schema: a pattern for their names, as `hbstore.warehouse.name_patterns.NamePattern` has them.
        """
        pattern = NamePattern.of_jdbc(schema)
        names = [name for name in self.store.database_names() if pattern.matches(name)]
        return listing(SCHEMAS, "TABLE_SCHEM", [(name,) for name in names], TABLE_CATALOG=_CATALOG)

    def table_types(self) -> CatalogRows:
        """TABLE and VIEW."""
        return listing(TABLE_TYPES, "TABLE_TYPE", [(TABLE,), (VIEW,)])

    def tables(self, schema: str | None, table: str | None, types: Sequence[str] | None) -> CatalogRows:
        """Tables and views, by type, database and name.

        Args:
            schema: a pattern for names of databases.
            table: a pattern for names of tables and views.
            types: TABLE, VIEW, or Hive's words such as EXTERNAL_TABLE, in any case; None or empty: all.
        """
        has_type = _wanted(types)
        rows = sorted(
            (relation.type, relation.database, relation.name, relation.remarks)
            for relation in relations(self.store, NamePattern.of_jdbc(schema), NamePattern.of_jdbc(table))
            if has_type(relation)
        )
        return listing(TABLES, "TABLE_TYPE TABLE_SCHEM TABLE_NAME REMARKS", rows, TABLE_CAT=_CATALOG)

    def columns(self, schema: str | None, table: str | None, column: str | None) -> CatalogRows:
        """Columns of tables and views, by database, table and place; those that partition a table come last.

        Args:
            schema: a pattern for names of databases.
            table: a pattern for names of tables and views.
            column: a pattern for names of columns.
        """
        matches = NamePattern.of_jdbc(column).matches
        selected = [
            (relation, place, relation_column)
            for relation in relations(self.store, NamePattern.of_jdbc(schema), NamePattern.of_jdbc(table))
            for place, relation_column in enumerate(relation.columns, 1)
            if matches(relation_column.name)
        ]
        said = SaidOfColumns.of(self.store, [relation for relation, _, _ in selected])
        typed = {text: _typed(text) for text in {data_column.type for _, _, data_column in selected}}
        names = (
            "TABLE_SCHEM TABLE_NAME COLUMN_NAME ORDINAL_POSITION REMARKS COLUMN_DEF "
            "TYPE_NAME DATA_TYPE COLUMN_SIZE DECIMAL_DIGITS NUM_PREC_RADIX NULLABLE IS_NULLABLE"
        )
        rows = []
        for relation, place, data_column in selected:
            is_filled, default = said.of_column(relation, data_column.name)
            null = (_NO_NULLS, "NO") if is_filled else (_NULLABLE, "YES")
            named = (relation.database, relation.name, data_column.name, place, data_column.comment or "", default)
            rows.append((*named, *typed[data_column.type], *null))
        return listing(COLUMNS, names, rows, TABLE_CAT=_CATALOG, IS_AUTO_INCREMENT="NO")

    def type_info(self) -> CatalogRows:
        """The types, by their number in java.sql.Types."""
        names = (
            "TYPE_NAME DATA_TYPE PRECISION CREATE_PARAMS NUM_PREC_RADIX MAXIMUM_SCALE "
            "CASE_SENSITIVE SEARCHABLE UNSIGNED_ATTRIBUTE"
        )
        rows = []
        for one in sorted(TYPES, key=lambda type_: type_.sql_type):
            named = (one.name.upper(), one.sql_type, one.size, _PARAMETERS.get(one.name))
            flags = (one in _LETTERS, 0 if one.size is None else _SEARCHABLE, one.radix is None)
            rows.append((*named, one.radix, one.digits or 0, *flags))
        alike = {"NULLABLE": _NULLABLE, "FIXED_PREC_SCALE": False, "AUTO_INCREMENT": False, "MINIMUM_SCALE": 0}
        return listing(TYPE_INFO, names, rows, **alike)

    def functions(self, names: Iterable[str], function: str | None = None) -> CatalogRows:
        """Functions, by database and name.

        Args:
            names: those that Spark tells of, with a database or without: ``sum``, ``shop.discount``.
            function: a pattern for their names.
        """
        matches = NamePattern.of_jdbc(function).matches
        parts = [name.rpartition(".") for name in set(names)]
        rows = sorted((before.rpartition(".")[2], name, name) for before, _, name in parts if matches(name))
        alike = {"FUNCTION_CAT": _CATALOG, "REMARKS": "", "FUNCTION_TYPE": 0}  # it may return rows or not
        return listing(FUNCTIONS, "FUNCTION_SCHEM FUNCTION_NAME SPECIFIC_NAME", rows, **alike)

    def primary_keys(self, schema: str | None, table: str | None) -> CatalogRows:
        """The columns of a table's primary key, in their order in it; none where the table is not there.

        Args:
            schema: the table's database, no pattern; None: the tables of the name in all databases.
            table: its name, no pattern.
        """
        rows = [
            (database.lower(), column, place, constraint.name)
            for database in ([schema] if schema else self.store.database_names())
            for constraint in constraints_of(self.store, database, table or "")
            if constraint.kind is ConstraintKind.PRIMARY_KEY
            for place, column in enumerate(constraint.columns, 1)
        ]
        alike = {"TABLE_CAT": _CATALOG, "TABLE_NAME": (table or "").lower()}
        return listing(PRIMARY_KEYS, "TABLE_SCHEM COLUMN_NAME KEQ_SEQ PK_NAME", rows, **alike)

    def cross_reference(
        self, parent: tuple[str | None, str | None], foreign: tuple[str | None, str | None]
    ) -> CatalogRows:
        """The columns of the foreign keys of one table that refer to another one.

        Args:
            parent: the database and the table that they refer to, no patterns; None for any.
            foreign: those that have them; None for any.
        """
        names = (
            "PKTABLE_SCHEM PKTABLE_NAME PKCOLUMN_NAME PK_NAME UPDATE_RULE DELETE_RULE "
            "FKTABLE_SCHEM FKTABLE_NAME FKCOLUMN_NAME FK_NAME KEQ_SEQ"
        )
        rows = []
        for key in self.store.hive.constraints.between(parent, foreign):
            own, to = key.constraint, key.constraint.references
            if to is None:
                continue
            for place, (column, referred) in enumerate(zip(own.columns, to.columns, strict=True), 1):
                primary = (to.database, to.table, referred, to.key, to.update_rule, to.delete_rule)
                rows.append((*primary, key.database, key.table, column, own.name, place))
        alike = {"PKTABLE_CAT": _CATALOG, "FKTABLE_CAT": _CATALOG, "DEFERRABILITY": 0}
        return listing(CROSS_REFERENCE, names, rows, **alike)


def _wanted(types: Sequence[str] | None) -> Callable[[Relation], bool]:
    """Whether a relation is of one of some types."""
    if not types:
        return lambda _: True
    names = {name.strip().upper().replace(" ", "_") for name in types}
    return lambda relation: relation.type in names or relation.kind.upper() in names


def _typed(text: str) -> tuple[str, int, int | None, int | None, int | None]:
    """A type's text, in upper case but for names of fields, and what clients are told of the type."""
    kind = result_type(text)
    name, less, parts = text.partition("<")
    return f"{name.upper()}{less}{parts}", kind.sql_type, kind.size, kind.digits, kind.radix

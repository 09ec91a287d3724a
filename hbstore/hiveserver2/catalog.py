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
        return listing(CATALOGS, 0, {})

    def schemas(self, schema: str | None) -> CatalogRows:
        """The databases, by name.

        Args:
            schema: a pattern for their names, as `hbstore.warehouse.name_patterns.NamePattern` has them.
        """
        pattern = NamePattern.of_jdbc(schema)
        names = [name for name in self.store.database_names() if pattern.matches(name)]
        return listing(SCHEMAS, len(names), {"TABLE_SCHEM": names, "TABLE_CATALOG": _CATALOG})

    def table_types(self) -> CatalogRows:
        """TABLE and VIEW."""
        return listing(TABLE_TYPES, 2, {"TABLE_TYPE": [TABLE, VIEW]})

    def tables(self, schema: str | None, table: str | None, types: Sequence[str] | None) -> CatalogRows:
        """Tables and views, by type, database and name.

        Args:
            schema: a pattern for names of databases.
            table: a pattern for names of tables and views.
            types: TABLE, VIEW, or Hive's words such as EXTERNAL_TABLE, in any case; None or empty: all.
        """
        has_type = _wanted(types)
        rows = [
            relation
            for relation in relations(self.store, NamePattern.of_jdbc(schema), NamePattern.of_jdbc(table))
            if has_type(relation)
        ]
        rows.sort(key=lambda relation: (relation.type, relation.database, relation.name))
        return listing(
            TABLES,
            len(rows),
            {
                "TABLE_CAT": _CATALOG,
                "TABLE_SCHEM": [relation.database for relation in rows],
                "TABLE_NAME": [relation.name for relation in rows],
                "TABLE_TYPE": [relation.type for relation in rows],
                "REMARKS": [relation.remarks for relation in rows],
            },
        )

    def columns(self, schema: str | None, table: str | None, column: str | None) -> CatalogRows:
        """Columns of tables and views, by database, table and place; those that partition a table come last.

        Args:
            schema: a pattern for names of databases.
            table: a pattern for names of tables and views.
            column: a pattern for names of columns.
        """
        matches = NamePattern.of_jdbc(column).matches
        rows = [
            (relation, place, relation_column)
            for relation in relations(self.store, NamePattern.of_jdbc(schema), NamePattern.of_jdbc(table))
            for place, relation_column in enumerate(relation.columns, 1)
            if matches(relation_column.name)
        ]
        types = [result_type(relation_column.type) for _, _, relation_column in rows]
        said = SaidOfColumns.of(self.store, [relation for relation, _, _ in rows])
        filled = [said.is_filled(relation, relation_column.name) for relation, _, relation_column in rows]
        return listing(
            COLUMNS,
            len(rows),
            {
                "TABLE_CAT": _CATALOG,
                "TABLE_SCHEM": [relation.database for relation, _, _ in rows],
                "TABLE_NAME": [relation.name for relation, _, _ in rows],
                "COLUMN_NAME": [relation_column.name for _, _, relation_column in rows],
                "DATA_TYPE": [type_.sql_type for type_ in types],
                "TYPE_NAME": [_type_name(relation_column.type) for _, _, relation_column in rows],
                "COLUMN_SIZE": [type_.size for type_ in types],
                "DECIMAL_DIGITS": [type_.digits for type_ in types],
                "NUM_PREC_RADIX": [type_.radix for type_ in types],
                "NULLABLE": [_NO_NULLS if is_filled else _NULLABLE for is_filled in filled],
                "COLUMN_DEF": [said.default(relation, relation_column.name) for relation, _, relation_column in rows],
                "REMARKS": [relation_column.comment or "" for _, _, relation_column in rows],
                "ORDINAL_POSITION": [place for _, place, _ in rows],
                "IS_NULLABLE": ["NO" if is_filled else "YES" for is_filled in filled],
                "IS_AUTO_INCREMENT": "NO",
            },
        )

    def type_info(self) -> CatalogRows:
        """The types, by their number in java.sql.Types."""
        rows = sorted(TYPES, key=lambda type_: type_.sql_type)
        return listing(
            TYPE_INFO,
            len(rows),
            {
                "TYPE_NAME": [type_.name.upper() for type_ in rows],
                "DATA_TYPE": [type_.sql_type for type_ in rows],
                "PRECISION": [type_.size for type_ in rows],
                "CREATE_PARAMS": [_PARAMETERS.get(type_.name) for type_ in rows],
                "NULLABLE": _NULLABLE,
                "CASE_SENSITIVE": [type_ in _LETTERS for type_ in rows],
                "SEARCHABLE": [0 if type_.size is None else _SEARCHABLE for type_ in rows],
                "UNSIGNED_ATTRIBUTE": [type_.radix is None for type_ in rows],
                "FIXED_PREC_SCALE": False,
                "AUTO_INCREMENT": False,
                "MINIMUM_SCALE": 0,
                "MAXIMUM_SCALE": [type_.digits or 0 for type_ in rows],
                "NUM_PREC_RADIX": [type_.radix for type_ in rows],
            },
        )

    def functions(self, names: Iterable[str], function: str | None = None) -> CatalogRows:
        """Functions, by database and name.

        Args:
            names: those that Spark tells of, with a database or without: ``sum``, ``shop.discount``.
            function: a pattern for their names.
        """
        matches = NamePattern.of_jdbc(function).matches
        parts = [name.rpartition(".") for name in set(names)]
        rows = sorted((before.rpartition(".")[2], name) for before, _, name in parts if matches(name))
        return listing(
            FUNCTIONS,
            len(rows),
            {
                "FUNCTION_CAT": _CATALOG,
                "FUNCTION_SCHEM": [schema for schema, _ in rows],
                "FUNCTION_NAME": [name for _, name in rows],
                "REMARKS": "",
                "FUNCTION_TYPE": 0,  # it may return rows or not
                "SPECIFIC_NAME": [name for _, name in rows],
            },
        )

    def primary_keys(self, schema: str | None, table: str | None) -> CatalogRows:
        """The columns of a table's primary key, in their order in it; none where the table is not there.

        Args:
            schema: the table's database, no pattern; None: the tables of the name in all databases.
            table: its name, no pattern.
        """
        rows = [
            (database, constraint, place, column)
            for database in ([schema] if schema else self.store.database_names())
            for constraint in constraints_of(self.store, database, table or "")
            if constraint.kind is ConstraintKind.PRIMARY_KEY
            for place, column in enumerate(constraint.columns, 1)
        ]
        return listing(
            PRIMARY_KEYS,
            len(rows),
            {
                "TABLE_CAT": _CATALOG,
                "TABLE_SCHEM": [database.lower() for database, *_ in rows],
                "TABLE_NAME": (table or "").lower(),
                "COLUMN_NAME": [column for *_, column in rows],
                "KEQ_SEQ": [place for _, _, place, _ in rows],
                "PK_NAME": [constraint.name for _, constraint, _, _ in rows],
            },
        )

    def cross_reference(
        self, parent: tuple[str | None, str | None], foreign: tuple[str | None, str | None]
    ) -> CatalogRows:
        """The columns of the foreign keys of one table that refer to another one.

        Args:
            parent: the database and the table that they refer to, no patterns; None for any.
            foreign: those that have them; None for any.
        """
        rows = [
            (key, key.constraint.references, place)
            for key in self.store.hive.constraints.between(parent, foreign)
            if key.constraint.references is not None
            for place in range(len(key.constraint.columns))
        ]
        return listing(
            CROSS_REFERENCE,
            len(rows),
            {
                "PKTABLE_CAT": _CATALOG,
                "PKTABLE_SCHEM": [to.database for _, to, _ in rows],
                "PKTABLE_NAME": [to.table for _, to, _ in rows],
                "PKCOLUMN_NAME": [to.columns[place] for _, to, place in rows],
                "FKTABLE_CAT": _CATALOG,
                "FKTABLE_SCHEM": [key.database for key, _, _ in rows],
                "FKTABLE_NAME": [key.table for key, _, _ in rows],
                "FKCOLUMN_NAME": [key.constraint.columns[place] for key, _, place in rows],
                "KEQ_SEQ": [place + 1 for _, _, place in rows],
                "UPDATE_RULE": [to.update_rule for _, to, _ in rows],
                "DELETE_RULE": [to.delete_rule for _, to, _ in rows],
                "FK_NAME": [key.constraint.name for key, _, _ in rows],
                "PK_NAME": [to.key for _, to, _ in rows],
                "DEFERRABILITY": 0,
            },
        )


def _wanted(types: Sequence[str] | None) -> Callable[[Relation], bool]:
    """Whether a relation is of one of some types."""
    if not types:
        return lambda _: True
    names = {name.strip().upper().replace(" ", "_") for name in types}
    return lambda relation: relation.type in names or relation.kind.upper() in names


def _type_name(text: str) -> str:
    """A type's text, in upper case but for names of fields."""
    name, less, parts = text.partition("<")
    return f"{name.upper()}{less}{parts}"

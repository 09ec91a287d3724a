"""Statements made of the trees of grammar/ddl.lark: a method for each rule, named as it is."""

from __future__ import annotations

from typing import Final

from lark import Token, Tree

from hbstore.ddl import statements as ddl
from hbstore.ddl.texts import unquoted_name, unquoted_string
from hbstore.filters.tree import Operator
from hbstore.keys.row_key import NULL_PARTITION

_OPERATORS: Final = {"==": Operator.EQ, "<>": Operator.NE, **{one.value: one for one in Operator}}
_NAMES: Final = frozenset({"NAME", "QUOTED"})
_CONDITIONS: Final = frozenset({"EQUALS", "OPERATOR", "LIKE", "IN", "BETWEEN"})
_LITERALS: Final = frozenset({"STRING", "NUMBER", "BOOLEAN", "NULL"})


class BadString(ValueError):
    """A string literal that cannot be written as UTF-8."""

    def __init__(self, token: Token) -> None:
        super().__init__(token)
        self.token = token


class Builder:
    """Makes statements of trees."""

    def script(self, tree: Tree[Token]) -> list[ddl.Statement]:
        """The statements of a whole text."""
        return [getattr(self, f"_{one.data}")(_Parts(one)) for one in tree.children if isinstance(one, Tree)]

    @staticmethod
    def _add_partitions(parts: _Parts) -> ddl.AddPartitions:
        new = tuple(map(_new_partition, parts.all("new_partition")))
        return ddl.AddPartitions(parts.table(), new, if_not_exists=parts.has("if_not_exists"))

    @staticmethod
    def _drop_partitions(parts: _Parts) -> ddl.DropPartitions:
        selected = tuple(tuple(map(_condition, _trees(one, "condition"))) for one in parts.all("conditions"))
        return ddl.DropPartitions(parts.table(), selected, if_exists=parts.has("if_exists"), purge=parts.has("purge"))

    @staticmethod
    def _rename_partition(parts: _Parts) -> ddl.RenamePartition:
        old, new = parts.all("spec")
        return ddl.RenamePartition(parts.table(), _spec(old), _spec(new))

    @staticmethod
    def _set_location(parts: _Parts) -> ddl.SetLocation:
        return ddl.SetLocation(parts.table(), parts.spec(), parts.text("location") or "")

    @staticmethod
    def _exchange_partitions(parts: _Parts) -> ddl.ExchangePartitions:
        target, source = parts.all("table")
        return ddl.ExchangePartitions(_table(target), tuple(map(_values, parts.all("values"))), _table(source))

    @staticmethod
    def _truncate_table(parts: _Parts) -> ddl.TruncateTable:
        return ddl.TruncateTable(parts.table(), parts.spec())

    @staticmethod
    def _set_properties(parts: _Parts) -> ddl.SetProperties:
        properties = tuple(
            (_property_name(_trees(one, "property_name")[0]), _literal(one)) for one in parts.all("property")
        )
        return ddl.SetProperties(parts.table(), properties)

    @staticmethod
    def _unset_properties(parts: _Parts) -> ddl.UnsetProperties:
        names = tuple(map(_property_name, parts.all("property_name")))
        return ddl.UnsetProperties(parts.table(), names, if_exists=parts.has("if_exists"))

    @staticmethod
    def _show_partitions(parts: _Parts) -> ddl.ShowPartitions:
        order = tuple(
            (_column(one), _Parts(one).token("DESC") is not None)
            for tree in parts.all("order")
            for one in _trees(tree, "sorted")
        )
        limits = [int(_tokens(one)[-1]) for one in parts.all("limit")]
        return ddl.ShowPartitions(parts.table(), parts.spec(), parts.filter(), order, limits[0] if limits else None)

    @staticmethod
    def _show_columns(parts: _Parts) -> ddl.ShowColumns:
        table = parts.table()
        return ddl.ShowColumns(ddl.TableName(table.name, parts.name("database") or table.database))

    @staticmethod
    def _show_create_table(parts: _Parts) -> ddl.ShowCreateTable:
        return ddl.ShowCreateTable(parts.table())

    @staticmethod
    def _show_properties(parts: _Parts) -> ddl.ShowProperties:
        return ddl.ShowProperties(parts.table(), next(map(_property_name, parts.all("property_name")), None))

    @staticmethod
    def _show_table_extended(parts: _Parts) -> ddl.ShowTableExtended:
        return ddl.ShowTableExtended(parts.text("pattern") or "", parts.name("database"), parts.spec())

    @staticmethod
    def _show_tables(parts: _Parts) -> ddl.ShowTables:
        return ddl.ShowTables(parts.name("database"), parts.text("pattern"))

    @staticmethod
    def _show_databases(parts: _Parts) -> ddl.ShowDatabases:
        return ddl.ShowDatabases(parts.text("pattern"))

    @staticmethod
    def _describe(parts: _Parts) -> ddl.Describe:
        return ddl.Describe(parts.table(), parts.spec(), parts.name("column"), extended=parts.has("extended"))

    @staticmethod
    def _use_database(parts: _Parts) -> ddl.UseDatabase:
        return ddl.UseDatabase(parts.name("database") or "")

    @staticmethod
    def _explain_partitions(parts: _Parts) -> ddl.ExplainPartitions:
        return ddl.ExplainPartitions(parts.table(), parts.filter())

    @staticmethod
    def _repair_table(parts: _Parts) -> ddl.RepairTable:
        changes = [one for one in ("DROP", "SYNC") if parts.token(one) is not None]
        dry_run = parts.token("REPAIR") is None
        return ddl.RepairTable(parts.table(), changes[0] if changes else "ADD", dry_run)

    @staticmethod
    def _analyze_table(parts: _Parts) -> ddl.AnalyzeTable:
        if parts.has("noscan"):
            return ddl.AnalyzeTable(parts.table(), parts.spec(), noscan=True)
        if parts.has("all_columns"):
            return ddl.AnalyzeTable(parts.table(), parts.spec(), "all")
        named = [tuple(map(_column_name, _trees(one, "column"))) for one in parts.all("analyzed_columns")]
        return ddl.AnalyzeTable(parts.table(), parts.spec(), named[0] if named else None)

    @staticmethod
    def _cube_query(parts: _Parts) -> ddl.CubeQuery:
        token = parts.token("CUBE_QUERY")
        assert token is not None
        return ddl.CubeQuery(token.value.rstrip(), token.start_pos or 0)


class _Parts:
    """The parts of one statement, by the rules they come from."""

    def __init__(self, tree: Tree[Token]) -> None:
        self._tree = tree

    def all(self, rule: str) -> list[Tree[Token]]:
        return _trees(self._tree, rule)

    def has(self, rule: str) -> bool:
        return bool(self.all(rule))

    def token(self, kind: str) -> Token | None:
        return next((one for one in self._tree.children if isinstance(one, Token) and one.type == kind), None)

    def table(self) -> ddl.TableName:
        return _table(self.all("table")[0])

    def spec(self) -> ddl.PartitionSpec | None:
        return next((_spec(one) for one in self.all("spec")), None)

    def name(self, rule: str) -> str | None:
        return next((_names(one)[-1] for one in self.all(rule)), None)

    def text(self, rule: str) -> str | None:
        return next((_text(_tokens(one)[-1]) for one in self.all(rule)), None)

    def filter(self) -> str | None:
        found = [_tokens(one)[0] for one in self.all("filter")]
        return found[0].value[len("where") :].strip() if found else None


def _trees(tree: Tree[Token], rule: str) -> list[Tree[Token]]:
    return [one for one in tree.children if isinstance(one, Tree) and one.data == rule]


def _tokens(tree: Tree[Token]) -> list[Token]:
    return [one for one in tree.children if isinstance(one, Token)]


def _names(tree: Tree[Token]) -> list[str]:
    return [unquoted_name(one.value) for one in _tokens(tree) if one.type in _NAMES]


def _table(tree: Tree[Token]) -> ddl.TableName:
    *database, name = _names(tree)
    return ddl.TableName(name, database[0] if database else None)


def _new_partition(tree: Tree[Token]) -> ddl.AddedPartition:
    parts = _Parts(tree)
    return ddl.AddedPartition(_spec(_trees(tree, "spec")[0]), parts.text("location"))


def _spec(tree: Tree[Token]) -> ddl.PartitionSpec:
    return _values(_trees(tree, "values")[0])


def _values(tree: Tree[Token]) -> ddl.PartitionSpec:
    return ddl.PartitionSpec(tuple((_column(one), _literal(one)) for one in _trees(tree, "value")))


def _condition(tree: Tree[Token]) -> ddl.Condition:
    (operator,) = (one for one in _tokens(tree) if one.type in _CONDITIONS)
    value, *others = (_literal_text(one) for one in _tokens(tree) if one.type in _LITERALS)
    kind = _OPERATORS.get(operator.value) or operator.value.upper()
    negated = any(one.type == "NOT" for one in _tokens(tree))
    return ddl.Condition(_column(tree), kind, value, tuple(others), negated)


def _column(tree: Tree[Token]) -> str:
    return _column_name(_trees(tree, "column")[0])


def _column_name(tree: Tree[Token]) -> str:
    return _names(tree)[0]


def _property_name(tree: Tree[Token]) -> str:
    """The text of a property's name, or the words between its dots."""
    texts = [_text(one) for one in _tokens(tree) if one.type == "STRING"]
    return texts[0] if texts else ".".join(_names(tree))


def _literal(tree: Tree[Token]) -> str:
    (token,) = (one for one in _tokens(tree) if one.type in _LITERALS)
    return _literal_text(token)


def _literal_text(token: Token) -> str:
    """The text of a value: of DATE '2013-01-01' that of the date, of NULL that of the null partition."""
    if token.type == "NULL":
        return NULL_PARTITION
    if token.type == "STRING":
        return _text(token)
    return str(token).lower() if token.type == "BOOLEAN" else str(token)


def _text(token: Token) -> str:
    try:
        return unquoted_string(token.value)
    except ValueError:
        raise BadString(token) from None

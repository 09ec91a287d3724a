"""Hive's filters on tables, of get_table_names_by_filter: by name, type, owner, last access, or a parameter.

>>> selects = table_filter('hive_filter_field_owner__ = "ann" and hive_filter_field_params__presto_view = "true"')
>>> selects(Table("shop", "sales", owner="ann", parameters={"presto_view": "true"}))
True

Texts are compared by ``=``, ``!=`` (or ``<>``) and ``like``, whose patterns have ``.*`` and ``.``; ``(?i)`` before a
pattern, as clients of Hive 4.1 list tables, passes over case. Last accesses are compared with whole numbers by all
comparisons. What a table does not have equals and differs from nothing.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from hbstore.errors import FilterError
from hbstore.filters.parser import parse_filter
from hbstore.filters.tree import And, Comparison, ExpressionTree, Integer, Like, Operator, Or, Text
from hbstore.metastore.protocol import THRIFT
from hbstore.model.objects import Table
from hbstore.texts.like import LikePattern

NAME: Final = "hive_filter_field_tableName__"
TYPE: Final = "hive_filter_field_tableType__"
OWNER: Final = "hive_filter_field_owner__"
LAST_ACCESS: Final = "hive_filter_field_last_access__"
PARAMETER: Final = "hive_filter_field_params__"

_ANY_CASE: Final = "(?i)"
_Test: TypeAlias = Callable[[Table], bool]
_COMPARE: Final[Mapping[Operator, Callable[[Any, Any], bool]]] = {
    Operator.EQ: operator.eq,
    Operator.NE: operator.ne,
    Operator.LT: operator.lt,
    Operator.LE: operator.le,
    Operator.GT: operator.gt,
    Operator.GE: operator.ge,
}


def table_filter(text: str) -> _Test:
    """A function that tells whether a table is selected; an empty filter selects all.

    Raises:
        MetaException: the text is no such filter.
    """
    try:
        tree = parse_filter(text, "hive2")
    except FilterError as error:
        raise THRIFT.MetaException(str(error)) from error
    return _anything if tree is None else _test(tree)


def _test(tree: ExpressionTree) -> _Test:
    if isinstance(tree, And | Or):
        every = all if isinstance(tree, And) else any
        tests = [_test(child) for child in tree.children]
        return lambda table: every(test(table) for test in tests)
    if isinstance(tree, Comparison):
        return _comparison(tree)
    if isinstance(tree, Like):
        return _like(tree)
    raise THRIFT.MetaException(f"a filter on tables has only =, !=, <, <=, >, >=, like, and, or: {tree}")


def _comparison(tree: Comparison) -> _Test:
    compare, literal = _COMPARE[tree.operator], tree.literal
    if tree.column == LAST_ACCESS:
        if not isinstance(literal, Integer):
            raise THRIFT.MetaException(f"a last access must be compared with a whole number: {tree}")
        moment = literal.value
        return lambda table: compare(table.last_access_time, moment)
    if not isinstance(literal, Text) or tree.operator not in (Operator.EQ, Operator.NE):
        raise THRIFT.MetaException(f"owners and parameters must be compared with texts by =, != and like: {tree}")
    value = literal.value
    return _of_text(tree.column, lambda text: compare(text, value))


def _like(tree: Like) -> _Test:
    pattern = tree.pattern
    first = pattern.parts[0] if pattern.parts else ""
    if isinstance(first, str) and first.startswith(_ANY_CASE):
        parts = (first.removeprefix(_ANY_CASE), *pattern.parts[1:])
        folded = LikePattern(tuple(part.lower() if isinstance(part, str) else part for part in parts))
        return _of_text(tree.column, lambda text: folded.matches(text.lower()) is not tree.negated)
    return _of_text(tree.column, lambda text: pattern.matches(text) is not tree.negated)


def _of_text(field: str, test: Callable[[str], bool]) -> _Test:
    """A test of a table's text of some field; a table without it does not pass."""
    if field == NAME:
        return lambda table: test(table.name)
    if field == TYPE:
        return lambda table: test(table.table_type)
    if field == OWNER:
        return lambda table: table.owner is not None and test(table.owner)
    if field.startswith(PARAMETER):
        key = field.removeprefix(PARAMETER)
        return lambda table: key in table.parameters and test(table.parameters[key])
    raise THRIFT.MetaException(
        f"the field {field} is unknown; the fields are {NAME}, {TYPE}, {OWNER}, {LAST_ACCESS} and {PARAMETER}<key>"
    )


def _anything(_: Table) -> bool:
    return True

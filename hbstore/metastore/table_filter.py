"""Hive's filters on tables, of get_table_names_by_filter: by owner, by last access, by a parameter.

>>> selects = table_filter('hive_filter_field_owner__ = "ann" and hive_filter_field_params__presto_view = "true"')
>>> selects(Table("shop", "sales", owner="ann", parameters={"presto_view": "true"}))
True

Owners and parameters are compared with texts by ``=``, ``!=`` (or ``<>``) and ``like``, whose patterns have ``.*`` and
``.``; last accesses with whole numbers by all comparisons. What a table does not have equals and differs from nothing.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from hbstore.errors import FilterError
from hbstore.filters.parser import parse_filter
from hbstore.filters.tree import And, Comparison, ExpressionTree, Integer, Like, Operator, Or, Text
from hbstore.metastore.protocol import THRIFT
from hbstore.model import Table

OWNER: Final = "hive_filter_field_owner__"
LAST_ACCESS: Final = "hive_filter_field_last_access__"
PARAMETER: Final = "hive_filter_field_params__"

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
    return _of_text(tree.column, lambda text: tree.pattern.matches(text) is not tree.negated)


def _of_text(field: str, test: Callable[[str], bool]) -> _Test:
    """A test of a table's text of some field; a table without it does not pass."""
    if field == OWNER:
        return lambda table: table.owner is not None and test(table.owner)
    if field.startswith(PARAMETER):
        key = field.removeprefix(PARAMETER)
        return lambda table: key in table.parameters and test(table.parameters[key])
    raise THRIFT.MetaException(
        f"the field {field} is unknown; the fields are {OWNER}, {LAST_ACCESS} and {PARAMETER}<key>"
    )


def _anything(_: Table) -> bool:
    return True

"""Conditions on one column that are computed value by value, as Hive's evaluation does: what no range of keys can say.

An expression is compiled once: each node becomes a function of the column's value. A condition is NULL (None), true or
false, and AND, OR and NOT have SQL's three-valued logic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import eq, ge, gt, le, lt, ne
from typing import Any, Final, TypeAlias

from hbstore.hive_expressions.classes import COMPARISONS, TESTS
from hbstore.hive_expressions.conversions import STRING, cast, check_alike, common_type, implicit, is_boolean, type_of
from hbstore.hive_expressions.nodes import CallNode, ColumnNode, ConstantNode, Node, Unknown
from hbstore.hive_expressions.patterns import like_pattern
from hbstore.hive_expressions.refusal import unreadable
from hbstore.keys.types import BooleanType, ColumnType, FloatType, StringType, Value

Result: TypeAlias = "Value | None"
Compute: TypeAlias = Callable[[Result], Result]
Typed: TypeAlias = "tuple[ColumnType | None, Compute]"
"""A function of the column's value, and the type of what it gives; no type is that of NULL."""

_OPERATORS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "=": eq,
    "<=>": eq,
    "is distinct from": ne,
    "<>": ne,
    "<": lt,
    "<=": le,
    ">": gt,
    ">=": ge,
}
_BOOLEAN: Final = BooleanType()
_SAFE: Final = ("<=>", "is distinct from")
"""Comparisons that take NULL for a value."""


@dataclass(frozen=True, slots=True, eq=False)
class ColumnCondition:
    """A part of an expression that reads one column.

    Attributes:
        part: as the client sent it.
        type: the column's.
        compute: what it is for a value.
    """

    part: Node
    type: ColumnType
    compute: Compute

    def matches(self, text: str | None) -> bool | None:
        """Whether it holds for a value's canonical text, or for NULL; None where that is unknown."""
        try:
            value = None if text is None else self.type.parse(text)
        except ValueError:  # a text too long for its type, or a place on the line that no value has, for the planner
            value = self.type.read(text or "")
        found = self.compute(value)
        return None if found is None else bool(found)

    def __str__(self) -> str:
        return str(self.part)


def condition(part: Node, column_type: ColumnType) -> ColumnCondition:
    """The condition that a part of an expression is, which reads one column of this type.

    Raises:
        ExpressionUnreadable: hbstore does not know exactly what Hive's evaluation gives.
    """
    found, compute = _compiled(part, column_type)
    if found is not None and not is_boolean(found):
        raise unreadable("a condition is not boolean", part=part, type=found.name)
    return ColumnCondition(part, column_type, compute)


def _compiled(node: Node, column_type: ColumnType) -> Typed:  # noqa: C901, PLR0911  one for each kind of node
    if isinstance(node, ColumnNode):
        return column_type, _itself
    if isinstance(node, ConstantNode):
        return _constant(node)
    function, children = node.function, node.children
    if function == "cast":
        return _cast(node, column_type)
    if function == "between":
        return _between(children, column_type)
    arguments = [_compiled(child, column_type) for child in children]
    if function in COMPARISONS.values():
        _expect(node, len(arguments) == 2)  # noqa: PLR2004
        return _BOOLEAN, _comparison(function, *arguments)
    if function == "in":
        _expect(node, len(arguments) > 1)
        tested = arguments[0][0]
        for listed, _ in arguments[1:]:
            if tested is not None and listed is not None:
                check_alike(tested, listed)
        return _BOOLEAN, _any_of([_comparison("=", arguments[0], one) for one in arguments[1:]])
    if function in ("and", "or"):
        values = [_boolean(node, one) for one in arguments]
        return _BOOLEAN, _all_of(values) if function == "and" else _any_of(values)
    if function == "like":
        _expect(node, len(arguments) == 2)  # noqa: PLR2004
        return _BOOLEAN, _like(node, arguments[0])
    if len(arguments) != 1:
        raise _not_computed(node)
    return _BOOLEAN, _of_one(node, arguments[0])


def _expect(node: CallNode, holds: bool) -> None:  # noqa: FBT001
    if not holds:
        raise unreadable("a function has a wrong number of arguments", part=node)


def _itself(value: Result) -> Result:
    return value


def _constant(node: ConstantNode) -> Typed:
    value = node.value
    if isinstance(value, Unknown):
        raise unreadable(value.why, part=node)
    if value is None:
        return None, lambda _: None
    column_type = type_of(node.type)
    if not fits(value, column_type):
        raise unreadable("a constant is not of its type", part=node, type=node.type)
    if isinstance(value, int) and isinstance(column_type, FloatType):
        value = float(value)
    return column_type, lambda _: value


def fits(value: object, column_type: ColumnType) -> bool:
    """Whether a constant is a value of its type: the bytes may say anything."""
    if isinstance(value, str) is not isinstance(column_type, StringType) or isinstance(value, Unknown):
        return False
    constant: Any = value
    try:
        again = (
            column_type.parse(constant)
            if isinstance(constant, str)
            else column_type.decode(column_type.encode(constant))
        )
    except (AssertionError, ValueError, OverflowError, ArithmeticError, TypeError):
        return False
    return bool(again == constant or constant != constant)  # noqa: PLR0124  NaN


def _cast(node: CallNode, column_type: ColumnType) -> Typed:
    _expect(node, len(node.children) == 1)
    target = type_of(node.type)
    source, compute = _compiled(node.children[0], column_type)
    if source is None:
        return target, compute
    convert = cast(source, target)
    return target, lambda value: None if (found := compute(value)) is None else convert(found)


def _boolean(node: CallNode, argument: Typed) -> Compute:
    found, compute = argument
    if found is not None and not is_boolean(found):
        raise unreadable("a condition is not boolean", part=node, type=found.name)
    return compute


def _comparison(operator: str, left: Typed, right: Typed) -> Compute:
    safe = operator in _SAFE
    different = operator == "is distinct from"
    if left[0] is None or right[0] is None:
        one, other = left[1], right[1]
        if not safe:
            return lambda _: None
        return lambda value: (one(value) is None and other(value) is None) is not different
    compare = _compare(operator, left, right)
    if not safe:
        return compare
    first, second = left[1], right[1]

    def compute(value: Result) -> Result:
        a, b = first(value), second(value)
        if a is None or b is None:  # before both are converted; what cannot be is unknown nevertheless
            return (a is None and b is None) is not different
        return compare(value)

    return compute


def _compare(operator: str, left: Typed, right: Typed) -> Compute:
    assert left[0] is not None
    assert right[0] is not None
    common = common_type(left[0], right[0])
    left_compute, right_compute = _converted(left, common), _converted(right, common)
    compare = _OPERATORS[operator]
    key: Callable[[Any], Any] = _float_key if isinstance(common, FloatType) else _itself

    def compute(value: Result) -> Result:
        a, b = left_compute(value), right_compute(value)
        return None if a is None or b is None else compare(key(a), key(b))

    return compute


def _float_key(value: float) -> tuple[bool, float]:
    """NaN is equal to itself and above infinity."""
    return (True, 0.0) if value != value else (False, value)  # noqa: PLR0124


def _converted(argument: Typed, target: ColumnType) -> Compute:
    source, compute = argument
    assert source is not None
    if source == target and source != STRING:
        return compute
    convert = implicit(source, target)
    return lambda value: None if (found := compute(value)) is None else convert(found)


def _all_of(values: Sequence[Compute]) -> Compute:
    def compute(value: Result) -> Result:
        unknown = False
        for one in values:
            found = one(value)
            if found is None:
                unknown = True
            elif not found:
                return False
        return None if unknown else True

    return compute


def _any_of(values: Sequence[Compute]) -> Compute:
    def compute(value: Result) -> Result:
        unknown = False
        for one in values:
            found = one(value)
            if found is None:
                unknown = True
            elif found:
                return True
        return None if unknown else False

    return compute


def _between(children: Sequence[Node], column_type: ColumnType) -> Typed:
    """The first child says whether it is NOT BETWEEN."""
    negated, value, low, high = between_parts(children)
    tested = _compiled(value, column_type)
    above = _comparison(">=", tested, _compiled(low, column_type))
    below = _comparison("<=", tested, _compiled(high, column_type))

    def compute(one: Result) -> Result:
        """As Hive goes about it: an end that is NULL makes it unknown, unless BETWEEN is false by its low end."""
        first = above(one)
        if first is None or (not first and not negated):
            return first
        second = below(one)
        return None if second is None else (bool(first and second) is not negated)

    return _BOOLEAN, compute


def between_parts(children: Sequence[Node]) -> tuple[bool, Node, Node, Node]:
    """Whether a BETWEEN is negated, what is tested, and its two ends."""
    if len(children) != 4 or not isinstance(children[0], ConstantNode) or not isinstance(children[0].value, bool):  # noqa: PLR2004
        raise unreadable("a BETWEEN has not the arguments that Hive gives it")
    return children[0].value, children[1], children[2], children[3]


def _negated(compute: Compute) -> Compute:
    return lambda value: None if (found := compute(value)) is None else not found


def _of_one(node: CallNode, argument: Typed) -> Compute:
    compute = argument[1]
    if node.function == "is null":
        return lambda value: compute(value) is None
    if node.function == "is not null":
        return lambda value: compute(value) is not None
    if node.function == "not":
        return _negated(_boolean(node, argument))
    if node.function in TESTS.values():
        _boolean(node, argument)
        wanted, negated = node.function.endswith("true"), "not" in node.function
        return lambda value: (compute(value) is wanted) is not negated
    raise _not_computed(node)


def _not_computed(node: CallNode) -> Exception:
    return unreadable("hbstore does not compute this function", part=node)


def _like(node: CallNode, tested: Typed) -> Compute:
    pattern = node.children[1]
    if not isinstance(pattern, ConstantNode) or not isinstance(tested[0], StringType | None):
        raise unreadable("a pattern is no constant, or what it is compared with is no text", part=node)
    if pattern.value is None or tested[0] is None:
        return lambda _: None
    if not isinstance(pattern.value, str):
        raise unreadable("a pattern is no text", part=node)
    compute, matches = _converted(tested, STRING), like_pattern(pattern.value).matches
    return lambda value: None if (found := compute(value)) is None else matches(str(found))

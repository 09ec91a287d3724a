"""What an expression means for a table: its nodes to the ExpressionTree that a filter's text would give.

A comparison of a column with a constant becomes the filter language's own, which the planner turns into ranges of keys.
What it cannot say, and what reads one column, is computed for each value (`Holds`). The rest cannot be read: in an AND
that is not below NOT, it may be left out, and what is left selects more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hbstore.errors import FilterError, InvalidType, UnknownColumnError, did_you_mean
from hbstore.filters.tree import (
    And,
    Between,
    Boolean,
    Comparison,
    ExpressionTree,
    Holds,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    Operator,
    Or,
    SpecValue,
    StructIn,
    Text,
    joined,
)
from hbstore.hive_expressions.computing import between_parts, condition
from hbstore.hive_expressions.conversions import check_alike, is_boolean, is_char, type_of
from hbstore.hive_expressions.literals import literal_beside, named_text
from hbstore.hive_expressions.nodes import CallNode, ColumnNode, ConstantNode, Node
from hbstore.hive_expressions.patterns import like_pattern
from hbstore.hive_expressions.refusal import PREFIX, unreadable
from hbstore.keys.row_key import NULL_PARTITION
from hbstore.keys.types import ColumnType, StringType
from hbstore.texts.wording import clipped

_TURNED: Final = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<=", "<=>": "<=>"}
_OPERATOR: Final = {
    "=": Operator.EQ,
    "<>": Operator.NE,
    "<": Operator.LT,
    "<=": Operator.LE,
    ">": Operator.GT,
    ">=": Operator.GE,
}
_SHOWN: Final = 200
_UNTYPED: Final = "string"
_PADDED: Final = 10_000
"""Texts with and without blanks that an IN may become; a longer one is computed."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What could be read of an expression.

    Attributes:
        tree: what it selects, or more than that where something is unread.
        unread: the parts of an AND that were left out, as errors.
    """

    tree: ExpressionTree
    unread: tuple[FilterError, ...]


def meaning_of(root: Node, columns: Mapping[str, ColumnType]) -> Meaning:
    """What an expression means for a table. O(nodes).

    Args:
        root: the expression.
        columns: the table's partition columns, by their names in lower case.

    Raises:
        UnknownColumnError: it names a column that is none of them.
        ExpressionUnreadable: it, or a part that cannot be left out, is not read; the text names the part.
    """
    reader = _Reader(columns)
    return Meaning(reader.tree(root, whole=False), tuple(reader.unread))


class _Reader:
    """Reads one expression."""

    def __init__(self, columns: Mapping[str, ColumnType]) -> None:
        self.unread: list[FilterError] = []
        self._columns = columns

    def tree(self, node: Node, *, whole: bool) -> ExpressionTree:
        """The tree of a condition; ``whole`` where no part may be left out."""
        if isinstance(node, CallNode):
            if node.function == "and":
                return joined(And, self._and(node.children, whole=whole))
            if node.function == "or":
                return joined(Or, self._all(node, whole=whole))
            if node.function == "not" and len(node.children) == 1:
                return Not(self.tree(node.children[0], whole=True))
        try:
            return self._leaf(node)
        except UnknownColumnError:
            raise
        except (FilterError, InvalidType) as error:
            why = error.text.removeprefix(PREFIX)
            raise unreadable(why, **{**error.fields, "part": clipped(str(node), _SHOWN)}) from error

    def _all(self, node: CallNode, *, whole: bool) -> list[ExpressionTree]:
        if not node.children:
            raise unreadable("a function has a wrong number of arguments", part=node)
        return [self.tree(child, whole=whole) for child in node.children]

    def _and(self, children: Sequence[Node], *, whole: bool) -> list[ExpressionTree]:
        """The parts of an AND that can be read; at least one."""
        read: list[ExpressionTree] = []
        errors: list[FilterError] = []
        for child in children:
            try:
                read.append(self.tree(child, whole=whole))
            except UnknownColumnError:
                raise
            except FilterError as error:
                if whole:
                    raise
                errors.append(error)
        if not read:
            raise errors[0] if errors else unreadable("an AND has no arguments")
        self.unread += errors
        return read

    def _leaf(self, node: Node) -> ExpressionTree:
        if isinstance(node, ColumnNode):
            if not is_boolean(self._type(node)):
                raise unreadable("a condition is not boolean")
            return Comparison(node.name, Operator.EQ, Boolean(value=True))
        if isinstance(node, CallNode):
            found = self._native(node)
            if found is not None:
                return found
        return self._computed(node)

    def _native(self, node: CallNode) -> ExpressionTree | None:  # noqa: PLR0911  one for each construct
        """What the filter language says; None where it does not."""
        function, children = node.function, node.children
        if function in ("is null", "is not null") and len(children) == 1 and isinstance(children[0], ColumnNode):
            self._type(children[0])
            return IsNull(children[0].name, negated=function == "is not null", as_hive=True)
        if function == "in" and len(children) > 1:
            return self._in(children)
        if function == "between":
            return self._between(children)
        if len(children) != 2:  # noqa: PLR2004
            return None
        left, right = children
        if function in _TURNED:
            if isinstance(left, ConstantNode) and isinstance(right, ColumnNode):
                left, right, function = right, left, _TURNED[function]
            if isinstance(left, ColumnNode) and isinstance(right, ConstantNode):
                return self._comparison(left, function, right)
        if function == "like" and isinstance(left, ColumnNode) and isinstance(right, ConstantNode):
            column_type = self._type(left)
            if isinstance(right.value, str) and isinstance(column_type, StringType) and not is_char(column_type):
                return Like(left.name, like_pattern(right.value))
        return None

    def _comparison(  # noqa: PLR0911  one for each way
        self, column: ColumnNode, function: str, constant: ConstantNode
    ) -> ExpressionTree | None:
        column_type = self._type(column)
        name = column.name
        if function == "<=>":
            if constant.value is None:
                return IsNull(name, as_hive=True)
            equal = self._comparison(column, "=", constant)
            return None if equal is None else joined(And, (IsNull(name, negated=True, as_hive=True), equal))
        text = named_text(column_type, constant) if function == "=" else None
        if text is not None:
            return SpecValue(name, text)
        literal = literal_beside(column_type, constant)
        if literal is None:
            return None
        operator = _OPERATOR[function]
        if is_char(column_type):
            if operator not in (Operator.EQ, Operator.NE):
                return None
            return In(name, _padded(literal, column_type), negated=operator is Operator.NE)
        if _names_null(literal) and operator not in (Operator.EQ, Operator.NE):
            return None
        return Comparison(name, operator, literal)

    def _in(self, children: Sequence[Node]) -> ExpressionTree | None:
        tested, *listed = children
        if isinstance(tested, CallNode) and tested.function == "struct":
            return self._struct_in(tested, listed)
        if not isinstance(tested, ColumnNode):
            return None
        column_type = self._type(tested)
        if (
            isinstance(column_type, StringType)
            and len(listed) * (column_type.limit or 0) > _PADDED
            and is_char(column_type)
        ):
            return None
        literals: list[Literal] = []
        for one in listed:
            literal = self._listed(column_type, one)
            if literal is None:
                return None
            literals += _padded(literal, column_type) if is_char(column_type) else (literal,)
        return In(tested.name, tuple(literals))

    def _listed(self, column_type: ColumnType, value: Node) -> Literal | None:
        """A literal of an IN list."""
        if not isinstance(value, ConstantNode) or value.value is None:
            return None
        check_alike(column_type, type_of(value.type))
        return literal_beside(column_type, value)

    def _struct_in(self, tested: CallNode, listed: Sequence[Node]) -> ExpressionTree:
        """``(a, b) in (…)``. To Hive a NULL among the values is no match, not unknown: its negation selects it."""
        columns = tested.children
        if not columns or not all(isinstance(one, ColumnNode) for one in columns):
            raise unreadable("a struct of something else than columns is looked for in a list")
        rows = tuple([self._row(columns, one) for one in listed])
        names = tuple([one.name for one in columns if isinstance(one, ColumnNode)])
        return joined(And, (StructIn(names, rows), *[IsNull(name, negated=True, as_hive=True) for name in names]))

    def _row(self, columns: Sequence[Node], row: Node) -> tuple[Literal, ...]:
        if isinstance(row, CallNode) and row.function == "struct":
            cells = row.children
        elif isinstance(row, ConstantNode) and isinstance(row.value, tuple) and len(row.value) == len(columns):
            # The constant's own type tells as much as the column's: values of other types were converted before.
            cells = tuple([ConstantNode(value, one.type) for value, one in zip(row.value, columns, strict=True)])
        else:
            cells = ()
        if len(cells) != len(columns):
            raise unreadable("a struct in a list has not as many values as there are columns")
        literals = []
        for column, cell in zip(columns, cells, strict=True):
            assert isinstance(column, ColumnNode)
            column_type = self._type(column)
            literal = self._listed(column_type, cell)
            if literal is None or is_char(column_type) or _names_null(literal):
                raise unreadable("a struct in a list holds what cannot be compared with its column exactly")
            literals.append(literal)
        return tuple(literals)

    def _between(self, children: Sequence[Node]) -> ExpressionTree | None:
        negated, tested, low, high = between_parts(children)
        if not (isinstance(tested, ColumnNode) and isinstance(low, ConstantNode) and isinstance(high, ConstantNode)):
            return None
        column_type = self._type(tested)
        ends = literal_beside(column_type, low), literal_beside(column_type, high)
        if ends[0] is None or ends[1] is None or is_char(column_type) or _names_null(ends[0]) or _names_null(ends[1]):
            return None
        return Between(tested.name, ends[0], ends[1], negated)

    def _computed(self, node: Node) -> ExpressionTree:
        """A condition on the one column that it reads."""
        names: dict[str, ColumnNode] = {}
        pending = [node]
        while pending:
            inner = pending.pop()
            if isinstance(inner, ColumnNode):
                names.setdefault(inner.name.lower(), inner)
                self._type(inner)
            elif isinstance(inner, CallNode):
                pending += inner.children
        if len(names) != 1:
            raise unreadable("a condition reads several columns" if names else "a condition reads no column")
        column = next(iter(names.values()))
        return Holds(column.name, condition(node, self._type(column)))

    def _type(self, column: ColumnNode) -> ColumnType:
        """The table's type of a column, as Hive evaluates with it; SHOW PARTITIONS of Hive 4 writes string for each."""
        column_type = self._columns.get(column.name.lower())
        if column_type is None:
            raise UnknownColumnError(
                "the column is not a partition column",
                column=column.name,
                hint=did_you_mean(column.name, self._columns, f"The partition columns are {', '.join(self._columns)}"),
            )
        if column.type != _UNTYPED and type_of(column.type) != column_type:
            raise unreadable("a column has another type in the table", column=column.name, type=column_type.name)
        return column_type


def _names_null(literal: Literal) -> bool:
    return isinstance(literal, Text) and literal.value == NULL_PARTITION


def _padded(literal: Literal, column_type: ColumnType) -> tuple[Literal, ...]:
    """All texts that are the same char(n): with no blanks at their end, or some."""
    assert isinstance(literal, Text)
    assert isinstance(column_type, StringType)
    assert column_type.limit is not None
    text = literal.value.rstrip(" ")
    if text == NULL_PARTITION:
        return (literal,)
    blanks = max(column_type.limit - len(text), 0)
    return tuple([Text(text + " " * count) for count in range(blanks + 1)])

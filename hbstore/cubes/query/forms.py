"""Forms of expressions: two of one form are the same to Spark, whatever order their operands have.

    user_id + 1,  1 + rides.user_id         one form, as both names are of one field
    region || '!',  concat(region, '!')     one form
    fare > 2,  2 < fare,  not fare <= 2     one form
    fare <> 2,  not 2 = fare                one form

>>> from sqlglot import parse_one
>>> from hbstore.cubes.query.text import DIALECT
>>> forms, trees = Forms(lambda column: column.name.lower()), [
...     parse_one(text, dialect=DIALECT) for text in ("a + (1 + B)", "1 + (a) + b", "a + b", "not (a > b)", "b >= a")
... ]
>>> a, b, c, d, e = map(forms.of, trees)
>>> a == b != c, d == e
(True, True)
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from sqlglot import exp

Form: TypeAlias = tuple[Hashable, ...]

FORM: Final = "hbstore.form"
"""What a node has in its `meta` whose form was looked at: the form's number."""

_COMMUTING: Final = (exp.Add, exp.Mul, exp.And, exp.Or, exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor)
_COMMUTING_FUNCTIONS: Final = ("greatest", "least")
_EQUAL: Final = ("eq", "nullsafeeq")
_UNEQUAL: Final = {"neq": "eq", "nullsafeneq": "nullsafeeq"}
_COMPARISONS: Final = (*_EQUAL, *_UNEQUAL, "gt", "gte", "lt", "lte", "not")
_MIRRORED: Final[dict[str, str]] = {"gt": "lt", "gte": "lte"}
_NEGATED: Final[dict[Hashable, str]] = {"lt": "lte", "lte": "lt"}
_OPERANDS: Final = 32
"""Operands that are compared in any order with those of the same operator within them; of more, only two are."""


@dataclass(slots=True)
class Forms:
    """Numbers of forms.

    Attributes:
        name: what a name means, the same for names of one field.
    """

    name: Callable[[exp.Column], Hashable]
    _numbers: dict[Form, int] = field(default_factory=dict)
    _forms: list[Form] = field(default_factory=list)

    def of(self, tree: exp.Expr) -> int:
        """The number of a tree's form; that of each part of it is in its `meta`. Time grows with the tree's length."""
        for node in reversed([*tree.walk(prune=lambda node: isinstance(node, exp.Column))]):  # inner ones first
            if isinstance(node, exp.Paren | exp.Alias):
                node.meta[FORM] = node.this.meta[FORM]
                continue
            node.meta[FORM] = self._number(self._form(node, [child.meta[FORM] for child in _children(node)]))
        number: int = tree.meta[FORM]
        return number

    def _number(self, form: Form) -> int:
        if form not in self._numbers:
            self._numbers[form] = len(self._forms)
            self._forms.append(form)
        return self._numbers[form]

    def _form(self, node: exp.Expr, inner: list[int]) -> Form:
        kind = node.key
        if isinstance(node, exp.Column):
            return kind, self.name(node)
        function = node.name.lower() if isinstance(node, exp.Anonymous) else None
        if isinstance(node, _COMMUTING) or function in _COMMUTING_FUNCTIONS:
            return function or kind, *self._operands(function or kind, inner)
        if kind in _COMPARISONS:
            return self._comparison(kind, inner)
        if isinstance(node, exp.In):
            return kind, inner[0], *sorted(inner[1:])
        if isinstance(node, exp.DPipe):
            return "anonymous", ("expressions", 2), ("this", "concat"), *inner
        return kind, *_described(node), *inner

    def _comparison(self, kind: str, inner: list[int]) -> Form:
        """A comparison by ``=``, ``<=>``, ``<`` or ``<=``, and NOT around the first two."""
        if kind in _EQUAL:
            return kind, *sorted(inner)
        if kind in _UNEQUAL:
            return "not", self._number((_UNEQUAL[kind], *sorted(inner)))
        if kind in _MIRRORED:
            return _MIRRORED[kind], *inner[::-1]
        if kind == "not" and self._forms[inner[0]][0] in _NEGATED:
            operator, *operands = self._forms[inner[0]]
            return _NEGATED[operator], *operands[::-1]
        return kind, *inner

    def _operands(self, kind: str, inner: list[int]) -> list[Hashable]:
        """The operands of an operator in one order; in the place of one of its own kind, the operands of that."""
        parts: list[Hashable] = []
        for number in inner:
            operator, *operands = self._forms[number]
            parts += operands if operator == kind else [number]
        return sorted(parts if len(parts) <= _OPERANDS else inner, key=hash)


def _children(node: exp.Expr) -> Iterator[exp.Expr]:
    return iter(()) if isinstance(node, exp.Column) else node.iter_expressions()


def _described(node: exp.Expr) -> Iterator[Hashable]:
    """What a node says beside the expressions in it, and how many these are; texts as they are written."""
    for name, value in sorted(node.args.items()):
        if isinstance(value, list):
            yield name, len(value)
        elif value is not None and value is not False:
            text = value if isinstance(node, exp.Literal) else str(value).lower()
            yield name, "" if isinstance(value, exp.Expr) else text

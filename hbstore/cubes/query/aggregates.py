"""Aggregates of a query: they are taken out of its trees, so that facts can answer each.

A bare measure outside of aggregates stands for its default aggregate, as in Lens: ``revenue / rides`` is a ratio of
sums.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from sqlglot import exp

from hbstore.cubes.query.aggregate_calls import call_of, is_aggregate, is_filtered
from hbstore.cubes.query.aggregate_inputs import Aggregate
from hbstore.cubes.query.resolved import DATED
from hbstore.cubes.query.rolling_up import RollingUp
from hbstore.cubes.query.text import DIALECT, QueryText, offset_of, placed, with_replaced

_AGGREGATE: Final = "hbstore.aggregate"


@dataclass(slots=True)
class Aggregates:
    """The aggregates of a query by their text.

    Attributes:
        query: for errors.
        fields: how those of the cube roll up.
        taken: the aggregates; trees hold columns named ``aggregate <number>`` in their places.
    """

    query: QueryText
    fields: RollingUp
    taken: list[Aggregate] = field(default_factory=list)
    _numbers: dict[str, int] = field(default_factory=dict)

    def taken_from(self, tree: exp.Expr) -> exp.Expr:
        """A resolved tree, changed: with placeholders for its aggregates and for its bare measures."""

        def replaced(node: exp.Expr) -> exp.Expr:
            if is_filtered(node) or is_aggregate(node):
                return self._placeholder(node)
            dated = node.meta_get(DATED)
            if dated is not None and any(self.fields.is_measure(one) or is_aggregate(one) for one in node.walk()):
                raise self.query.unsupported(
                    "the definition of the expression changes within the ranges",
                    node,
                    expression=dated,
                    hint=f"Aggregate its rows, as sum({dated}), or ask for ranges within one definition",
                )
            if isinstance(node, exp.Column) and self.fields.is_measure(node):
                return self._placeholder(self._default(node))
            return node

        return tree.transform(replaced, copy=False)

    def has(self, tree: exp.Expr) -> bool:
        """Whether there is an aggregate in a tree that `taken_from` made."""
        return any(aggregate_number(node) is not None for node in tree.walk())

    def _default(self, node: exp.Column) -> exp.Expr:
        measure = self.fields.measures[node.name]
        if measure.default_aggregate is None:
            raise self.query.unsupported(
                "the measure has no default aggregate",
                node,
                measure=measure.name,
                cause="NO_DEFAULT_AGGREGATE",
                hint=f"Say how it is aggregated, such as sum({measure.name})",
            )
        return placed(call_of(measure.default_aggregate.lower(), node), offset_of(node))

    def _placeholder(self, node: exp.Expr) -> exp.Expr:
        own = [node]
        while isinstance(own[-1], exp.Filter | exp.WithinGroup):
            own.append(own[-1].this)
        for inner in node.walk():
            if is_aggregate(inner) and not any(inner is one for one in own):
                raise self.query.unsupported(
                    "an aggregate stands within another", inner, hint="Ask for the inner one alone"
                )
        text = node.sql(DIALECT, copy=False, comments=False)
        if text not in self._numbers:
            self._numbers[text] = len(self.taken)
            self.taken.append(self.fields.aggregate(node))
        placeholder = placed(exp.column(f"aggregate {self._numbers[text]}", quoted=True), offset_of(node))
        placeholder.meta[_AGGREGATE] = self._numbers[text]
        return placeholder


def aggregate_number(node: exp.Expr) -> int | None:
    """The number of the aggregate that a node stands for; None for other nodes."""
    number = node.meta_get(_AGGREGATE)
    return number if isinstance(number, int) else None


def with_aggregates(tree: exp.Expr, of: Callable[[int], exp.Expr]) -> exp.Expr:
    """A copy of a tree with its placeholders replaced."""

    def replaced(node: exp.Expr) -> exp.Expr:
        number = aggregate_number(node)
        return node if number is None else of(number)

    return with_replaced(tree, replaced)

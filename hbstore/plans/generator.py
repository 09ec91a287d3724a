"""PartitionFilterGenerator: a predicate to a step function over one column's cells.

The spec's visitor of the ExpressionTree: leaves become plans, AND and OR nodes call the plans' AND and OR. A leaf on
the column is exact ranges; a leaf on another column is the whole line with that leaf as residual. Source: the Hive
wiki's page on partition filters over HBase, "PartitionFilterGenerator".
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Final

from hbstore.keys.row_key import TAG_END, TAG_NULL
from hbstore.plans.steps import MAX_TERMS, Steps, TooManyTermsError, intersect_steps, unite_steps
from hbstore.rows.predicate import ALWAYS, NEVER, AllOf, AnyOf, CellIn, CellLike, Predicate, all_of, any_of, terms_of

LINE_START: Final = TAG_NULL
"""Below every cell of a column."""
LINE_STOP: Final = TAG_END
"""Above every cell of a column."""


@dataclass(frozen=True, slots=True)
class PartitionFilterGenerator:
    """Makes step functions over the cells of one column.

    Attributes:
        column: the column whose cells the steps are ranges of.
    """

    column: int

    def generate(self, predicate: Predicate) -> Steps:
        """The step function of a predicate. O(n log n) for n comparisons where ORed ranges do not overlap."""
        done: list[Steps | Predicate] = []
        pending: list[tuple[Predicate, bool]] = [(predicate, False)]
        while pending:
            node, expanded = pending.pop()
            if isinstance(node, CellIn):
                on_line = node.column == self.column
                done.append([(start, stop, ALWAYS) for start, stop in node.ranges] if on_line else node)
            elif isinstance(node, CellLike):
                done.append(node)
            elif isinstance(node, AllOf) and (steps := self._ranges_with_rest(node)) is not None:
                done.append(steps)
            elif expanded:
                size = len(node.children)
                values = done[len(done) - size :]
                del done[len(done) - size :]
                done.append(self._every(node, values) if isinstance(node, AllOf) else self._some(node, values))
            else:
                pending.append((node, True))
                pending.extend((child, False) for child in reversed(node.children))
        return _as_steps(done[0])

    def _ranges_with_rest(self, node: AllOf) -> Steps | None:
        """``a and b`` where all children are ranges, the first of them on this column: its ranges, and the rest."""
        if not node.children:
            return None
        first, *others = node.children
        if type(first) is not CellIn or first.column != self.column:
            return None
        for other in others:
            if type(other) is not CellIn:
                return None
        rest = ALWAYS if not others else others[0] if len(others) == 1 else AllOf(node.children[1:])
        return [(start, stop, rest) for start, stop in first.ranges]

    def _every(self, node: AllOf, values: list[Steps | Predicate]) -> Steps | Predicate:
        """``a and b``: plans are intersected; children that do not speak of this column stay residuals together."""
        functions = [value for value in values if isinstance(value, list)]
        apart = [value for value in values if not isinstance(value, list)]
        if not functions:
            return node
        if apart:
            functions.append(_as_steps(all_of(apart)))
        while len(functions) > 1:  # in pairs, so that each function takes part in few passes, however many there are
            pairs = itertools.zip_longest(functions[::2], functions[1::2])
            functions = [left if right is None else intersect_steps(left, right) for left, right in pairs]
            for steps in functions:
                if sum(terms_of(rest) for _, _, rest in steps) > MAX_TERMS:
                    return _hull([steps], node)
        return functions[0]

    def _some(self, node: AnyOf, values: list[Steps | Predicate]) -> Steps | Predicate:
        """``a or b``: plans are united; children that do not speak of this column are one step over the whole line."""
        functions = [value for value in values if isinstance(value, list)]
        apart = [value for value in values if not isinstance(value, list)]
        if not functions:
            return node
        if apart:
            functions.append(_as_steps(any_of(apart)))
        try:
            return unite_steps(functions, MAX_TERMS)
        except TooManyTermsError:
            return _hull(functions, node)


def _hull(functions: list[Steps], node: Predicate) -> Steps:
    """One step around all, which checks the whole condition: what is left where its parts would be too many."""
    ends = [(steps[0][0], steps[-1][1]) for steps in functions if steps]
    return [(min(start for start, _ in ends), max(stop for _, stop in ends), node)]


def _as_steps(value: Steps | Predicate) -> Steps:
    if isinstance(value, list):
        return value
    return [] if value is NEVER else [(LINE_START, LINE_STOP, value)]

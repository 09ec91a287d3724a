r"""Prepared filters: bind once for all filters that differ in their literals only.

What is bound is a filter's frame (`hbstore.filters.frames`): its columns are looked up, its operators are known, and
only the literals are missing. Putting them in gives the predicate that `bind` makes of the whole text, in a third of
the time that parsing and binding take. Prepared are ANDs of comparisons, BETWEEN and IN, and ORs of such, which is what
programs write; all others go the general way.

>>> from hbstore.filters.parser import parse_filter
>>> from hbstore.types import parse_type
>>> schema = KeySchema(b"", ("ds", "late"), (parse_type("date"), parse_type("boolean")))
>>> text = "ds = '2013-01-01' and late = 'true'"
>>> prepared = prepare(text, parse_filter(text), schema)
>>> prepared.bind(["'1970-01-01'", '"false"']).children[1]
CellIn(column=1, ranges=((b'\x02\x00', b'\x02\x01'),))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from hbstore.errors import HbstoreError
from hbstore.filters.frames import framed_literal, is_framed
from hbstore.filters.tree import And, Between, Comparison, ExpressionTree, In, Or
from hbstore.plans.literals import between_ranges, comparison_ranges, in_ranges
from hbstore.plans.planner import plan_predicate
from hbstore.plans.prepared_boxes import PreparedBox, prepare_box
from hbstore.plans.scan_plan import MultiScanPlan
from hbstore.plans.schema import KeySchema
from hbstore.plans.statistics import Statistics
from hbstore.rows.interface import Costs
from hbstore.rows.predicate import CellIn, Predicate, all_of, any_of
from hbstore.rows.ranges import Ranges, intersect
from hbstore.types import ColumnType

Leaf: TypeAlias = Comparison | Between | In
NumberedLeaf: TypeAlias = tuple[Leaf, int]
"""A leaf and the number of its first literal among all of the filter."""
Select: TypeAlias = Callable[[list[str]], Ranges]
"""What one condition selects of its column's cells, given the tokens of all literals."""
Known: TypeAlias = dict[str, CellIn]
"""Comparisons that were bound already, by column, operator and token: long filters repeat the same few of them."""
Condition: TypeAlias = Callable[[list[str], Known], CellIn]
"""All that an AND says of one column; perhaps no cell is selected."""


@dataclass(frozen=True, slots=True)
class PreparedFilter:
    """All filters of one frame on one table.

    Attributes:
        schema: the table.
        branches: ANDs, of which one must hold; each has a condition for some columns, in key order.
        box: the same once more, where it is a box.
    """

    schema: KeySchema
    branches: tuple[tuple[Condition, ...], ...]
    box: PreparedBox | None

    def plan(self, tokens: list[str], statistics: Statistics, costs: Costs) -> MultiScanPlan | None:
        """The plan with these literals, as `plan_filter` makes it; None where `bind` gives none.

        Args:
            tokens: as `frame_of` gives them beside this frame.
            statistics: what is known of the table's rows.
            costs: what reading costs on its backend.
        """
        if self.box is not None and (found := self.box.plan(tokens)) is not None:
            return found
        predicate = self.bind(tokens)
        return None if predicate is None else plan_predicate(predicate, self.schema, statistics, costs)

    def bind(self, tokens: list[str]) -> Predicate | None:
        """The predicate with these literals; None where one of them is wrong, as an error should say where. O(n)."""
        known: Known = {}
        try:
            found = [all_of([condition(tokens, known) for condition in branch]) for branch in self.branches]
        except (HbstoreError, ValueError):
            return None
        return found[0] if len(found) == 1 else any_of(found)


def prepare(text: str, tree: ExpressionTree | None, schema: KeySchema) -> PreparedFilter | None:
    """The prepared filter of a text's frame on a table; None where it has none. O(text).

    Args:
        text: a filter whose columns the table has.
        tree: what it parses to.
        schema: the table.
    """
    if not is_framed(text):
        return None
    branches: list[list[NumberedLeaf]] = []
    number = 0  # literals stand in the tree as they do in the text
    for branch in tree.children if isinstance(tree, Or) else (tree,):
        leaves: list[NumberedLeaf] = []
        for leaf in branch.children if isinstance(branch, And) else (branch,):
            if not isinstance(leaf, Comparison | Between | In):
                return None
            leaves.append((leaf, number))
            number += _literals(leaf)
        branches.append(leaves)
    box = prepare_box(branches[0], schema) if len(branches) == 1 else None
    return PreparedFilter(schema, tuple([_conditions(leaves, schema) for leaves in branches]), box)


def _conditions(leaves: list[NumberedLeaf], schema: KeySchema) -> tuple[Condition, ...]:
    by_column: dict[int, list[NumberedLeaf]] = {}
    for leaf, number in leaves:
        by_column.setdefault(schema.column(leaf.column), []).append((leaf, number))
    return tuple([_condition(by_column[column], column, schema.types[column]) for column in sorted(by_column)])


def _literals(leaf: Leaf) -> int:
    if isinstance(leaf, In):
        return len(leaf.literals)
    return 1 if isinstance(leaf, Comparison) else 2


def _condition(leaves: list[NumberedLeaf], column: int, kind: ColumnType) -> Condition:
    """All that leaves say of a column."""
    first, *others = [_select(leaf, at, kind) for leaf, at in leaves]
    leaf, at = leaves[0]
    if others or not isinstance(leaf, Comparison):

        def several(tokens: list[str], _: Known) -> CellIn:
            ranges = first(tokens)
            for other in others:
                ranges = intersect(ranges, other(tokens))
            return CellIn(column, ranges)

        return several
    begin = f"{column}{leaf.operator.value}"

    def single(tokens: list[str], known: Known) -> CellIn:
        key = begin + tokens[at]
        found = known.get(key)
        if found is None:
            found = known[key] = CellIn(column, first(tokens))
        return found

    return single


def _select(leaf: Leaf, at: int, kind: ColumnType) -> Select:
    name = leaf.column
    if isinstance(leaf, Comparison):
        operator = leaf.operator
        return lambda tokens: comparison_ranges(name, kind, operator, framed_literal(tokens[at]))
    stop, negated = at + _literals(leaf), leaf.negated
    if isinstance(leaf, Between):
        return lambda tokens: between_ranges(name, kind, *map(framed_literal, tokens[at:stop]), negated=negated)
    return lambda tokens: in_ranges(name, kind, tuple(map(framed_literal, tokens[at:stop])), negated=negated)

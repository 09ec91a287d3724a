"""Narrow: where a range fixes a column to one value, what is left to check is planned on the next column.

``ds = 'x' and hour in (3, 4) and region = 'eu'`` is one range on ds with a residual; inside it, two values of hour; and
below each of those, one region: two gets. The product over columns is the only place where plans can grow, so the
budget is kept here: when it is used up, ranges keep their residuals.

Wherever there is a choice, the cheaper way by the estimates is taken: narrowed scans, a skip scan from one distinct
value to the next, or one scan with a residual. While nothing is known of a table, ranges are narrowed at points
and where they are few points.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from hbstore.plans.coalesce import coalesce, combine, shrink
from hbstore.plans.estimate import Estimator
from hbstore.plans.generator import LINE_START, LINE_STOP, PartitionFilterGenerator
from hbstore.plans.points import enumerate_values, is_point, possible_cells
from hbstore.plans.scan_plan import RelativeScan, ScanKind
from hbstore.plans.steps import Step, Steps
from hbstore.rows.predicate import (
    ALWAYS,
    NEVER,
    AllOf,
    AnyOf,
    CellIn,
    CellLike,
    Predicate,
    all_of,
    any_of,
    fold,
    has_like,
)

MAX_SCANS: Final = 10_000
"""The budget: no plan has more scans."""

MAX_ENUMERATED: Final = 1_000
"""Values of a range that are turned into single ones, where reading those is cheaper."""

Scans = list[RelativeScan]


@dataclass(frozen=True, slots=True)
class Ways:
    """The ways of reading among which a plan's are chosen. Plans of fewer ways show what the others are good for.

    Attributes:
        narrow: what a range leaves to check may be planned on the columns behind.
        check: a range may be read and its rows checked, although it can be narrowed.
        skip: distinct values of a range may be visited by a skip scan.
        single: values of a range may be read one by one.
        join: neighbouring scans may be joined.
    """

    narrow: bool = True
    check: bool = True
    skip: bool = True
    single: bool = True
    join: bool = True


ALL_WAYS: Final = Ways()


class Narrower:
    """Plans one predicate on one table. Made for one call of `narrow`; it holds that call's budget and results."""

    def __init__(self, estimator: Estimator, budget: int = MAX_SCANS, ways: Ways = ALL_WAYS) -> None:
        self._estimator = estimator
        self._ways = ways
        self._types = estimator.schema.types
        self._respelled = estimator.schema.respelled
        self._budget = budget
        # A residual is the same object in all steps that share it: a thousand values of ds with one condition on hour
        # are planned once. The predicate is kept beside its plan so that its id stays taken.
        self._known: dict[tuple[int, int], tuple[Predicate, Scans]] = {}
        self._patterns = False
        self._points: dict[int, tuple[CellIn, bytes]] = {}  # likewise

    def narrow(self, predicate: Predicate) -> Scans:
        """The scans of a predicate, relative to the table's prefix."""
        self._patterns = has_like(predicate)
        return self._line(predicate, 0)

    def _line(self, predicate: Predicate, column: int) -> Scans:
        """The scans on a column's line and those below it."""
        known = self._known.get((id(predicate), column))
        if known is not None:
            return known[1]
        steps = PartitionFilterGenerator(column).generate(predicate)
        scans = self._or_one_scan(self._scans(self._within_budget(steps, column), column), steps, column)
        self._known[id(predicate), column] = predicate, scans
        return scans

    def _within_budget(self, steps: Steps, column: int) -> Steps:
        """At most as many steps as the budget allows: what costs nothing to join is joined before the rest is shrunk.

        Steps that were shrunk have residuals of their own. Where they become one scan anyway, that is made of the steps
        as they were: what those share is checked once.
        """
        if len(steps) <= self._budget:
            return steps
        fewer = shrink(coalesce(steps, column, self._estimator), column, self._budget)
        return fewer if len(coalesce(fewer, column, self._estimator)) > 1 else [combine(steps, column)]

    def _scans(self, steps: Steps, column: int) -> Scans:
        scans: Scans = []
        plain: Steps = []
        for number, step in enumerate(steps, start=1):
            # What is left of the budget when every step that follows keeps one scan.
            left = self._budget - len(scans) - len(plain) - (len(steps) - number)
            narrowed = self._narrowed(step, column, left)
            if narrowed is None:
                plain.append(step)
                continue
            scans += self._plain(plain, column)
            plain = []
            scans += narrowed
        scans += self._plain(plain, column)
        return scans

    def _plain(self, steps: Steps, column: int) -> Scans:
        joined = coalesce(steps, column, self._estimator) if steps and self._ways.join else steps
        return [_scan(step) for step in joined]

    def _or_one_scan(self, scans: Scans, steps: Steps, column: int) -> Scans:
        """All of them, or one scan over the hull of the steps where that is cheaper."""
        if len(scans) < 2 or not self._ways.join:  # noqa: PLR2004
            return scans
        rows = self._estimator.rows(column, steps[0][0], steps[-1][1])
        seconds = self._estimator.seconds(scans, column)
        if rows is None or seconds is None or seconds <= self._estimator.scan(rows):
            return scans
        note = f"one scan of about {rows:,.0f} rows costs less than {len(scans):,} reads"
        return [replace(_scan(combine(steps, column)), note=note)]

    def _narrowed(self, step: Step, column: int, budget: int) -> Scans | None:
        """What a step becomes on the columns behind this one; None to read it as one scan."""
        start, stop, rest = step
        column_type = self._types[column]
        point = is_point(column_type, start, stop, respelled=column in self._respelled)
        if point and self._patterns and rest is not ALWAYS:
            rest = _known_cell(rest, column, start)
            if rest is NEVER:
                return []
        if rest is ALWAYS:
            return self._gets(start, stop, column, budget) if column + 1 == len(self._types) else None
        if column + 1 == len(self._types) or not self._ways.narrow or _takes_whole_values(rest, column):
            return None
        return self._below_point(start, rest, column, budget) if point else self._below_range(step, column, budget)

    def _gets(self, start: bytes, stop: bytes, column: int, budget: int) -> Scans | None:
        """On the last column a value is a whole key; a few neighbours are fetched one by one."""
        column_type = self._types[column]
        count = possible_cells(column_type, start, stop, respelled=column in self._respelled)
        costs = self._estimator.costs
        if count is None or count * costs.get > costs.seek or count > min(_FEW, budget):
            return None
        return [RelativeScan(ScanKind.GET, (cell,)) for cell in enumerate_values(column_type, start, stop)]

    def _below_point(self, cell: bytes, rest: Predicate, column: int, budget: int) -> Scans | None:
        key = self._single_key(rest, column + 1)
        if key is not None:
            return [RelativeScan(ScanKind.GET, (cell, *key))]
        below = self._line(rest, column + 1)
        if not below:
            return []
        if not _is_narrower(below) or len(below) > budget:
            return None
        # One narrower read never costs more than the wide one.
        if self._ways.check and (len(below) > 1 or below[0].kind is ScanKind.SKIP):
            rows = self._estimator.statistics.rows_below(column + 1)
            seconds = self._estimator.seconds(below, column + 1)
            if rows is not None and seconds is not None and self._estimator.scan(rows) < seconds:
                return None
        return [_lead(cell, scan) for scan in below]

    def _single_key(self, rest: Predicate, column: int) -> tuple[bytes, ...] | None:
        """The remaining cells of a key where each of these columns has just one value: the end of most plans."""
        children = rest.children if type(rest) is AllOf else (rest,)
        if len(children) != len(self._types) - column:
            return None
        cells = []
        for at, child in enumerate(children, start=column):
            if type(child) is not CellIn or child.column != at:
                return None
            point = self._points.get(id(child))
            if point is None:
                point = self._points[id(child)] = child, self._point(child)
            if not point[1]:
                return None
            cells.append(point[1])
        return tuple(cells)

    def _point(self, leaf: CellIn) -> bytes:
        """The one cell that a leaf selects; empty if it selects more."""
        start, stop = leaf.ranges[0]
        column_type, respelled = self._types[leaf.column], leaf.column in self._respelled
        single = len(leaf.ranges) == 1 and is_point(column_type, start, stop, respelled=respelled)
        return start if single else b""

    def _below_range(self, step: Step, column: int, budget: int) -> Scans | None:
        """Values one by one, or a skip scan over them, where either costs less than reading the range."""
        start, stop, rest = step
        estimator = self._estimator
        below = self._line(rest, column + 1)
        if not below:
            return []  # nothing can match, whatever the value
        if not _is_narrower(below):
            return None
        possible = possible_cells(self._types[column], start, stop, respelled=column in self._respelled)
        countable = possible is not None and possible * len(below) <= min(budget, MAX_ENUMERATED)
        rows = estimator.rows(column, start, stop)
        values = estimator.values(column, start, stop)
        skip = estimator.skip(column, start, stop, below)
        if rows is None or values is None or skip is None:
            few = countable and possible is not None and possible <= _FEW_UNKNOWN
            return self._one_by_one(step, column, below, None) if few else None
        scan = estimator.scan(rows)
        single = None
        if countable and possible is not None and self._ways.single:
            single = estimator.one_by_one(possible, below, column + 1)
        name = estimator.schema.names[column]
        others = [skip] * self._ways.skip + [scan] * self._ways.check
        if single is not None and all(single <= other for other in others):
            note = f"{possible} values of {name} one by one: {_ms(single)}, one scan: {_ms(scan)}"
            return self._one_by_one(step, column, below, note)
        if not self._ways.skip or (self._ways.check and skip > scan):
            return None
        whole = f"one scan of {rows:,.0f} rows: {_ms(scan)}"
        note = f"skip scan over about {values:,.0f} values of {name}: {_ms(skip)}, {whole}"
        return [RelativeScan(ScanKind.SKIP, (), start, stop, rest, tuple(below), note)]

    def _one_by_one(self, step: Step, column: int, below: Scans, note: str | None) -> Scans:
        cells = enumerate_values(self._types[column], step[0], step[1])
        scans = [_lead(cell, one) for cell in cells for one in below]
        return [replace(scans[0], note=note), *scans[1:]]


_FEW: Final = 4
"""Keys that are fetched one by one rather than by a range scan, if that costs no more."""

_FEW_UNKNOWN: Final = 16
"""Values of a range that are looked up one by one while nothing is known of the table."""


def _scan(step: Step) -> RelativeScan:
    return RelativeScan(ScanKind.SCAN, (), step[0], step[1], step[2])


def _lead(cell: bytes, scan: RelativeScan) -> RelativeScan:
    """The scan below one more fixed cell."""
    return RelativeScan(scan.kind, (cell, *scan.cells), scan.start, scan.stop, scan.residual, scan.below, scan.note)


def _is_narrower(scans: Scans) -> bool:
    """Whether scans below a prefix read less than all of it."""
    if len(scans) != 1:
        return True
    one = scans[0]
    return not (one.kind is ScanKind.SCAN and not one.cells and (one.start, one.stop) == (LINE_START, LINE_STOP))


def _takes_whole_values(rest: Predicate, column: int) -> bool:
    """Whether a residual still takes whole values of a column, as where the budget joined ranges: all is read below."""
    return type(rest) is AnyOf and any(type(child) is CellIn and child.column <= column for child in rest.children)


def _known_cell(predicate: Predicate, column: int, cell: bytes) -> Predicate:
    """What is left to check once a column's cell is known: patterns on that column are decided here."""

    def leaf(node: CellIn | CellLike) -> Predicate:
        if isinstance(node, CellLike) and node.column == column:
            return ALWAYS if node.matches(cell) else NEVER
        return node

    return fold(predicate, leaf, all_of, any_of)


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms"

"""The plan explorer: what a filter becomes, what it reads of the key lines, and what the other ways would have cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hbstore.console.drawings.key_line_drawing import key_line_drawing
from hbstore.console.filter_form import FilterForm, problem_of, problem_status
from hbstore.console.plans.key_fields import KeyField, key_fields
from hbstore.console.plans.key_line import key_line, lanes
from hbstore.console.plans.reasons import why_checked, why_not, why_taken
from hbstore.console.plans.sampled_values import SampledValues, sampled_values
from hbstore.console.rendering import page
from hbstore.errors import FilterError, TimelineError
from hbstore.filters.tree import ExpressionTree
from hbstore.filters.tree_lines import tree_lines
from hbstore.keys.row_key import cell_at
from hbstore.pictures.drawing import FULL, PARTLY, Colour, Drawing
from hbstore.plans.alternatives import Alternative
from hbstore.plans.estimate import Estimate
from hbstore.plans.execute import Measured
from hbstore.plans.explain import Explain
from hbstore.plans.notation import steps_text
from hbstore.plans.scan_plan import ScanKind, ScanPlan, relative
from hbstore.rows.interface import Costs, Rows
from hbstore.warehouse.service import Service

_SCANS: Final = 40
"""Scans that are written out."""
_BELOW: Final = 12
"""Of a skip scan, reads below each value that are written out."""
_TREE: Final = 200
"""Lines of a tree."""
_COLUMNS: Final = 4
"""Columns whose key lines are drawn."""
_LANES: Final = 6
"""Lines of a column."""
_LOOK: Final = 4e-3
"""Seconds that looking for values of a column should take, at the most."""
_VALUES: Final = range(16, 401)
"""How few and how many values are looked for."""
_BAR_WIDTH: Final = 200
_BAR_HEIGHT: Final = 14
_SEEKS: Final = Colour("point", "#b5651d")


@dataclass(frozen=True, slots=True)
class ShownScan:
    """A scan as the page shows it.

    Attributes:
        scan: it.
        start: the fields of its first key.
        stop: those of the key behind its last.
        below: of a skip scan, what it reads below each value.
        others: how many more of these there are.
        why: why its residual must be checked.
        estimate: what it does; None where that is not known.
        measured: what it did; None where it was not run.
    """

    scan: ScanPlan
    start: list[KeyField]
    stop: list[KeyField]
    below: list[str]
    others: int
    why: str
    estimate: Estimate | None
    measured: Measured | None


@dataclass(frozen=True, slots=True)
class ShownWay:
    """One of the ways that were weighed.

    Attributes:
        one: it.
        bar: what it costs, drawn.
        why: why it was not taken.
    """

    one: Alternative
    bar: Markup
    why: str


def plan_pages(service: Service) -> list[Route]:
    """The page of plans."""
    store = service.store

    def plan(request: Request) -> Response:
        table = store.get_table(request.path_params["database"], request.path_params["table"])
        form = FilterForm.of(request)
        shown: dict[str, Any] = {"table": table, "form": form}
        try:
            with store.rows.snapshot():
                explained = store.explain(table.database, table.name, form.filter, form.analyze, form.like_dialect)
                drawing = _drawing(explained, store.rows)
        except (FilterError, TimelineError) as error:
            status = problem_status(request, error)
            return page(
                request, "plan.html", status=status, title="Plan", problem=problem_of(error, form.filter), **shown
            )
        return page(request, "plan.html", title="Plan", problem=None, drawing=drawing, **_shown(explained), **shown)

    return [Route("/databases/{database}/tables/{table}/plan", plan)]


def _shown(explained: Explain) -> dict[str, Any]:
    """What the page says of a plan."""
    scans = explained.plan.scans
    ways = explained.alternatives
    taken = next(one for one in ways if one.taken)
    return {
        "explained": explained,
        "taken": taken,
        "ways": _ways(explained, taken),
        "reason": why_taken(ways, explained.estimator),
        "scans": [_scan(explained, at, scan) for at, scan in enumerate(scans[:_SCANS])],
        "others": max(0, len(scans) - _SCANS),
        "tree": _tree(explained.tree),
        "costs": explained.estimator.costs,
        "distinct": _distinct(explained),
    }


def _ways(explained: Explain, taken: Alternative) -> list[ShownWay]:
    most = max(
        (alternative.estimate.seconds for alternative in explained.alternatives if alternative.estimate is not None),
        default=0.0,
    )
    costs = explained.estimator.costs
    return [
        ShownWay(
            alternative,
            Markup() if alternative.estimate is None else _cost_bar(alternative.estimate, costs, most),
            why_not(alternative, taken, costs),
        )
        for alternative in explained.alternatives
    ]


def _cost_bar(estimate: Estimate, costs: Costs, most: float) -> Markup:
    """What one way of reading costs: seeks, point lookups, rows; ``most`` are the seconds of the longest bar."""
    gets, rows = estimate.gets * costs.get, estimate.checked * costs.check
    seeks = max(estimate.seconds - gets - rows, 0.0)
    drawing = Drawing(_BAR_WIDTH, f"{estimate.seconds * 1e3:.3g} ms", styled=False)
    scale = (_BAR_WIDTH - 2) / most if most else 0.0
    left = 0.0
    for seconds, colour in ((seeks, _SEEKS), (gets, FULL), (rows, PARTLY)):
        if seconds:
            width = max(seconds * scale, 1.0)
            drawing.box(left, 1, width, _BAR_HEIGHT, colour)
            left += width
    return Markup(drawing)  # noqa: S704  it escapes its texts


def _scan(explained: Explain, at: int, scan: ScanPlan) -> ShownScan:
    schema, below = scan.schema, scan.below
    return ShownScan(
        scan,
        key_fields(scan.start.key, schema),
        key_fields(scan.stop.key, schema),
        [steps_text(one.cells, (one.start, one.stop), one.residual, scan.column + 1, schema) for one in below[:_BELOW]],
        max(0, len(below) - _BELOW),
        why_checked(scan),
        explained.estimate(scan),
        None if explained.measured is None else explained.measured[at],
    )


def _tree(tree: ExpressionTree | None) -> tuple[list[str], int]:
    """The lines of a tree, and how many more there are."""
    return ([], 0) if tree is None else tree_lines(tree, _TREE)


def _distinct(explained: Explain) -> list[tuple[str, int]]:
    """About how many distinct values the leading columns have together."""
    names = explained.plan.schema.names
    numbers = explained.estimator.statistics.distinct
    return [(" × ".join(names[: at + 1]), number) for at, number in enumerate(numbers)]


def _drawing(explained: Explain, rows: Rows) -> Markup:
    """The key lines of the first columns, with what the plan reads there."""
    schema = explained.plan.schema
    if not schema.names:
        return Markup()
    columns = lanes(key_line(explained.plan), schema, _COLUMNS, _LANES)
    leading = _example(explained.plan.scans, rows, len(columns) - 1)
    sampled = [_sampled(explained, rows, leading[:column]) for column in range(len(columns))]
    return Markup(key_line_drawing(columns, sampled, schema, len(explained.plan.scans)))  # noqa: S704


def _sampled(explained: Explain, rows: Rows, leading: tuple[bytes, ...]) -> SampledValues:
    most = min(max(int(_LOOK / explained.estimator.costs.seek), _VALUES.start), _VALUES.stop - 1)
    expected = explained.estimator.statistics.values_below(len(leading))
    return sampled_values(rows, explained.plan.schema, leading, most, expected)


def _example(scans: Sequence[ScanPlan], rows: Rows, cells: int) -> tuple[bytes, ...]:
    """The leading cells of a row that the plan may read: the values of the columns behind are looked up below these."""
    for scan in scans[:2]:
        key = rows.first_key(scan.start.key, scan.stop.key)
        if key is not None:
            return tuple(cell_at(key, column, len(scan.schema.names)) for column in range(cells))
    if scans and scans[0].kind is not ScanKind.SCAN:
        return relative(scans[0]).cells[:cells]
    return ()

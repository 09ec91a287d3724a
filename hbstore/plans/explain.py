"""Explain: what a filter becomes, for people and as JSON."""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape
from typing import Any, Final

from rich.filesize import decimal

from hbstore.filters.tree import ExpressionTree, tree_text
from hbstore.model.totals import Totals
from hbstore.plans.alternatives import Alternative, alternatives, counts_text
from hbstore.plans.estimate import Estimate, Estimator
from hbstore.plans.execute import Measured, measure
from hbstore.plans.picture import svg
from hbstore.plans.scan_plan import MultiScanPlan, ScanKind, ScanPlan, drawn, relative
from hbstore.rows.interface import Rows
from hbstore.rows.predicate import Predicate
from hbstore.texts.wording import clipped, plural

_SHOWN: Final = 50
"""Scans in the text; JSON holds all."""


@dataclass(frozen=True, slots=True, repr=False)
class Explain:
    """A filter, its tree, its scans and, when analyzed, what they cost.

    Attributes:
        table: ``database.table``.
        filter: the text that was given, or the tree's text.
        tree: None for no filter.
        plan: the scans.
        estimator: what reading the table costs.
        alternatives: the plan and the others that the planner weighed, the cheapest first.
        measured: for each scan; None unless analyzed.
        total: the sum; None unless analyzed.
        kept: what the partitions that it selects say together; None unless analyzed.
        totals: what all partitions of the table say together; None where that is not known.
    """

    table: str
    filter: str | None
    tree: ExpressionTree | None
    plan: MultiScanPlan
    estimator: Estimator
    alternatives: tuple[Alternative, ...]
    measured: tuple[Measured, ...] | None = None
    total: Measured | None = None
    kept: Totals | None = None
    totals: Totals | None = None

    def to_dict(self) -> dict[str, Any]:
        """The explanation as JSON values; keys are in hex.

        >>> explained = sales.explain("ds = '2013-01-01' and hour = 5").to_dict()
        >>> explained["filter"], len(explained["scans"])
        ("ds = '2013-01-01' and hour = 5", 1)
        """
        shown: dict[str, Any] = {
            "table": self.table,
            "filter": self.filter,
            "tree": None if self.tree is None else tree_text(self.tree),
            "scans": [self._scan(at, scan) for at, scan in enumerate(self.plan.scans)],
            "alternatives": [one.to_dict() for one in self.alternatives],
        }
        if self.total is None or self.kept is None:
            return shown
        return {
            **shown,
            **_figures(self.total),
            "kept": self.kept.to_dict(),
            "of": None if self.totals is None else self.totals.to_dict(),
        }

    def estimate(self, scan: ScanPlan) -> Estimate | None:
        """What one of the scans does, and how long that takes; None where too little is known of the table.

        >>> explained = sales.explain("ds = '2013-01-01'")
        >>> explained.estimate(explained.plan.scans[0]).rows
        24.0
        """
        return self.estimator.estimate([relative(scan)])

    def _scan(self, at: int, scan: ScanPlan) -> dict[str, Any]:
        shown = scan.to_dict()
        return shown if self.measured is None else {**shown, **_figures(self.measured[at])}

    def __str__(self) -> str:
        """The explanation for a terminal; of many scans only the first are shown."""
        lines = [
            f"table   {self.table}",
            f"filter  {self.filter if self.filter is not None else '(none: every partition)'}",
            f"tree    {'-' if self.tree is None else tree_text(self.tree)}",
            f"scans   {counts_text(self.plan.scans)}",
        ]
        for at, scan in enumerate(self.plan.scans[:_SHOWN]):
            lines += self._lines(at, scan)
        if len(self.plan.scans) > _SHOWN:
            lines.append(f"  … {len(self.plan.scans) - _SHOWN:,} more")
        lines += _columns("ways", [str(one) for one in self.alternatives])
        if self.total is not None:
            lines.append(f"total   {_measured_text(self.total)}")
        if self.kept is not None and self.totals is not None:
            lines.append(f"pruned  {_pruned_text(self.kept, self.totals)}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Explain {self.table}: {clipped(self.filter or 'no filter', 80)}; {counts_text(self.plan.scans)}>"

    def _repr_html_(self) -> str:
        """A picture for notebooks: the ranges that are read and, when analyzed, what each cost. O(scans)."""
        costs = [(one.rows_read, one.rows_returned, one.seconds) for one in self.measured or ()]
        scans = [drawn(scan, costs[at] if costs else None) for at, scan in enumerate(self.plan.scans)]
        selected = None
        if self.kept is not None and self.totals is not None and self.totals.partitions:
            selected = self.kept.partitions, self.totals.partitions
        text = escape(self.filter or "no filter")
        return f"<div>{escape(self.table)}: <code>{text}</code></div>{svg(scans, selected)}"

    def _lines(self, at: int, scan: ScanPlan) -> list[str]:
        lines = [f"  {at + 1}. {scan.kind.value:<4} {scan.range_text()}", f"     bytes    {scan.start} .. {scan.stop}"]
        if scan.kind is ScanKind.SKIP:
            lines.append(f"     below    {scan.below_text()}")
        elif scan.residual is not None:
            lines.append(f"     residual {scan.residual_text()}")
        if scan.note is not None:
            lines.append(f"     because  {scan.note}")
        if self.measured is not None:
            lines.append(f"     measured {_measured_text(self.measured[at])}")
        return lines


def explain_plan(
    table: str,
    text: str | None,
    tree: ExpressionTree | None,
    plan: MultiScanPlan,
    predicate: Predicate,
    estimator: Estimator,
    rows: Rows | None = None,
    totals: Totals | None = None,
) -> Explain:
    """Explain a plan; with rows, run it and measure each scan, and say what of the table's totals it leaves out."""
    ways = alternatives(plan, predicate, estimator)
    explained = Explain(table, text, tree, plan, estimator, ways, totals=totals)
    if rows is None:
        return explained
    each, total, kept = measure(plan, rows)
    return replace(explained, measured=tuple(each), total=total, kept=kept)


def _figures(measured: Measured) -> dict[str, Any]:
    return {
        "rows_read": measured.rows_read,
        "rows_returned": measured.rows_returned,
        "round_trips": measured.round_trips,
        "seconds": measured.seconds,
    }


def _measured_text(measured: Measured) -> str:
    return (
        f"{plural(measured.rows_read, 'row')} read, {measured.rows_returned:,} returned, "
        f"{plural(measured.round_trips, 'round trip')}, {measured.seconds * 1e3:.3f} ms"
    )


def _pruned_text(kept: Totals, totals: Totals) -> str:
    """What is left out; of figures that no partition says, nothing."""
    gone = totals - kept
    parts = [f"{gone.partitions:,} of {plural(totals.partitions, 'partition')}"]
    if totals.rows:
        parts.append(f"{gone.rows:,} of {plural(totals.rows, 'row')}")
    if totals.size:
        parts.append(f"{decimal(gone.size)} of {decimal(totals.size)}")
    unknown = max(totals.without_rows if totals.rows else 0, totals.without_size if totals.size else 0)
    return ", ".join(parts) + (f" (as far as known: {unknown:,} partitions do not say)" if unknown else "")


def _columns(name: str, lines: list[str]) -> list[str]:
    """Lines behind a name."""
    return [f"{'' if at else name:<8}{line}" for at, line in enumerate(lines)]

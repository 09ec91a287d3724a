"""Key lines: which stretches of each column's line a plan reads, and what it reads below them.

The keys of a table lie on one line. Below each value of the first column lies a line of the second, and so on. A plan
of many scans often reads the same below many values, so what is equal is one object.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import groupby
from typing import TypeAlias

from hbstore.keys.row_key import after_cell
from hbstore.plans.notation import steps_text
from hbstore.plans.scan_plan import MultiScanPlan, RelativeScan, ScanKind, relative
from hbstore.plans.schema import KeySchema
from hbstore.rows.predicate import ALWAYS


class Reading(Enum):
    """How a stretch is read."""

    KEY = "key"
    """One row, by its key."""
    ALL = "all"
    """All rows, which are returned."""
    CHECKED = "checked"
    """All rows; the residual is checked on each."""
    SKIPPED = "skipped"
    """From one distinct value to the next, and something below each."""
    BELOW = "below"
    """One value, and something below it."""


@dataclass(frozen=True, slots=True)
class KeyStretch:
    """A part of a column's line that is read.

    Attributes:
        start: where it starts, as on the line of `Step`.
        stop: where it stops.
        reading: how it is read.
        below: what is read of the next column's line below each value; none where all of it is read.
        scan: the number of the first scan that reads there, from 0.
    """

    start: bytes
    stop: bytes
    reading: Reading
    below: Line = ()
    scan: int = field(default=0, compare=False)


Line: TypeAlias = tuple[KeyStretch, ...]


@dataclass(frozen=True, slots=True)
class Lane:
    """A line of one column, below one or more values of the columns before it that have the same read below them.

    Attributes:
        label: those values, in words; empty for the first column.
        above: the stretches whose line this is, with the lane that each is in.
        line: what is read.
    """

    label: str
    above: tuple[tuple[int, KeyStretch], ...]
    line: Line


def key_line(plan: MultiScanPlan) -> Line:
    """What a plan reads on the first column's line, and below it. O(scans × columns)."""
    return _line([(at, relative(scan)) for at, scan in enumerate(plan.scans)], 0, plan.schema, {})


def lanes(line: Line, schema: KeySchema, most_columns: int, most_lanes: int) -> list[tuple[list[Lane], int]]:
    """The lines of the first columns that anything is read below, and of each column how many more there are.

    Args:
        line: what `key_line` says.
        schema: the table.
        most_columns: columns at most.
        most_lanes: lines of a column at most.
    """
    columns = [([Lane("", (), line)], 0)]
    while len(columns) < min(most_columns, len(schema.names)):
        column = len(columns) - 1
        groups: dict[Line, list[tuple[int, KeyStretch]]] = {}
        for at, lane in enumerate(columns[-1][0]):
            for stretch in lane.line:
                if stretch.below:
                    groups.setdefault(stretch.below, []).append((at, stretch))
        if not groups:
            break
        shown = list(groups.items())[:most_lanes]
        labels = [_label(columns[-1][0], above, column, schema) for _, above in shown]
        made = [Lane(label, tuple(above), below) for label, (below, above) in zip(labels, shown, strict=True)]
        columns.append((made, len(groups) - len(made)))
    return columns


def _label(before: Sequence[Lane], above: Sequence[tuple[int, KeyStretch]], column: int, schema: KeySchema) -> str:
    """The values whose line a lane is."""
    name = schema.names[column]
    at, first = above[0]
    if len(above) > 1:
        own = f"{len(above):,} × {name}"
    elif first.reading is Reading.SKIPPED:
        own = f"each {name}"
    else:
        own = steps_text((first.start,), (b"", b""), ALWAYS, column, _up_to(schema, column))
    lead = before[at].label if len({one for one, _ in above}) == 1 else ""
    return f"{lead} × {own}" if lead else own


def _up_to(schema: KeySchema, column: int) -> KeySchema:
    """The schema without the columns behind one."""
    return KeySchema(schema.prefix, schema.names[: column + 1], schema.types[: column + 1])


def _line(scans: Iterable[tuple[int, RelativeScan]], depth: int, schema: KeySchema, equal: dict[Line, Line]) -> Line:
    """The line of scans that share so many cells; ``known`` keeps equal lines as one object."""
    column_type = schema.types[depth]
    stretches: list[KeyStretch] = []
    for cell, below in groupby(scans, key=lambda one: one[1].cells[depth] if len(one[1].cells) > depth else b""):
        if not cell:
            stretches += [_stretch(at, scan, depth, schema, equal) for at, scan in below]
            continue
        listed = list(below)
        at, first = listed[0]
        stop = after_cell(column_type, cell)
        if first.kind is ScanKind.GET and len(first.cells) == depth + 1:
            stretches.append(KeyStretch(cell, stop, Reading.KEY, (), at))
        else:
            stretches.append(KeyStretch(cell, stop, Reading.BELOW, _line(listed, depth + 1, schema, equal), at))
    line = tuple(stretches)
    return equal.setdefault(line, line)


def _stretch(at: int, scan: RelativeScan, depth: int, schema: KeySchema, equal: dict[Line, Line]) -> KeyStretch:
    if scan.kind is ScanKind.SCAN:
        reading = Reading.ALL if scan.residual is ALWAYS else Reading.CHECKED
        return KeyStretch(scan.start, scan.stop, reading, (), at)
    below = [
        (at, RelativeScan(one.kind, (b"",) * (depth + 1) + one.cells, one.start, one.stop, one.residual, one.below))
        for one in scan.below
    ]
    return KeyStretch(scan.start, scan.stop, Reading.SKIPPED, _line(below, depth + 1, schema, equal), at)

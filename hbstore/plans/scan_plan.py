"""FilterPlan, MultiScanPlan, ScanPlan, ScanMarker: what a filter becomes.

A plan is a set of scans over row keys, sorted and disjoint, so that merging their results is putting them one behind
the other. The names and the algebra (`and_`, `or_`, `get_plans`) are those of the Hive wiki's page on partition filters
over HBase; how AND and OR work is in `hbstore.plans.steps`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Final, Protocol

from hbstore.errors import CorruptRow, InvalidInput
from hbstore.keys.row_key import TAG_END, after_cell, is_cell, row_key, split_key, successor
from hbstore.plans.generator import LINE_START, LINE_STOP
from hbstore.plans.notation import (
    key_text,
    predicate_text,
    range_text,
    ranges_notation,
    shared_cells,
    steps_text,
)
from hbstore.plans.picture import DrawnScan, svg
from hbstore.plans.schema import KeySchema
from hbstore.plans.steps import Steps, intersect_steps, unite_steps
from hbstore.rows.predicate import ALWAYS, Predicate
from hbstore.texts.wording import clipped, plural

_REPR: Final = 120
"""Characters of a scan in a repr."""


class ScanKind(Enum):
    """How a scan reads: one row by its key, a range, or from one distinct value to the next."""

    GET = "get"
    SCAN = "scan"
    SKIP = "skip"


@dataclass(frozen=True, slots=True, repr=False)
class ScanMarker:
    """One end of a scan: the first key of a start marker, the key behind the last of a stop marker."""

    key: bytes

    def __str__(self) -> str:
        """The bytes in hex."""
        return self.key.hex()

    def __repr__(self) -> str:
        return f"<ScanMarker {self.key.hex()}>"


@dataclass(frozen=True, slots=True)
class RelativeScan:
    """A scan below some key prefix that is not known yet, or is one of many.

    Attributes:
        kind: how it reads.
        cells: cells behind the prefix that are fixed; all that remain for a get.
        start: where it starts on the line of the next column.
        stop: where it stops there.
        residual: what its rows must still satisfy, on its own; ALWAYS for none.
        below: for a skip scan, what is read below each distinct value of the next column.
        note: why it reads this way, where there was a choice.
    """

    kind: ScanKind
    cells: tuple[bytes, ...] = ()
    start: bytes = LINE_START
    stop: bytes = LINE_STOP
    residual: Predicate = ALWAYS
    below: tuple[RelativeScan, ...] = ()
    note: str | None = None

    def keys(self, prefix: bytes, fixed: tuple[bytes, ...]) -> tuple[bytes, bytes]:
        """Start and stop key below a table prefix and the cells that lead to this scan."""
        cells = (*fixed, *self.cells)
        if self.kind is ScanKind.GET:
            key = row_key(prefix, cells)
            return key, key + b"\x00"
        base = prefix + b"".join(cells)
        start = base if self.start == LINE_START else base + self.start
        if self.stop != LINE_STOP:
            return start, base + self.stop
        return start, base + TAG_END if cells else successor(base)


@dataclass(frozen=True, slots=True, repr=False)
class ScanPlan:
    """One scan.

    Attributes:
        kind: get, scan or skip.
        start: the first key.
        stop: the key behind the last.
        residual: what rows between the two must still satisfy; None where the range alone decides. For a skip scan it
            is the whole condition, as a plain scan would have to check it.
        schema: the table that the keys belong to.
        column: for a skip scan, the column whose distinct values it visits.
        below: for a skip scan, what it reads below each of them.
        note: why it reads this way, where there was a choice.
    """

    kind: ScanKind
    start: ScanMarker
    stop: ScanMarker
    residual: Predicate | None
    schema: KeySchema
    column: int = 0
    below: tuple[RelativeScan, ...] = ()
    note: str | None = None

    def and_(self, other: FilterPlan) -> FilterPlan:
        """The rows that both plans select.

        >>> evening = sales.plan("hour >= 20").get_plans()[0]
        >>> print(evening.and_(sales.plan("ds = '2013-01-01'")))
        scan ds = '2013-01-01' | hour >= 20
        """
        return MultiScanPlan((self,), self.schema).and_(other)

    def or_(self, other: FilterPlan) -> FilterPlan:
        """The rows that either plan selects.

        >>> first = sales.plan("ds = '2013-01-01'").get_plans()[0]
        >>> print(first.or_(sales.plan("ds = '2013-01-02'")))
        scan ds ∈ ['2013-01-01', '2013-01-03')
        """
        return MultiScanPlan((self,), self.schema).or_(other)

    def get_plans(self) -> list[ScanPlan]:
        """This scan.

        >>> first = sales.plan("ds = '2013-01-01'").get_plans()[0]
        >>> first.get_plans() == [first]
        True
        """
        return [self]

    def range_text(self) -> str:
        """The keys between the markers in readable values: ``ds = 2013-01-01 × hour ∈ [5, 7)``.

        >>> sales.plan("ds = '2013-01-01' and hour between 5 and 6").get_plans()[0].range_text()
        "ds = '2013-01-01' × hour = 5"
        """
        if self.kind is ScanKind.GET:
            return key_text(self.start.key, self.schema)
        return range_text(self.start.key, self.stop.key, self.schema)

    def conditions(self) -> list[str]:
        """The range in the filter language's words, one for each column that it limits.

        >>> sales.plan("ds = '2013-01-01' and hour between 5 and 6").get_plans()[0].conditions()
        ["ds = '2013-01-01'", 'hour = 5']
        """
        scan, schema = relative(self), self.schema
        conditions = [
            ranges_notation(name, ((cell, after_cell(column_type, cell)),), column_type)
            for name, cell, column_type in zip(schema.names, scan.cells, schema.types, strict=False)
        ]
        at, ends = len(scan.cells), (scan.start, scan.stop)
        if ends != (LINE_START, LINE_STOP):
            conditions.append(ranges_notation(schema.names[at], (ends,), schema.types[at]))
        return conditions

    def residual_text(self) -> str | None:
        """The residual in the filter language's words; None where there is none.

        >>> sales.plan("ds < '2013-01-03' and hour != 5").get_plans()[0].residual_text()
        '(hour < 5 or hour >= 6)'
        """
        return None if self.residual is None else predicate_text(self.residual, self.schema)

    def to_dict(self) -> dict[str, Any]:
        """The scan as JSON values; keys are in hex.

        >>> sales.plan("ds = '2013-01-01' and hour != 5").get_plans()[0].to_dict()["range"]
        "ds = '2013-01-01' × hour is a value"
        """
        shown: dict[str, Any] = {
            "kind": self.kind.value,
            "start": self.start.key.hex(),
            "stop": self.stop.key.hex(),
            "range": self.range_text(),
            "residual": self.residual_text(),
        }
        if self.kind is ScanKind.SKIP:
            shown |= {"column": self.schema.names[self.column], "below": self.below_text()}
        return shown if self.note is None else {**shown, "note": self.note}

    def below_text(self) -> str | None:
        """For a skip scan, what it reads below each distinct value.

        >>> sales.plan("ds = '2013-01-01'").get_plans()[0].below_text() is None
        True
        """
        if self.kind is not ScanKind.SKIP:
            return None
        return f"each {self.schema.names[self.column]}: " + "; ".join(
            steps_text(one.cells, (one.start, one.stop), one.residual, self.column + 1, self.schema)
            for one in self.below
        )

    def __str__(self) -> str:
        """Kind, range and residual on one line."""
        text = f"{self.kind.value} {self.range_text()}"
        if self.kind is ScanKind.SKIP:
            return f"{text} | {self.below_text()}"
        return text if self.residual is None else f"{text} | {self.residual_text()}"

    def __repr__(self) -> str:
        return f"<ScanPlan {clipped(str(self), _REPR)}>"


@dataclass(frozen=True, slots=True, repr=False)
class MultiScanPlan:
    """Sorted, disjoint scans: their results one behind the other are the answer, in key order.

    Attributes:
        scans: in key order.
        schema: the table that the keys belong to.
    """

    scans: tuple[ScanPlan, ...]
    schema: KeySchema

    def and_(self, other: FilterPlan) -> FilterPlan:
        """The rows that both plans select: one pass over the breakpoints of both.

        Raises:
            InvalidInput: the other plan is of another table, or of this one as it was before: with other partition
                columns, or before a column held its first respelled value.

        >>> print(sales.plan("ds > '2013-01-01'").and_(sales.plan("ds < '2013-01-03' and hour = 5")))
        scan ds = '2013-01-02' | hour = 5
        """
        return from_steps(intersect_steps(_steps(self), self._steps_of(other)), self.schema)

    def or_(self, other: FilterPlan) -> FilterPlan:
        """The rows that either plan selects: one pass over the breakpoints of both. Raises as `and_`.

        >>> print(sales.plan("ds = '2013-01-01'").or_(sales.plan("ds = '2013-01-03' and hour = 5")))
        scan ds = '2013-01-01'
        get ds = '2013-01-03' × hour = 5
        """
        return from_steps(unite_steps([_steps(self), self._steps_of(other)]), self.schema)

    def _steps_of(self, other: FilterPlan) -> Steps:
        """The steps of a plan of the same table."""
        schemas = [other.schema] if isinstance(other, MultiScanPlan) else [scan.schema for scan in other.get_plans()]
        for schema in schemas:
            if schema != self.schema:
                is_older = replace(schema, respelled=self.schema.respelled) == self.schema
                raise InvalidInput(
                    "when one of the plans was made, a column had no respelled values"
                    if is_older
                    else "plans of different tables cannot be combined",
                    plan=_table_of(self.schema),
                    other=_table_of(schema),
                    hint="Make both plans of one table, as it is now",
                )
        return _steps(other)

    def get_plans(self) -> list[ScanPlan]:
        """The scans in key order.

        >>> [scan.kind.value for scan in sales.plan("ds = '2013-01-01' and hour in (5, 7)").get_plans()]
        ['get', 'get']
        """
        return list(self.scans)

    def to_dict(self) -> dict[str, Any]:
        """The scans in key order as JSON values; keys are in hex. O(scans).

        >>> [scan["range"] for scan in sales.plan("ds = '2013-01-01' and hour in (5, 7)").to_dict()["scans"]]
        ["ds = '2013-01-01' × hour = 5", "ds = '2013-01-01' × hour = 7"]
        """
        return {"scans": [scan.to_dict() for scan in self.scans]}

    def __str__(self) -> str:
        """One scan a line."""
        return "\n".join(str(scan) for scan in self.scans) or "nothing"

    def __repr__(self) -> str:
        first = f": {clipped(str(self.scans[0]), _REPR)}" if self.scans else ""
        return f"<MultiScanPlan {plural(len(self.scans), 'scan')}{first}>"

    def _repr_html_(self) -> str:
        """A picture for notebooks: the ranges of the key line that are read. O(scans)."""
        return svg([drawn(scan) for scan in self.scans])


class FilterPlan(Protocol):
    """What can be combined by AND and OR and in the end is a list of scans."""

    def and_(self, other: FilterPlan) -> FilterPlan:
        """The rows that both plans select.

        >>> print(sales.plan("ds = '2013-01-01'").and_(sales.plan("hour = 5")))
        scan ds = '2013-01-01' | hour = 5
        """

    def or_(self, other: FilterPlan) -> FilterPlan:
        """The rows that either plan selects.

        >>> print(sales.plan("ds < '2013-01-02'").or_(sales.plan("ds < '2013-01-03'")))
        scan ds ∈ [-∞, '2013-01-03')
        """

    def get_plans(self) -> list[ScanPlan]:
        """Sorted, disjoint scans.

        >>> len(sales.plan("ds in ('2013-01-01', '2013-01-02')").get_plans())
        1
        """


def drawn(scan: ScanPlan, cost: tuple[int, int, float] | None = None) -> DrawnScan:
    """A scan as pictures show it; with rows read, rows returned and seconds where they were measured.

    >>> drawn(sales.plan("ds = '2013-01-01' and hour = 5").get_plans()[0]).text
    "get ds = '2013-01-01' × hour = 5"
    """
    return DrawnScan(str(scan), scan.kind is ScanKind.GET, scan.residual is not None, cost)


def absolute(scan: RelativeScan, schema: KeySchema) -> ScanPlan:
    """A scan below nothing but the table itself."""
    start, stop = scan.keys(schema.prefix, ())
    residual = None if scan.residual is ALWAYS else scan.residual
    markers = ScanMarker(start), ScanMarker(stop)
    return ScanPlan(scan.kind, *markers, residual, schema, len(scan.cells), scan.below, scan.note)


def relative(scan: ScanPlan) -> RelativeScan:
    """The scan that `absolute` makes this one of, below the prefix of its table.

    >>> relative(sales.plan("ds = '2013-01-01' and hour = 5").get_plans()[0]).kind
    <ScanKind.GET: 'get'>
    """
    schema = scan.schema
    prefix, columns = schema.prefix, len(schema.names)
    if scan.kind is ScanKind.GET:
        return RelativeScan(ScanKind.GET, split_key(scan.start.key, columns)[1])
    behind = scan.stop.key[len(prefix) :] if scan.stop.key.startswith(prefix) else b""
    fixed, start, stop = shared_cells(scan.start.key[len(prefix) :], behind, schema)
    if (
        not start and not stop and len(fixed) > (scan.column if scan.kind is ScanKind.SKIP else 0)
    ):  # all below one value
        *fixed, start = fixed
        stop = behind[sum(map(len, fixed)) :]
    residual = ALWAYS if scan.residual is None else scan.residual
    ends = start or LINE_START, stop or LINE_STOP
    return RelativeScan(scan.kind, tuple(fixed), *ends, residual, scan.below, scan.note)


def from_steps(steps: Steps, schema: KeySchema) -> MultiScanPlan:
    """A plan of steps over whole row keys."""
    return MultiScanPlan(
        tuple(
            ScanPlan(
                _kind(start, stop, rest, schema),
                ScanMarker(start),
                ScanMarker(stop),
                None if rest is ALWAYS else rest,
                schema,
            )
            for start, stop, rest in steps
        ),
        schema,
    )


def _kind(start: bytes, stop: bytes, rest: Predicate, schema: KeySchema) -> ScanKind:
    """A get reads its row unchecked, so a key with a residual is a scan of one row."""
    whole = rest is ALWAYS and stop == start + b"\x00" and _is_row_key(start, schema)
    return ScanKind.GET if whole else ScanKind.SCAN


def _is_row_key(key: bytes, schema: KeySchema) -> bool:
    try:
        prefix, cells = split_key(key, len(schema.names))
    except CorruptRow:
        return False
    return prefix == schema.prefix and all(map(is_cell, cells, schema.types))


def _table_of(schema: KeySchema) -> str:
    """The table's name and its partition columns."""
    columns = ", ".join(f"{name} {kind.name}" for name, kind in zip(schema.names, schema.types, strict=True))
    return f"{schema.prefix[:-1].decode(errors='replace')} ({columns})".replace("\0", ".")


def _steps(plan: FilterPlan) -> Steps:
    return [
        (scan.start.key, scan.stop.key, ALWAYS if scan.residual is None else scan.residual) for scan in plan.get_plans()
    ]

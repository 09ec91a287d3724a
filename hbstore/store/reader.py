"""Reading partitions: by identity, by filter, as names, as counts, and the plans behind that."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Final, TypeAlias, TypeVar

from hbstore.errors import ConcurrentChange, PartitionNotFound
from hbstore.filters.builder import Expression
from hbstore.filters.parser import parse_filter
from hbstore.filters.tree import And, Comparison, ExpressionTree, Operator, Text
from hbstore.keys import row_key
from hbstore.like import LikeDialect
from hbstore.model import Partition, partition_value_texts
from hbstore.names import partition_name, partition_namer, spec_values
from hbstore.plans.execute import count, fetch
from hbstore.plans.explain import Explain, explain_plan, tree_text
from hbstore.plans.planner import plan_filter
from hbstore.plans.scan_plan import MultiScanPlan, ScanKind
from hbstore.plans.statistics import Statistics
from hbstore.rows.interface import Rows
from hbstore.store.table_row import STATISTICS, Definition, TableRow
from hbstore.store.tables import Tables
from hbstore.store.writer import PartitionValues, cells_of
from hbstore.structs import partition_from_payload, partition_values, partitions_from_payloads

T = TypeVar("T")
Filter: TypeAlias = "str | Expression | ExpressionTree | None"
"""A filter as text, as a Python expression, as a tree, or none: all partitions."""

_PLANS: Final = 256
"""Plans kept for each table."""
_KEPT_SCANS: Final = 2_000
_ATTEMPTS: Final = 20


@dataclass(slots=True)
class _Plans:
    """Plans of one version of a table and its statistics, by filter."""

    definition: Definition
    cell: bytes | None
    statistics: Statistics
    by_filter: OrderedDict[tuple[str, LikeDialect], tuple[ExpressionTree | None, MultiScanPlan]] = field(
        default_factory=OrderedDict
    )


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads partitions.

    Attributes:
        rows: where they are.
        tables: the tables that they belong to.
    """

    rows: Rows
    tables: Tables
    _plans: dict[bytes, _Plans] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def get(self, database: str, table: str, values: PartitionValues) -> Partition:
        """One partition by its values."""
        with self.rows.snapshot():
            row = self.tables.open(database, table)
            texts = partition_value_texts(values)
            key = row_key(row.definition.prefix, cells_of(row.definition, texts, "keep"))
            found = self._settled(row, lambda: self.rows.multi_get([key]))
        if not found:
            name = partition_name(row.table.partition_column_names, texts)
            raise PartitionNotFound("no such partition", table=row.table, partition=name)
        return partition_from_payload(found[0][1])

    def get_many(self, database: str, table: str, values: Sequence[PartitionValues]) -> list[Partition]:
        """Those of some partitions that exist, each once, in key order."""
        with self.rows.snapshot():
            row = self.tables.open(database, table)
            keys = {
                row_key(row.definition.prefix, cells_of(row.definition, partition_value_texts(one), "keep"))
                for one in values
            }
            found = self._settled(row, lambda: self.rows.multi_get(sorted(keys)))
        return partitions_from_payloads([payload for _, payload in found])

    def payloads(
        self, database: str, table: str, where: Filter, *, max_parts: int, like_dialect: LikeDialect
    ) -> list[bytes]:
        """The stored bytes of the partitions that a filter selects, in key order."""
        with self.rows.snapshot():
            row = self.tables.open(database, table)
            _, plan = self.planned(row, where, like_dialect)
            if max_parts == 0:
                return []
            limit = None if max_parts < 0 else max_parts
            return self._settled(
                row,
                lambda: [payload for batch in fetch(plan, self.rows, limit) for _, payload in batch],
                single=_is_single_get(plan),
            )

    def partitions(
        self, database: str, table: str, where: Filter, *, max_parts: int, like_dialect: LikeDialect
    ) -> list[Partition]:
        """The partitions that a filter selects, in key order; each is decoded when one of its fields is read."""
        return partitions_from_payloads(
            self.payloads(database, table, where, max_parts=max_parts, like_dialect=like_dialect)
        )

    def names(
        self,
        database: str,
        table: str,
        where: Filter,
        spec: Mapping[str, str] | None,
        *,
        max_parts: int,
        like_dialect: LikeDialect,
    ) -> list[str]:
        """The names of the partitions that a filter and a partial spec select, in key order."""
        row = self.tables.open(database, table)
        columns = row.table.partition_column_names
        where = _with_spec(where, spec, columns, like_dialect)
        found = self.payloads(database, table, where, max_parts=max_parts, like_dialect=like_dialect)
        return list(map(partition_namer(columns), map(partition_values, found)))

    def count(self, database: str, table: str, where: Filter, *, like_dialect: LikeDialect) -> int:
        """How many partitions a filter selects."""
        with self.rows.snapshot():
            row = self.tables.open(database, table)
            _, plan = self.planned(row, where, like_dialect)
            return self._settled(row, lambda: count(plan, self.rows))

    def plan(self, database: str, table: str, where: Filter, *, like_dialect: LikeDialect) -> MultiScanPlan:
        """The scans that a filter becomes."""
        return self.planned(self.tables.open(database, table), where, like_dialect)[1]

    def explain(self, database: str, table: str, where: Filter, *, analyze: bool, like_dialect: LikeDialect) -> Explain:
        """What a filter becomes and, when analyzed, what running it costs."""
        with self.rows.snapshot():
            row = self.tables.open(database, table)
            tree, plan = self.planned(row, where, like_dialect)
            text = where if isinstance(where, str) else None if tree is None else tree_text(tree)
            return explain_plan(str(row.table), text, tree, plan, self.rows if analyze else None)

    def planned(
        self, row: TableRow, where: Filter, like_dialect: LikeDialect
    ) -> tuple[ExpressionTree | None, MultiScanPlan]:
        """A filter's tree and plan; plans of texts are kept while the table and its statistics stay the same."""
        plans = self._plans_of(row)
        schema, costs = row.definition.schema, self.rows.costs
        if where is not None and not isinstance(where, str):
            tree = where.tree if isinstance(where, Expression) else where
            return tree, plan_filter(tree, schema, plans.statistics, costs)
        key = (where or "", like_dialect)
        with self._lock:
            known = plans.by_filter.get(key)
            if known is not None:
                plans.by_filter.move_to_end(key)
                return known
        parsed = parse_filter(where, like_dialect)
        made = parsed, plan_filter(parsed, schema, plans.statistics, costs)
        if len(made[1].scans) <= _KEPT_SCANS:
            with self._lock:
                plans.by_filter[key] = made
                if len(plans.by_filter) > _PLANS:
                    plans.by_filter.popitem(last=False)
        return made

    def _plans_of(self, row: TableRow) -> _Plans:
        cell = row.cells.get(STATISTICS)
        with self._lock:
            plans = self._plans.get(row.key)
            if plans is None or plans.definition is not row.definition or plans.cell != cell:
                plans = self._plans[row.key] = _Plans(row.definition, cell, row.statistics)
            return plans

    def _settled(self, row: TableRow, read: Callable[[], T], *, single: bool = False) -> T:
        """What ``read`` returns, with no rename under way or gone through while it read.

        Where reads are snapshots that is so at once. Elsewhere a renamed partition could have moved from ahead of the
        reader to behind it, so renames that are open are finished first, and the journal is looked at again after.

        Args:
            row: the table's row as it was read before.
            read: reads partition rows.
            single: it reads one row only, which is atomic anyway.
        """
        if self.rows.atomic or single:
            return read()
        for _ in range(_ATTEMPTS):
            for intent in row.journal.moving:
                self.tables.journal().finish(row, intent)
            found = read()
            moves = row.journal.moves
            row = self.tables.reopen(row)
            if row.journal.moves == moves and not row.journal.moving:
                return found
        raise ConcurrentChange("partitions kept being renamed while they were read", table=row.table, hint="Try again")


def _is_single_get(plan: MultiScanPlan) -> bool:
    return len(plan.scans) == 1 and plan.scans[0].kind is ScanKind.GET


def _with_spec(
    where: Filter, spec: Mapping[str, str] | None, columns: tuple[str, ...], like_dialect: LikeDialect
) -> Filter:
    """A filter and a partial partition spec as one filter."""
    if not spec:
        return where
    given = zip(columns, spec_values(columns, spec), strict=True)
    parts: list[ExpressionTree] = [
        Comparison(column, Operator.EQ, Text(value)) for column, value in given if value is not None
    ]
    tree = (
        parse_filter(where, like_dialect)
        if isinstance(where, str)
        else where.tree
        if isinstance(where, Expression)
        else where
    )
    if tree is not None:
        parts.append(tree)
    return parts[0] if len(parts) == 1 else And(tuple(parts))

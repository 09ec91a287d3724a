"""By the partitions of which update periods a cube query answers an expression of a time: asked of the rewriter itself.

A cube has one fact for each update period, and none of them has the time as a column. A fact that could answer if it
had partitions claims that the expression has one value in each part of its update period.
"""

from __future__ import annotations

from contextlib import contextmanager

from hbstore import connect
from hbstore.cubes import Cubes, parse_documents
from hbstore.errors import NoCandidate
from hbstore.times.update_period import UpdatePeriod

PERIODS = [period for period in UpdatePeriod if period is not UpdatePeriod.CONTINUOUS]
BEGIN, END = "2010-01-01", "2020-01-01"
"""Ten years."""

_MODEL = """
kind: storage
name: lake
---
kind: cube
name: rides
time_dimensions: {{t: dt}}
measures: [{{name: fare, type: double, default_aggregate: sum}}]
dim_attributes: [{{name: t, type: {kind}}}, {{name: n, type: int}}, {{name: bike, type: string}}]
"""
_FACT = """
---
kind: fact
name: {name}
cube: rides
columns: [{{name: fare, type: double}}, {{name: n, type: int}}, {{name: bike, type: string}}]
storage_tables:
  - storage: lake
    update_periods: [{name}]
    partition_columns: [{{name: dt, type: string}}]
    time_partition_columns: [dt]
    description: {{format: parquet}}
"""


class Claims:
    """What the rewriter claims of expressions of the time ``t``, the number ``n`` and the text ``bike``."""

    def __init__(self, cubes: Cubes) -> None:
        self.cubes = cubes

    def refusal(self, expression: str, begin: str = BEGIN, end: str = END) -> NoCandidate:
        """The error for an expression; there is one, as there are no partitions."""
        try:
            self.cubes.rewrite(
                f"cube select {expression} as x, fare from rides where time_range_in(t, '{begin}', '{end}')"
            )
        except NoCandidate as error:
            return error
        raise AssertionError(expression)

    def of(self, expression: str, begin: str = BEGIN, end: str = END) -> frozenset[UpdatePeriod]:
        """The periods whose partitions would answer an expression over a range of time."""
        candidates = self.refusal(expression, begin, end).candidates
        assert len(candidates) == len(PERIODS), expression
        return frozenset(UpdatePeriod.named(one.fact) for one in candidates if one.cause == "MISSING_PARTITIONS")


@contextmanager
def claims(kind: str = "timestamp"):
    """Of a time dimension of a type."""
    facts = (_FACT.format(name=period.name.lower()) for period in PERIODS)
    with connect("memory://") as store:
        store.create_database("shop")
        cubes = Cubes(store, "shop")
        cubes.create_all(parse_documents(_MODEL.format(kind=kind) + "".join(facts), "yaml"))
        yield Claims(cubes)

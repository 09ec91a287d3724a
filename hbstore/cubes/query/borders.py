"""Borders in time: a query is refused where rows do not say on which side of one they are."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hbstore.cubes.concepts import Cube
from hbstore.cubes.query.ranges import ConditionRange, QueryRange, moments_text
from hbstore.cubes.query.resolved import Resolved
from hbstore.cubes.query.text import QueryText
from hbstore.times.moments import DAY


def check_dated(query: QueryText, resolved: Resolved, stretches: Sequence[ConditionRange]) -> None:
    """See that each expression has a definition at all times that are read.

    Raises:
        UnsupportedQuery: one has none at some of them.
    """
    for name, numbers in resolved.dated:
        for stretch in stretches:
            if not any(stretch.holds[number] for number in numbers):
                raise query.unsupported(
                    "the expression has no definition at some of the times",
                    None,
                    expression=name,
                    times=moments_text([(stretch.start, stretch.stop)]),
                    hint="Ask for times at which it has one, or give it a definition for these",
                )


def check_not_dated(query: QueryText, resolved: Resolved) -> None:
    """See that no expression changes its definition within the ranges.

    Raises:
        UnsupportedQuery: one does, and rows do not say on which side of its border they are.
    """
    for name, _ in resolved.dated:
        raise query.unsupported(
            "the definition of the expression changes within the ranges",
            None,
            expression=name,
            hint="Ask for ranges within one definition",
        )


def check_days(query: QueryText, cube: Cube, ranges: Sequence[QueryRange], chosen: Collection[int]) -> None:
    """See that ranges that become conditions on dates are of whole days.

    Raises:
        UnsupportedQuery: one is not, and dates do not say on which side of its border they are.
    """
    dates = {attribute.name for attribute in cube.dim_attributes if attribute.type.lower() == "date"}
    for number, time_range in enumerate(ranges):
        if number not in chosen and time_range.dimension in dates and (time_range.start % DAY or time_range.stop % DAY):
            raise query.unsupported(
                "the range of a date begins or ends within a day",
                time_range.column,
                range=moments_text([(time_range.start, time_range.stop)]),
                hint="Ask for whole days",
            )

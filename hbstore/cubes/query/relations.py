"""By which time partitions are chosen: that of a range's own partition column, or one to which the model relates it.

A cube or a fact may say by its property ``cube.timedim.relation.<dimension>`` = ``other+[a,b]`` that the times of a
dimension lie between a and b after those of another one: ``order_time+[0 days,3 days]``. What happened in [from, to) by
the first is then in partitions of [from - b, to - a) by the other; rows outside of [from, to) are filtered out.

>>> from datetime import UTC, datetime
>>> relation = TimeRelation.parse("order_time+[-1 hour,3 days]")
>>> day = moment(datetime(2015, 1, 10, tzinfo=UTC))
>>> [time_at(end).isoformat() for end in relation.widened(day, day + 86_400_000_000)]
['2015-01-07T00:00:00+00:00', '2015-01-11T01:00:00+00:00']
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from hbstore.cubes.concepts import Cube
from hbstore.cubes.logical_tables import Fact
from hbstore.cubes.query.ranges import ConditionRange, QueryRange
from hbstore.errors import InvalidModel
from hbstore.timelines.runs import joined
from hbstore.times.moments import moment, time_at
from hbstore.times.time_range import RelativeTime
from hbstore.times.update_period import UpdatePeriod

RELATION: Final = "cube.timedim.relation."
"""What the names of properties begin with that relate a time dimension to another one; Lens's name."""

_RELATION: Final = re.compile(r"\s*(\w+)\s*\+\s*\[\s*([^,\]]+?)\s*,\s*([^,\]]+?)\s*\]\s*")
_DISTANCE: Final = re.compile(r"([+-]?)\s*(\d+)\s*(second|minute|hour|day|week|month|quarter|year)s?", re.IGNORECASE)

_OF_MONTHS: Final = frozenset(period.unit for period in UpdatePeriod if period.part_months)
"""Units that have no fixed number of days."""

_SOME_DAY: Final = moment(datetime(2001, 1, 1, tzinfo=UTC))


@dataclass(frozen=True, slots=True)
class TimeRelation:
    """How the times of a dimension lie to those of another one.

    Attributes:
        other: the other dimension.
        least: how many of which unit they are after it at least; negative before it.
        most: at most.
    """

    other: str
    least: tuple[int, str]
    most: tuple[int, str]

    @staticmethod
    def parse(text: str) -> TimeRelation:
        """The relation of a text.

        Raises:
            InvalidModel: it is not written so, or ends before it begins.
        """
        matched = _RELATION.fullmatch(text)
        ends = [] if matched is None else [_DISTANCE.fullmatch(end) for end in matched.groups()[1:]]
        if matched is None or not all(ends):
            raise InvalidModel(
                "the relation of a time dimension does not parse",
                relation=repr(text),
                hint="Write it as other_dimension+[-1 hour,3 days]",
            )
        least, most = ((int(f"{end[1]}{end[2]}"), end[3].lower()) for end in ends if end is not None)
        if _before(_SOME_DAY, least) < _before(_SOME_DAY, most):
            raise InvalidModel(
                "the relation of a time dimension ends before it begins",
                relation=repr(text),
                hint="Write the earlier end first, as in other_dimension+[-1 hour,3 days]",
            )
        return TimeRelation(matched[1].lower(), least, most)

    def stretches_of(self, stretches: Sequence[ConditionRange]) -> list[ConditionRange]:
        """The stretches of the other dimension in which rows of some stretches are, sorted and joined."""
        wider = joined(self.widened(stretch.start, stretch.stop) for stretch in stretches)
        return [ConditionRange(start, stop, {}) for start, stop in wider]

    def widened(self, start: int, stop: int) -> tuple[int, int]:
        """The moments of the other dimension in which all of a range is."""
        end = _before(stop, self.least)
        if self.least[1] in _OF_MONTHS and time_at(end).day < time_at(stop).day:
            # March 31 less a month is February 28, and a month after all of that day is still before March 31.
            end = UpdatePeriod.MONTHLY.moment(UpdatePeriod.MONTHLY.floor_index(end) + 1)
        return _before(start, self.most), end


@dataclass(frozen=True, slots=True)
class PartitionTime:
    """By what partitions are chosen.

    Attributes:
        dimension: the time dimension whose ranges count.
        column: the partition column.
        relation: how the dimension lies to that column's; None where it is its own.
    """

    dimension: str
    column: str
    relation: TimeRelation | None = None

    @property
    def own(self) -> str:
        """The time dimension whose times the column has."""
        return self.dimension if self.relation is None else self.relation.other

    def related(self, cube: Cube, fact: Fact) -> bool:
        """Whether a fact's partitions may be chosen so."""
        return self.relation is None or _relation_of(cube, fact.properties, self.dimension) == self.relation


def ways_to_choose(cube: Cube, facts: Sequence[Fact], ranges: Sequence[QueryRange]) -> list[PartitionTime]:
    """The ways to choose partitions for some ranges: by their own columns first, then by relations.

    A column that no table has is none, so that the error is that of a way that might have been; but for want of others.
    """
    dimensions = list(dict.fromkeys(time_range.dimension for time_range in ranges))
    tables = [on for fact in facts for on in fact.storage_tables]
    columns = {column for on in tables for column in on.time_partition_columns}
    all_own = [PartitionTime(name, cube.time_dimensions[name]) for name in dimensions]
    own = all_own if any(on.is_continuous for on in tables) else [one for one in all_own if one.column in columns]
    related: list[PartitionTime] = []
    for name in dimensions:
        relations = dict.fromkeys(_relation_of(cube, fact.properties, name) for fact in facts)
        known = (relation for relation in relations if relation is not None and relation.other in cube.time_dimensions)
        related += [PartitionTime(name, cube.time_dimensions[relation.other], relation) for relation in known]
    return [*own, *related] or all_own


def _relation_of(cube: Cube, properties: Mapping[str, str], dimension: str) -> TimeRelation | None:
    name = f"{RELATION}{dimension}"
    text = properties.get(name, cube.properties.get(name))
    return None if text is None else TimeRelation.parse(text)


def _before(at: int, distance: tuple[int, str]) -> int:
    time = RelativeTime(None, ((-distance[0], distance[1]),)).at(lambda: time_at(at))
    return moment(time)

"""Where a table's properties hold a timeline and its class, and how to make it one of another class.

All properties of a table's timelines begin alike:

    cube.storagetable.partition.timeline.cache.present                            true: the properties below count
    cube.storagetable.partition.timeline.cache.DAILY.dt.storage.class             the class's name
    cube.storagetable.partition.timeline.cache.DAILY.dt.first, ….latest, ….holes0 what the class wrote
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeVar

from hbstore.errors import CorruptTimeline, InvalidInput
from hbstore.texts.arguments import expect, expect_dict
from hbstore.timelines.classes import class_name, timeline_class
from hbstore.timelines.timeline import PartitionTimeline
from hbstore.times.update_period import UpdatePeriod

CACHE: Final = "cube.storagetable.partition.timeline.cache."
PRESENT: Final = f"{CACHE}present"
"""The property that says, with the value ``true``, that the table's timelines are in its properties."""

STORAGE_CLASS: Final = "storage.class"
_Timeline = TypeVar("_Timeline", bound=PartitionTimeline)


def property_prefix(period: UpdatePeriod, partition_column: str) -> str:
    """What the names of a timeline's properties begin with on its table.

    >>> property_prefix(UpdatePeriod.DAILY, "dt")
    'cube.storagetable.partition.timeline.cache.DAILY.dt.'
    """
    return f"{CACHE}{period.name}.{partition_column}."


def table_properties(timeline: PartitionTimeline) -> dict[str, str]:
    """A timeline as properties of its table, its class's name among them."""
    prefix = property_prefix(timeline.update_period, timeline.partition_column)
    own = {STORAGE_CLASS: class_name(type(timeline)), **timeline.to_properties()}
    return {f"{prefix}{key}": value for key, value in own.items()}


def timeline_of(
    storage_table: str, period: UpdatePeriod, partition_column: str, properties: Mapping[str, str]
) -> PartitionTimeline:
    """The timeline in a table's properties; an empty one, of the class that they name, if they hold none.

    Raises:
        UnknownTimelineClass: they name a class that there is not.
        CorruptTimeline: they cannot be read, or contradict themselves.

    >>> from hbstore.timelines import UpdatePeriod
    >>> timeline_of("s1_orders", UpdatePeriod.DAILY, "dt", {})
    <EndsAndHolesPartitionTimeline DAILY dt of s1_orders: no times>
    """
    expect("period", period, UpdatePeriod, hint="Give an UpdatePeriod, such as UpdatePeriod.DAILY")
    expect_dict("properties", properties, str, hint="Give the properties of a table in a dict")
    prefix = property_prefix(period, partition_column)
    own = {key.removeprefix(prefix): value for key, value in properties.items() if key.startswith(prefix)}
    timeline = timeline_class(own.get(STORAGE_CLASS))(storage_table, period, partition_column)
    if not timeline.init_from_properties(own):
        raise CorruptTimeline(
            "the properties of a timeline contradict each other",
            storage_table=storage_table,
            period=period.name,
            column=partition_column,
            reason=next(timeline.faults()),
            hint="Rebuild it from the partitions",
        )
    return timeline


def convert(timeline: PartitionTimeline, to: type[_Timeline]) -> _Timeline:
    """A timeline of another class with the same times; the given one stays what it is. O(size of both).

    >>> from hbstore.timelines import EndsAndHolesPartitionTimeline, RangesPartitionTimeline
    >>> timeline = RangesPartitionTimeline("s1_fact1", UpdatePeriod.YEARLY, "dt")
    >>> timeline.add_all(map(UpdatePeriod.YEARLY.parse, ["2013", "2015"]))
    True
    >>> convert(timeline, EndsAndHolesPartitionTimeline).to_properties()
    {'first': '2013', 'latest': '2015', 'holes.size': '1', 'holes0': '2014'}
    """
    expect("timeline", timeline, PartitionTimeline, hint="Give a timeline, such as one of store.timelines.of(…)")
    if not (isinstance(to, type) and issubclass(to, PartitionTimeline)):
        raise InvalidInput("not a timeline class", to=repr(to), hint="Give a class, such as RangesPartitionTimeline")
    made = to(timeline.storage_table, timeline.update_period, timeline.partition_column)
    made.add_index_ranges(timeline.index_ranges(0, timeline.update_period.limit))
    return made

"""Timelines: which times of an update period a storage table has partitions for.

>>> timeline = RangesPartitionTimeline("s1_fact1", UpdatePeriod.DAILY, "dt")
>>> timeline.add(UpdatePeriod.DAILY.parse("2015-01-29"))
True
>>> print(timeline)
RangesPartitionTimeline(super=PartitionTimeline(storageTableName=s1_fact1, updatePeriod=DAILY, partCol=dt, all=null), \
ranges=[[2015-01-29, 2015-01-30)])
"""

from hbstore.timelines.classes import register, timeline_class
from hbstore.timelines.ends_and_holes import EndsAndHolesPartitionTimeline
from hbstore.timelines.factory import convert, timeline_of
from hbstore.timelines.properties import UnreadableProperty
from hbstore.timelines.ranges import RangesPartitionTimeline
from hbstore.timelines.runs import Runs
from hbstore.timelines.store_all import StoreAllPartitionTimeline
from hbstore.timelines.timeline import PartitionTimeline
from hbstore.times.time_range import TimeRange, parse_time, parse_time_range
from hbstore.times.update_period import UpdatePeriod

__all__ = [
    "EndsAndHolesPartitionTimeline",
    "PartitionTimeline",
    "RangesPartitionTimeline",
    "Runs",
    "StoreAllPartitionTimeline",
    "TimeRange",
    "UnreadableProperty",
    "UpdatePeriod",
    "convert",
    "parse_time",
    "parse_time_range",
    "register",
    "timeline_class",
    "timeline_of",
]

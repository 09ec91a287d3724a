"""Spark jobs over many partitions: folders, reading, writing, streams, timelines. Needs the extra ``spark``."""

from __future__ import annotations

from hbstore.extras import check_extra

check_extra("spark", "hbstore.spark")  # before the imports that fail without it

from hbstore.spark.analysis.analyze import Analyzed, analyze_table
from hbstore.spark.cover import read_cover
from hbstore.spark.cube import cube
from hbstore.spark.folders import folders_frame, partition_folders
from hbstore.spark.reads import PrunedRead, pruned_read, read_table
from hbstore.spark.register import register_partitions
from hbstore.spark.source.registration import register_source
from hbstore.spark.sql import sql
from hbstore.spark.streams.commit import PartitionCommit
from hbstore.spark.streams.streams import stream_to_table, write_batch
from hbstore.spark.timelines import rebuild_timelines
from hbstore.spark.writes import Written, write_table

__all__ = [
    "Analyzed",
    "PartitionCommit",
    "PrunedRead",
    "Written",
    "analyze_table",
    "cube",
    "folders_frame",
    "partition_folders",
    "pruned_read",
    "read_cover",
    "read_table",
    "rebuild_timelines",
    "register_partitions",
    "register_source",
    "sql",
    "stream_to_table",
    "write_batch",
    "write_table",
]

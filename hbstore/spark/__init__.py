"""Spark jobs over many partitions: reading, finding folders, registering. Needs ``hbstore[spark]``."""

from __future__ import annotations

from hbstore.spark.folders import folders_frame, partition_folders
from hbstore.spark.reads import pruned_read, read_table
from hbstore.spark.register import register_partitions

__all__ = ["folders_frame", "partition_folders", "pruned_read", "read_table", "register_partitions"]

"""Spark jobs over many partitions: finding their folders, registering them in a store. Needs ``hbstore[spark]``."""

from __future__ import annotations

from hbstore.spark.folders import folders_frame, partition_folders
from hbstore.spark.register import register_partitions

__all__ = ["folders_frame", "partition_folders", "register_partitions"]

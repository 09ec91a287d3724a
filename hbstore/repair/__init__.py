"""Repair: a table's partitions are made to agree with the folders that there are."""

from hbstore.repair.comparison import Mode, Repair, compared
from hbstore.repair.listing import Explorer, Threads, Walked
from hbstore.repair.shape import Folder, Foreign, Shape
from hbstore.repair.staging import Staging
from hbstore.repair.sync import sync_partitions

__all__ = [
    "Explorer",
    "Folder",
    "Foreign",
    "Mode",
    "Repair",
    "Shape",
    "Staging",
    "Threads",
    "Walked",
    "compared",
    "sync_partitions",
]
